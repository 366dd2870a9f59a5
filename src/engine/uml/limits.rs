//! Limits of this process that a guest ran into: the kernel and the guest's programs are processes
//! of this machine, and inherit what `ulimit` has set. Told by how the kernel ended and by the last
//! words on its console.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    AddressSpace,
    FileSize,
    OpenFiles,
    Processes,
    ProcessorTime,
}

/// What the kernel or its init say when they run into one.
const SIGNS: [(&str, Limit); 4] = [
    // ENOMEM as it maps the guest's memory.
    ("failed - errno = -12", Limit::AddressSpace),
    // EMFILE as it opens its init, or that its libraries.
    ("/proc/self/cwd/init failed (error -24)", Limit::OpenFiles),
    ("cannot open shared object file: Error 24", Limit::OpenFiles),
    ("fork failed: Resource temporarily unavailable", Limit::Processes),
];

impl Limit {
    /// The one that ended a guest which left no answer.
    pub fn that_ended(status: ExitStatus, console: &str) -> Option<Self> {
        let signal = status.signal().and_then(|number| Signal::try_from(number).ok());
        match signal {
            Some(Signal::SIGXFSZ) => return Some(Self::FileSize),
            Some(Signal::SIGXCPU) => return Some(Self::ProcessorTime),
            _ => {}
        }
        SIGNS.iter().find(|(sign, _)| console.contains(sign)).map(|(_, limit)| *limit)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddressSpace => {
                "the address space of a process is limited (ulimit -v), and the guest needs its \
                 memory and 64 MiB of it"
            }
            Self::FileSize => {
                "the size of files is limited (ulimit -f), and the guest's memory is one, as is what \
                 its program prints"
            }
            Self::OpenFiles => {
                "the number of open files is limited (ulimit -n), and the guest needs some dozens"
            }
            Self::Processes => {
                "the number of this user's processes is limited (ulimit -u), and each process of \
                 the guest is one"
            }
            Self::ProcessorTime => {
                "the processor time of a process is limited (ulimit -t), and the guest has used it up"
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_by_the_signal_or_by_the_console() {
        let ended = |raw: i32, console: &str| {
            let limit = Limit::that_ended(ExitStatus::from_raw(raw), console)?;
            limit.to_string().split_once("ulimit ").map(|(_, rest)| rest[..2].to_owned())
        };
        let exited = 1 << 8;
        let physmem = "setup_physmem - mapping 1056964608 bytes of memory failed - errno = -12";
        assert_eq!(ended(exited, physmem).as_deref(), Some("-v"));
        let fork = "start_ptraced_child : fork failed: Resource temporarily unavailable";
        assert_eq!(ended(exited, fork).as_deref(), Some("-u"));
        assert_eq!(ended(Signal::SIGXFSZ as i32, "").as_deref(), Some("-f"));
        assert_eq!(ended(Signal::SIGXCPU as i32, "").as_deref(), Some("-t"));
        assert_eq!(ended(exited, "Kernel panic - not syncing: VFS"), None);
    }
}

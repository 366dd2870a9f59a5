//! Whether there is room for a guest's memory. It is a file without a name, which grows as the
//! guest touches it; where it cannot grow the guest dies of it, so that is asked before.

use std::fs;
use std::path::Path;

use nix::sys::statvfs::statvfs;

use super::error::UmlError;

const MIB: u64 = 1 << 20;

/// Refuses a guest of `needed_mib` MiB that would not find as much in the file system of `place`
/// and in the machine.
pub fn check(needed_mib: u64, place: &Path) -> Result<(), UmlError> {
    let in_machine = available_mib();
    let in_folder =
        statvfs(place).ok().map(|found| found.blocks_available() * found.fragment_size() / MIB);
    let places = [
        (in_machine, "this machine".to_owned()),
        (in_folder, format!("the file system of {}", place.display())),
    ];
    for (free, place) in places {
        if let Some(free_mib) = free.filter(|&free| free < needed_mib) {
            return Err(UmlError::NoMemory { needed_mib, free_mib, place });
        }
    }
    Ok(())
}

/// What this machine could give at once.
pub fn available_mib() -> Option<u64> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// In MiB; older kernels do not say.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024 / MIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_mebibytes() {
        let text = "MemTotal:       24684084 kB\nMemAvailable:   23270400 kB\n";
        assert_eq!(available(text), Some(22725));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn a_guest_larger_than_the_machine_is_refused() {
        let refused = check(u64::MAX / MIB, Path::new("/")).unwrap_err().to_string();
        assert!(refused.contains("this machine has"), "{refused}");
    }
}

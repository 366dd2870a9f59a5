//! The guest kernel's own monitor, a datagram socket in the job's folder. It answers even while the
//! guest's programs keep the kernel from everything else; asking may cost the guest its life, so
//! only guests that are given up are asked.

use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

const MAGIC: u32 = 0xcafe_babe;
const VERSION: u32 = 2;
const LONGEST: usize = 512;
const PATIENCE: Duration = Duration::from_secs(2);

/// What runs in the guest at this moment, and what its clock says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub process: u32,
    pub program: String,
    /// The guest's uptime, to the microsecond.
    pub clock: Duration,
}

/// Asks the kernel that has its monitor under `folder`.
pub fn running(folder: &Path, socket: &Path) -> io::Result<Option<Running>> {
    let own = folder.join("asking");
    let asking = UnixDatagram::bind(&own)?;
    let answer = ask(&asking, socket, "sysrq p");
    fs::remove_file(&own)?;
    Ok(parse(&answer?))
}

fn ask(asking: &UnixDatagram, socket: &Path, command: &str) -> io::Result<String> {
    asking.set_read_timeout(Some(PATIENCE))?;
    let mut request = Vec::with_capacity(12 + LONGEST);
    for word in [MAGIC, VERSION, command.len() as u32] {
        request.extend(word.to_ne_bytes());
    }
    request.extend(command.bytes());
    request.resize(12 + LONGEST, 0);
    asking.send_to(&request, socket)?;
    let mut answer = String::new();
    let mut datagram = [0; 12 + LONGEST];
    // An answer is a few datagrams; a kernel that never ends its answer has said enough.
    for _ in 0..64 {
        let length = asking.recv(&mut datagram)?;
        let (more, text) = part(&datagram[..length]);
        answer.push_str(&text);
        if !more {
            break;
        }
    }
    Ok(answer)
}

/// `{ error, more, length: u32, text }`.
fn part(datagram: &[u8]) -> (bool, String) {
    let word = |at: usize| {
        let bytes = datagram.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let length = word(8).unwrap_or(0) as usize;
    let text = datagram.get(12..).unwrap_or_default();
    let text = &text[..length.min(text.len())];
    (word(4).unwrap_or(0) != 0, String::from_utf8_lossy(text).replace('\0', ""))
}

/// From `[   12.345678] Pid: 31, comm: sh Not tainted 6.12.48`.
fn parse(answer: &str) -> Option<Running> {
    let line = answer.lines().find(|line| line.contains("] Pid: "))?;
    let (clock, rest) = line.trim().strip_prefix('[')?.split_once("] Pid: ")?;
    let (process, rest) = rest.split_once(", comm: ")?;
    let name_end = rest.find(" Not tainted").or_else(|| rest.find(" Tainted"))?;
    Some(Running {
        process: process.parse().ok()?,
        program: rest[..name_end].to_owned(),
        clock: Duration::try_from_secs_f64(clock.trim().parse().ok()?).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_program_is_read_from_the_kernels_answer() {
        let answer = "[   12.345678] sysrq: Show Regs\n [   12.345678] \n \
                      [   12.345678] Pid: 31, comm: a program Not tainted 6.12.48\n \
                      [   12.345678] RIP: 0000:0x0\n";
        const CLOCK: Duration = Duration::from_micros(12_345_678);
        let expected = Running { process: 31, program: "a program".to_owned(), clock: CLOCK };
        assert_eq!(parse(answer), Some(expected));
        assert_eq!(parse("nothing"), None);
    }
}

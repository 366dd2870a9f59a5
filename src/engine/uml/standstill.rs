//! What a guest was doing when its time was up.

use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::mconsole::{self, Running};

/// What a guest that is given up was doing.
#[derive(Debug, Default)]
pub struct Standstill {
    /// What was found running, each once.
    running: Vec<Running>,
    /// The guest's clock at the first and the last look.
    clocks: Option<(String, String)>,
}

const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// What the kernel calls its idle process.
const IDLE: u32 = 0;

impl Standstill {
    /// Looks several times, since programs that wait for one another take turns.
    pub fn look(folder: &Path, monitor: &Path) -> Self {
        let mut found = Self::default();
        for _ in 0..LOOKS {
            let Ok(Some(running)) = mconsole::running(folder, monitor) else { break };
            let clock = running.clock.clone();
            let first = found.clocks.take().map_or_else(|| clock.clone(), |(first, _)| first);
            found.clocks = Some((first, clock));
            if !found.running.iter().any(|known| known.process == running.process) {
                found.running.push(running);
            }
            sleep(BETWEEN_LOOKS);
        }
        found
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, last)) = &self.clocks else {
            return f.write_str("its kernel does not answer any more");
        };
        let busy: Vec<String> = self
            .running
            .iter()
            .filter(|running| running.process != IDLE)
            .map(|running| format!("{} (process {})", running.program, running.process))
            .collect();
        match (first == last, busy.is_empty()) {
            (true, false) => write!(
                f,
                "its clock stands still at {last} s while {} runs: a program that waits in a loop \
                 without sleeping waits for ever in virtual time, since computing takes none",
                busy.join(", ")
            ),
            (true, true) => write!(f, "its clock stands still at {last} s, and nothing runs"),
            (false, false) => {
                write!(f, "its clock went on, to {last} s; {} was running", busy.join(", "))
            }
            (false, true) => write!(f, "its clock went on, to {last} s, and nothing was running"),
        }
    }
}

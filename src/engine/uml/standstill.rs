//! What a guest was doing when its time was up.

use std::fmt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::job::UPTIME;
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
            found.add(running);
            sleep(BETWEEN_LOOKS);
        }
        found
    }

    fn add(&mut self, running: Running) {
        let clock = running.clock.clone();
        let first = self.clocks.take().map_or_else(|| clock.clone(), |(first, _)| first);
        self.clocks = Some((first, clock));
        if !self.running.iter().any(|known| known.process == running.process) {
            self.running.push(running);
        }
    }
}

impl fmt::Display for Standstill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, last)) = &self.clocks else {
            return f.write_str("its kernel does not answer any more");
        };
        let at = since_start(last);
        let busy: Vec<String> = self
            .running
            .iter()
            .filter(|running| !is_kernels_own(running))
            .map(|running| format!("{} (process {})", running.program, running.process))
            .collect();
        let busy = busy.join(", ");
        match (first == last, busy.is_empty()) {
            (true, false) => write!(
                f,
                "its clock stands still at {at} s, where this runs: {busy}. Computing takes no \
                 time in a guest: a program that waits in a loop without sleeping waits for ever, and \
                 one that only computes needs more real time"
            ),
            (true, true) => write!(f, "its clock stands still at {at} s, and no program runs"),
            (false, false) => write!(f, "its clock went on, to {at} s, while this ran: {busy}"),
            (false, true) => write!(
                f,
                "its clock went on, to {at} s, and no program ran: what it waits for may never come"
            ),
        }
    }
}

/// The guest's uptime as its programs count: from the beginning of its job.
fn since_start(clock: &str) -> f64 {
    clock.parse::<f64>().unwrap_or_default() - UPTIME.as_secs_f64()
}

fn is_kernels_own(running: &Running) -> bool {
    let threads = ["swapper", "kworker/", "ksoftirqd/", "rcu_"];
    running.process == IDLE || threads.iter().any(|name| running.program.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standstill(looks: &[(u32, &str, &str)]) -> String {
        let mut found = Standstill::default();
        for &(process, program, clock) in looks {
            let (program, clock) = (program.to_owned(), clock.to_owned());
            found.add(Running { process, program, clock });
        }
        found.to_string()
    }

    #[test]
    fn what_a_guest_did_is_said_in_its_own_time() {
        let spins = standstill(&[(31, "spin", "1012.500000"), (31, "spin", "1012.500000")]);
        assert!(
            spins.starts_with(
                "its clock stands still at 12.5 s, where this runs: spin (process 31)."
            )
        );
        let waits = standstill(&[(0, "swapper", "1500.0"), (17, "kworker/0:1", "9000.0")]);
        assert!(waits.starts_with("its clock went on, to 8000 s, and no program ran"), "{waits}");
        assert_eq!(standstill(&[]), "its kernel does not answer any more");
    }
}

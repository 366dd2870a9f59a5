//! Window probes: asking a side whose receive window is closed whether it has opened, and answering
//! such a question. Decides at flushes only; the engine writes the segments.

use super::serial::distance;

/// The longest time between two questions; milliseconds.
const LONGEST_WAIT_MS: u32 = 120_000;

#[derive(Debug)]
pub struct WindowProbe {
    first_wait_ms: u32,
    /// Armed while the remote window is closed.
    question: Option<Question>,
    /// The other side is to be told our window with the next flush.
    pub tell: bool,
}

#[derive(Debug)]
struct Question {
    wait_ms: u32,
    at_ms: u32,
}

impl WindowProbe {
    pub const fn new(first_wait_ms: u32) -> Self {
        Self { first_wait_ms, question: None, tell: false }
    }

    /// Whether to ask with this flush. Each wait is half as long again as the one before it.
    pub fn ask(&mut self, now_ms: u32, remote_window: u32) -> bool {
        if remote_window > 0 {
            self.question = None;
            return false;
        }
        match &mut self.question {
            None => {
                self.question = Some(Question::after(self.first_wait_ms, now_ms));
                false
            }
            Some(question) if distance(now_ms, question.at_ms) >= 0 => {
                let wait_ms = question.wait_ms + question.wait_ms / 2;
                *question = Question::after(wait_ms.min(LONGEST_WAIT_MS), now_ms);
                true
            }
            Some(_) => false,
        }
    }

    /// When a flush has something to do here.
    pub fn due_ms(&self, now_ms: u32, remote_window: u32) -> Option<u32> {
        match &self.question {
            _ if self.tell => Some(now_ms),
            Some(question) if remote_window == 0 => Some(question.at_ms),
            None if remote_window > 0 => None,
            _ => Some(now_ms),
        }
    }
}

impl Question {
    const fn after(wait_ms: u32, now_ms: u32) -> Self {
        Self { wait_ms, at_ms: now_ms.wrapping_add(wait_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_questions_thin_out_and_stop_when_the_window_opens() {
        let mut probe = WindowProbe::new(5_000);
        let asked: Vec<u32> = (0..1_000_000).step_by(10).filter(|now| probe.ask(*now, 0)).collect();
        assert_eq!(asked[..5], [5_000, 12_500, 23_750, 40_630, 65_950]);
        assert_eq!(asked.windows(2).map(|pair| pair[1] - pair[0]).max(), Some(120_000));
        assert!(!probe.ask(1_000_000, 1));
        assert_eq!(probe.due_ms(1_000_000, 1), None);
    }
}

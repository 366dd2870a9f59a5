//! The workloads a scenario can ask for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::write_message;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workload {
    /// Messages from the vehicle to the cloud; latency is one way.
    Control(Periodic),
    /// Each message is answered by the cloud at once; latency is scheduled request → delivered
    /// response.
    Echo {
        request: Periodic,
        /// Bytes.
        response_size: u32,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Periodic {
    /// Messages per second; the n-th is due n / rate after the start.
    pub rate: f64,
    /// Bytes, at least [`super::MESSAGE_HEADER_LEN`].
    pub size: u32,
    pub duration: Duration,
    /// A message that takes longer is late.
    pub deadline: Duration,
    pub keep: Keep,
    /// From a whole second of the trial's clock to the first message. `None`: drawn for each
    /// repetition between 0 and one message interval, since an application's schedule stands in no
    /// fixed relation to a protocol's timers.
    pub phase: Option<Duration>,
}

/// What a recording keeps of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// Three times for each message.
    #[default]
    Messages,
    /// A histogram of the latencies and a fixed number of time windows: constant memory however
    /// long the trial.
    Histogram,
}

impl Workload {
    pub fn periodic(&self) -> &Periodic {
        match self {
            Workload::Control(periodic) | Workload::Echo { request: periodic, .. } => periodic,
        }
    }

    /// The word for it in a scenario file.
    pub fn keyword(&self) -> &'static str {
        match self {
            Workload::Control(_) => "control",
            Workload::Echo { .. } => "echo",
        }
    }

    /// Payload bytes that one message stands for, both directions taken together.
    pub fn payload_per_message(&self) -> (u32, u32) {
        match self {
            Workload::Control(periodic) => (periodic.size, 0),
            Workload::Echo { request, response_size } => (request.size, *response_size),
        }
    }

    /// What the cloud answers to this message; `None` where it answers nothing.
    pub fn answer(&self, id: u64) -> Option<Vec<u8>> {
        let Workload::Echo { response_size, .. } = self else { return None };
        let mut answer = vec![0; *response_size as usize];
        write_message(id, &mut answer);
        Some(answer)
    }
}

impl Periodic {
    /// Messages in all: those due strictly before the end.
    pub fn count(&self) -> u64 {
        (self.duration.as_secs_f64() * self.rate - 1e-9).ceil().max(0.0) as u64
    }

    /// Time from one message to the next.
    pub fn interval(&self) -> Duration {
        self.due(1)
    }

    /// When message `id` is due, since the start of the workload.
    pub fn due(&self, id: u64) -> Duration {
        Duration::from_nanos((id as f64 * (1e9 / self.rate)).round() as u64)
    }
}

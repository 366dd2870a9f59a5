//! Three times for each message.

use std::time::Duration;

use super::nanos;
use crate::recording::Message;
use crate::workload::Periodic;

#[derive(Debug)]
pub(super) struct EachLog {
    periodic: Periodic,
    /// By id.
    messages: Vec<Message>,
    slowest: Duration,
}

impl EachLog {
    pub(super) fn new(periodic: Periodic) -> Self {
        Self { periodic, messages: Vec::new(), slowest: Duration::ZERO }
    }

    pub(super) fn sent(&mut self, id: u64, at: Duration) {
        self.push(id, Some(nanos(at)));
    }

    pub(super) fn refused(&mut self, id: u64) {
        self.push(id, None);
    }

    pub(super) fn delivered(&mut self, id: u64, at: Duration) -> Option<Duration> {
        let message = self.messages.get_mut(usize::try_from(id).ok()?)?;
        if message.sent.is_none() || message.delivered.is_some() {
            return None;
        }
        message.delivered = Some(nanos(at));
        let latency = Duration::from_nanos(nanos(at).saturating_sub(message.scheduled));
        self.slowest = self.slowest.max(latency);
        Some(latency)
    }

    /// Messages that fell due while the trial was being stopped, and were never handed over, count
    /// as refused.
    pub(super) fn finish(mut self, until: Duration) -> Vec<Message> {
        self.refuse_unsent(until);
        self.messages
    }

    fn refuse_unsent(&mut self, until: Duration) {
        let mut id = self.messages.len() as u64;
        while id < self.periodic.count() && self.periodic.due(id) < until {
            self.push(id, None);
            id += 1;
        }
    }

    pub(super) fn finish_interrupted(mut self, at: Duration, all_come: bool) -> Vec<Message> {
        let settled = self.settled_before(at, all_come);
        self.refuse_unsent(settled);
        self.messages.retain(|message| message.scheduled < nanos(settled));
        self.messages
    }

    fn settled_before(&self, at: Duration, all_come: bool) -> Duration {
        let deadline = self.periodic.deadline;
        if !all_come {
            return at.saturating_sub(deadline.max(self.slowest));
        }
        let under_way = |it: &&Message| it.sent.is_some() && it.delivered.is_none();
        let first = self.messages.iter().find(under_way).map(|message| message.scheduled);
        let old_enough = at.saturating_sub(deadline);
        first.map_or(old_enough, |first| old_enough.min(Duration::from_nanos(first)))
    }

    fn push(&mut self, id: u64, sent: Option<u64>) {
        assert_eq!(id, self.messages.len() as u64, "message ids ascend without a gap");
        let scheduled = nanos(self.periodic.due(id));
        self.messages.push(Message { scheduled, sent, delivered: None });
    }
}

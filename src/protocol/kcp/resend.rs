//! When a segment in flight is sent (again): what it has been through, and the reasons a flush may
//! find. Here the published implementations part most, so each has its own two functions.

use super::behaviour::ResendRule;
use super::rto::NoDelay;
use super::serial::distance;

/// By [`ResendRule::TimeoutFirst`], who was sent more often than this waits for its timeout.
const FAST_RESEND_LIMIT: u32 = 5;

/// The transmissions of one segment.
#[derive(Debug, Default)]
pub struct Attempts {
    pub count: u32,
    /// The last one.
    pub sent_ms: u32,
    resend_ms: u32,
    rto_ms: u32,
    /// By segments acknowledged since then.
    overtaken: u32,
}

/// Why a segment is sent with this flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    New,
    Timeout,
    Overtaken,
}

/// What decides at a flush.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    pub rule: ResendRule,
    pub now_ms: u32,
    pub rto_ms: u32,
    pub nodelay: NoDelay,
    /// Overtaken so often; `None`: never often enough.
    pub fast_resend: Option<u32>,
    /// This flush lets out no segment for the first time.
    pub nothing_new: bool,
}

impl Attempts {
    /// A segment with a higher number was acknowledged.
    pub fn count_overtaken(&mut self) {
        self.overtaken = self.overtaken.saturating_add(1);
    }

    /// 0 if it has timed out.
    pub fn timeout_wait_ms(&self, now_ms: u32) -> u32 {
        distance(self.resend_ms, now_ms).max(0).unsigned_abs()
    }

    /// Why the segment is due, if it is.
    pub fn reason(&self, terms: &Terms) -> Option<Reason> {
        if self.count == 0 {
            return Some(Reason::New);
        }
        match terms.rule {
            ResendRule::TimeoutFirst => self.reason_timeout_first(terms),
            ResendRule::OvertakenFirst => self.reason_overtaken_first(terms),
        }
    }

    fn reason_timeout_first(&self, terms: &Terms) -> Option<Reason> {
        if self.has_timed_out(terms) {
            Some(Reason::Timeout)
        } else if self.is_overtaken_enough(terms) && self.count <= FAST_RESEND_LIMIT {
            Some(Reason::Overtaken)
        } else {
            None
        }
    }

    fn reason_overtaken_first(&self, terms: &Terms) -> Option<Reason> {
        let early = self.overtaken > 0 && terms.nothing_new;
        if early || self.is_overtaken_enough(terms) {
            Some(Reason::Overtaken)
        } else if self.has_timed_out(terms) {
            Some(Reason::Timeout)
        } else {
            None
        }
    }

    const fn has_timed_out(&self, terms: &Terms) -> bool {
        distance(terms.now_ms, self.resend_ms) >= 0
    }

    fn is_overtaken_enough(&self, terms: &Terms) -> bool {
        terms.fast_resend.is_some_and(|often| self.overtaken >= often)
    }

    /// Marks the segment as sent, if it is due.
    pub fn send_if_due(&mut self, terms: &Terms) -> Option<Reason> {
        let reason = self.reason(terms)?;
        let wait_ms = match terms.rule {
            ResendRule::TimeoutFirst => self.wait_timeout_first(reason, terms),
            ResendRule::OvertakenFirst => self.wait_overtaken_first(reason, terms),
        };
        self.resend_ms = terms.now_ms.wrapping_add(wait_ms);
        self.sent_ms = terms.now_ms;
        self.count = self.count.saturating_add(1);
        Some(reason)
    }

    fn wait_timeout_first(&mut self, reason: Reason, terms: &Terms) -> u32 {
        match reason {
            Reason::New => {
                self.rto_ms = terms.rto_ms;
                return terms.nodelay.first_wait_ms(terms.rto_ms);
            }
            Reason::Timeout => self.rto_ms = terms.nodelay.back_off(self.rto_ms, terms.rto_ms),
            Reason::Overtaken => self.overtaken = 0,
        }
        self.rto_ms
    }

    fn wait_overtaken_first(&mut self, reason: Reason, terms: &Terms) -> u32 {
        self.overtaken = 0;
        self.rto_ms = match reason {
            Reason::New | Reason::Overtaken => terms.rto_ms,
            Reason::Timeout => terms.nodelay.add_measured(self.rto_ms, terms.rto_ms),
        };
        self.rto_ms
    }
}

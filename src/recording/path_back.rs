//! How long after an outage its path carries a sender's traffic again, so that what was redundant
//! is so again. From what was put on the path alone, whatever the protocol: nothing of its insides.
//!
//! A **window** is ten slots of a [`Volume`] (ten messages, or 100 ms where that is longer), and one
//! begins at each slot. The path **is back** at the first slot with anything in it of the first two
//! windows in a row, after the outage, that each hold as much as the leanest of the ten windows'
//! time before it, less a tenth. What a slot holds beyond the fullest before the outage does not
//! count: so a burst of what had been waiting is not taken for a second of traffic. The resolution
//! is one slot; a lone probe just before the path is back can make it up to a window early.
//!
//! Before the outage counts from when the path was in use again after the one before: what was sent
//! until then is no level to come back to. Where too little was sent before that one to tell, it
//! counts from as long after it as it took, and from ten windows' time after it at the soonest.
//!
//! Where the leanest window before was next to empty (less than a tenth of the payload that fell due
//! in it), the sender used the path now and then only, and no level is there to come back to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use super::{Recording, Recovery, Volume};
use crate::timeline::Outage;

/// Slots.
const WINDOW: usize = 10;
const WINDOWS_BEFORE: usize = 10;
const FEWEST_WINDOWS_BEFORE: usize = 5;
/// As full as before, one next to the other.
const WINDOWS_AFTER: usize = 2;
const ALLOWANCE: f64 = 0.9;
/// Of the payload that falls due in a window.
const LEAST_SHARE: f64 = 0.1;

/// When a path that had been dark was used as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathBack {
    /// Never: not before the workload, or the light, ended.
    pub after: Recovery,
    /// If that is unknown.
    pub why: Option<NoLevel>,
}

/// Why there is nothing to compare with. How long a slot is belongs to the reason: in a workload of
/// hours it is seconds, and what is too short for a level is then minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoLevel {
    /// The outage began too soon after the start, or after the path was in use again after the
    /// outage before.
    TooSoon { slot: Duration },
    /// The path was used now and then only.
    Seldom,
    /// The workload, or the light, ended too soon after the outage.
    TooLate { slot: Duration },
}

impl std::fmt::Display for NoLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooSoon { slot } => {
                let fewest = FEWEST_WINDOWS_BEFORE * WINDOW;
                write!(f, "in use for fewer than {fewest} slots of {} before the outage", ms(slot))
            }
            Self::Seldom => f.write_str("the path was used now and then only before the outage"),
            Self::TooLate { slot } => {
                let fewest = WINDOWS_AFTER * WINDOW;
                write!(f, "lit for fewer than {fewest} slots of {} after the outage", ms(slot))
            }
        }
    }
}

/// To a tenth of a millisecond.
fn ms(slot: &Duration) -> String {
    format!("{} ms", (slot.as_secs_f64() * 1e4).round() / 10.0)
}

impl PathBack {
    /// Of each of these outages of a trial, which are sorted by when they begin. `None`: the sender
    /// has no other path, or nothing was kept of this one.
    pub(super) fn of_all(trial: &Recording, outages: &[Outage]) -> Vec<Option<Self>> {
        let mut in_use_since = BTreeMap::new();
        let of = |outage: &Outage| {
            let since = in_use_since.get(&outage.path).copied().unwrap_or_default();
            let (back, in_use) = Self::of(trial, outage, since)?;
            in_use_since.insert(outage.path, in_use);
            Some(back)
        };
        outages.iter().map(of).collect()
    }

    /// The path was in use as before since a time after the outage before; and since when after
    /// this one.
    fn of(trial: &Recording, outage: &Outage, since: Duration) -> Option<(Self, Duration)> {
        let volume = trial.volumes.iter().find(|volume| volume.path == outage.path)?;
        if trial.protocol.paths().len() < 2 {
            return None;
        }
        let others = trial.outages.iter().filter(|other| other.path == outage.path);
        let dark_again = others.map(|it| it.from).filter(|it| *it >= outage.until).min();
        let end = dark_again.unwrap_or(Duration::MAX).min(trial.measured());
        let light = Light {
            before: since..outage.from,
            after: outage.until..end,
            least: least(trial, volume),
        };
        let back = match light.path_back(volume) {
            Ok(after) => Self { after, why: None },
            Err(why) => Self { after: Recovery::Unknown, why: Some(why) },
        };
        let in_use = match (back.after, back.why) {
            (Recovery::After(time), _) => outage.until + time,
            (Recovery::Unknown, Some(NoLevel::Seldom)) => outage.until,
            (Recovery::Unknown, Some(NoLevel::TooSoon { .. })) => surely_in_use(outage, volume),
            (Recovery::Never | Recovery::Unknown, _) => end,
        };
        Some((back, in_use))
    }
}

/// Of a path of which it is not known what it carried before this outage.
fn surely_in_use(outage: &Outage, volume: &Volume) -> Duration {
    let length = outage.until.saturating_sub(outage.from);
    outage.until.saturating_add(length.max(volume.middle(WINDOWS_BEFORE * WINDOW)))
}

/// Bytes in a window below which a path is next to empty.
fn least(trial: &Recording, volume: &Volume) -> u64 {
    let periodic = trial.workload.periodic();
    let window = volume.middle(WINDOW).as_secs_f64();
    (periodic.rate * window * f64::from(periodic.size) * LEAST_SHARE) as u64
}

/// The times at which a path was not dark, before and after an outage; before it only from when the
/// path was in use.
struct Light {
    before: Range<Duration>,
    after: Range<Duration>,
    least: u64,
}

impl Light {
    fn path_back(&self, volume: &Volume) -> Result<Recovery, NoLevel> {
        let until = volume.ended_by(self.before.end);
        let from = volume.first_at(self.before.start);
        let before = from.max(until.saturating_sub(WINDOWS_BEFORE * WINDOW))..until;
        if before.len() < FEWEST_WINDOWS_BEFORE * WINDOW {
            return Err(NoLevel::TooSoon { slot: volume.middle(1) });
        }
        let fullest = volume.within(before.clone()).max().unwrap_or(0);
        let window = |from: usize| -> u64 {
            volume.within(from..from + WINDOW).map(|bytes| bytes.min(fullest)).sum()
        };
        let leanest = (before.start..=before.end - WINDOW).map(window).min().unwrap_or(0);
        if leanest <= self.least {
            return Err(NoLevel::Seldom);
        }
        let (from, end) = (volume.first_at(self.after.start), volume.ended_by(self.after.end));
        let last = end.checked_sub(WINDOWS_AFTER * WINDOW).filter(|last| *last >= from);
        let enough = (leanest as f64 * ALLOWANCE) as u64;
        let full = |from: usize| window(from) >= enough && window(from + WINDOW) >= enough;
        let last = last.ok_or(NoLevel::TooLate { slot: volume.middle(1) })?;
        let Some(back) = (from..=last).find(|from| full(*from)) else {
            return Ok(Recovery::Never);
        };
        let first = volume.within(back..back + WINDOW).position(|bytes| bytes > 0).unwrap_or(0);
        let after = volume.middle(back + first).saturating_sub(self.after.start);
        Ok(Recovery::After(after))
    }
}

#[cfg(test)]
mod tests;

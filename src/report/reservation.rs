//! Why the figures of a sender are not held against those of others: what the host or the user did
//! is in them. They are shown, with a sign, and take no part in any ranking.

use std::fmt;

use super::{Report, SenderReport};
use crate::recording::{Recording, Status};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reservation {
    /// In a part of the workload less or other things happen than in all of it.
    Interrupted,
    /// The host disturbed a run.
    Spoilt,
}

impl Reservation {
    /// The graver one last.
    pub const ALL: [Reservation; 2] = [Self::Interrupted, Self::Spoilt];

    /// Each that one of these trials of a sender gives reason for.
    pub fn on(trials: &[&Recording]) -> Vec<Self> {
        let any = |reservation: &Self| trials.iter().any(|trial| reservation.is_on(trial));
        Self::ALL.into_iter().filter(any).collect()
    }

    fn is_on(self, trial: &Recording) -> bool {
        match self {
            Self::Interrupted => matches!(trial.status, Status::Interrupted { .. }),
            Self::Spoilt => trial.fidelity.as_ref().is_some_and(|it| it.spoilt.is_some()),
        }
    }

    /// After the name of a sender.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Spoilt => "†",
            Self::Interrupted => "‡",
        }
    }
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spoilt => "spoilt by the host",
            Self::Interrupted => "interrupted",
        })
    }
}

/// `interrupted, spoilt by the host`.
pub fn in_words(reservations: &[Reservation]) -> String {
    reservations.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl SenderReport {
    /// Whether its figures may be held against those of others.
    pub fn is_ranked(&self) -> bool {
        self.reservations.is_empty()
    }

    /// Of its reservations; empty without any.
    pub fn signs(&self) -> String {
        self.reservations.iter().map(|reservation| reservation.sign()).collect()
    }

    /// Its name, with these signs.
    pub fn label(&self) -> String {
        let name = &self.pooled.sender;
        if self.is_ranked() { name.clone() } else { format!("{name} {}", self.signs()) }
    }
}

impl Report {
    /// Those that there are on its senders.
    pub fn reservations(&self) -> impl Iterator<Item = Reservation> {
        let any = |it: &Reservation| self.senders.iter().any(|of| of.reservations.contains(it));
        Reservation::ALL.into_iter().filter(any)
    }
}

#[cfg(test)]
mod tests;

//! What the links were asked for and what they did, over all trials: how far a reader may take the
//! impairment for what the scenario says.
//!
//! The senders of one repetition meet the same random numbers, so that their counts do not add up
//! to more certainty: a figure is shown over all of them, but judged sender by sender, and trial by
//! trial.

use std::borrow::Cow;

use crate::link::profile::LinkProfile;
use crate::recording::receipt::judge::{Judged, Verdict, What, Why, judge};
use crate::recording::receipt::{PathReceipts, Receipt, Tally};
use crate::recording::{Recording, Status};
use crate::statistics::Interval;
use crate::timeline::is_dark;
use crate::units::{Direction, PathId};

#[derive(Debug, Clone, PartialEq)]
pub struct Impairment {
    /// By path, direction and when the profile first held.
    pub links: Vec<LinkReport>,
}

/// One direction of a path while it had one profile.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkReport {
    pub path: PathId,
    pub direction: Direction,
    /// `None`: many profiles pooled.
    pub asked: Option<LinkProfile>,
    /// Its place among the profiles of this direction that are not dark, from 0.
    pub place: usize,
    /// Of how many profiles of this direction that are not dark.
    pub of: usize,
    pub packets: u64,
    pub figures: Vec<FigureReport>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FigureReport {
    /// Over all trials; the verdict is that of those that disagree, else of those that the host
    /// spoilt, or the best of the senders.
    pub pooled: Judged,
    /// Where it disagrees.
    pub findings: Vec<Finding>,
    /// Where the host let packets go too late to judge it.
    pub late: Vec<Finding>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub sender: String,
    /// `None`: in all runs of the sender together.
    pub repetition: Option<u32>,
    pub judged: Judged,
    /// The host spoilt the trial, or one of the sender's.
    pub spoilt: bool,
}

impl Finding {
    /// `quic, run 2`, counted from 0.
    pub fn place(&self) -> String {
        match self.repetition {
            Some(repetition) => format!("{}, run {repetition}", self.sender),
            None => format!("{}, all runs", self.sender),
        }
    }
}

/// A receipt and the trial it is from.
#[derive(Clone, Copy)]
struct Of<'a> {
    trial: &'a Recording,
    receipt: &'a Receipt,
}

impl Impairment {
    /// Interrupted trials are left out. `None`: there is nothing to judge.
    pub fn of(recordings: &[&Recording]) -> Option<Self> {
        let judged = |trial: &&&Recording| !matches!(trial.status, Status::Interrupted { .. });
        let trials = recordings.iter().filter(judged).copied();
        let trials: Vec<Judgeable> = trials.map(|trial| (trial, trial.receipts_of_all())).collect();
        let paths =
            trials.iter().flat_map(|(_, receipts)| receipts.iter()).map(|it| it.path).max()?;
        let links = (0..=paths.0).map(PathId).flat_map(|path| {
            Direction::BOTH.into_iter().flat_map(move |direction| [(path, direction)])
        });
        let links = links.flat_map(|(path, direction)| of_link(&trials, path, direction));
        let links: Vec<LinkReport> = links.collect();
        (!links.is_empty()).then_some(Self { links })
    }

    pub fn disagrees(&self) -> bool {
        self.findings().next().is_some()
    }

    /// Whether the host kept time in a trial that disagrees: then it is not to blame.
    pub fn disagrees_unspoilt(&self) -> bool {
        self.findings().any(|(_, _, finding)| !finding.spoilt)
    }

    /// Whether the host let packets go so late that a figure is not the link's.
    pub fn is_spoilt(&self) -> bool {
        let mut figures = self.links.iter().flat_map(|link| &link.figures);
        figures.any(|figure| !figure.late.is_empty())
    }

    pub fn findings(&self) -> impl Iterator<Item = (&LinkReport, What, &Finding)> {
        self.links.iter().flat_map(|link| {
            link.figures.iter().flat_map(move |figure| {
                figure.findings.iter().map(move |finding| (link, figure.pooled.what, finding))
            })
        })
    }
}

/// A trial and what the links did to all its vehicles.
type Judgeable<'a> = (&'a Recording, Cow<'a, [PathReceipts]>);

fn of_link(trials: &[Judgeable], path: PathId, direction: Direction) -> Vec<LinkReport> {
    let mut profiles: Vec<(Option<&LinkProfile>, Vec<Of<'_>>)> = Vec::new();
    for (trial, receipts) in trials {
        let both = receipts.iter().filter(|both| both.path == path);
        for receipt in both.flat_map(|both| match direction {
            Direction::Up => &both.up,
            Direction::Down => &both.down,
        }) {
            let asked = receipt.asked.as_ref();
            let of = Of { trial, receipt };
            match profiles.iter_mut().find(|(profile, _)| *profile == asked) {
                Some((_, receipts)) => receipts.push(of),
                None => profiles.push((asked, vec![of])),
            }
        }
    }
    let lit = |profile: &Option<&LinkProfile>| !profile.is_some_and(is_dark);
    let of = profiles.iter().filter(|(profile, _)| lit(profile)).count();
    let mut place = 0;
    let links = profiles.iter().map(|(profile, receipts)| {
        let link = LinkReport {
            path,
            direction,
            asked: profile.cloned(),
            place,
            of,
            packets: receipts.iter().map(|of| of.receipt.did.entered).sum(),
            figures: figures(receipts),
        };
        place += usize::from(lit(profile));
        link
    });
    links.collect()
}

/// Of one profile.
fn figures(receipts: &[Of<'_>]) -> Vec<FigureReport> {
    let senders = by_sender(receipts);
    let of_senders: Vec<Vec<Judged>> = senders.iter().map(|of| judge_together(of)).collect();
    let of_trials: Vec<Vec<Judged>> = receipts.iter().map(|of| judge(of.receipt)).collect();
    let widening = widening(&senders);
    let figures = judge_together(receipts).into_iter().enumerate().map(|(place, all)| {
        let mut found: Vec<Finding> = Vec::new();
        for (of, judged) in receipts.iter().zip(&of_trials) {
            found.extend(finding(&[*of], &judged[place], Some(of.trial.repetition)));
        }
        for (of, judged) in senders.iter().zip(&of_senders).filter(|(of, _)| of.len() > 1) {
            found.extend(finding(of, &judged[place], None));
        }
        let best = of_senders.iter().map(|judged| judged[place].verdict);
        let best = best.max_by_key(|verdict| weight(*verdict)).unwrap_or(all.verdict);
        let worst = found.iter().map(|finding| finding.judged.verdict);
        let verdict = worst.max_by_key(|verdict| weight(*verdict)).unwrap_or(best);
        let interval = widened(&all, widening);
        let wrong = |finding: &Finding| finding.judged.verdict == Verdict::Disagrees;
        let (findings, late) = found.into_iter().partition(wrong);
        FigureReport { pooled: Judged { verdict, interval, ..all }, findings, late }
    });
    figures.collect()
}

fn by_sender<'a>(receipts: &[Of<'a>]) -> Vec<Vec<Of<'a>>> {
    let mut senders: Vec<Vec<Of<'a>>> = Vec::new();
    for of in receipts {
        match senders.iter_mut().find(|sender| sender[0].trial.sender == of.trial.sender) {
            Some(sender) => sender.push(*of),
            None => senders.push(vec![*of]),
        }
    }
    senders
}

/// A figure is of the trials in which it can be told, if there are any: what may be a loss or not in
/// one of them is no figure that the others could vouch for.
fn judge_together(receipts: &[Of<'_>]) -> Vec<Judged> {
    let judged: Vec<Vec<Judged>> = receipts.iter().map(|of| judge(of.receipt)).collect();
    let all = judge(&pooled(receipts)).into_iter().enumerate().map(|(place, all)| {
        let can_tell = |(_, judged): &(_, &Vec<Judged>)| !is_unclear(judged[place].verdict);
        let clear = receipts.iter().copied().zip(&judged).filter(can_tell).map(|(of, _)| of);
        let clear: Vec<Of<'_>> = clear.collect();
        match clear.len() {
            0 => all,
            count if count == receipts.len() => all,
            _ => judge(&pooled(&clear)).swap_remove(place),
        }
    });
    all.collect()
}

fn is_unclear(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::NotJudged(Why::QueueFull | Why::Overflow))
}

fn pooled(receipts: &[Of<'_>]) -> Receipt {
    let mut did = Tally::default();
    receipts.iter().for_each(|of| did += of.receipt.did);
    let slack_ns = receipts.iter().map(|of| of.receipt.slack_ns).max().unwrap_or(0);
    let first = receipts.first().map(|of| of.receipt);
    Receipt {
        asked: first.and_then(|receipt| receipt.asked.clone()),
        did,
        unseen: first.map_or_else(Vec::new, |receipt| receipt.unseen.clone()),
        slack_ns,
    }
}

fn finding(of: &[Of<'_>], judged: &Judged, repetition: Option<u32>) -> Option<Finding> {
    let spoilt = |of: &Of<'_>| of.trial.fidelity.as_ref().is_some_and(|it| it.spoilt.is_some());
    matches!(judged.verdict, Verdict::Disagrees | Verdict::Spoilt).then(|| Finding {
        sender: of[0].trial.sender.clone(),
        repetition,
        judged: judged.clone(),
        spoilt: of.iter().any(spoilt),
    })
}

/// What the senders show together, from the least to the most telling; of trials, the worse.
fn weight(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::NotJudged(_) => 0,
        Verdict::TooFew => 1,
        Verdict::Agrees => 2,
        Verdict::Spoilt => 3,
        Verdict::Disagrees => 4,
    }
}

/// How much wider an interval over all senders is than if they were independent, at most: standard
/// deviations add up where all meet the same numbers.
fn widening(senders: &[Vec<Of<'_>>]) -> f64 {
    let counts = senders.iter().map(|of| of.iter().map(|of| of.receipt.did.settled).sum::<u64>());
    let counts: Vec<f64> = counts.map(|count| count as f64).collect();
    let (roots, all) = (counts.iter().map(|count| count.sqrt()).sum::<f64>(), counts.iter().sum());
    let all: f64 = all;
    if all > 0.0 { roots / all.sqrt() } else { 1.0 }
}

fn widened(judged: &Judged, by: f64) -> Interval<f64> {
    let Some(did) = judged.did else { return judged.interval };
    let most = match judged.what {
        What::Loss | What::Overtaking | What::Ahead | What::Copies | What::Corruption => 1.0,
        What::Burst | What::Delay | What::Jitter | What::Rate => f64::INFINITY,
    };
    let Interval { low, high } = judged.interval;
    Interval {
        low: low.map(|low| (did - (did - low) * by).max(0.0)),
        high: high.map(|high| (did + (high - did) * by).min(most)),
    }
}

#[cfg(test)]
mod tests;

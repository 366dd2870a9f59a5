//! Two engines that ran the same plan, held against each other: the figures of each sender, and its
//! messages one by one. What differs between `sim` and an engine in real time is that one's own
//! lateness, or the host's; two engines in virtual time have no such excuse.

mod amplification;
mod document;
mod figures;
mod losses;
mod messages;
mod pair;

use serde::Serialize;

use self::amplification::{Amplifications, TOLERANCE, TOLERANCE_BYTES};
pub use self::document::document;
use self::figures::{Figures, P50_TOLERANCE_MS, P99_TOLERANCE};
use self::losses::TOLERANCE_SIGMAS;
use self::messages::{HEADINGS, MessageAgreement, SAME, SAME_SHARE};
use self::pair::TRUSTED_RUNS;
use super::summarise::{Report, SenderReport};
use super::table::{Cell, Table, Tone};
use super::terminal::Style;
use crate::recording::{EngineKind, Recording};

/// What one engine made of the plan.
#[derive(Debug, Clone)]
pub struct Ran {
    pub engine: EngineKind,
    pub report: Report,
    pub recordings: Vec<Recording>,
}

/// The senders that the reference ran.
#[derive(Debug)]
pub struct Agreement {
    engines: (EngineKind, EngineKind),
    senders: Vec<SenderAgreement>,
    /// Of the sender that has the fewest.
    runs: usize,
    spoilt: Option<String>,
}

#[derive(Debug)]
struct SenderAgreement {
    name: String,
    /// `None`: the other engine did not run it, or one of both delivered nothing.
    figures: Option<Figures>,
    /// `None`: the other engine did not run it, or it took no message on one of both.
    amplifications: Option<Amplifications>,
    /// `None`: not every message was kept.
    messages: Option<MessageAgreement>,
    /// Whether messages have to be the same, one by one.
    exact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agrees {
    Yes,
    /// The figures do, but the messages part ways: from some moment on one engine sends a packet
    /// more than the other, every later packet meets the random number of another one, and nothing
    /// is the same again. Only said of two virtual times.
    InFigures,
    /// Out of tolerance, but no further apart than the intervals of both allow.
    WithinNoise,
    /// Out of tolerance by no more than one run may be by chance, and there is no interval to tell,
    /// or one of too few runs.
    TooFewRuns,
    No,
}

const PARTED_WAYS: &str = "\
at \"first apart\" the messages part ways. uml's endpoints take microseconds for their work
and sim's none, and so do slots from one to the next: once in a while that moves a timer past a tick,
or one of two things that happen at once before the other; and packets that leave together arrive
together on sim and one after the other on uml, where they may be acknowledged apart. A packet more is
then sent or dropped, and every later one meets the random number of another. The bit that corruption flips, and the number that
the first correlated draw leans on, are the kernel's own from the start.";

const ACKNOWLEDGED_OTHERWISE: &str = "\
The kernel's TCP acknowledges every other segment until its timer of 40 ms has run out once (after a pause, a loss, or a
stall of the host), and then each: its down amplification has two levels, and a run may be on either or between them.";

impl Agreement {
    pub fn between(reference: &Ran, other: &Ran) -> Self {
        let exact = reference.engine.is_virtual_time() && other.engine.is_virtual_time();
        let agreement = |sender: &SenderReport| {
            let name = &sender.pooled.sender;
            SenderAgreement {
                name: name.clone(),
                figures: Figures::of(name, &reference.recordings, &other.recordings),
                amplifications: Amplifications::of(name, &reference.recordings, &other.recordings),
                messages: MessageAgreement::of(name, &reference.recordings, &other.recordings),
                exact,
            }
        };
        let fidelities = [&other.report, &reference.report].map(|report| report.fidelity.as_ref());
        Self {
            engines: (reference.engine, other.engine),
            senders: reference.report.senders.iter().map(agreement).collect(),
            runs: reference.report.senders.iter().map(|it| it.pooled.runs).min().unwrap_or(0),
            spoilt: fidelities.into_iter().flatten().find_map(|fidelity| fidelity.spoilt.clone()),
        }
    }

    /// The worst of all senders; without any there is nothing that agrees.
    pub fn verdict(&self) -> Agrees {
        self.senders.iter().map(SenderAgreement::verdict).max().unwrap_or(Agrees::No)
    }

    /// Why the host, and not an engine, may be what is to blame.
    pub fn spoilt(&self) -> Option<&str> {
        self.spoilt.as_deref()
    }

    pub fn render(&self, style: Style) -> String {
        let (reference, other) = self.engines;
        let mut text = format!(
            "{reference} against {other} (\"other\"), delivered messages: P50 within \
             {P50_TOLERANCE_MS} ms, P99 within {} %, lost within {TOLERANCE_SIGMAS} standard \
             deviations (independent losses)\n\n",
            P99_TOLERANCE * 100.0
        );
        text += &self.figures_table().render(style.width, style.colour);
        text += &format!(
            "\nAmplification, bytes of IP packets for a byte of payload: each way within {} %, or \
             {TOLERANCE_BYTES}\n\n",
            TOLERANCE * 100.0
        );
        text += &self.amplifications_table().render(style.width, style.colour);
        if let Some(remark) = self.acknowledged_otherwise() {
            text += &format!("\n{remark}\n");
        }
        text += &format!("\nMessage for message: {}\n\n", self.message_rule());
        text += &self.messages_table().render(style.width, style.colour);
        for remark in self.remarks_on_verdict() {
            text += &format!("\n{remark}\n");
        }
        text
    }

    /// What to know before trusting the verdicts, each in a sentence or some.
    fn remarks(&self) -> Vec<String> {
        let otherwise = self.acknowledged_otherwise().map(str::to_owned);
        otherwise.into_iter().chain(self.remarks_on_verdict()).collect()
    }

    fn acknowledged_otherwise(&self) -> Option<&'static str> {
        let any = self.senders.iter().any(SenderAgreement::acknowledges_otherwise);
        any.then_some(ACKNOWLEDGED_OTHERWISE)
    }

    fn remarks_on_verdict(&self) -> Vec<String> {
        let (reference, other) = self.engines;
        let part_ways = self.senders.iter().any(SenderAgreement::part_ways);
        let more_runs = match self.verdict() {
            Agrees::TooFewRuns => Some(format!(
                "Too few runs to tell noise from a difference: --repeat {TRUSTED_RUNS}."
            )),
            Agrees::No if self.runs < TRUSTED_RUNS => Some(format!(
                "Where a few bad runs make the tail, the interval of few runs does not know of \
                 those that are missing: see whether it stays with --repeat {TRUSTED_RUNS}."
            )),
            _ => None,
        };
        let disturbed = self.spoilt.as_ref().map(|reason| {
            format!(
                "The host disturbed {reference} or {other}: {reason}. Try again on a quiet machine."
            )
        });
        let part_ways = part_ways.then(|| PARTED_WAYS.to_owned());
        [part_ways, more_runs, disturbed].into_iter().flatten().collect()
    }

    fn message_rule(&self) -> String {
        let same = format!("same is within {} µs, or lost on both", SAME.as_micros());
        match self.senders.iter().any(|sender| sender.exact) {
            true => format!(
                "{same}; two virtual times agree by more than their figures if {} % are",
                SAME_SHARE * 100.0
            ),
            false => format!("{same}; for information, since one of both is in real time"),
        }
    }

    fn figures_table(&self) -> Table {
        let mut table = Table::new(&[
            "sender", "P50 ms", "other", "apart", "P99 ms", "other", "apart", "lost", "other",
            "agrees",
        ]);
        self.senders.iter().for_each(|sender| table.push(sender.figures_row()));
        table
    }

    fn amplifications_table(&self) -> Table {
        let mut table = Table::new(&amplification::HEADINGS);
        self.senders.iter().for_each(|sender| table.push(sender.amplifications_row()));
        table
    }

    fn messages_table(&self) -> Table {
        let mut table = Table::new(&HEADINGS);
        self.senders.iter().for_each(|sender| table.push(sender.messages_row()));
        table
    }
}

impl SenderAgreement {
    /// Which only two virtual times have no excuse for.
    fn part_ways(&self) -> bool {
        self.exact && self.messages.as_ref().is_some_and(|messages| !messages.are_the_same())
    }

    fn verdict(&self) -> Agrees {
        self.delivery_verdict().max(self.cost_verdict())
    }

    /// What was sent is judged apart: where every message arrives at the same time on both, what
    /// the senders say to one another beside may differ all the same.
    fn cost_verdict(&self) -> Agrees {
        self.amplifications.as_ref().map_or(Agrees::No, Amplifications::verdict)
    }

    fn acknowledges_otherwise(&self) -> bool {
        self.amplifications.as_ref().is_some_and(Amplifications::acknowledges_otherwise)
    }

    /// `None`: not judged.
    fn message_verdict(&self) -> Option<Agrees> {
        let messages = self.messages.as_ref().filter(|_| self.exact)?;
        Some(if messages.are_the_same() { Agrees::Yes } else { Agrees::InFigures })
    }

    fn delivery_verdict(&self) -> Agrees {
        let figures = self.figures.as_ref().map_or(Agrees::No, Figures::verdict);
        match self.messages.as_ref().filter(|_| self.exact) {
            Some(messages) if messages.are_all_the_same() => Agrees::Yes,
            _ if self.part_ways() => figures.max(Agrees::InFigures),
            _ => figures,
        }
    }

    fn figures_row(&self) -> Vec<Cell> {
        let mut cells = self.row(self.figures.as_ref().map(Figures::cells), 8);
        cells.push(self.delivery_verdict().cell());
        cells
    }

    fn amplifications_row(&self) -> Vec<Cell> {
        let mut cells = self.row(self.amplifications.as_ref().map(Amplifications::cells), 6);
        cells.push(self.cost_verdict().cell());
        cells
    }

    fn messages_row(&self) -> Vec<Cell> {
        self.row(self.messages.as_ref().map(MessageAgreement::cells), HEADINGS.len() - 1)
    }

    /// The sender's name before its cells, or before as many dashes.
    fn row(&self, cells: Option<Vec<Cell>>, columns: usize) -> Vec<Cell> {
        let mut row = vec![Cell::new(&self.name)];
        row.extend(cells.unwrap_or_else(|| (0..columns).map(|_| Cell::new("–")).collect()));
        row
    }
}

impl Agrees {
    fn cell(self) -> Cell {
        match self {
            Self::Yes => Cell::toned("yes", Tone::Good),
            Self::InFigures => Cell::new("in figures"),
            Self::WithinNoise => Cell::new("within noise"),
            Self::TooFewRuns => Cell::new("too few runs"),
            Self::No => Cell::toned("no", Tone::Bad),
        }
    }
}

/// On the engine that has fewer.
fn runs_of(sender: &str, reference: &[Recording], other: &[Recording]) -> usize {
    let runs = |of: &[Recording]| of.iter().filter(|one| one.sender == sender).count();
    runs(reference).min(runs(other))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::recording::{Message, Messages, sample};
    use crate::report::summarise;

    /// The sample's kcp on an engine, each message later by this, and every n-th lost.
    pub(super) fn ran(engine: EngineKind, later: Duration, lost_every: usize) -> Ran {
        let shifted = |(number, message): (usize, &Message)| {
            let at = message.delivered.map(|at| at + later.as_nanos() as u64);
            Message { delivered: at.filter(|_| (number + 1) % lost_every != 0), ..*message }
        };
        let recording = sample::recording("kcp", 0);
        let Messages::Each(messages) = &recording.messages else { panic!("each is kept") };
        let messages = Messages::Each(messages.iter().enumerate().map(shifted).collect());
        let mut plan = sample::plan(1);
        plan.senders.retain(|sender| sender.name == "kcp");
        let recordings = vec![Recording { messages, engine, ..recording }];
        Ran { engine, report: summarise(&plan, &recordings), recordings }
    }

    fn verdict(engine: EngineKind, later: Duration, lost_every: usize) -> Agrees {
        let reference = ran(EngineKind::Sim, Duration::ZERO, 50);
        Agreement::between(&reference, &ran(engine, later, lost_every)).verdict()
    }

    #[test]
    fn real_time_agrees_with_itself_and_not_with_what_is_later_or_loses_more() {
        let us = Duration::from_micros;
        let relay = |later, lost_every| verdict(EngineKind::Relay, later, lost_every);
        assert_eq!(relay(Duration::ZERO, 50), Agrees::Yes);
        assert_eq!(relay(us(900), 50), Agrees::Yes);
        assert_eq!(relay(us(1_100), 50), Agrees::TooFewRuns);
        assert_eq!(relay(us(60_000), 50), Agrees::No);
        assert_eq!(relay(Duration::ZERO, 25), Agrees::No);
    }

    #[test]
    fn two_virtual_times_agree_to_the_microsecond_or_in_figures_only() {
        let us = Duration::from_micros;
        assert_eq!(verdict(EngineKind::Uml, us(10), 50), Agrees::Yes);
        assert_eq!(verdict(EngineKind::Uml, us(900), 50), Agrees::InFigures);
        assert_eq!(verdict(EngineKind::Uml, us(60_000), 50), Agrees::No);
    }

    #[test]
    fn with_few_runs_a_difference_is_no_last_word() {
        let reference = ran(EngineKind::Sim, Duration::ZERO, 50);
        let style = Style { width: 120, colour: false };
        let advised = |later| {
            let other = ran(EngineKind::Relay, later, 50);
            Agreement::between(&reference, &other).render(style).contains("--repeat 20")
        };
        assert!(advised(Duration::from_millis(60)));
        assert!(!advised(Duration::ZERO));
    }

    #[test]
    fn a_sender_that_the_other_did_not_run_does_not_agree() {
        let reference = ran(EngineKind::Sim, Duration::ZERO, 50);
        let mut nothing = reference.clone();
        nothing.report.senders.clear();
        nothing.recordings.clear();
        assert_eq!(Agreement::between(&reference, &nothing).verdict(), Agrees::No);
        assert_eq!(Agreement::between(&nothing, &nothing).verdict(), Agrees::No);
    }

    #[test]
    fn it_reads_as_two_tables() {
        let reference = ran(EngineKind::Sim, Duration::ZERO, 50);
        let other = ran(EngineKind::Relay, Duration::from_micros(120), 49);
        let style = Style { width: 120, colour: false };
        insta::assert_snapshot!(Agreement::between(&reference, &other).render(style));
    }
}

//! `mpquic`, whose options depend on its stack. What is not written is as in [`TquicSettings::new`]
//! or [`NoqSettings::new`]. An option that only the other stack has is a mistake that says so.

use std::time::Duration;

use super::form::Form;
use super::option::{self, OptionText, SenderOption};
use super::paths::{self, PathChoice, PathKeys};
use super::quic::{self, HasTransport, INITIAL_RTT};
use super::{Engines, Sender};
use crate::protocol::ProtocolSettings;
use crate::protocol::settings::{
    MpquicCongestion, MpquicScheduler, MpquicSettings, MpquicStack, NoqCongestion, NoqScheduler,
    NoqSettings, QuicMode, QuicTransport, TquicSettings,
};
use crate::scenario::fields::{self, Fields};
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::Limits;
use crate::scenario::tree::Value;

pub const SENDER: Sender = Sender {
    keyword: "mpquic",
    about: "Multipath QUIC: one connection over all its paths, by one of two stacks",
    source: "tquic; draft-ietf-quic-multipath-05. noq-proto; draft-ietf-quic-multipath-21",
    engines: Engines::All,
    paths: PathKeys::Several { least: LEAST_PATHS },
    replicable: false,
    options: texts,
    read,
};

const LEAST_PATHS: usize = 1;
const NOT_REPLICABLE: &str = "it has paths of its own, and its scheduler `redundant` does the same";

const PTO: Limits<Duration> =
    Limits { min: Duration::from_millis(10), max: Duration::from_secs(60) };
const LINEAR: Limits<u64> = Limits { min: 0, max: 100 };

const NOQ_CONGESTION: [(&str, NoqCongestion); 2] =
    [("cubic", NoqCongestion::Cubic), ("newreno", NoqCongestion::NewReno)];

const SCHEDULER: &str = "tquic: every packet on every path, on that of the lowest RTT, or in turns; \
                         noq: the first path whose window has room, or the others as its backup";
const CONGESTION: &str =
    "on each path; tquic only: bbr, bbr3, copa; noq only: newreno, fixed-window";

fn tquic_options() -> Vec<SenderOption<TquicSettings>> {
    let schedulers = vec![
        ("redundant", MpquicScheduler::Redundant),
        ("minrtt", MpquicScheduler::MinRtt),
        ("round-robin", MpquicScheduler::RoundRobin),
    ];
    let congestion = vec![
        ("cubic", MpquicCongestion::Cubic),
        ("bbr", MpquicCongestion::Bbr),
        ("bbr3", MpquicCongestion::Bbr3),
        ("copa", MpquicCongestion::Copa),
    ];
    vec![
        SenderOption::word("scheduler", schedulers, |tquic: &mut TquicSettings| {
            &mut tquic.scheduler
        })
        .about(SCHEDULER),
        SenderOption::word("congestion", congestion, |tquic: &mut TquicSettings| {
            &mut tquic.congestion
        })
        .about(CONGESTION),
        SenderOption::milliseconds("initial-rtt", INITIAL_RTT, |tquic: &mut TquicSettings| {
            &mut tquic.initial_rtt
        })
        .about("taken until one is measured (RFC 9002); tquic: in whole milliseconds"),
        SenderOption::milliseconds_or("max-pto", "none", PTO, |tquic: &mut TquicSettings| {
            &mut tquic.max_pto
        })
        .about("tquic only: the longest probe timeout; none: it doubles without an end (RFC 9002)"),
        SenderOption::whole("pto-linear-factor", LINEAR, |tquic: &mut TquicSettings| {
            &mut tquic.pto_linear_factor
        })
        .about(
            "tquic only: probe timeouts in a row before the first that is doubled (RFC 9002: none)",
        ),
    ]
}

fn noq_options() -> Vec<SenderOption<NoqSettings>> {
    let schedulers =
        vec![("first-unblocked", NoqScheduler::FirstUnblocked), ("backup", NoqScheduler::Backup)];
    let scheduler =
        SenderOption::word("scheduler", schedulers, |noq: &mut NoqSettings| &mut noq.scheduler);
    let congestion = quic::congestion(
        &NOQ_CONGESTION,
        NoqCongestion::FixedWindow,
        window_of,
        |noq: &mut NoqSettings| &mut noq.congestion,
    );
    [scheduler.about(SCHEDULER), congestion.about(CONGESTION)]
        .into_iter()
        .chain(quic::transport_options())
        .collect()
}

impl HasTransport for NoqSettings {
    fn mode(&mut self) -> &mut QuicMode {
        &mut self.mode
    }

    fn transport(&mut self) -> &mut QuicTransport {
        &mut self.transport
    }

    fn fixed_window(&self) -> Option<u64> {
        window_of(&self.congestion)
    }

    fn usual_initial_window(&self) -> u64 {
        self.congestion.usual_initial_window()
    }
}

fn window_of(congestion: &NoqCongestion) -> Option<u64> {
    match congestion {
        NoqCongestion::FixedWindow(bytes) => Some(*bytes),
        NoqCongestion::Cubic | NoqCongestion::NewReno => None,
    }
}

fn tquic_texts() -> Vec<OptionText> {
    option::texts(tquic_options(), &TquicSettings::new())
}

fn noq_texts() -> Vec<OptionText> {
    option::texts(noq_options(), &NoqSettings::new())
}

const STACKS: [(&str, MpquicStackName); 2] =
    [(TQUIC, MpquicStackName::Tquic), (NOQ, MpquicStackName::Noq)];
const TQUIC: &str = "tquic";
const NOQ: &str = "noq";

#[derive(Clone, Copy)]
enum MpquicStackName {
    Tquic,
    Noq,
}

/// The options of both stacks, those that both have once.
fn texts() -> Vec<OptionText> {
    let stack = OptionText {
        key: "stack",
        about: "the implementation".into(),
        form: Form::Words(STACKS.iter().map(|(word, _)| *word).collect()),
        default: TQUIC.to_owned(),
    };
    let mut noq = noq_texts();
    let both = tquic_texts().into_iter().map(|tquic| {
        match noq.iter().position(|option| option.key == tquic.key) {
            Some(index) => of_both(tquic, noq.remove(index)),
            None => tquic,
        }
    });
    let mut all: Vec<OptionText> = [stack].into_iter().chain(both).collect();
    all.extend(noq.into_iter().map(|option| OptionText {
        about: format!("noq only: {}", option.about).into(),
        ..option
    }));
    all
}

fn of_both(tquic: OptionText, noq: OptionText) -> OptionText {
    let default = match tquic.default == noq.default {
        true => tquic.default,
        false => format!("{} (noq: {})", tquic.default, noq.default),
    };
    OptionText { default, form: tquic.form.or(noq.form), ..tquic }
}

/// What is written: the stack, then its options.
pub fn written(settings: &MpquicSettings) -> Vec<(&'static str, String)> {
    let (stack, options) = match &settings.stack {
        MpquicStack::Tquic(tquic) => (TQUIC, option::written(&tquic_options(), tquic)),
        MpquicStack::Noq(noq) => (NOQ, option::written(&noq_options(), noq)),
    };
    [("stack", stack.to_owned())].into_iter().chain(options).collect()
}

fn read(fields: &mut Fields, choice: PathChoice) -> Option<ProtocolSettings> {
    let names = choice.own(fields, "mpquic", NOT_REPLICABLE)?;
    let paths = paths::several(fields, "mpquic", LEAST_PATHS, names);
    let stack = read_stack(fields)?;
    Some(ProtocolSettings::Mpquic(MpquicSettings { paths: paths?, stack }))
}

/// Without a stack that is known, none of its options can be judged.
fn read_stack(fields: &mut Fields) -> Option<MpquicStack> {
    let name = match fields.take("stack") {
        None => MpquicStackName::Tquic,
        Some(node) => {
            let word = fields::text(node, "stack", fields.mistakes).and_then(|text| {
                fields::word(text, &node.place, "stack", &STACKS, fields.mistakes)
            });
            let Some(name) = word else {
                fields.leave();
                return None;
            };
            name
        }
    };
    Some(match name {
        MpquicStackName::Tquic => {
            let mut settings = TquicSettings::new();
            report_of_other(fields, (TQUIC, &tquic_texts()), (NOQ, &noq_texts()));
            option::read(&tquic_options(), fields, &mut settings);
            MpquicStack::Tquic(settings)
        }
        MpquicStackName::Noq => {
            let mut settings = NoqSettings::new();
            report_of_other(fields, (NOQ, &noq_texts()), (TQUIC, &tquic_texts()));
            quic::read_options(&noq_options(), fields, &mut settings);
            MpquicStack::Noq(settings)
        }
    })
}

/// Takes out what only the other stack has, keys and words, each with a mistake that names it.
fn report_of_other(
    fields: &mut Fields,
    (stack, own): (&'static str, &[OptionText]),
    (other, others): (&'static str, &[OptionText]),
) {
    for option in others {
        let Some((key, node)) = fields.peek(option.key) else { continue };
        let (what, place) = match own.iter().find(|own| own.key == option.key) {
            None => (option.key.to_owned(), &key.place),
            Some(own) => match &node.value {
                Value::Scalar(word) if option.form.has_word(word) && !own.form.has_word(word) => {
                    (format!("{}: {word}", option.key), &node.place)
                }
                Value::Map(_) if option.form.has_mapping() && !own.form.has_mapping() => {
                    (format!("{}: {{ … }}", option.key), &node.place)
                }
                _ => continue,
            },
        };
        let mistake = Mistake::OtherStack { what, stack, other };
        fields.mistakes.push(place.clone(), mistake);
        fields.take_entry(option.key);
    }
}

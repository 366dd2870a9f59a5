//! The settings of a link as they are written.

use crate::link::profile::{
    Correlated, Distribution, LinkProfile, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing,
    TokenBucket,
};
use crate::scenario::quantity::{
    print_duration, print_probability as percent, print_rate, print_size,
};

/// Every setting, always in this order.
pub fn settings(profile: &LinkProfile) -> Vec<(&'static str, String)> {
    all(profile, in_full)
}

/// The same for people, to whom the samples of a table say nothing.
pub fn in_short(profile: &LinkProfile) -> Vec<(&'static str, String)> {
    all(profile, |samples| format!("table of {} samples", samples.len()))
}

type Print = fn(&[i16]) -> String;

fn all(profile: &LinkProfile, table: Print) -> Vec<(&'static str, String)> {
    vec![
        ("delay", print_duration(profile.delay)),
        ("jitter", print_duration(profile.jitter)),
        ("correlation", percent(profile.delay_correlation)),
        ("distribution", distribution(&profile.distribution, table)),
        ("order", order(profile.order).to_owned()),
        ("loss", loss(&profile.loss)),
        ("duplicate", correlated(&profile.duplicate)),
        ("corrupt", correlated(&profile.corrupt)),
        ("reorder", or_none(&profile.reorder, reorder)),
        ("rate", profile.bucket.as_ref().map_or_else(|| or_none(&profile.rate, rate), bucket)),
        ("queue", profile.limit.to_string()),
        ("slot", or_none(&profile.slot, |it| slot(it, table))),
        ("ecn", profile.ecn.to_string()),
    ]
}

fn or_none<T>(setting: &Option<T>, print: impl Fn(&T) -> String) -> String {
    setting.as_ref().map_or_else(|| "none".to_owned(), print)
}

fn distribution(distribution: &Distribution, table: Print) -> String {
    match distribution {
        Distribution::Uniform => "uniform".to_owned(),
        Distribution::Normal => "normal".to_owned(),
        Distribution::Pareto => "pareto".to_owned(),
        Distribution::ParetoNormal => "paretonormal".to_owned(),
        Distribution::Table(samples) => table(samples),
    }
}

/// As text of several lines, which YAML takes for one.
fn in_full(samples: &[i16]) -> String {
    const IN_A_LINE: usize = 16;
    let line = |line: &[i16]| line.iter().map(i16::to_string).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = samples.chunks(IN_A_LINE).map(line).collect();
    // Indented further than any key that it can be the value of.
    format!("{{ samples: \"{}\" }}", lines.join("\n            "))
}

fn order(order: Order) -> &'static str {
    match order {
        Order::ByTime => "by-time",
        Order::Keep => "keep",
    }
}

fn loss(loss: &Loss) -> String {
    match *loss {
        Loss::None => "0%".to_owned(),
        Loss::Random(Correlated { probability, correlation }) if correlation.is_never() => {
            percent(probability)
        }
        Loss::Random(Correlated { probability, correlation }) => {
            format!("{{ random: {}, correlation: {} }}", percent(probability), percent(correlation))
        }
        Loss::GilbertElliott { p, r, one_minus_h, one_minus_k } => format!(
            "{{ gilbert-elliott: {{ p: {}, r: {}, 1-h: {}, 1-k: {} }} }}",
            percent(p),
            percent(r),
            percent(one_minus_h),
            percent(one_minus_k)
        ),
        Loss::FourState { p13, p31, p32, p23, p14 } => format!(
            "{{ 4-state: {{ p13: {}, p31: {}, p32: {}, p23: {}, p14: {} }} }}",
            percent(p13),
            percent(p31),
            percent(p32),
            percent(p23),
            percent(p14)
        ),
    }
}

fn correlated(Correlated { probability, correlation }: &Correlated) -> String {
    let (probability, correlation) = (percent(*probability), percent(*correlation));
    match correlation.as_str() {
        "0%" => probability,
        _ => format!("{{ probability: {probability}, correlation: {correlation} }}"),
    }
}

fn reorder(reorder: &Reorder) -> String {
    format!(
        "{{ probability: {}, correlation: {}, gap: {} }}",
        percent(reorder.probability),
        percent(reorder.correlation),
        reorder.gap
    )
}

fn rate(limit: &RateLimit) -> String {
    let rate = print_rate(limit.rate);
    let mut text = format!("{{ rate: {rate}, overhead: {}B", limit.packet_overhead);
    if limit.cell_size > 0 {
        let cell = print_size(limit.cell_size.into());
        text += &format!(", cell: {cell}, cell-overhead: {}B", limit.cell_overhead);
    }
    text + " }"
}

fn bucket(TokenBucket { rate, burst, queue }: &TokenBucket) -> String {
    let (rate, burst) = (print_rate(*rate), print_size((*burst).into()));
    format!("{{ rate: {rate}, burst: {burst}, queue: {} }}", print_size((*queue).into()))
}

fn slot(slot: &Slot, table: Print) -> String {
    let mut text = match &slot.spacing {
        SlotSpacing::Between { min, max } => {
            format!("{{ min: {}, max: {}", print_duration(*min), print_duration(*max))
        }
        SlotSpacing::Distributed { delay, jitter, distribution: spread } => format!(
            "{{ delay: {}, jitter: {}, distribution: {}",
            print_duration(*delay),
            print_duration(*jitter),
            distribution(spread, table)
        ),
    };
    if slot.packets > 0 {
        text += &format!(", packets: {}", slot.packets);
    }
    if slot.bytes > 0 {
        text += &format!(", bytes: {}", print_size(slot.bytes.into()));
    }
    text + " }"
}

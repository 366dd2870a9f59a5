//! The settings of a link, as they stand in a path, a profile, a direction or a `set`. Their
//! meaning is netem's, and so are the defaults inside the loss models.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::link::overrides::Overrides;
use crate::link::profile::{
    Correlated, Distribution, Loss, Order, RateLimit, Reorder, Slot, SlotSpacing, TokenBucket,
};
use crate::link::table::{self, TableError};
use crate::scenario::fields::{self, Fields};
use crate::scenario::file::{File, Place};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::quantity::{self, Limits, QuantityError};
use crate::scenario::tree::{Key, Node, Value};
use crate::units::{Probability, Rate};

pub fn settings(fields: &mut Fields) -> Overrides {
    let before_the_rate = Overrides {
        delay: fields.scalar("delay", delay),
        jitter: fields.scalar("jitter", delay),
        delay_correlation: fields.scalar("correlation", quantity::probability),
        distribution: distribution(fields),
        order: fields.word("order", &[("keep", Order::Keep), ("by-time", Order::ByTime)]),
        loss: loss(fields),
        duplicate: correlated(fields, "duplicate"),
        corrupt: correlated(fields, "corrupt"),
        reorder: reorder(fields),
        ..Overrides::default()
    };
    let (rate, bucket) = rate(fields).unzip();
    Overrides {
        rate,
        bucket,
        limit: fields.whole_number("queue", 1, limits::QUEUE).map(small),
        slot: slot(fields),
        ecn: fields.flag("ecn"),
        ..before_the_rate
    }
}

fn delay(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::ZERO, max: limits::DELAY })
}

/// A number that a limit keeps within 32 bits.
fn small(number: u64) -> u32 {
    u32::try_from(number).expect("within its limit, which is within 32 bits")
}

fn is_map(node: &Node) -> bool {
    matches!(node.value, Value::Map(_))
}

/// Whether a setting is taken away.
fn is_none(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(text) if text == "none")
}

fn distribution(fields: &mut Fields) -> Option<Distribution> {
    let (key, node) = fields.take_entry("distribution")?;
    if is_map(node) {
        let mut inner = Fields::of(node, "a distribution", &key.place, fields.mistakes)?;
        let written = (inner.take("table"), inner.take("samples"));
        inner.finish();
        return match written {
            (Some(table), None) => table_file(table, fields),
            (None, Some(samples)) => written_samples(samples, fields),
            _ => {
                let known = "table, samples".to_owned();
                let mistake = Mistake::NotExactlyOne { holder: "a distribution", known };
                fields.mistakes.push(key.place.clone(), mistake);
                None
            }
        };
    }
    let words = [
        ("uniform", Distribution::Uniform),
        ("normal", Distribution::Normal),
        ("pareto", Distribution::Pareto),
        ("paretonormal", Distribution::ParetoNormal),
    ];
    let text = fields::text(node, "distribution", fields.mistakes)?;
    fields::word(text, &node.place, "distribution", &words, fields.mistakes)
}

/// A table of samples, looked up beside the file that names it.
fn table_file(node: &Node, fields: &Fields) -> Option<Distribution> {
    let name = fields::text(node, "table", fields.mistakes)?;
    let path = node.place.file.folder().join(name);
    let failed = |reason: String| {
        let path = path.display().to_string();
        fields.mistakes.push(node.place.clone(), Mistake::Table { path, reason });
    };
    let samples = samples(&path).map_err(failed).ok()?;
    Some(Distribution::Table(samples))
}

/// The samples themselves, as a table file has them.
fn written_samples(node: &Node, fields: &Fields) -> Option<Distribution> {
    let text = fields::text(node, "samples", fields.mistakes)?;
    let failed = |error: TableError| {
        fields.mistakes.push(node.place.clone(), Mistake::Samples { error });
    };
    table::parse(text).map_err(failed).ok().map(Distribution::Table)
}

fn samples(path: &Path) -> Result<Arc<[i16]>, String> {
    let file = File::read(path).map_err(|mistake| mistake.to_string())?;
    table::parse(&file.text).map_err(|error| error.to_string())
}

fn loss(fields: &mut Fields) -> Option<Loss> {
    let (key, node) = fields.take_entry("loss")?;
    if is_map(node) {
        return loss_model(key, node, fields);
    }
    fields::scalar(node, "loss", quantity::probability, fields.mistakes)
        .map(|probability| random_loss(probability, Probability::NEVER))
}

fn random_loss(probability: Probability, correlation: Probability) -> Loss {
    match probability.is_never() {
        true => Loss::None,
        false => Loss::Random(Correlated { probability, correlation }),
    }
}

fn loss_model(key: &Key, node: &Node, fields: &Fields) -> Option<Loss> {
    let mistakes = fields.mistakes;
    let mut inner = Fields::of(node, "a loss model", &key.place, mistakes)?;
    let random = inner.take("random");
    let gilbert_elliott = inner.take_entry("gilbert-elliott");
    let four_state = inner.take_entry("4-state");
    let loss = match (random, gilbert_elliott, four_state) {
        (Some(node), None, None) => {
            let correlation = inner.scalar("correlation", quantity::probability);
            fields::scalar(node, "random", quantity::probability, mistakes)
                .map(|random| random_loss(random, correlation.unwrap_or_default()))
        }
        (None, Some((key, node)), None) => gilbert_elliott_loss(key, node, fields),
        (None, None, Some((key, node))) => four_state_loss(key, node, fields),
        _ => {
            let known = "random, gilbert-elliott, 4-state".to_owned();
            let mistake = Mistake::NotExactlyOne { holder: "a loss model", known };
            mistakes.push(key.place.clone(), mistake);
            None
        }
    };
    inner.finish();
    loss
}

fn gilbert_elliott_loss(key: &Key, node: &Node, fields: &Fields) -> Option<Loss> {
    let holder = "the Gilbert-Elliott model";
    let mut inner = Fields::of(node, holder, &key.place, fields.mistakes)?;
    let p = probability(&mut inner, "p", "p: 1%");
    let r = inner.scalar("r", quantity::probability);
    let one_minus_h = inner.scalar("1-h", quantity::probability);
    let one_minus_k = inner.scalar("1-k", quantity::probability);
    inner.finish();
    let p = p?;
    Some(Loss::GilbertElliott {
        p,
        r: r.unwrap_or(rest(p)),
        one_minus_h: one_minus_h.unwrap_or(Probability::ALWAYS),
        one_minus_k: one_minus_k.unwrap_or(Probability::NEVER),
    })
}

fn four_state_loss(key: &Key, node: &Node, fields: &Fields) -> Option<Loss> {
    let holder = "the 4-state model";
    let mut inner = Fields::of(node, holder, &key.place, fields.mistakes)?;
    let p13 = probability(&mut inner, "p13", "p13: 1%");
    let p31 = inner.scalar("p31", quantity::probability);
    let p32 = inner.scalar("p32", quantity::probability).unwrap_or(Probability::NEVER);
    let p23 = inner.scalar("p23", quantity::probability).unwrap_or(Probability::ALWAYS);
    let p14 = inner.scalar("p14", quantity::probability).unwrap_or(Probability::NEVER);
    inner.finish();
    let p13 = p13?;
    let p31 = p31.unwrap_or(rest(p13));
    // Two ways out of one state: netem adds their probabilities.
    for (a, b, sum) in
        [("p13", "p14", p13.as_f64() + p14.as_f64()), ("p31", "p32", p31.as_f64() + p32.as_f64())]
    {
        if sum > 1.0 + 1e-9 {
            fields.mistakes.push(key.place.clone(), Mistake::MoreThanCertain { a, b });
        }
    }
    Some(Loss::FourState { p13, p31, p32, p23, p14 })
}

/// To fifteen decimals: that leaves out what a float adds, so that it can be written again.
fn rest(probability: Probability) -> Probability {
    let rest = format!("{:.15}", 1.0 - probability.as_f64());
    let rest = rest.parse().expect("a number is printed as one");
    Probability::new(rest).expect("one minus a probability is one")
}

fn probability(
    fields: &mut Fields,
    key: &'static str,
    example: &'static str,
) -> Option<Probability> {
    let node = fields.require(key, example)?;
    fields::scalar(node, key, quantity::probability, fields.mistakes)
}

/// `1%`, or `{ probability: 1%, correlation: 25% }`.
fn correlated(fields: &mut Fields, key: &'static str) -> Option<Correlated> {
    let (Key { place, .. }, node) = fields.take_entry(key)?;
    if !is_map(node) {
        let probability = fields::scalar(node, key, quantity::probability, fields.mistakes)?;
        return Some(Correlated { probability, correlation: Probability::NEVER });
    }
    let mut inner = Fields::of(node, "this setting", place, fields.mistakes)?;
    let correlated = probability_and_correlation(&mut inner);
    inner.finish();
    correlated
}

fn probability_and_correlation(inner: &mut Fields) -> Option<Correlated> {
    let chance = probability(inner, "probability", "probability: 1%");
    let correlation = inner.scalar("correlation", quantity::probability);
    Some(Correlated { probability: chance?, correlation: correlation.unwrap_or_default() })
}

/// `none`, `25%`, or `{ probability: 25%, correlation: 50%, gap: 5 }`.
fn reorder(fields: &mut Fields) -> Option<Option<Reorder>> {
    let (key, node) = fields.take_entry("reorder")?;
    if is_none(node) {
        return Some(None);
    }
    if !is_map(node) {
        let probability = fields::scalar(node, "reorder", quantity::probability, fields.mistakes)?;
        return Some(Some(Reorder { probability, correlation: Probability::NEVER, gap: 1 }));
    }
    let mut inner = Fields::of(node, "reordering", &key.place, fields.mistakes)?;
    let correlated = probability_and_correlation(&mut inner);
    let gap = inner.whole_number("gap", 1, limits::QUEUE).map_or(1, small);
    inner.finish();
    let Correlated { probability, correlation } = correlated?;
    Some(Some(Reorder { probability, correlation, gap }))
}

/// `none`, `40Mbit/s`, `{ rate: 40Mbit/s, overhead: 4B, cell: 48B, cell-overhead: 5B }`, or
/// `{ rate: 40Mbit/s, burst: 32kB, queue: 250kB }`: a line or a bucket, and never both.
fn rate(fields: &mut Fields) -> Option<(Option<RateLimit>, Option<TokenBucket>)> {
    let (key, node) = fields.take_entry("rate")?;
    let speed = |text: &str| quantity::rate(text, limits::LINK_RATE);
    if is_none(node) {
        return Some((None, None));
    }
    if !is_map(node) {
        let rate = fields::scalar(node, "rate", speed, fields.mistakes)?;
        let plain = RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };
        return Some((Some(plain), None));
    }
    let mut inner = Fields::of(node, "a rate", &key.place, fields.mistakes)?;
    let rate = inner.require("rate", "rate: 40Mbit/s");
    let is_bucket = inner.has("burst") || inner.has("queue");
    if is_bucket && ["overhead", "cell", "cell-overhead"].iter().any(|key| inner.has(key)) {
        inner.leave();
        fields.mistakes.push(key.place.clone(), Mistake::BurstWithOverhead);
        return None;
    }
    if is_bucket {
        let (burst, queue) = burst_and_queue(&mut inner);
        inner.finish();
        let rate = fields::scalar(rate?, "rate", speed, fields.mistakes)?;
        let burst = burst?;
        let queue = queue.unwrap_or_else(|| default_queue(rate, burst));
        return Some((None, Some(TokenBucket { rate, burst, queue })));
    }
    let packet_overhead = inner.scalar("overhead", overhead).unwrap_or(0);
    let cell = inner.scalar("cell", |text| quantity::size(text, Limits { min: 1, max: 65_535 }));
    let cell_overhead = cell_overhead(&mut inner, cell.is_some());
    inner.finish();
    let rate = fields::scalar(rate?, "rate", speed, fields.mistakes)?;
    let cell_size = cell.map_or(0, small);
    Some((Some(RateLimit { rate, packet_overhead, cell_size, cell_overhead }), None))
}

/// Bytes of each; the burst is required.
fn burst_and_queue(inner: &mut Fields) -> (Option<u32>, Option<u32>) {
    let bytes = |text: &str| {
        quantity::size(text, Limits { min: limits::LONGEST_FRAME, max: limits::BUCKET })
    };
    let queue = inner.scalar("queue", bytes).map(small);
    let burst = inner.require("burst", "burst: 32kB");
    let burst = burst.and_then(|node| fields::scalar(node, "burst", bytes, inner.mistakes));
    (burst.map(small), queue)
}

/// What takes 50 ms to send, and a burst: `latency 50ms` of `tc`.
fn default_queue(rate: Rate, burst: u32) -> u32 {
    let waiting = rate.bytes_per_second() / 20;
    let bytes = waiting.saturating_add(burst.into()).min(limits::BUCKET);
    small(bytes)
}

fn cell_overhead(inner: &mut Fields, has_cells: bool) -> i32 {
    let Some((bytes, place)) = inner.text("cell-overhead") else { return 0 };
    if !has_cells {
        inner.mistakes.push(place.clone(), Mistake::CellOverheadWithoutCell);
    }
    let bytes = overhead(bytes).map_err(|error| inner.mistakes.push(place.clone(), error.into()));
    bytes.unwrap_or(0)
}

/// Bytes, which may be negative.
fn overhead(text: &str) -> Result<i32, QuantityError> {
    let size = |text| quantity::size(text, Limits { min: 0, max: limits::OVERHEAD });
    let bytes = |bytes| i32::try_from(bytes).expect("within limits::OVERHEAD");
    match text.strip_prefix('-') {
        Some(positive) => size(positive).map(|size| -bytes(size)),
        None => size(text).map(bytes),
    }
}

/// `none`, `{ min, max }` or `{ delay, jitter, distribution }`, the latter two with `packets` and
/// `bytes`.
fn slot(fields: &mut Fields) -> Option<Option<Slot>> {
    let (key, node) = fields.take_entry("slot")?;
    if is_none(node) {
        return Some(None);
    }
    let mut inner = Fields::of(node, "a slot", &key.place, fields.mistakes)?;
    let spacing = if inner.has("min") || inner.has("max") {
        between(&mut inner, &key.place)
    } else {
        // Where neither kind is begun, both are known.
        inner.take("min");
        distributed(&mut inner)
    };
    let packets = inner.whole_number("packets", 1, limits::QUEUE).map_or(0, small);
    let most = Limits { min: 1, max: u64::from(u32::MAX) };
    let bytes = inner.scalar("bytes", |text| quantity::size(text, most)).map_or(0, small);
    inner.finish();
    Some(Some(Slot { spacing: spacing?, packets, bytes }))
}

fn between(inner: &mut Fields, place: &Place) -> Option<SlotSpacing> {
    let min = inner.require("min", "min: 10ms");
    let max = inner.scalar("max", delay);
    let min = fields::scalar(min?, "min", delay, inner.mistakes)?;
    let max = max.unwrap_or(min);
    if max < min {
        inner.mistakes.push(place.clone(), Mistake::SlotBackwards);
        return None;
    }
    Some(SlotSpacing::Between { min, max })
}

fn distributed(inner: &mut Fields) -> Option<SlotSpacing> {
    let delay_node = inner.require("delay", "delay: 10ms");
    let jitter = inner.scalar("jitter", delay).unwrap_or_default();
    let distribution = distribution(inner).unwrap_or_default();
    let delay = fields::scalar(delay_node?, "delay", delay, inner.mistakes)?;
    Some(SlotSpacing::Distributed { delay, jitter, distribution })
}

//! `claims`: what somebody published, to be held against what is measured.

use std::time::Duration;

use super::names::{Named, Names};
use crate::scenario::fields::{self, Fields};
use crate::scenario::limits;
use crate::scenario::mistake::Mistake;
use crate::scenario::plan::Claim;
use crate::scenario::quantity::{self, Limits, QuantityError};
use crate::scenario::tree::Node;

const LATENCIES: [&str; 6] = ["p50", "p99", "p999", "longest-gap", "mean", "worst"];

pub fn claims(scenario: &mut Fields, senders: &Names) -> Option<Vec<Claim>> {
    let mistakes = scenario.mistakes;
    let Some(node) = scenario.take("claims") else { return Some(Vec::new()) };
    let items = fields::items(node, "`claims`", limits::CLAIMS, mistakes)?;
    let claims: Vec<Option<Claim>> =
        items.iter().map(|item| claim(item, senders, scenario)).collect();
    claims.into_iter().collect()
}

fn claim(node: &Node, senders: &Names, scenario: &Fields) -> Option<Claim> {
    let mistakes = scenario.mistakes;
    let mut fields = Fields::of(node, "a claim", &node.place, mistakes)?;
    let source = fields.require("source", "source: …");
    let sender = fields.require("sender", "sender: …");
    if !LATENCIES.iter().any(|key| fields.has(key)) && !fields.has("amplification") {
        mistakes.push(node.place.clone(), Mistake::EmptyClaim);
    }
    let [p50, p99, p999, longest_gap, mean, worst] =
        LATENCIES.map(|key| fields.scalar(key, latency));
    let amplification = amplification(&mut fields);
    fields.finish();
    let sender = sender.and_then(|node| {
        let name = fields::text(node, "sender", mistakes)?;
        senders.find(name, Named::Sender, &node.place, mistakes).map(|_| name.to_owned())
    });
    let source = source.and_then(|node| {
        let text = fields::text(node, "source", mistakes)?;
        let source = fields::prose(text, &node.place, mistakes)?;
        if source.is_empty() {
            mistakes.push(node.place.clone(), Mistake::UnsourcedClaim);
        }
        Some(source)
    });
    let (source, sender) = (source?, sender?);
    Some(Claim { source, sender, p50, p99, p999, amplification, longest_gap, mean, worst })
}

fn latency(text: &str) -> Result<Duration, QuantityError> {
    quantity::duration(text, Limits { min: Duration::from_nanos(1), max: limits::DURATION })
}

/// A ratio, so it has no unit.
fn amplification(fields: &mut Fields) -> Option<f64> {
    let (text, place) = fields.text("amplification")?;
    let ratio = text.parse().ok().filter(|ratio: &f64| ratio.is_finite() && *ratio > 0.0);
    if ratio.is_none() {
        let mistake = Mistake::NotPositive { text: text.to_owned() };
        fields.mistakes.push(place.clone(), mistake);
    }
    ratio
}

//! What the paths of a plan were at the start, in a few words each, and how often that changed: no
//! figure means anything without them. Above all whether jitter reorders packets, which decides how
//! much a sender sends again for nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::link::profile::{LinkProfile, Loss, Order};
use crate::scenario::plan::Plan;
use crate::scenario::quantity::{print_probability, print_rate, print_size};
use crate::scenario::written::link_settings as settings;
use crate::units::{Direction, IpVersion, PathId};

use super::figures;

/// Settings that [`describe`] has words of its own for.
const IN_WORDS: [&str; 6] = ["delay", "jitter", "distribution", "order", "loss", "rate"];

/// One line a path.
pub(super) fn describe_all(plan: &Plan) -> Vec<String> {
    let ids = (0..=u8::MAX).map(PathId);
    ids.take(plan.paths.len()).map(|id| describe_path(plan, id)).collect()
}

fn describe_path(plan: &Plan, id: PathId) -> String {
    let path = &plan.paths[id.index()];
    let (up, mut instants) = over_time(plan, id, Direction::Up, &path.up);
    let (down, instants_down) = over_time(plan, id, Direction::Down, &path.down);
    instants.extend(instants_down);
    let (up, down) = (describe(up), describe(down));
    let ip = if path.ip == IpVersion::V6 { " over IPv6" } else { "" };
    let first = match up == down {
        true => format!("{}{ip} {up}", path.name),
        false => format!("{}{ip} up {up}, down {down}", path.name),
    };
    match instants.len() {
        0 => first,
        1 => format!("{first}, changes once"),
        times => format!("{first}, changes {times} times"),
    }
}

/// The profile of a direction at the start, and when it becomes another one. An outage does not
/// count: it is told by itself, and what holds after it is held against what held before.
fn over_time<'a>(
    plan: &'a Plan,
    path: PathId,
    direction: Direction,
    first: &'a LinkProfile,
) -> (&'a LinkProfile, BTreeSet<Duration>) {
    let own = plan.timeline.changes.iter().filter(|change| {
        let lit = !plan.timeline.dark_paths(change.at).contains(&path);
        (change.path, change.direction) == (path, direction) && lit
    });
    let (mut first, mut instants) = (first, BTreeSet::new());
    let mut current = first;
    for change in own {
        if change.at == Duration::ZERO {
            first = &change.profile;
        } else if change.profile != *current {
            instants.insert(change.at);
        }
        current = &change.profile;
    }
    (first, instants)
}

fn describe(profile: &LinkProfile) -> String {
    let mut parts = vec![delay(profile)];
    parts.extend(loss(&profile.loss));
    parts.extend(profile.rate.map(|limit| print_rate(limit.rate)));
    parts.extend(profile.bucket.map(|bucket| {
        format!("{} in bursts of {}", print_rate(bucket.rate), print_size(bucket.burst.into()))
    }));
    let usual = settings(&LinkProfile::default());
    let unusual = settings(profile).into_iter().zip(usual).filter(|(is, usual)| is != usual);
    let others = unusual.map(|(setting, _)| setting).filter(|(key, _)| !IN_WORDS.contains(key));
    parts.extend(others.map(|(key, value)| format!("{key} {value}")));
    parts.join(", ")
}

fn delay(profile: &LinkProfile) -> String {
    if profile.jitter == Duration::ZERO {
        return figures::duration(profile.delay);
    }
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    let distribution = settings(profile).into_iter().find(|(key, _)| *key == "distribution");
    let distribution = distribution.map_or_else(String::new, |(_, value)| value);
    let order = match profile.order {
        Order::ByTime if profile.rate.is_none() => "reordering",
        Order::ByTime | Order::Keep => "in order",
    };
    format!("{} ± {} ms {distribution} {order}", ms(profile.delay), ms(profile.jitter))
}

fn loss(loss: &Loss) -> Option<String> {
    match loss {
        Loss::None => None,
        Loss::Random(random) => Some(format!("{} lost", print_probability(random.probability))),
        Loss::GilbertElliott { .. } => Some("loss in bursts (Gilbert-Elliott)".to_owned()),
        Loss::FourState { .. } => Some("loss in bursts (4-state)".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::overrides::Overrides;
    use crate::link::profile::{Correlated, Distribution, RateLimit};
    use crate::recording::sample;
    use crate::timeline::{Effect, Entry, Timeline};
    use crate::units::{Probability, Rate};

    fn lossy(percent: f64) -> Loss {
        let probability = Probability::new(percent / 100.0).unwrap();
        Loss::Random(Correlated { probability, ..Correlated::default() })
    }

    #[test]
    fn a_path_is_told_in_a_few_words() {
        let plain = LinkProfile { delay: Duration::from_millis(40), ..LinkProfile::default() };
        assert_eq!(describe(&plain), "40.0 ms");
        let jitter = Duration::from_millis(10);
        let distribution = Distribution::Normal;
        let mobile = LinkProfile { jitter, distribution, loss: lossy(2.0), ..plain };
        assert_eq!(describe(&mobile), "40 ± 10 ms normal reordering, 2% lost");
        let kept = LinkProfile { order: Order::Keep, ecn: true, ..mobile.clone() };
        assert_eq!(describe(&kept), "40 ± 10 ms normal in order, 2% lost, ecn true");
        let rate = Rate::from_bits_per_second(40_000_000).unwrap();
        let rate = RateLimit { rate, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };
        let limited = LinkProfile { rate: Some(rate), ..mobile };
        assert_eq!(describe(&limited), "40 ± 10 ms normal in order, 2% lost, 40Mbit/s");
    }

    fn with_timeline(entries: Vec<Entry>) -> Plan {
        let mut plan = sample::plan(1);
        let first: Vec<[LinkProfile; 2]> =
            plan.paths.iter().map(|path| [path.up.clone(), path.down.clone()]).collect();
        plan.timeline = Timeline::resolve(&first, entries);
        plan
    }

    fn entry(from: u64, until: Option<u64>, effect: Effect) -> Entry {
        let (from, until) = (Duration::from_secs(from), until.map(Duration::from_secs));
        Entry { path: PathId(0), from, until, effect }
    }

    fn delay(ms: u64, direction: Option<Direction>) -> Effect {
        let delay = Some(Duration::from_millis(ms));
        Effect::Set { direction, settings: Box::new(Overrides { delay, ..Overrides::default() }) }
    }

    #[test]
    fn changes_are_counted_and_outages_are_not() {
        let outage = || entry(20, Some(25), Effect::Outage);
        assert_eq!(describe_all(&with_timeline(vec![outage()]))[0], "4g 0.00 ms");
        let both = || entry(10, Some(30), delay(80, None));
        let up = entry(10, Some(40), delay(90, Some(Direction::Up)));
        let plan = with_timeline(vec![outage(), both(), up]);
        assert_eq!(describe_all(&plan)[0], "4g 0.00 ms, changes 3 times");
        assert_eq!(describe_all(&plan)[1], "5g 0.00 ms");
        let during = with_timeline(vec![outage(), entry(22, None, delay(80, None))]);
        assert_eq!(describe_all(&during)[0], "4g 0.00 ms, changes once");
    }

    #[test]
    fn a_change_at_the_start_is_what_the_path_is_at_first() {
        let plan = with_timeline(vec![entry(0, None, delay(80, None))]);
        assert_eq!(describe_all(&plan)[0], "4g 80.0 ms");
        let plan = with_timeline(vec![entry(0, Some(10), delay(80, None))]);
        assert_eq!(describe_all(&plan)[0], "4g 80.0 ms, changes once");
    }
}

//! What the paths of a plan were at the start, in a few words each: no figure means anything without them. Above all
//! whether jitter reorders packets, which decides how much a sender sends again for nothing.

use std::time::Duration;

use crate::link::profile::{LinkProfile, Loss, Order};
use crate::scenario::plan::{PathPlan, Plan};
use crate::scenario::quantity::{print_probability, print_rate};
use crate::scenario::written::link_settings as settings;

use super::figures;

/// Settings that [`describe`] has words of its own for.
const IN_WORDS: [&str; 6] = ["delay", "jitter", "distribution", "order", "loss", "rate"];

/// One line a path.
pub(super) fn describe_all(plan: &Plan) -> Vec<String> {
    plan.paths.iter().map(describe_path).collect()
}

fn describe_path(path: &PathPlan) -> String {
    let (up, down) = (describe(&path.up), describe(&path.down));
    match up == down {
        true => format!("{} {up}", path.name),
        false => format!("{} up {up}, down {down}", path.name),
    }
}

fn describe(profile: &LinkProfile) -> String {
    let mut parts = vec![delay(profile)];
    parts.extend(loss(&profile.loss));
    parts.extend(profile.rate.map(|limit| print_rate(limit.rate)));
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
    use crate::link::profile::{Correlated, Distribution, RateLimit};
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
}

use super::*;
use crate::link::profile::Correlated;

fn p(value: f64) -> Probability {
    Probability::new(value).expect("between 0 and 1")
}

fn losses(settings: &profile::Loss, packets: usize) -> Vec<bool> {
    let mut random = Random::new(2024);
    let mut loss = Loss::new(settings, &mut random);
    (0..packets).map(|_| loss.strikes(&mut random.seeded)).collect()
}

fn share(losses: &[bool]) -> f64 {
    losses.iter().filter(|&&lost| lost).count() as f64 / losses.len() as f64
}

fn mean_burst(losses: &[bool]) -> f64 {
    let lost = losses.iter().filter(|&&lost| lost).count();
    let bursts = losses.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
    lost as f64 / bursts as f64
}

fn assert_near(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured - expected).abs() < tolerance, "{measured}, not {expected}");
}

fn random(probability: f64, correlation: f64) -> profile::Loss {
    profile::Loss::Random(Correlated { probability: p(probability), correlation: p(correlation) })
}

#[test]
fn random_loss_has_its_rate() {
    for rate in [0.001, 0.02, 0.5] {
        assert_near(share(&losses(&random(rate, 0.0), 1_000_000)), rate, 0.002);
    }
}

#[test]
fn never_and_always_are_exact() {
    assert_eq!(share(&losses(&profile::Loss::None, 10_000)), 0.0);
    assert_eq!(share(&losses(&random(0.0, 0.0), 10_000)), 0.0);
    assert_eq!(share(&losses(&random(1.0, 0.0), 10_000)), 1.0);
}

#[test]
fn correlation_wrecks_the_rate() {
    assert_near(share(&losses(&random(0.10, 0.25), 1_000_000)), 0.018, 0.001);
}

/// The chain is bad for p / (p + r) of the packets and stays so for 1 / r of them at a time.
#[test]
fn gilbert_has_its_stationary_loss_and_mean_burst() {
    for (to_bad, to_good) in [(0.01, 0.25), (0.1, 0.5), (0.005, 0.05)] {
        let settings = profile::Loss::GilbertElliott {
            p: p(to_bad),
            r: p(to_good),
            one_minus_h: p(1.0),
            one_minus_k: p(0.0),
        };
        let losses = losses(&settings, 4_000_000);
        assert_near(share(&losses), to_bad / (to_bad + to_good), 0.002);
        assert_near(mean_burst(&losses), 1.0 / to_good, 0.02 / to_good);
    }
}

/// Loss in the bad state with 1 − h, in the good state with 1 − k.
#[test]
fn gilbert_elliott_mixes_the_loss_of_its_two_states() {
    let (to_bad, to_good, in_bad, in_good) = (0.02, 0.1, 0.7, 0.01);
    let settings = profile::Loss::GilbertElliott {
        p: p(to_bad),
        r: p(to_good),
        one_minus_h: p(in_bad),
        one_minus_k: p(in_good),
    };
    let bad = to_bad / (to_bad + to_good);
    let expected = bad * in_bad + (1.0 - bad) * in_good;
    assert_near(share(&losses(&settings, 4_000_000)), expected, 0.002);
}

/// By balance: π₄ = p14·π₁, π₃ · p31 = p13·π₁, π₂ · p23 = p32·π₃; lost in states 3 and 4.
#[test]
fn four_states_have_their_stationary_loss() {
    let (p13, p31, p32, p23, p14) = (0.02, 0.15, 0.25, 0.4, 0.01);
    let settings = profile::Loss::FourState {
        p13: p(p13),
        p31: p(p31),
        p32: p(p32),
        p23: p(p23),
        p14: p(p14),
    };
    let state_3 = p13 / p31;
    let state_2 = state_3 * p32 / p23;
    let expected = (state_3 + p14) / (1.0 + state_2 + state_3 + p14);
    assert_near(share(&losses(&settings, 4_000_000)), expected, 0.002);
}

/// In the kernel p13 + p14 = 1 wraps to zero, and no burst ever begins.
#[test]
fn four_states_may_leave_the_gap_for_certain() {
    let settings = profile::Loss::FourState {
        p13: p(0.5),
        p31: p(1.0),
        p32: p(0.0),
        p23: p(1.0),
        p14: p(0.5),
    };
    // Lost, arrived, lost, arrived …, either way.
    let losses = losses(&settings, 1_000);
    assert!(losses.iter().enumerate().all(|(i, &lost)| lost == (i % 2 == 0)));
}

/// netem takes one draw a packet for random loss and four states, two for Gilbert-Elliott, and none
/// without loss.
#[test]
fn each_model_takes_its_number_of_draws() {
    let chain = [p(0.1), p(0.2), p(0.3), p(0.4)];
    let [a, b, c, d] = chain;
    let models = [
        (profile::Loss::None, 0),
        (random(0.0, 0.5), 0),
        (random(0.1, 0.0), 1),
        (random(0.1, 0.5), 1),
        (profile::Loss::GilbertElliott { p: a, r: b, one_minus_h: c, one_minus_k: d }, 2),
        (profile::Loss::FourState { p13: a, p31: b, p32: c, p23: d, p14: a }, 1),
    ];
    for (settings, draws) in models {
        let mut random = Random::new(9);
        let mut expected = random.seeded.clone();
        let mut loss = Loss::new(&settings, &mut random);
        for _ in 0..100 {
            loss.strikes(&mut random.seeded);
            for _ in 0..draws {
                expected.draw();
            }
        }
        assert_eq!(random.seeded.draw(), expected.draw(), "{settings:?}");
    }
}

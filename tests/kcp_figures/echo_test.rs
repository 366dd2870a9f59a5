//! The test that KCP's author publishes with it (test.cpp of skywind3000/kcp), in virtual time: echoes
//! over a link that loses five of every hundred datagrams in each direction, delays each by 30 to 61
//! ms and keeps their order, with a loop that does everything once a millisecond.

use std::collections::VecDeque;

use impairlab::protocol::kcp::{Behaviour, Engine, EngineSettings, Origin};
use impairlab::protocol::settings::KcpSettings;
use impairlab::splitmix::SplitMix64;
use impairlab::units::PathId;

const MESSAGES: u32 = 1_000;
const MESSAGE_EVERY_MS: u32 = 20;

/// What test.cpp gives to `ikcp_nodelay`, and the one run of each that was published; milliseconds.
struct Mode {
    nodelay: u8,
    nc: bool,
    /// The fast mode asks for 1 at the side that sends first, and for 2 at the other. (It also lowers
    /// that side's minimum timeout to 10 ms, far below any that a round trip of 60 ms leads to.)
    resend: [u32; 2],
    published: RoundTrips,
}

const DEFAULT: Mode = Mode {
    nodelay: 0,
    nc: false,
    resend: [0, 0],
    published: RoundTrips { mean: 740.0, worst: 1507.0 },
};
const NORMAL: Mode = Mode {
    nodelay: 0,
    nc: true,
    resend: [0, 0],
    published: RoundTrips { mean: 156.0, worst: 571.0 },
};
const FAST: Mode = Mode {
    nodelay: 2,
    nc: true,
    resend: [1, 2],
    published: RoundTrips { mean: 138.0, worst: 392.0 },
};
/// As the mode was when its figures were published first.
const FAST_AT_FIRST: Mode = Mode { nodelay: 1, resend: [2, 2], ..FAST };

/// One run was published, of an unknown version: its mean within a tenth of the median of ours, its
/// worst in the middle four fifths of ours.
#[test]
fn without_congestion_control_the_authors_own_test_gives_what_he_published() {
    for mode in [NORMAL, FAST, FAST_AT_FIRST] {
        let [means, worst] = of_a_hundred_runs(&mode);
        let off = mode.published.mean / means.median() - 1.0;
        assert!(off.abs() <= 0.1, "{off:.3}");
        let (low, high) = (worst.tenth(), worst.ninetieth());
        assert!((low..=high).contains(&mode.published.worst), "{low} to {high}");
    }
}

/// With congestion control, one lost datagram in ten round trips is more than the C code of 2017 and
/// later can carry 50 messages a second past: no run of ours is as quick as what was published, of
/// which the version is unknown. (Ours is that code, datagram for datagram: `kcp_oracle`.)
#[test]
fn with_congestion_control_the_author_published_what_his_code_does_not_do_any_more() {
    let [means, worst] = of_a_hundred_runs(&DEFAULT);
    assert!(means.lowest() > 1.3 * DEFAULT.published.mean, "{:?}", means.0);
    assert!(worst.lowest() > 1.3 * DEFAULT.published.worst, "{:?}", worst.0);
}

/// Means, and worst round trips.
fn of_a_hundred_runs(mode: &Mode) -> [Sorted; 2] {
    let runs: Vec<RoundTrips> = (1..=100).map(|seed| run(mode, seed)).collect();
    let sorted =
        [Sorted::of(runs.iter().map(|run| run.mean)), Sorted::of(runs.iter().map(|run| run.worst))];
    let published = [mode.published.mean, mode.published.worst];
    for ((name, figures), published) in ["mean", "worst"].iter().zip(&sorted).zip(published) {
        println!(
            "{name:<5} {:.0} (lowest {:.0}, middle four fifths {:.0} to {:.0}); published {published:.0}",
            figures.median(),
            figures.lowest(),
            figures.tenth(),
            figures.ninetieth(),
        );
    }
    sorted
}

/// A hundred figures.
struct Sorted(Vec<f64>);

impl Sorted {
    fn of(figures: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.collect();
        sorted.sort_by(f64::total_cmp);
        Self(sorted)
    }

    fn lowest(&self) -> f64 {
        self.0[0]
    }

    fn tenth(&self) -> f64 {
        self.0[10]
    }

    fn median(&self) -> f64 {
        self.0[50]
    }

    fn ninetieth(&self) -> f64 {
        self.0[89]
    }
}

/// Round trips in milliseconds.
#[derive(Debug, Clone, Copy)]
struct RoundTrips {
    mean: f64,
    worst: f64,
}

/// One direction.
struct Link {
    random: SplitMix64,
    /// What is left of the hundred numbers of which the lowest five mean a loss.
    urn: Vec<u32>,
    travelling: VecDeque<(u32, Vec<u8>)>,
}

impl Link {
    fn new(seed: u64) -> Self {
        Self { random: SplitMix64::new(seed), urn: Vec::new(), travelling: VecDeque::new() }
    }

    fn below(&mut self, end: usize) -> usize {
        (self.random.next() % end as u64) as usize
    }

    fn draw(&mut self) -> u32 {
        if self.urn.is_empty() {
            self.urn = (0..100).collect();
        }
        let place = self.below(self.urn.len());
        self.urn.swap_remove(place)
    }

    fn send(&mut self, now_ms: u32, datagram: Vec<u8>) {
        if self.draw() >= 5 {
            let delay_ms = 30 + self.below(32) as u32;
            self.travelling.push_back((now_ms + delay_ms, datagram));
        }
    }

    /// The first, when its time has come: those behind it wait for it.
    fn arrived(&mut self, now_ms: u32) -> Option<Vec<u8>> {
        let due = self.travelling.front().is_some_and(|(due_ms, _)| *due_ms <= now_ms);
        due.then(|| self.travelling.pop_front()).flatten().map(|(_, datagram)| datagram)
    }
}

/// With an interval of 10 ms and windows of 128.
fn run(mode: &Mode, seed: u64) -> RoundTrips {
    let mut sides = mode.resend.map(|resend| {
        let Mode { nodelay, nc, .. } = *mode;
        let settings = KcpSettings { nodelay, nc, resend, ..KcpSettings::new(PathId(0)) };
        Engine::new(0x1122_3344, EngineSettings::from(&settings), Behaviour::IKCP_1_7)
    });
    let mut links = [Link::new(2 * seed), Link::new(2 * seed + 1)];
    let (mut sent, mut echoed) = (0, Vec::new());
    for now_ms in 0_u32.. {
        if echoed.len() >= MESSAGES as usize {
            break;
        }
        sides.iter_mut().for_each(|side| side.update(now_ms));
        if now_ms == sent * MESSAGE_EVERY_MS + MESSAGE_EVERY_MS {
            sent += 1;
            sides[0].send(&now_ms.to_le_bytes()).expect("there is room");
        }
        for (from, to) in [(0, 1), (1, 0)] {
            while let Some(datagram) = sides[from].transmit() {
                links[from].send(now_ms, datagram);
            }
            while let Some(datagram) = links[from].arrived(now_ms) {
                sides[to].input(&datagram, Origin::Arrived).expect("well formed");
            }
        }
        while let Some(message) = sides[1].receive() {
            sides[1].send(&message).expect("there is room");
        }
        while let Some(message) = sides[0].receive() {
            let sent_ms = message.try_into().map(u32::from_le_bytes).expect("four bytes");
            echoed.push(f64::from(now_ms - sent_ms));
        }
    }
    echoed.truncate(MESSAGES as usize);
    let worst = echoed.iter().copied().fold(0.0, f64::max);
    RoundTrips { mean: echoed.iter().sum::<f64>() / f64::from(MESSAGES), worst }
}

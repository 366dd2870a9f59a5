//! What the QUIC senders do to a control workload, held against figures measured independently of this code.

mod virtual_lab;

use std::time::Duration;

use impairlab::protocol::mpquic;
use impairlab::protocol::quic::{self, DEFAULT_MAX_ACK_DELAY};
use impairlab::protocol::settings::{
    MpquicCongestion, MpquicScheduler, MpquicSettings, QuicCongestion, QuicMode, QuicSettings,
};
use impairlab::protocol::{Protocol, Role};
use impairlab::units::PathId;
use virtual_lab::{CONTROL, Path, Run, run};

const LTE: Path = Path::new(40.0, 10.0, 0.02);

fn quic(congestion: QuicCongestion, mode: QuicMode) -> impl Fn(Role) -> Box<dyn Protocol> {
    move |role| {
        let settings = QuicSettings {
            path: PathId(0),
            congestion,
            mode,
            initial_rtt: Duration::from_millis(333),
            max_ack_delay: DEFAULT_MAX_ACK_DELAY,
        };
        Box::new(quic::build(&settings, role, 7).unwrap())
    }
}

fn row(name: &str, run: &Run) {
    println!(
        "{name:<34} P50 {:7.1} P99 {:7.1} P999 {:7.1} max {:8.1} up {:.3} all {:.3} lost {:.2} % retr {} hs {:?}",
        run.quantile_ms(0.5),
        run.quantile_ms(0.99),
        run.quantile_ms(0.999),
        run.quantile_ms(1.0),
        run.amplification_up(),
        run.amplification_both(),
        100.0 - 100.0 * run.delivered() as f64 / run.latencies.len() as f64,
        run.retransmissions,
        run.handshake,
    );
}

fn mpquic(
    scheduler: MpquicScheduler,
    congestion: MpquicCongestion,
) -> impl Fn(Role) -> Box<dyn Protocol> {
    move |role| {
        let settings = MpquicSettings { paths: vec![PathId(0), PathId(1)], scheduler, congestion };
        Box::new(mpquic::build(&settings, role, 7).unwrap())
    }
}

#[test]
fn explore() {
    use MpquicCongestion::*;
    use MpquicScheduler::*;
    for scheduler in [Redundant, MinRtt, RoundRobin] {
        for congestion in [Cubic, Bbr, Bbr3, Copa] {
            for seed in 1..=2 {
                #[expect(clippy::disallowed_methods, reason = "x")]
                let t = std::time::Instant::now();
                let r = run(
                    &[LTE, Path::new(25.0, 5.0, 0.01)],
                    CONTROL,
                    seed,
                    false,
                    mpquic(scheduler, congestion),
                );
                row(&format!("{scheduler:?} {congestion:?} {seed} {:?}", t.elapsed()), &r);
            }
        }
    }
}

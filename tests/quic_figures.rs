//! What the QUIC senders do to a control workload, held against figures measured independently of this code.

mod virtual_lab;

use std::time::Duration;

use impairlab::protocol::quic::{self, DEFAULT_MAX_ACK_DELAY};
use impairlab::protocol::settings::{QuicCongestion, QuicMode, QuicSettings};
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

#[test]
fn explore() {
    for (name, congestion, mode) in [
        ("cubic", QuicCongestion::Cubic, QuicMode::Stream),
        ("newreno", QuicCongestion::NewReno, QuicMode::Stream),
        ("bbr", QuicCongestion::Bbr, QuicMode::Stream),
        ("fixed", QuicCongestion::FixedWindow(1 << 20), QuicMode::Stream),
        ("cubic per message", QuicCongestion::Cubic, QuicMode::StreamPerMessage),
        ("fixed per message", QuicCongestion::FixedWindow(1 << 20), QuicMode::StreamPerMessage),
        ("datagram fixed", QuicCongestion::FixedWindow(1 << 20), QuicMode::Datagram),
    ] {
        for seed in 1..=3 {
            #[expect(clippy::disallowed_methods, reason="x")] let t = std::time::Instant::now();
            let r = run(&[LTE], CONTROL, seed, false, quic(congestion, mode));
            row(&format!("{name} {seed} {:?}", t.elapsed()), &r);
        }
    }
}

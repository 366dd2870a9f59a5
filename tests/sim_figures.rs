//! The figures of whole 600 s trials on `sim`, beside figures measured earlier with other programs on the same set-up:
//! a minimal loop around the published crates, with its own link. Percentiles within 5 %, amplification within 2 %.

mod lab;

use lab::{amplification, latencies_ms, plan, quantile, simulate};

const REPETITIONS: usize = 6;

struct Expected {
    sender: &'static str,
    /// Milliseconds; `None` where too few samples lie behind the quantile for a comparison.
    p50: f64,
    p99: f64,
    p999: Option<f64>,
    amplification: f64,
}

fn measure(paths: &str, senders: &str, expected: &[Expected]) {
    let plan = plan(&format!(
        "paths:\n{paths}
workload: {{ control: {{ rate: 50/s, size: 600B, duration: 600s, deadline: 250ms, phase: 4ms }} }}
repeat: {REPETITIONS}
senders:\n{senders}"
    ));
    let recordings = simulate(&plan);
    let mut wrong = Vec::new();
    println!("{:<20} {:>16} {:>16} {:>16} {:>14}", "sender", "P50", "P99", "P999", "amplification");
    for expected in expected {
        let of_sender: Vec<_> =
            recordings.iter().filter(|recording| recording.sender == expected.sender).collect();
        let mean = |figure: &dyn Fn(&impairlab::recording::Recording) -> f64| {
            of_sender.iter().map(|recording| figure(recording)).sum::<f64>() / REPETITIONS as f64
        };
        let at = |share: f64| mean(&move |recording| quantile(&latencies_ms(recording), share));
        let figures = [
            ("P50", at(0.5), Some(expected.p50), 0.05),
            ("P99", at(0.99), Some(expected.p99), 0.05),
            ("P999", at(0.999), expected.p999, 0.05),
            ("amplification", mean(&amplification), Some(expected.amplification), 0.02),
        ];
        print!("{:<20}", expected.sender);
        for (name, measured, expected_figure, tolerance) in figures {
            let published = expected_figure.map_or("-".into(), |figure| format!("{figure:.3}"));
            print!(" {measured:>8.3} ({published:>6})");
            if expected_figure.is_some_and(|figure| (measured / figure - 1.0).abs() > tolerance) {
                wrong.push(format!("{} {name}: {measured:.3}, not {published}", expected.sender));
            }
        }
        println!();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const fn row(sender: &'static str, p50: f64, p99: f64, p999: f64, amplification: f64) -> Expected {
    Expected { sender, p50, p99, p999: Some(p999), amplification }
}

#[test]
fn kcp_at_two_percent() {
    measure(
        "  p: { delay: 40ms, jitter: 10ms, loss: 2% }",
        "  ikcp-2.1.1: { kcp: { behaviour: ikcp-2.1.1 } }
  ikcp-1.7: { kcp: { behaviour: ikcp-1.7 } }
  at-once: { kcp: { behaviour: ikcp-2.1.1, flush-at-once: true } }",
        &[
            row("ikcp-2.1.1", 47.2, 156.7, 221.6, 1.219),
            row("ikcp-1.7", 47.2, 154.6, 173.0, 1.260),
            row("at-once", 41.2, 144.3, 210.0, 1.232),
        ],
    );
}

#[test]
fn kcp_at_five_percent() {
    measure(
        "  p: { delay: 40ms, jitter: 10ms, loss: 5% }",
        "  ikcp-2.1.1: { kcp: { behaviour: ikcp-2.1.1 } }
  ikcp-1.7: { kcp: { behaviour: ikcp-1.7 } }
  at-once: { kcp: { behaviour: ikcp-2.1.1, flush-at-once: true } }",
        &[
            row("ikcp-2.1.1", 49.4, 203.2, 290.3, 1.272),
            row("ikcp-1.7", 49.3, 164.7, 186.6, 1.371),
            row("at-once", 43.3, 177.1, 263.9, 1.288),
        ],
    );
}

#[test]
fn quic_at_two_percent() {
    measure(
        "  p: { delay: 40ms, jitter: 10ms, loss: 2% }",
        "  cubic: { quic: { congestion: cubic } }
  newreno: { quic: { congestion: newreno } }
  bbr: { quic: { congestion: bbr } }
  fixed: { quic: { congestion: { fixed-window: 16MiB } } }
  streams: { quic: { congestion: cubic, mode: stream-per-message } }",
        &[
            row("cubic", 43.4, 183.3, 275.5, 1.197),
            row("newreno", 49.2, 784.0, 1013.0, 1.197),
            row("bbr", 41.2, 143.2, 188.0, 1.197),
            row("fixed", 41.2, 143.2, 188.0, 1.197),
            row("streams", 42.2, 216.5, 468.1, 1.197),
        ],
    );
}

#[test]
fn mpquic_on_two_paths() {
    measure(
        "  p0: { delay: 40ms, jitter: 10ms, loss: 2% }
  p1: { delay: 25ms, jitter: 5ms, loss: 1% }",
        "  redundant: { mpquic: { paths: [p0, p1], scheduler: redundant, congestion: cubic } }
  minrtt: { mpquic: { paths: [p0, p1], scheduler: minrtt, congestion: cubic } }
  both: { replicate: { paths: [p0, p1], copy: message, quic: { congestion: cubic } } }",
        &[
            row("redundant", 25.1, 31.7, 49.4, 2.254),
            row("minrtt", 25.3, 105.1, 124.6, 1.140),
            row("both", 25.3, 49.1, 90.8, 2.248),
        ],
    );
}

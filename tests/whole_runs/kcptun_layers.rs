//! KCP with what kcptun puts around it and on it, in whole trials on `sim`.

use impairlab::recording::Status;

use super::lab::{
    amplification_total, amplification_up, latencies_ms, longest_gap_ms, plan, quantile, simulate,
};

const IP_UDP: f64 = 28.0;
const KCP: f64 = 24.0;
const FEC: f64 = 8.0;
const CRYPT: f64 = 20.0;

/// On a path without loss or jitter a message is one datagram, answered by one acknowledgement, and
/// for every three of either two of parity follow, as long as these.
#[test]
fn on_a_clean_path_the_cost_is_that_of_the_headers_and_the_parity() {
    let plan = plan(
        "paths: { p: { delay: 10ms } }
workload: { control: { rate: 50/s, size: 600B, duration: 60s, deadline: 250ms, phase: 4ms } }
senders:
  plain: { kcp: { behaviour: kcp-go-5.6 } }
  fec: { kcp: { behaviour: kcp-go-5.6, fec: { data: 3, parity: 2 } } }
  both: { kcp: { behaviour: kcp-go-5.6, fec: { data: 3, parity: 2 }, crypt: aes-128 } }",
    );
    for (recording, (around, with_parity)) in
        simulate(&plan).iter().zip([(0.0, 1.0), (FEC, 5.0 / 3.0), (FEC + CRYPT, 5.0 / 3.0)])
    {
        let headers = IP_UDP + KCP + around;
        let up = (600.0 + headers) * with_parity / 600.0;
        let down = headers * with_parity / 600.0;
        let sender = &recording.sender;
        let measured = (amplification_up(recording), amplification_total(recording));
        // The last acknowledgements and their parity leave after the last message.
        assert!((measured.0 - up).abs() < 0.001 * up, "{sender}: {measured:?}, not {up}");
        assert!((measured.1 - up - down).abs() < 0.001 * up, "{sender}: {measured:?}, not {down}");
        assert_eq!(quantile(&latencies_ms(recording), 1.0), 10.0, "{sender}");
    }
}

/// And a handshake: the server of smux waits for the client to open its stream.
#[test]
fn every_combination_delivers_all_messages_in_spite_of_losses_and_an_outage() {
    let plan = plan(
        "paths: { p: { delay: 20ms, jitter: 5ms, loss: 5% }, q: { delay: 30ms, loss: 10% } }
timeline: [ { at: 10s, path: p, outage: 5s } ]
workload: { echo: { rate: 50/s, size: 1500B, response-size: 300B, duration: 30s, deadline: 250ms } }
senders:
  crypt: { kcp: { path: p, behaviour: kcp-go-5.6, crypt: none } }
  stream: { kcp: { path: p, behaviour: kcp-go-5.6, stream: true, crypt: aes, fec: { data: 10, parity: 3 } } }
  smux-1: { kcp: { path: p, behaviour: kcp-go-5.6, crypt: aes, fec: { data: 3, parity: 2 }, smux: 1 } }
  smux-2: { kcp: { path: p, behaviour: kcp-go-5.6, fec: { data: 1, parity: 1 }, smux: 2 } }
  copied: { replicate: { paths: [p, q], kcp: { behaviour: kcp-go-5.6, fec: { data: 3, parity: 2 }, smux: 1 } } }",
    );
    for recording in simulate(&plan) {
        let sender = &recording.sender;
        assert_eq!(recording.status, Status::Complete, "{sender}");
        assert!(latencies_ms(&recording).iter().all(|ms| ms.is_finite()), "{sender}");
        let gap_ms = longest_gap_ms(&recording);
        assert_eq!(gap_ms > 4_900.0, sender != "copied", "{sender}: {gap_ms}");
        let smux = recording.handshake.up.packets > 0;
        assert_eq!(smux, ["smux-1", "smux-2", "copied"].contains(&&**sender), "{sender}");
    }
}

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

/// The chance of exactly `count` losses out of `of`.
fn binomial(of: u32, count: u32, loss: f64) -> f64 {
    let ways: f64 = (0..count).map(|i| f64::from(of - i) / f64::from(i + 1)).product();
    ways * loss.powi(count as i32) * (1.0 - loss).powi((of - count) as i32)
}

/// Data shards of a group that are made again: as many as were lost, if no more than `parity` of
/// the group were lost in all; their mean and their variance.
fn made_again(data: u32, parity: u32, loss: f64) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for lost in 0..=parity.min(data) {
        let enough: f64 = (0..=parity - lost).map(|of| binomial(parity, of, loss)).sum();
        let chance = binomial(data, lost, loss) * enough;
        mean += chance * f64::from(lost);
        square += chance * f64::from(lost * lost);
    }
    (mean, square - mean * mean)
}

/// At 500 messages a second a group is complete before anything is sent again.
#[test]
fn as_much_is_made_again_as_chance_lets_it() {
    const SIGMAS: f64 = 5.0;
    for (data, parity, percent) in [(3, 2, 5), (3, 2, 20), (10, 3, 5), (10, 3, 15), (4, 1, 10)] {
        let plan = plan(&format!(
            "paths: {{ p: {{ delay: 20ms, loss: {percent}% }} }}
workload: {{ control: {{ rate: 500/s, size: 200B, duration: 120s, deadline: 250ms }} }}
senders:
  kcp: {{ kcp: {{ behaviour: kcp-go-5.6, send-window: 2048, receive-window: 2048,
                 fec: {{ data: {data}, parity: {parity} }} }} }}"
        ));
        let recording = &simulate(&plan)[0];
        let [vehicle, cloud] = recording.error_correction.expect("it has error correction");
        let (wire, group) = (recording.wire[0], f64::from(data + parity));
        for (end, link) in [(cloud, wire.up), (vehicle, wire.down)] {
            let what = format!("{data}+{parity} at {percent} %: {end:?}");
            let groups = link.offered.packets as f64 / group;
            let (mean, variance) = made_again(data, parity, f64::from(percent) / 100.0);
            let made = (end.recovered + end.known) as f64;
            // The last packets of a trial are on their way.
            let spread = SIGMAS * (groups * variance).sqrt() + group;
            assert!((made - groups * mean).abs() < spread, "{what}, not {:.0}", groups * mean);
            let heard = end.data + end.parity;
            assert!((heard.abs_diff(link.delivered) as f64) < 2.0 * group, "{what}, {link:?}");
            assert_eq!(end.failed, 0, "{what}");
        }
        // KCP may be faster, and the more so the more is lost; acknowledgements, which go down, are
        // outdated by the next ones.
        assert!(cloud.recovered > 4 * cloud.known, "{data}+{parity} at {percent} %: {cloud:?}");
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

//! Whole senders on the link model and on the kernel's netem: with one seed, each message arrives
//! on both at the same time.

use std::fs;

use serde_json::{Value, json};

use crate::{command, kernel_or_skip, printed};

/// Every kind of sender, under loss that reorders, with a change midway.
const SCENARIO: &str = "\
version: 1
name: senders
paths:
  4g: { delay: 40ms, jitter: 10ms, distribution: normal, loss: 2% }
  5g: { delay: 25ms, jitter: 8ms, distribution: normal, loss: 1.5% }
timeline:
  - { at: 10.005s, path: 4g, set: { delay: 60ms, loss: { gilbert-elliott: { p: 1%, r: 30% } } }, for: 5s }
workload: { control: { rate: 50/s, size: 600B, duration: 20s, deadline: 250ms } }
senders:
  udp: { udp: { path: 4g } }
  # Its timeout is five times the time between messages: what is sent again is due with another.
  arq: { udp-arq: { path: 4g } }
  kcp: { kcp: { path: 4g, nodelay: 1, interval: 10ms, resend: 2, nc: 1 } }
  kcp-old: { kcp: { path: 4g, behaviour: ikcp-1.7, nodelay: 1, interval: 10ms, resend: 2, nc: 1 } }
  quic: { quic: { path: 4g, congestion: bbr } }
  mpquic: { mpquic: { paths: [4g, 5g], scheduler: redundant } }
  kcp-both: { replicate: { paths: [4g, 5g], copy: message, kcp: { nodelay: 1, interval: 10ms } } }
  quic-both: { replicate: { paths: [4g, 5g], copy: datagram, quic: {} } }
";

/// That an endpoint needs some microseconds in a guest can move a timer past a tick, after which
/// nothing is the same; with this seed it moves none.
#[test]
fn each_message_of_every_sender_arrives_when_the_model_says() {
    let _kernel = kernel_or_skip!();
    let place = tempfile::tempdir().unwrap();
    let scenario = place.path().join("scenario.yaml");
    fs::write(&scenario, SCENARIO).unwrap();
    let mut command =
        command(&["agree", "--json", "--quiet", "--engines", "sim,uml", "--seed", "1"]);
    let text = printed(&command.arg(&scenario).output().unwrap());
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&read["verdict"], &read["exit_code"]), (&json!("yes"), &json!(0)), "{text}");
    let pair = &read["pairs"][0];
    assert_eq!((&pair["reference"], &pair["other"]), (&json!("sim"), &json!("uml")));
    let senders = pair["senders"].as_array().unwrap();
    let names: Vec<&str> = senders.iter().map(|it| it["sender"].as_str().unwrap()).collect();
    let all = ["udp", "arq", "kcp", "kcp-old", "quic", "mpquic", "kcp-both", "quic-both"];
    assert_eq!(names, all);
    for sender in senders {
        assert_eq!(sender["delivery"]["verdict"], "yes", "{sender:#}");
        assert_eq!(sender["amplification"]["verdict"], "yes", "{sender:#}");
        // As many as were sent, and none on one engine only.
        let messages = &sender["messages"];
        let counts = (&messages["compared"], &messages["only_one"]);
        assert_eq!(counts, (&json!(1000), &json!(0)), "{sender:#}");
    }
}

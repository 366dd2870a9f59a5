//! What the libraries log is qlog, tells of each packet when it was on the wire (in the time of the
//! trial, not of this machine), is the same in every run, and changes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use impairlab::protocol::settings::{NoqCongestion, QuicCongestion, QuicMode};
use impairlab::protocol::{Protocol, Qlog, QlogBook, Role};
use impairlab::units::PathId;

use crate::senders::{Build, both_ways, noq_sender, quic_sender, quic_settings};
use crate::virtual_lab::{Path, Run, Work, run};

const PATHS: [Path; 2] = [Path::new(25.0, 5.0, 0.02), Path::new(40.0, 10.0, 0.02)];
const WORK: Work = Work { rate: 50, size: 600, duration: Duration::from_secs(20) };

fn senders() -> [(&'static str, Build); 3] {
    let quic = || quic_settings(QuicCongestion::Cubic, QuicMode::Stream);
    [
        ("quic", Box::new(quic_sender(QuicCongestion::Cubic, QuicMode::Stream, 7))),
        ("both", Box::new(both_ways(quic(), 7))),
        ("noq", Box::new(noq_sender(NoqCongestion::Cubic, 7))),
    ]
}

fn logged(build: &Build) -> (Run, Vec<Qlog>) {
    let book = QlogBook::default();
    let run = run(&PATHS, WORK, 3, true, |role| -> Box<dyn Protocol> {
        let mut protocol = build(role);
        protocol.log_in(&book);
        protocol
    });
    (run, book.take())
}

/// The header and the events. Each record begins with a separator and ends with a line feed.
fn records(log: &Qlog) -> (Value, Vec<Value>) {
    let text = std::str::from_utf8(&log.bytes).unwrap();
    assert!(text.starts_with('\u{1e}') && text.ends_with('\n'));
    let mut records = text.split('\u{1e}').skip(1).map(|record| {
        let record = record.strip_suffix('\n').unwrap();
        serde_json::from_str(record).unwrap_or_else(|error| panic!("{error}: {record}"))
    });
    (records.next().unwrap(), records.collect())
}

fn name(event: &Value) -> &str {
    // Earlier drafts had other names of the category.
    let name = event["name"].as_str().unwrap();
    name.split_once(':').map_or(name, |(_, name)| name)
}

#[test]
fn every_connection_has_a_log_of_each_side_that_is_qlog() {
    for (sender, build) in senders() {
        let (_, logs) = logged(&build);
        let of: Vec<_> = logs.iter().map(|log| (log.role, log.path)).collect();
        let paths: &[u8] = if sender == "both" { &[0, 1] } else { &[0] };
        let sides = [Role::Client, Role::Server];
        let each = sides.map(|role| paths.iter().map(move |path| (role, PathId(*path))));
        assert_eq!(of, each.into_iter().flatten().collect::<Vec<_>>(), "{sender}");
        for log in &logs {
            let (header, events) = records(log);
            let version = header["qlog_version"].as_str().or(header["file_schema"].as_str());
            let format = header["qlog_format"].as_str().or(header["serialization_format"].as_str());
            assert!(version.is_some() && format.is_some(), "{header}");
            let side = if log.role == Role::Client { "client" } else { "server" };
            assert_eq!(header["trace"]["vantage_point"]["type"], side, "{header}");
            let mut count = BTreeMap::<_, usize>::new();
            events.iter().for_each(|event| *count.entry(name(event)).or_default() += 1);
            assert!(events.iter().all(|event| event["data"].is_object()), "{sender}");
            assert!(events.is_sorted_by_key(|event| event["time"].as_f64().unwrap()), "{sender}");
            assert!(
                count["packet_sent"] > 20 && count["packet_received"] > 20,
                "{sender} {count:?}"
            );
            assert_eq!(log.left_out, 0);
        }
    }
}

/// Against the trace of the virtual network, which knows no library: every datagram of the client
/// after the handshake is one packet in the log, of that size, at that instant.
#[test]
fn every_packet_is_logged_at_the_instant_it_was_on_the_wire() {
    for (sender, build) in senders() {
        let (run, logs) = logged(&build);
        let from = 2_000.0;
        let client = logs.iter().filter(|log| log.role == Role::Client);
        let events: Vec<Value> = client.flat_map(|log| records(log).1).collect();
        let mut sent: Vec<(f64, u64)> = events
            .iter()
            .filter(|event| name(event) == "packet_sent")
            .map(|event| {
                let length = &event["data"]["header"]["length"];
                let length = length.as_u64().or(event["data"]["raw"]["length"].as_u64());
                (event["time"].as_f64().unwrap(), length.unwrap_or(0))
            })
            .filter(|(at, _)| *at > from)
            .collect();
        sent.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wire: Vec<(f64, u64)> = run
            .trace
            .iter()
            .filter(|(at, side, ..)| *side == 0 && *at as f64 / 1e6 > from)
            .map(|(at, _, _, size)| (*at as f64 / 1e6, u64::from(*size)))
            .collect();
        assert_eq!(sent.len(), wire.len(), "{sender}");
        for (logged, wire) in sent.iter().zip(&wire) {
            // The libraries hold milliseconds as 32-bit floats.
            let at_once = (logged.0 - wire.0).abs() < 0.01;
            assert!(at_once && logged.1 == wire.1, "{sender}: {logged:?} {wire:?}");
        }
    }
}

/// As the draft of qlog has them. No round trip here is shorter than that of the clean links, 4 ms, and
/// what is taken until one is measured is 333 ms.
#[test]
fn round_trips_are_in_milliseconds() {
    for (sender, build) in senders() {
        let events = logged(&build).1.into_iter().flat_map(|log| records(&log).1);
        let measured: Vec<f64> = events
            .filter(|event| name(event).ends_with("metrics_updated"))
            .flat_map(|event| ["min_rtt", "latest_rtt"].map(|key| event["data"][key].as_f64()))
            .flatten()
            .collect();
        assert!(measured.len() > 20, "{sender}");
        for ms in measured {
            assert!((3.9..2_000.0).contains(&ms), "{sender}: {ms}");
        }
    }
}

#[test]
fn a_log_is_the_same_in_every_run_and_changes_nothing() {
    for (sender, build) in senders() {
        let (first, again) = (logged(&build), logged(&build));
        assert!(first == again, "{sender}");
        assert!(first.0 == run(&PATHS, WORK, 3, true, &build), "{sender}");
    }
}

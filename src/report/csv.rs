//! Every message of every run as one line, every sender and every figure of the receipt: for those
//! who would rather compute themselves.

use std::io::{self, Write};

use csv::Writer;

use super::reservation::in_words;
use super::{Report, SenderReport, json};
use crate::recording::{Message, Messages, Recording, Recovery};
use crate::statistics::Latency;
use crate::units::nanos;

/// `run` counts from 0 as in the recordings, `message` from 0 in the order scheduled. Times are
/// milliseconds since the start of the workload, exact to the nanosecond. `sent_ms` is empty where
/// the sender refused the message, and `delivered_ms` and `latency_ms` where it was lost. Trials
/// that keep a histogram have no lines.
const HEADER: [&str; 8] = [
    "sender",
    "run",
    "message",
    "scheduled_ms",
    "sent_ms",
    "delivered_ms",
    "latency_ms",
    "vehicle",
];

pub fn write_messages(recordings: &[&Recording], out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Writer::from_writer(out);
    lines.write_record(HEADER)?;
    for recording in recordings.iter().flat_map(|trial| trial.vehicles()) {
        let Messages::Each(messages) = &recording.messages else { continue };
        for (number, message) in messages.iter().enumerate() {
            lines.write_record(line(recording, number, message))?;
        }
    }
    lines.flush()
}

fn line(recording: &Recording, number: usize, message: &Message) -> [String; 8] {
    let latency = message.delivered.map(|at| at.saturating_sub(message.scheduled));
    [
        recording.sender.clone(),
        recording.repetition.to_string(),
        number.to_string(),
        milliseconds(Some(message.scheduled)),
        milliseconds(message.sent),
        milliseconds(message.delivered),
        milliseconds(latency),
        recording.vehicle.to_string(),
    ]
}

fn milliseconds(nanos: Option<u64>) -> String {
    let exact = |nanos: u64| format!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000);
    nanos.map_or_else(String::new, exact)
}

const OUTAGE_HEADER: [&str; 14] = [
    "sender",
    "run",
    "path",
    "from_ms",
    "until_ms",
    "messages",
    "lost",
    "late",
    "p50_ms",
    "p99_ms",
    "worst_ms",
    "recovery_ms",
    "path_back_ms",
    "vehicle",
];

/// One line an outage of each run and vehicle, about the messages that fell due in it. A quantile
/// is `lost` where it is. Recovery and path back are `never` or `unknown` where they are no time;
/// path back is empty for a sender with no other path, and so is whatever a histogram does not
/// tell. `vehicle` counts from 0.
pub fn write_outages(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Writer::from_writer(out);
    lines.write_record(OUTAGE_HEADER)?;
    let outages = report.senders.iter().flat_map(|sender| {
        sender.pooled.outages.iter().map(|figures| (&sender.pooled.sender, figures))
    });
    let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
    for (sender, figures) in outages {
        let path = figures.outage.path.index();
        lines.write_record([
            sender.clone(),
            figures.repetition.to_string(),
            report.path_names.get(path).cloned().unwrap_or_default(),
            milliseconds(Some(nanos(figures.outage.from))),
            milliseconds(Some(nanos(figures.outage.until))),
            count(figures.messages),
            count(figures.lost),
            count(figures.late),
            latency(figures.p50),
            latency(figures.p99),
            latency(figures.worst),
            recovery(Some(figures.recovery)),
            recovery(figures.path_back.map(|back| back.after)),
            figures.vehicle.to_string(),
        ])?;
    }
    lines.flush()
}

/// Latencies in milliseconds: `lost` where it is infinite, empty where there is none. `low` and
/// `high` are the 95 % interval. `front`, `front_certain` and `reservations` as in the summary.
const SENDERS_HEADER: [&str; 26] = [
    "sender",
    "protocol",
    "family",
    "redundancy",
    "runs",
    "messages",
    "p50_ms",
    "p99_ms",
    "p99_low_ms",
    "p99_high_ms",
    "p999_ms",
    "worst_ms",
    "lost_share",
    "late_share",
    "longest_gap_ms",
    "amplification_up",
    "amplification",
    "amplification_low",
    "amplification_high",
    "front",
    "front_certain",
    "vehicles",
    "worst_vehicle_p99_ms",
    "gateway_cpu_us",
    "gateway_heap_bytes",
    "reservations",
];

/// One line a sender, in the order of the report: the figures of all its runs.
pub fn write_senders(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Writer::from_writer(out);
    lines.write_record(SENDERS_HEADER)?;
    for sender in &report.senders {
        lines.write_record(sender_line(sender))?;
    }
    lines.flush()
}

fn sender_line(sender: &SenderReport) -> [String; 26] {
    let of = &sender.pooled;
    let [p50, p99, p999] = of.quantiles;
    let vehicles = of.vehicles.as_ref();
    let cost = vehicles.and_then(|it| it.cost);
    let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
    let truth = |value: Option<bool>| value.map_or_else(String::new, |it| it.to_string());
    [
        of.sender.clone(),
        of.protocol.to_owned(),
        sender.kind.family.to_owned(),
        sender.kind.redundancy.to_string(),
        of.runs.to_string(),
        of.messages.to_string(),
        latency(p50.value),
        latency(p99.value),
        latency(p99.interval.low),
        latency(p99.interval.high),
        latency(p999.value),
        latency(of.worst),
        of.lost_share().to_string(),
        of.late_share().to_string(),
        latency(Some(of.longest_gap.gap.length())),
        number(of.amplification.map(|amplification| amplification.up)),
        number(of.amplification.map(|amplification| amplification.total())),
        number(of.amplification_interval.low),
        number(of.amplification_interval.high),
        truth(sender.standing.map(|standing| standing.on_front)),
        truth(sender.standing.and_then(|standing| standing.certain)),
        vehicles.map_or(1, |it| it.count).to_string(),
        latency(vehicles.map(|it| it.worst)),
        number(cost.map(|cost| cost.gateway_cpu.as_secs_f64() * 1e6)),
        number(cost.and_then(|cost| cost.gateway_heap).map(|bytes| bytes as f64)),
        in_words(&sender.reservations),
    ]
}

fn latency(latency: Option<Latency>) -> String {
    let time = |latency: Latency| match latency.as_duration() {
        Some(time) => milliseconds(Some(nanos(time))),
        None => "lost".to_owned(),
    };
    latency.map_or_else(String::new, time)
}

fn recovery(recovery: Option<Recovery>) -> String {
    match recovery {
        Some(Recovery::After(time)) => milliseconds(Some(nanos(time))),
        Some(Recovery::Never) => "never".to_owned(),
        Some(Recovery::Unknown) => "unknown".to_owned(),
        None => String::new(),
    }
}

/// As in the summary: `profile` counts from 0 within a direction.
const IMPAIRMENT_HEADER: [&str; 11] = [
    "path",
    "direction",
    "profile",
    "figure",
    "unit",
    "asked",
    "realised",
    "low",
    "high",
    "packets",
    "verdict",
];

/// One line a figure of what each link was asked for and what it did; empty where there is none.
pub fn write_impairment(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Writer::from_writer(out);
    lines.write_record(IMPAIRMENT_HEADER)?;
    let mut last = None;
    for link in json::links(report) {
        let place = match last {
            Some((path, direction, place)) if (path, direction) == (link.path, link.direction) => {
                place + 1
            }
            _ => 0,
        };
        last = Some((link.path, link.direction, place));
        let (direction, place) = (link.direction.to_string(), place.to_string());
        for figure in &link.figures {
            let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
            let numbers = [figure.asked, figure.realised, figure.low, figure.high].map(number);
            let names = [link.path, &direction, &place, &figure.figure, figure.unit];
            let packets = figure.packets.to_string();
            let ends = [packets.as_str(), &figure.verdict];
            let numbers = numbers.iter().map(String::as_str);
            lines.write_record(names.into_iter().chain(numbers).chain(ends))?;
        }
    }
    lines.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::sample;

    #[test]
    fn a_line_a_message_and_nothing_for_the_lost() {
        let mut recording = sample::recording("udp", 0);
        recording.messages = Messages::Each(vec![
            Message { scheduled: 0, sent: Some(0), delivered: Some(41_327_113) },
            Message { scheduled: 20_000_000, sent: Some(20_000_001), delivered: None },
            Message { scheduled: 40_000_000, sent: None, delivered: None },
        ]);
        let mut out = Vec::new();
        write_messages(&[&recording], &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap(), @r"
        sender,run,message,scheduled_ms,sent_ms,delivered_ms,latency_ms,vehicle
        udp,0,0,0.000000,0.000000,41.327113,41.327113,0
        udp,0,1,20.000000,20.000001,,,0
        udp,0,2,40.000000,,,,0
        ");
    }

    #[test]
    fn a_line_an_outage() {
        let senders = ["udp", "kcp", "kcp-both", "quic-both"];
        let recordings = senders.map(|sender| sample::recording(sender, 0));
        let report = crate::report::summarise(&sample::plan(1), &recordings);
        let mut out = Vec::new();
        write_outages(&report, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    #[test]
    fn outages_of_several_vehicles_are_told_apart() {
        let mut recording = sample::recording("kcp", 0);
        recording.others = vec![Recording { vehicle: 1, ..sample::recording("kcp", 0) }];
        let report = crate::report::summarise(&sample::plan(1), &[recording]);
        let mut out = Vec::new();
        write_outages(&report, &mut out).unwrap();
        let mut lines = csv::Reader::from_reader(&out[..]);
        let column = lines.headers().unwrap().iter().position(|name| name == "vehicle").unwrap();
        let vehicles: Vec<String> =
            lines.records().map(|line| line.unwrap()[column].to_owned()).collect();
        assert_eq!(vehicles, ["0", "1"]);
    }

    #[test]
    fn a_line_a_sender() {
        let recordings = sample::recordings(5);
        let report = crate::report::summarise(&sample::plan(5), &recordings);
        let mut out = Vec::new();
        write_senders(&report, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    #[test]
    fn a_line_a_figure_of_each_link() {
        let report = crate::report::summarise(&sample::plan(1), &[sample::recording("kcp", 0)]);
        let mut out = Vec::new();
        write_impairment(&report, &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }
}

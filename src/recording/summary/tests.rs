use std::time::Duration;

use super::*;
use crate::recording::{Message, MessageHistogram, MessageLog, Status, Window, sample};
use crate::workload::{Keep, Workload};

const SECOND: u64 = 1_000_000_000;

fn with_messages(messages: Vec<Message>) -> Recording {
    let messages = Messages::Each(messages);
    let accepted = messages.scheduled() - messages.refused();
    Recording { accepted, messages, ..sample::recording("kcp", 0) }
}

fn every_20_ms(delivered: impl Fn(u64) -> Option<u64>) -> Vec<Message> {
    let message = |id: u64| id * 20_000_000;
    (0..3000)
        .map(message)
        .map(|scheduled| Message {
            scheduled,
            sent: Some(scheduled),
            delivered: delivered(scheduled),
        })
        .collect()
}

fn seconds(latency: Option<Latency>) -> f64 {
    latency.unwrap().as_duration().unwrap().as_secs_f64()
}

/// D = 5 s in T = 60 s: quantile q is D − (1 − q)·T, plus the delay (one interval of 20 ms less at
/// most).
#[test]
fn one_outage_on_a_reliable_path_gives_the_closed_form() {
    let delay = 40_000_000;
    let dark = 20 * SECOND..25 * SECOND;
    let messages =
        every_20_ms(|at| Some(if dark.contains(&at) { 25 * SECOND } else { at } + delay));
    let summary = Summary::of(&[&with_messages(messages)]).unwrap();
    for (quantile, expected) in [(Quantile::P99, 4.4), (Quantile::P999, 4.94)] {
        let measured = seconds(summary.figure(quantile).unwrap().value) - 0.040;
        assert!((measured - expected).abs() <= 0.020, "{quantile}: {measured}");
    }
    assert_eq!(seconds(summary.figure(Quantile::P50).unwrap().value), 0.040);
    assert_eq!(seconds(summary.worst), 5.040);
    let gap = summary.longest_gap.gap;
    assert_eq!((gap.from, gap.until), (20 * SECOND + 20_000_000, 25 * SECOND + delay));
    assert_eq!(summary.recovery(), Some(Recovery::After(Duration::ZERO)));
    assert_eq!(summary.outages[0].messages, Some(250));
    assert_eq!(summary.outages[0].worst, summary.worst);
}

/// The faster of two independent copies: loss p₁·p₂, distribution 1 − (1 − F₁)(1 − F₂).
#[test]
fn two_redundant_paths_give_the_closed_form_within_their_interval() {
    let mut state = 9u64;
    let mut unit = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    // Exponential delays of mean 40 and 25 ms, lost with 20 and 10 %.
    let latencies: Vec<Latency> = (0..200_000)
        .map(|_| {
            let mut copy = |mean: f64, loss: f64| {
                let (lost, delay) = (unit() < loss, -(1.0 - unit()).ln() * mean * 1e6);
                if lost { Latency::LOST } else { Latency::from_nanos(delay as u64) }
            };
            copy(40.0, 0.2).min(copy(25.0, 0.1))
        })
        .collect();
    let distribution = Distribution::from_samples(latencies);
    let lost = distribution.count() - distribution.at_most(Latency::from_nanos(u64::MAX - 1));
    let share = lost as f64 / 200_000.0;
    // Four standard deviations of a binomial with p = 0.02.
    assert!((share - 0.02).abs() < 4.0 * (0.02f64 * 0.98 / 200_000.0).sqrt(), "{share}");
    for quantile in [0.1, 0.5, 0.9, 0.97].map(|q| Quantile::new(q).unwrap()) {
        let interval = order_statistics(&distribution, quantile);
        let cdf = |latency: Option<Latency>| {
            let ms = latency.unwrap().as_ms_or_infinity();
            let (first, second) =
                (0.8 * (1.0 - (-ms / 40.0).exp()), 0.9 * (1.0 - (-ms / 25.0).exp()));
            1.0 - (1.0 - first) * (1.0 - second)
        };
        let q = quantile.as_f64();
        assert!(cdf(interval.low) <= q && q <= cdf(interval.high), "{quantile}: {interval:?}");
    }
}

#[test]
fn a_lost_message_is_late_and_infinitely_so() {
    let mut messages = every_20_ms(|at| (at % SECOND != 0).then_some(at + 40_000_000));
    messages[1].sent = None;
    messages[1].delivered = None;
    messages[2].delivered = Some(messages[2].scheduled + 251_000_000);
    let summary = Summary::of(&[&with_messages(messages)]).unwrap();
    assert_eq!((summary.messages, summary.delivered, summary.lost), (3000, 2939, 61));
    assert_eq!((summary.refused, summary.late), (1, 62));
    assert_eq!(summary.figure(Quantile::P99).unwrap().value, Some(Latency::LOST));
    assert_eq!(summary.worst, Some(Latency::from_nanos(251_000_000)));
}

#[test]
fn nothing_delivered_is_one_gap_from_start_to_end() {
    let summary = Summary::of(&[&with_messages(every_20_ms(|_| None))]).unwrap();
    assert_eq!(summary.longest_gap.gap, Gap { from: 0, until: 60 * SECOND });
    assert_eq!((summary.worst, summary.mean), (None, None));
    assert_eq!(summary.recovery(), Some(Recovery::Unknown));
}

#[test]
fn no_messages_have_no_figures_and_no_amplification() {
    let mut empty = with_messages(Vec::new());
    empty.status = Status::Interrupted { after: Duration::ZERO };
    let summary = Summary::of(&[&empty]).unwrap();
    assert!(summary.quantiles.iter().all(|figure| figure.value.is_none() && !figure.enough));
    assert_eq!(summary.amplification, None);
    assert_eq!(summary.late_share(), 0.0);
    assert!(Summary::of(&[]).is_none());
}

#[test]
fn amplification_is_ip_bytes_over_payload_without_the_handshake() {
    let amplification = Summary::of(&[&sample::recording("kcp-both", 0)]).unwrap().amplification;
    let amplification = amplification.unwrap();
    let payload = 3000.0 * 600.0;
    assert_eq!(amplification.up, 2.0 * 2_030_000.0 / payload);
    assert_eq!(amplification.down, 2.0 * 338_333.0 / payload);
    assert_eq!(amplification.total(), amplification.up + amplification.down);
}

#[test]
fn repetitions_are_pooled_and_give_intervals_over_runs() {
    let runs: Vec<Recording> = (0..5).map(|run| sample::recording("kcp", run)).collect();
    let pooled = Summary::of(&runs.iter().collect::<Vec<_>>()).unwrap();
    let one = Summary::of(&[&runs[0]]).unwrap();
    assert_eq!((pooled.runs, pooled.messages), (5, 15_000));
    assert_eq!((one.runs, one.messages), (1, 3000));
    assert!(!one.figure(Quantile::P999).unwrap().enough);
    let p999 = pooled.figure(Quantile::P999).unwrap();
    assert!(p999.enough && p999.interval.is_bounded());
    assert!(p999.interval.low <= p999.value && p999.value <= p999.interval.high);
    assert!(pooled.amplification_interval.is_bounded());
    assert_eq!(pooled.retransmissions, Some(5 * 87));
}

#[test]
fn a_single_run_has_an_interval_only_where_no_message_waits_for_another() {
    let bounded = |sender: &str, outages: bool| {
        let mut trial = sample::recording(sender, 0);
        trial.outages.retain(|_| outages);
        Summary::of(&[&trial]).unwrap().figure(Quantile::P50).unwrap().interval.is_bounded()
    };
    assert!(bounded("udp", false));
    assert!(!bounded("udp", true));
    assert!(!bounded("kcp", false));
}

#[test]
fn the_longest_gap_is_the_worst_run_and_the_median_of_the_runs() {
    let runs: Vec<Recording> = (0..5).map(|run| sample::recording("quic-both", run)).collect();
    let mut gaps: Vec<Latency> = runs.iter().map(|run| longest_gap(run).length()).collect();
    gaps.sort();
    let of =
        |runs: &[Recording]| Summary::of(&runs.iter().collect::<Vec<_>>()).unwrap().longest_gap;
    let five = of(&runs);
    assert_eq!((five.median, five.gap.length()), (gaps[2], gaps[4]));
    assert!(five.interval.low >= Some(gaps[0]) && five.interval.high <= Some(gaps[4]));
    assert!(five.interval.is_bounded());
    assert_eq!(of(&runs[..4]).interval, Interval::UNKNOWN);
}

/// The drawn quantile without pooling is the quantile of the pooled resample.
#[test]
fn a_resample_has_the_quantile_of_its_pooled_runs() {
    let runs: Vec<Distribution> =
        (0..5).map(|run| sample::recording("kcp", run).messages.latencies()).collect();
    let all = Distribution::pooled(&runs);
    let drawn = [2, 0, 1, 1, 1];
    let resample = runs.iter().zip(drawn).flat_map(|(run, times)| vec![run; times as usize]);
    let resample = Distribution::pooled(resample);
    for quantile in Quantile::SHOWN {
        let expected = resample.quantile(quantile);
        assert_eq!(Some(drawn_quantile(&all, &runs, &drawn, quantile)), expected);
    }
}

#[test]
fn a_histogram_gives_the_same_figures_as_the_messages_it_is_of() {
    let each = sample::recording("kcp", 0);
    let Messages::Each(messages) = &each.messages else { unreachable!() };
    let latencies = each.messages.latencies();
    let histogram = MessageHistogram {
        scheduled: 3000,
        refused: 0,
        delivered: 3000,
        late: each.messages.late(Duration::from_millis(250)),
        latencies: messages.iter().map(|m| (m.delivered.unwrap() - m.scheduled, 1)).collect(),
        longest_gap: longest_gap(&each),
        windows: (0..60).map(|second| window(messages, second)).collect(),
    };
    let kept = Recording { messages: Messages::Histogram(histogram), ..each.clone() };
    let (each, kept) = (Summary::of(&[&each]).unwrap(), Summary::of(&[&kept]).unwrap());
    assert_eq!(kept.latencies, latencies);
    assert_eq!(kept.quantiles, each.quantiles);
    assert_eq!((kept.late, kept.longest_gap), (each.late, each.longest_gap));
    assert_eq!(kept.amplification, each.amplification);
    assert_eq!(kept.outages[0].worst, each.outages[0].worst);
    assert_eq!(kept.outages[0].messages, each.outages[0].messages);
    let (Recovery::After(kept), Recovery::After(each)) =
        (kept.recovery().unwrap(), each.recovery().unwrap())
    else {
        panic!("no recovery")
    };
    assert!(kept.abs_diff(each) <= Duration::from_secs(1), "{kept:?} {each:?}");
}

fn window(messages: &[Message], second: u64) -> Window {
    let (from, until) = (second * SECOND, (second + 1) * SECOND);
    let all = messages.iter().filter(|message| (from..until).contains(&message.scheduled));
    let latencies = Distribution::from_samples(all.map(Message::latency));
    let nanos =
        |latency: Option<Latency>| latency.unwrap().as_duration().unwrap().as_nanos() as u64;
    Window {
        from,
        until,
        scheduled: latencies.count(),
        delivered: latencies.count(),
        p50: nanos(latencies.quantile(Quantile::P50)),
        p99: nanos(latencies.quantile(Quantile::P99)),
        max: nanos(latencies.worst_delivered()),
    }
}

#[test]
fn an_outage_of_a_path_the_sender_does_not_use_is_none_of_its_business() {
    let mut recording = sample::recording("kcp", 0);
    recording.outages[0].path = crate::units::PathId(1);
    let summary = Summary::of(&[&recording]).unwrap();
    assert!(summary.outages.is_empty());
    assert_eq!(summary.recovery(), None);
}

/// What a histogram tells of the messages of the sample's outage, from 20 s to 25 s, of which none
/// arrived.
fn told_of_an_outage(
    log: fn(&Workload) -> MessageLog,
    duration: Duration,
) -> (Option<u64>, Option<u64>, Option<Latency>) {
    let mut trial = sample::recording("kcp", 0);
    let Workload::Control(periodic) = &mut trial.workload else { panic!("control") };
    periodic.keep = Keep::Histogram;
    periodic.duration = duration;
    let mut log = log(&trial.workload);
    let periodic = trial.workload.periodic();
    for id in 0..periodic.count() {
        let due = periodic.due(id);
        log.sent(id, due);
        if !(20..25).contains(&due.as_secs()) {
            log.delivered(id, due + Duration::from_millis(40));
        }
    }
    trial.messages = log.finish(periodic.duration);
    let summary = Summary::of(&[&trial]).unwrap();
    let [outage] = &summary.outages[..] else { panic!("one outage") };
    (outage.messages, outage.lost, outage.worst)
}

#[test]
fn of_an_outage_that_no_slice_of_a_histogram_lies_within_nothing_is_told() {
    let minute = Duration::from_secs(60);
    assert_eq!(told_of_an_outage(MessageLog::new, minute), (Some(250), Some(250), None));
    // The whole time is one slice.
    assert_eq!(told_of_an_outage(MessageLog::of_many, minute), (None, None, None));
    // Slices of 6 s.
    assert_eq!(told_of_an_outage(MessageLog::new, 60 * minute), (None, None, None));
}

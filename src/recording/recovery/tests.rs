use super::*;
use crate::recording::MessageHistogram;
use crate::statistics::Distribution;
use crate::units::PathId;

const OUTAGE: Outage =
    Outage { path: PathId(0), from: Duration::from_secs(20), until: Duration::from_secs(25) };

const AT_ONCE: Recovery = Recovery::After(Duration::ZERO);

/// 50 messages per second for 60 s, each with the latency in milliseconds that a function of
/// its time gives.
fn messages(latency_ms: impl Fn(f64) -> Option<f64>) -> Vec<Message> {
    (0..3000u64)
        .map(|id| {
            let scheduled = id * 20_000_000;
            let latency = latency_ms(scheduled as f64 / 1e9);
            let delivered = latency.map(|ms| scheduled + (ms * 1e6) as u64);
            Message { scheduled, sent: Some(scheduled), delivered }
        })
        .collect()
}

fn recovery(messages: &Messages, outage: &Outage, rate: f64) -> Recovery {
    recoveries(messages, &[*outage], rate)[0]
}

fn recoveries(messages: &Messages, outages: &[Outage], rate: f64) -> Vec<Recovery> {
    Windows::of(messages, rate).recoveries(outages)
}

fn recovered(latency_ms: impl Fn(f64) -> Option<f64>) -> Recovery {
    recovery(&Messages::Each(messages(latency_ms)), &OUTAGE, 50.0)
}

#[test]
fn it_ends_with_the_first_message_that_is_as_fast_as_before() {
    // Everything sent in the outage, and for 1.5 s after it, waits until 26.5 s.
    let reliable = |t: f64| Some(if (20.0..26.5).contains(&t) { (26.5 - t) * 1e3 } else { 40.0 });
    let Recovery::After(time) = recovered(reliable) else { panic!("no recovery") };
    assert!((time.as_secs_f64() - 1.46).abs() < 0.021, "{time:?}");
}

#[test]
fn a_sender_that_did_not_notice_has_recovered_at_once() {
    assert_eq!(recovered(|_| Some(40.0)), AT_ONCE);
    assert_eq!(recovered(|t| (!(20.0..25.0).contains(&t)).then_some(40.0)), AT_ONCE);
}

/// As of an echo on its way, or behind a packet that was lost just before.
#[test]
fn what_the_outage_held_up_is_no_level_to_come_back_to() {
    let held_up = |t: f64| Some(if (19.5..30.0).contains(&t) { (30.0 - t) * 1e3 } else { 40.0 });
    let of_each = Messages::Each(messages(held_up));
    for messages in [of_each, histogram(&messages(held_up), 100_000_000)] {
        let Recovery::After(time) = recovery(&messages, &OUTAGE, 50.0) else { panic!("none") };
        assert!((time.as_secs_f64() - 4.96).abs() < 0.11, "{time:?}");
    }
}

#[test]
fn a_sender_that_stays_slow_never_recovers() {
    assert_eq!(recovered(|t| Some(if t < 20.0 { 40.0 } else { 60.0 })), Recovery::Never);
    assert_eq!(recovered(|t| (t < 20.0).then_some(40.0)), Recovery::Never);
}

#[test]
fn without_a_level_before_it_is_unknown() {
    assert_eq!(recovered(|t| (t as u64).is_multiple_of(2).then_some(40.0)), Recovery::Unknown);
    let early = Outage { from: Duration::ZERO, ..OUTAGE };
    let steady = Messages::Each(messages(|_| Some(40.0)));
    assert_eq!(recovery(&steady, &early, 50.0), Recovery::Unknown);
    let late = Outage { until: Duration::from_secs(60), ..OUTAGE };
    assert_eq!(recovery(&steady, &late, 50.0), Recovery::Unknown);
    assert_eq!(recovery(&Messages::Each(Vec::new()), &OUTAGE, 50.0), Recovery::Unknown);
}

/// One retransmission in fifty messages, and what is kept in order behind it; their lengths are
/// uniform around 100 ms.
fn with_retransmissions(seed: u64, scatter: u64) -> Vec<Message> {
    let mut random = crate::recording::sample::Random(seed);
    let mut ready = 0;
    let mut steady = messages(|_| Some(40.0));
    for message in &mut steady {
        let again = random.below(50) == 0;
        let repair = if again { 100_000_000 - scatter + random.below(2 * scatter) } else { 0 };
        let arrival = message.scheduled + 30_000_000 + random.below(20_000_000) + repair;
        ready = arrival.max(ready);
        message.delivered = Some(ready);
    }
    steady
}

#[test]
fn a_sender_that_did_not_notice_is_back_at_once_in_spite_of_its_retransmissions() {
    let at_once = |messages: Messages| recovery(&messages, &OUTAGE, 50.0) == AT_ONCE;
    let runs = || (0..400).map(|seed| with_retransmissions(seed, 50_000_000));
    let each = runs().filter(|run| at_once(Messages::Each(run.clone()))).count();
    let slices = runs().filter(|run| at_once(histogram(run, 100_000_000))).count();
    assert!(each >= 380, "{each} of 400");
    assert!(slices >= 380, "{slices} of 400 from slices");
}

#[test]
fn many_messages_a_second_may_have_a_hundredth_above_their_p99() {
    let mut random = crate::recording::sample::Random(3);
    let fast: Vec<Message> = (0..60_000u64)
        .map(|id| {
            let spike = if random.below(200) == 0 { 200_000_000 } else { 0 };
            let scheduled = id * 1_000_000;
            let delivered = Some(scheduled + 40_000_000 + spike);
            Message { scheduled, sent: Some(scheduled), delivered }
        })
        .collect();
    assert_eq!(recovery(&Messages::Each(fast), &OUTAGE, 1000.0), AT_ONCE);
}

fn histogram(messages: &[Message], slice: u64) -> Messages {
    let windows = messages.chunk_by(|one, next| one.scheduled / slice == next.scheduled / slice);
    let windows = windows.map(|messages| {
        let latencies = Distribution::from_samples(messages.iter().map(Message::latency));
        let delivered = messages.iter().filter(|message| message.delivered.is_some()).count();
        let p99 = latencies.quantile(Quantile::P99).and_then(Latency::as_duration);
        let from = messages[0].scheduled / slice * slice;
        Window {
            from,
            until: from + slice,
            scheduled: messages.len() as u64,
            delivered: delivered as u64,
            p99: p99.map_or(0, nanos),
            max: latencies.worst_delivered().and_then(Latency::as_duration).map_or(0, nanos),
            ..Window::default()
        }
    });
    Messages::Histogram(MessageHistogram { windows: windows.collect(), ..Default::default() })
}

#[test]
fn slices_of_a_histogram_tell_the_same_to_one_slice() {
    for seed in 0..50 {
        // None is much longer than those before, so that it alone decides.
        let mut run = with_retransmissions(seed, 1);
        let awake = 25_500_000_000 + seed * 40_000_000;
        for message in &mut run {
            if (20_000_000_000..awake).contains(&message.scheduled) {
                message.delivered = message.delivered.max(Some(awake));
            }
        }
        for slice in [100_000_000, 500_000_000, 1_000_000_000] {
            let slices = recovery(&histogram(&run, slice), &OUTAGE, 50.0);
            let each = recovery(&Messages::Each(run.clone()), &OUTAGE, 50.0);
            let (Recovery::After(slices), Recovery::After(each)) = (slices, each) else {
                panic!("{slices:?} {each:?}")
            };
            let apart = nanos(slices.abs_diff(each));
            assert!(apart <= slice, "seed {seed}, slice {slice}: {slices:?} {each:?}");
        }
    }
}

fn dark(from: u64, until: u64) -> Outage {
    let [from, until] = [from, until].map(Duration::from_secs);
    Outage { path: PathId(1), from, until }
}

/// Each message kept, and slices of a tenth of a second.
fn both_kinds(latency_ms: impl Fn(f64) -> f64) -> [Messages; 2] {
    let messages = messages(|t| Some(latency_ms(t)));
    [Messages::Each(messages.clone()), histogram(&messages, 100_000_000)]
}

/// What is due between two times arrives together at the second.
fn held_up(t: f64, from: f64, until: f64) -> Option<f64> {
    (from..until).contains(&t).then_some((until - t) * 1e3)
}

fn assert_about(recovery: Recovery, seconds: f64) {
    let Recovery::After(time) = recovery else { panic!("{recovery:?} for {seconds} s") };
    assert!((time.as_secs_f64() - seconds).abs() < 0.11, "{time:?} for {seconds} s");
}

#[test]
fn an_outage_just_before_is_no_level_to_come_back_to() {
    let outages = [dark(16, 19), dark(24, 29)];
    let run = |t| held_up(t, 16.0, 20.5).or(held_up(t, 24.0, 33.7)).unwrap_or(20.0);
    for messages in both_kinds(run) {
        let both = recoveries(&messages, &outages, 50.0);
        assert_about(both[0], 1.48);
        assert_about(both[1], 4.68);
        assert_eq!(recovery(&messages, &outages[1], 50.0), AT_ONCE, "as if it were alone");
        let turned = recoveries(&messages, &[outages[1], outages[0]], 50.0);
        assert_eq!(turned, [both[1], both[0]], "in any order");
    }
}

#[test]
fn the_search_ends_where_the_next_outage_begins() {
    let outages = [dark(16, 19), dark(24, 29)];
    // Slower from the first outage on, back to what it was after the second.
    let slow = |t| if (16.0..33.0).contains(&t) { 26.0 } else { 20.0 };
    for messages in both_kinds(slow) {
        let both = recoveries(&messages, &outages, 50.0);
        assert_eq!(both[0], Recovery::Never);
        assert_about(both[1], 4.0);
    }
}

#[test]
fn where_outages_leave_no_room_it_is_unknown() {
    for messages in both_kinds(|_| 20.0) {
        let of = |outages: &[Outage]| recoveries(&messages, outages, 50.0);
        let unknown = Recovery::Unknown;
        assert_eq!(of(&[dark(20, 25), dark(23, 28)]), [unknown, AT_ONCE], "the next is not over");
        assert_eq!(of(&[dark(20, 25), dark(25, 28)]), [unknown, AT_ONCE], "they touch");
        assert_eq!(of(&[dark(20, 25), dark(20, 25)]), [AT_ONCE; 2], "two paths at once");
        assert_eq!(of(&[dark(0, 5), dark(9, 12)]), [unknown; 2], "no level before either");
        assert_eq!(of(&[dark(0, 5), dark(30, 35)]), [unknown, AT_ONCE], "long enough after");
    }
}

/// No level tells when the first outage was over for the sender; its last message does.
#[test]
fn what_an_early_outage_held_up_is_no_level_either() {
    let run = |t| held_up(t, 0.0, 14.0).or(held_up(t, 17.0, 21.0)).unwrap_or(20.0);
    for messages in both_kinds(run) {
        assert_about(recoveries(&messages, &[dark(0, 5), dark(17, 19)], 50.0)[1], 1.98);
    }
}

#[test]
fn the_median_leaves_out_what_is_unknown_unless_it_is_most() {
    let after = |seconds| Recovery::After(Duration::from_secs(seconds));
    let (never, unknown) = (Recovery::Never, Recovery::Unknown);
    assert_eq!(Recovery::median([after(3), AT_ONCE, after(1), never, after(2)]), Some(after(2)));
    assert_eq!(Recovery::median([after(3), unknown, after(1), unknown]), Some(after(2)));
    assert_eq!(Recovery::median([after(1), never]), Some(never));
    assert_eq!(Recovery::median([after(3), unknown, unknown]), Some(unknown));
    assert_eq!(Recovery::median([never, never, AT_ONCE]), Some(never));
    assert_eq!(Recovery::median([]), None);
}

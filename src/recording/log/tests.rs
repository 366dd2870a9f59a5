use super::*;
use crate::recording::{Gap, Message};
use crate::workload::Periodic;

fn workload(keep: Keep, rate: f64, duration: Duration) -> Workload {
    Workload::Control(Periodic { rate, size: 600, duration, deadline: ms(250), keep, phase: None })
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn each_message_keeps_its_three_times() {
    let mut log = MessageLog::new(&workload(Keep::Messages, 50.0, ms(80)));
    log.sent(0, ms(0));
    log.sent(1, ms(21));
    assert_eq!(log.delivered(1, ms(60)), Some(ms(40)));
    assert_eq!(log.delivered(1, ms(61)), None, "a second copy does not count");
    assert_eq!(log.delivered(7, ms(61)), None, "a message never sent does not count");
    log.refused(2);
    assert_eq!(log.delivered(2, ms(62)), None, "nor one that was refused");
    assert_eq!((log.sent_count(), log.undelivered()), (2, 1));
    assert_eq!(log.take_recent(), Some((ms(40), ms(40))));
    assert_eq!(log.take_recent(), None);
    let message = |scheduled: u64, sent: Option<u64>, delivered: Option<u64>| Message {
        scheduled: scheduled * 1_000_000,
        sent: sent.map(|at| at * 1_000_000),
        delivered: delivered.map(|at| at * 1_000_000),
    };
    let expected = vec![
        message(0, Some(0), None),
        message(20, Some(21), Some(60)),
        message(40, None, None),
        message(60, None, None),
    ];
    assert_eq!(log.finish(ms(80)), Messages::Each(expected));
}

#[test]
fn a_histogram_counts_the_same_messages() {
    let mut log = MessageLog::new(&workload(Keep::Histogram, 50.0, ms(10_000)));
    for id in 0..500 {
        let due = ms(20 * id);
        log.sent(id, due);
        if id % 10 != 3 {
            log.delivered(id, due + ms(if id % 100 == 99 { 300 } else { 40 }));
            log.delivered(id, due + ms(41));
        }
    }
    let Messages::Histogram(histogram) = log.finish(ms(10_000)) else { panic!("not a histogram") };
    assert_eq!((histogram.scheduled, histogram.delivered, histogram.late), (500, 450, 5));
    assert_eq!(histogram.latencies.iter().map(|(_, count)| count).sum::<u64>(), 450);
    let (slowest, count) = histogram.latencies[histogram.latencies.len() - 1];
    assert_eq!(count, 5);
    assert!((slowest as f64 / 300e6 - 1.0).abs() < 0.001, "{slowest}");
    assert_eq!(histogram.windows.iter().map(|window| window.scheduled).sum::<u64>(), 500);
}

#[test]
fn memory_stays_flat_when_nothing_is_ever_delivered() {
    let mut log = MessageLog::new(&workload(Keep::Histogram, 1000.0, Duration::from_secs(2000)));
    (0..2_000_000).for_each(|id| log.sent(id, Duration::from_micros(1000 * id)));
    let Kept::Histogram(kept) = &log.kept else { panic!("not a histogram") };
    assert!(kept.outstanding.capacity_bytes() <= 512 * 1024);
    assert_eq!(kept.windows.len(), 600);
    let late = Duration::from_secs(2000);
    assert_eq!(log.delivered(3, late), Some(late - ms(3)), "it is still known");
}

/// Every message takes 40 ms, but from 300 ms on nothing arrives: of a sender that delivers all in
/// the end nothing is lost.
#[test]
fn a_stopped_trial_does_not_call_lost_what_is_under_way() {
    for keep in [Keep::Messages, Keep::Histogram] {
        let mut log = MessageLog::new(&workload(keep, 50.0, ms(10_000)));
        (0..50).for_each(|id| log.sent(id, ms(20 * id)));
        (0..14).for_each(|id| {
            log.delivered(id, ms(20 * id + 40));
        });
        let messages = log.finish_interrupted(ms(1000), true);
        assert_eq!((messages.scheduled(), messages.delivered()), (14, 14), "{keep:?}");
    }
}

/// A path of 400 ms and a deadline of 250 ms: what is younger than any that arrived may still come.
#[test]
fn a_stopped_trial_does_not_call_lost_what_cannot_have_arrived() {
    for keep in [Keep::Messages, Keep::Histogram] {
        let mut log = MessageLog::new(&workload(keep, 50.0, ms(10_000)));
        (0..50).for_each(|id| log.sent(id, ms(20 * id)));
        (0..30).filter(|id| *id != 7).for_each(|id| {
            log.delivered(id, ms(20 * id + 400));
        });
        let messages = log.finish_interrupted(ms(1000), false);
        // A histogram has 400 ms as a little more, which may leave the last one out.
        assert_eq!(messages.scheduled() - messages.delivered(), 1, "{keep:?}");
        assert!((29..=30).contains(&messages.scheduled()), "{keep:?}");
    }
}

/// Stopped at 1,000 ms with a deadline of 250 ms: what was due before 750 ms is settled.
#[test]
fn a_stopped_trial_leaves_out_what_is_not_settled() {
    for keep in [Keep::Messages, Keep::Histogram] {
        let mut log = MessageLog::new(&workload(keep, 50.0, ms(10_000)));
        (0..50).for_each(|id| log.sent(id, ms(20 * id)));
        (0..30).filter(|id| *id != 2).for_each(|id| {
            log.delivered(id, ms(20 * id + 40));
        });
        let messages = log.finish_interrupted(ms(1000), false);
        // 30 to 37 were due before 750 ms and are lost; 38 to 49 may still have come.
        assert_eq!((messages.scheduled(), messages.delivered()), (38, 29), "{keep:?}");
        if let Messages::Histogram(histogram) = messages {
            let ns = |millis: u64| millis * 1_000_000;
            assert_eq!(histogram.longest_gap, Gap { from: ns(620), until: ns(1000) });
        }
    }
}

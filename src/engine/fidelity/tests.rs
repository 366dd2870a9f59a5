use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn on_time() -> Timekeeping {
    let mut kept = Timekeeping::default();
    (0..1000).for_each(|_| kept.packets.record(Duration::from_micros(20)));
    kept
}

#[test]
fn a_quiet_host_spoils_nothing() {
    let fidelity = on_time().fidelity();
    assert_eq!(fidelity.spoilt, None);
    assert!((20.0..20.5).contains(&fidelity.lateness_p99_us.unwrap()), "{fidelity:?}");
}

#[test]
fn late_packets_late_messages_a_stall_and_a_lost_packet_each_spoil_a_result() {
    let spoilt = |change: fn(&mut Timekeeping)| {
        let mut kept = on_time();
        change(&mut kept);
        kept.fidelity().spoilt.unwrap_or_default()
    };
    let late = |kept: &mut Timekeeping| (0..20).for_each(|_| kept.packets.record(ms(2)));
    assert_eq!(spoilt(late), "1 % of the packets left more than 2.0 ms late");
    let unsent = |kept: &mut Timekeeping| kept.sends.record(ms(3));
    assert_eq!(spoilt(unsent), "1 % of the messages were sent more than 3.0 ms late");
    let unread = |kept: &mut Timekeeping| kept.reads.record(ms(4));
    assert_eq!(spoilt(unread), "1 % of the datagrams were read more than 4.0 ms late");
    let unknown = |kept: &mut Timekeeping| kept.stamps.record(ms(5));
    assert_eq!(
        spoilt(unknown),
        "the arrival of 1 % of the packets is known to no better than 5.0 ms"
    );
    let stall = |kept: &mut Timekeeping| kept.stalls.note(ms(21));
    assert_eq!(spoilt(stall), "the host stood still for 21.0 ms");
    let damage = |kept: &mut Timekeeping| kept.damage.overflowed = 7;
    assert!(spoilt(damage).contains("7 by full socket buffers"));
}

#[test]
fn the_worst_is_named() {
    let mut kept = on_time();
    kept.stalls.note(ms(40));
    kept.sends.record(ms(30));
    let spoilt = kept.fidelity().spoilt;
    assert!(spoilt.is_some_and(|line| line.starts_with("1 % of the messages")));
}

#[test]
fn what_is_shorter_than_a_stall_is_none() {
    let mut stalls = Stalls::default();
    [1, 5, 6, 30].into_iter().for_each(|late| stalls.note(ms(late)));
    let twice = Stalls::sum([stalls, stalls]);
    assert_eq!((twice.count, twice.longest), (4, ms(30)));
}

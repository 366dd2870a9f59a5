use super::*;
use crate::link::profile::Loss;
use crate::recording::receipt::Effect;
use crate::recording::sample;

/// Loses half as much again in one direction of the first path.
fn lossier(recording: &mut Recording, times: u64) {
    let did = &mut recording.receipts[0].up[0].did;
    let more = did.lost * times - did.lost;
    did.lost += more;
    did.bursts += more;
    did.left -= more;
}

fn impairment(recordings: &[Recording]) -> Impairment {
    let recordings: Vec<&Recording> = recordings.iter().collect();
    Impairment::of(&recordings).expect("there are receipts")
}

fn found(impairment: &Impairment) -> Vec<(What, String, Option<u32>, bool)> {
    let found = impairment.findings();
    found.map(|(_, what, it)| (what, it.sender.clone(), it.repetition, it.spoilt)).collect()
}

#[test]
fn links_that_do_as_they_are_asked_agree() {
    let impairment = impairment(&sample::recordings(5));
    assert!(!impairment.disagrees());
    let links: Vec<_> = impairment.links.iter().map(|it| (it.path.0, it.direction)).collect();
    let (up, down) = (Direction::Up, Direction::Down);
    assert_eq!(links, [(0, up), (0, up), (0, down), (0, down), (1, up), (1, down)]);
}

#[test]
fn one_bad_trial_of_many_is_found_by_itself() {
    let mut recordings = sample::recordings(5);
    lossier(&mut recordings[7], 4);
    let (sender, repetition) = (recordings[7].sender.clone(), recordings[7].repetition);
    let impairment = impairment(&recordings);
    assert!(impairment.disagrees_unspoilt());
    assert!(found(&impairment).contains(&(What::Loss, sender, Some(repetition), false)));
}

/// Twice the loss is nothing in a trial of 2,600 packets, and something in five.
#[test]
fn what_no_trial_shows_all_runs_of_a_sender_show() {
    let mut recordings = sample::recordings(5);
    let udp = recordings.iter_mut().filter(|trial| trial.sender == "udp");
    udp.for_each(|trial| trial.receipts[0].up[0].did.delay.beyond += 2600.0 * 700_000.0);
    let delays = found(&impairment(&recordings));
    assert_eq!(delays, [(What::Delay, "udp".to_owned(), None, false)]);
}

#[test]
fn a_trial_that_the_host_spoilt_is_told_from_others() {
    let mut recordings = sample::recordings(1);
    lossier(&mut recordings[0], 4);
    let spoilt = Some("the host stood still for 80.0 ms".to_owned());
    recordings[0].fidelity = Some(crate::recording::Fidelity { spoilt, ..sample::fidelity() });
    let impairment = impairment(&recordings);
    assert!(impairment.disagrees() && !impairment.disagrees_unspoilt());
}

#[test]
fn an_interrupted_trial_is_not_judged() {
    let mut recordings = sample::recordings(1);
    lossier(&mut recordings[0], 4);
    recordings[0].status = Status::Interrupted { after: std::time::Duration::from_secs(30) };
    assert!(!impairment(&recordings).disagrees());
}

/// Senders that share their random numbers are no more certain together than each alone.
#[test]
fn an_interval_over_senders_is_no_narrower_than_that_of_one() {
    let width = |recordings: &[Recording]| {
        let loss = impairment(recordings).links[0].figures[0].pooled.clone();
        assert_eq!(loss.what, What::Loss);
        loss.interval.high.unwrap() - loss.interval.low.unwrap()
    };
    let one: Vec<Recording> = vec![sample::recording("kcp", 0)];
    let all: Vec<Recording> = ["kcp", "quic", "mpquic"].map(|it| sample::recording(it, 0)).into();
    assert!((width(&all) / width(&one) - 1.0).abs() < 0.1);
}

/// In one trial nobody knows whether a packet was lost or found the queue full.
#[test]
fn a_loss_that_may_be_none_is_in_no_figure_that_agrees() {
    let blind = |place: usize| {
        let mut recordings = sample::recordings(2);
        recordings.iter_mut().for_each(|trial| {
            let receipt = &mut trial.receipts[0].up[0];
            receipt.asked.as_mut().unwrap().loss = Loss::None;
            (receipt.did.lost, receipt.did.bursts) = (0, 0);
        });
        let receipt = &mut recordings[place].receipts[0].up[0];
        (receipt.did.lost, receipt.did.bursts) = (3, 3);
        let lost = impairment(&recordings);
        assert!(found(&lost).iter().any(|(what, ..)| *what == What::Loss), "a loss that is one");
        recordings[place].receipts[0].up[0].unseen.push(Effect::Loss);
        impairment(&recordings)
    };
    for place in [0, 1] {
        let impairment = blind(place);
        let loss = &impairment.links[0].figures[0];
        assert_eq!((loss.pooled.what, loss.pooled.did), (What::Loss, Some(0.0)), "{place}");
        assert_eq!(loss.pooled.verdict, Verdict::Agrees, "{place}");
        assert!(loss.findings.is_empty(), "{place}: {:?}", loss.findings);
    }
}

/// All of the other trials agree, and the figure over all is as wrong as it.
#[test]
fn one_trial_that_the_host_made_late_spoils_the_figure() {
    let mut recordings = sample::recordings(5);
    let delay = &mut recordings[7].receipts[0].up[0].did.delay;
    let (count, each) = (delay.count as f64, 70e6);
    delay.squares += 2.0 * each * delay.sum + count * each * each;
    delay.beyond_squares += 2.0 * each * delay.beyond + count * each * each;
    delay.late_squares += count * each * each;
    for sum in [&mut delay.sum, &mut delay.beyond, &mut delay.late] {
        *sum += count * each;
    }
    let place = format!("{}, run {}", recordings[7].sender, recordings[7].repetition);
    let impairment = impairment(&recordings);
    assert!(impairment.is_spoilt() && !impairment.disagrees());
    let figures = impairment.links.iter().flat_map(|link| &link.figures);
    let spoilt: Vec<_> = figures.filter(|it| it.pooled.verdict == Verdict::Spoilt).collect();
    // Late in one run of five, the delays of all five scatter as well.
    let what: Vec<What> = spoilt.iter().map(|it| it.pooled.what).collect();
    assert_eq!(what, [What::Delay, What::Jitter]);
    assert!(spoilt[0].late.iter().any(|it| it.place() == place));
}

use super::*;
use crate::link::profile::TokenBucket;
use crate::protocol::ShardCounts;
use crate::recording::{Messages, Recording, Status, sample};
use crate::report::summarise;
use crate::units::{PathId, Rate};

const WIDE: Style = Style { width: 120, colour: false };
const NARROW: Style = Style { width: 80, colour: false };

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn the_table_of_a_handover() {
    let report = summarise(&sample::plan(1), &sample::recordings(1));
    let text = render(&report, WIDE);
    assert!(widest(&text) <= 120, "{}", widest(&text));
    insta::assert_snapshot!(text);
}

#[test]
fn five_runs_have_intervals_and_no_marks() {
    let report = summarise(&sample::plan(5), &sample::recordings(5));
    insta::assert_snapshot!(render(&report, WIDE));
}

#[test]
fn on_80_columns_it_takes_two_blocks() {
    let report = summarise(&sample::plan(1), &sample::recordings(1));
    let text = render(&report, NARROW);
    assert!(widest(&text) <= 80, "{}", widest(&text));
    insta::assert_snapshot!(text);
}

#[test]
fn what_went_wrong_is_said_below() {
    let mut recordings = sample::recordings(2);
    recordings.retain(|trial| {
        trial.sender != "quic" && (trial.sender.as_str(), trial.repetition) != ("udp", 1)
    });
    recordings[0].fidelity = Some(sample::fidelity());
    recordings[1].fidelity = Some(crate::recording::Fidelity {
        stalls: 3,
        longest_stall_us: 18_400.0,
        spoilt: Some("the host stalled for 18.4 ms".to_owned()),
        ..sample::fidelity()
    });
    recordings[2].status = Status::Interrupted { after: Duration::from_millis(12_345) };
    recordings[3].status = Status::Closed { reason: "idle timeout".to_owned() };
    insta::assert_snapshot!(render(&summarise(&sample::plan(2), &recordings), WIDE));
}

#[test]
fn senders_that_delivered_or_sent_nothing() {
    let mut silent = sample::recording("kcp", 0);
    if let Messages::Each(messages) = &mut silent.messages {
        messages.iter_mut().for_each(|message| message.delivered = None);
    }
    let nothing = Recording {
        accepted: 0,
        messages: Messages::Each(Vec::new()),
        status: Status::Interrupted { after: Duration::ZERO },
        ..sample::recording("mpquic", 0)
    };
    let mut plan = sample::plan(1);
    plan.senders.retain(|sender| ["kcp", "mpquic"].contains(&sender.name.as_str()));
    insta::assert_snapshot!(render(&summarise(&plan, &[silent, nothing]), WIDE));
}

#[test]
fn error_correction_is_told_by_end() {
    let vehicle = ShardCounts { data: 2950, parity: 1968, recovered: 31, known: 2, failed: 0 };
    let cloud = ShardCounts { data: 2940, parity: 1961, recovered: 48, known: 1, failed: 3 };
    let corrected = |repetition| Recording {
        error_correction: Some([vehicle, cloud]),
        ..sample::recording("kcp", repetition)
    };
    let mut plan = sample::plan(2);
    plan.senders.retain(|sender| sender.name == "kcp");
    let text = render(&summarise(&plan, &[corrected(0), corrected(1)]), WIDE);
    let (_, section) = text.split_once("Error correction").expect("a section");
    let section: String = section.lines().take(4).map(|line| format!("{line}\n")).collect();
    insta::assert_snapshot!(section);
    let older = [corrected(0), sample::recording("kcp", 1)];
    assert!(!render(&summarise(&plan, &older), WIDE).contains("Error correction"));
}

#[test]
fn what_a_median_of_outages_hides_is_said_and_of_which_path_it_is() {
    let mut report = summarise(&sample::plan(5), &sample::recordings(5));
    let mpquic = report.senders.iter_mut().find(|it| it.pooled.sender == "mpquic").unwrap();
    let last = mpquic.pooled.outages.iter_mut().find(|it| it.repetition == 4).unwrap();
    last.recovery = Recovery::Never;
    last.path_back = Some(crate::recording::PathBack { after: Recovery::Never, why: None });
    let told = |report: &Report| render(report, Style { width: 1000, colour: false });
    let one = told(&report);
    assert!(one.contains("; the median of the runs): mpquic 1.00 s (never in 1 of 5 runs),"));
    assert!(one.contains("what the median does not show: mpquic never in 1 of 5 runs\n"), "{one}");
    assert!(one.contains("; recovery: the median of the runs\n"), "{one}");
    report.outages.push(crate::timeline::Outage { path: PathId(1), ..report.outages[0] });
    let two = told(&report);
    assert!(two.contains("the median of the runs): mpquic 4g 1.00 s (never in 1 of 5"), "{two}");
    assert!(two.contains("of the outages of a run the worst, of the runs the median"), "{two}");
    report.outages.push(report.outages[0]);
    assert!(told(&report).contains("; of the outages of a path in a run the slowest; the median"));
}

#[test]
fn paths_that_every_run_used_again_at_once_are_told_of_together() {
    let mut report = summarise(&sample::plan(5), &sample::recordings(5));
    let at_once = crate::recording::PathBack { after: Recovery::After(Duration::ZERO), why: None };
    for sender in report.senders.iter_mut().filter(|it| it.pooled.sender != "mpquic") {
        sender.pooled.outages.iter_mut().filter(|it| it.path_back.is_some()).for_each(|outage| {
            outage.path_back = Some(at_once);
        });
    }
    let text = render(&report, Style { width: 1000, colour: false });
    assert!(text.contains("runs): mpquic 1.00 s; at once kcp-both, quic-both\n"), "{text}");
}

#[test]
fn an_interrupted_trial_says_how_many_messages_are_in_no_figure() {
    let mut stopped = sample::recording("kcp", 0);
    stopped.status = Status::Interrupted { after: Duration::from_secs(23) };
    let Messages::Each(messages) = &mut stopped.messages else { panic!("each is kept") };
    messages.truncate(1000);
    let mut plan = sample::plan(1);
    plan.senders.retain(|sender| sender.name == "kcp");
    let told = |recording: Recording| {
        render(&summarise(&plan, &[recording]), Style { width: 1000, colour: false })
    };
    let text = told(Recording { accepted: 1150, ..stopped.clone() });
    assert!(
        text.contains("interrupted after 23.0 s; 150 messages due from 20.000 s on, "),
        "{text}"
    );
    // As an older recording has it.
    let Messages::Each(messages) = &mut stopped.messages else { panic!("each is kept") };
    messages.iter_mut().skip(990).for_each(|message| message.delivered = None);
    let text = told(Recording { accepted: 1000, ..stopped });
    assert!(text.contains("reliable, but 10 of its messages had not arrived"), "{text}");
}

#[test]
fn nothing_run_is_said() {
    let mut plan = sample::plan(1);
    plan.claims.clear();
    insta::assert_snapshot!(render(&summarise(&plan, &[]), NARROW));
}

#[test]
fn a_link_that_did_something_else_is_named() {
    let mut recordings = sample::recordings(2);
    let did = &mut recordings[2].receipts[0].up[0].did;
    (did.lost, did.bursts, did.left) = (4 * did.lost, 4 * did.bursts, did.left - 3 * did.lost);
    let text = render(&summarise(&sample::plan(2), &recordings), WIDE);
    let start = text.find("Impairment").unwrap();
    assert!(widest(&text) <= 120, "{}", widest(&text));
    insta::assert_snapshot!(&text[start..]);
}

/// The link did as it was asked, and the host added 70 ms.
#[test]
fn a_figure_that_the_host_spoilt_is_not_taken_for_the_links() {
    let mut recordings = sample::recordings(2);
    let delay = &mut recordings[2].receipts[0].up[0].did.delay;
    let (count, each) = (delay.count as f64, 70e6);
    delay.beyond_squares += 2.0 * each * delay.beyond + count * each * each;
    delay.late_squares += count * each * each;
    for sum in [&mut delay.sum, &mut delay.beyond, &mut delay.late] {
        *sum += count * each;
    }
    let text = render(&summarise(&sample::plan(2), &recordings), WIDE);
    let start = text.find("Impairment").unwrap();
    assert!(widest(&text) <= 120, "{}", widest(&text));
    insta::assert_snapshot!(&text[start..]);
}

#[test]
fn a_rate_that_is_not_judged_is_shown_and_said_not_to_be() {
    let mut recording = sample::recording("kcp", 0);
    let rate = Rate::from_bits_per_second(10_000_000).expect("not zero");
    for receipt in &mut recording.receipts[0].up {
        let profile = receipt.asked.as_mut().expect("a profile");
        profile.bucket = Some(TokenBucket { rate, burst: 15_000, queue: 100_000 });
    }
    let text = render(&summarise(&sample::plan(1), &[recording]), WIDE);
    assert!(text.contains("  10.0 Mbit/s → –"), "{text}");
    assert!(text.contains("\nrate not judged: a token bucket holds packets up"), "{text}");
}

#[test]
fn where_only_the_order_does_not_fit_it_is_told_in_words() {
    let report = summarise(&sample::plan(1), &sample::recordings(1));
    let table = |width| senders(&report, Style { width, colour: false });
    let blocks = |text: &str| text.lines().filter(|line| line.starts_with("sender ")).count();
    let whole = widest(&table(200));
    assert!(!table(whole).contains("in order") && blocks(&table(whole)) == 1);
    let without = table(whole - 1);
    assert!(without.ends_with("\n\nall deliver in order but udp\n"), "{without}");
    assert_eq!((blocks(&without), without.matches("ordered").count()), (1, 0), "{without}");
    let narrow = table(widest(&without) - 1);
    assert!(narrow.contains("unordered") && blocks(&narrow) == 2, "{narrow}");
}

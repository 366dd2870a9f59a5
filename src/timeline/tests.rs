use super::*;

const A: PathId = PathId(0);
const B: PathId = PathId(1);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn link(delay_ms: u64) -> LinkProfile {
    LinkProfile { delay: Duration::from_millis(delay_ms), ..LinkProfile::default() }
}

fn outage(path: PathId, from: u64, until: u64) -> Entry {
    let (from, until) = (seconds(from), Some(seconds(until)));
    Entry { path, from, until, effect: Effect::Outage }
}

fn set(from: u64, until: Option<u64>, direction: Option<Direction>, delay_ms: u64) -> Entry {
    let settings =
        Overrides { delay: Some(Duration::from_millis(delay_ms)), ..Overrides::default() };
    let until = until.map(seconds);
    Entry {
        path: A,
        from: seconds(from),
        until,
        effect: Effect::Set { direction, settings: Box::new(settings) },
    }
}

/// One line a change: when, which way, and the delay or that it is dark.
fn table(entries: Vec<Entry>) -> String {
    let first = [[link(40), link(40)], [link(25), link(25)]];
    let timeline = Timeline::resolve(&first, entries);
    let changes = timeline.changes.iter().map(|change| {
        let state = match change.profile.loss {
            Loss::None => format!("{} ms", change.profile.delay.as_millis()),
            _ => "dark".to_owned(),
        };
        format!("{:>2} s {}{} {state}", change.at.as_secs(), change.path.0, change.direction)
    });
    let outages = timeline.outages.iter().map(|outage| {
        let (from, until) = (outage.from.as_secs(), outage.until.as_secs());
        format!("outage of {} from {from} s to {until} s", outage.path.0)
    });
    changes.chain(outages).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_outage_takes_both_directions_and_gives_them_back() {
    assert_eq!(
        table(vec![outage(B, 20, 25)]),
        "20 s 1up dark\n20 s 1down dark\n25 s 1up 25 ms\n25 s 1down 25 ms\n\
         outage of 1 from 20 s to 25 s"
    );
}

#[test]
fn outages_that_overlap_or_touch_are_one() {
    let entries = vec![outage(A, 24, 26), outage(A, 10, 20), outage(A, 15, 18), outage(A, 20, 24)];
    assert_eq!(
        table(entries),
        "10 s 0up dark\n10 s 0down dark\n26 s 0up 40 ms\n26 s 0down 40 ms\n\
         outage of 0 from 10 s to 26 s"
    );
}

#[test]
fn what_is_set_during_an_outage_is_in_force_after_it() {
    let entries = vec![outage(A, 20, 25), set(22, None, Some(Direction::Up), 97)];
    assert_eq!(
        table(entries),
        "20 s 0up dark\n20 s 0down dark\n22 s 0up dark\n25 s 0up 97 ms\n25 s 0down 40 ms\n\
         outage of 0 from 20 s to 25 s"
    );
}

#[test]
fn what_is_set_for_a_while_gives_way_to_what_was_set_before() {
    let up = Some(Direction::Up);
    let entries =
        vec![set(30, Some(40), up, 300), set(10, None, up, 100), set(20, Some(50), up, 200)];
    assert_eq!(
        table(entries),
        "10 s 0up 100 ms\n20 s 0up 200 ms\n30 s 0up 300 ms\n40 s 0up 200 ms\n50 s 0up 100 ms"
    );
}

#[test]
fn what_is_set_and_ends_during_an_outage_is_gone_after_it() {
    let entries = vec![outage(A, 20, 25), set(21, Some(24), None, 97)];
    assert_eq!(
        table(entries),
        "20 s 0up dark\n20 s 0down dark\n21 s 0up dark\n21 s 0down dark\n\
         24 s 0up dark\n24 s 0down dark\n\
         25 s 0up 40 ms\n25 s 0down 40 ms\n\
         outage of 0 from 20 s to 25 s"
    );
}

#[test]
fn neither_a_duplicate_nor_a_mark_survives_an_outage() {
    let always = Correlated { probability: Probability::ALWAYS, correlation: Probability::NEVER };
    let link = LinkProfile { duplicate: always, ecn: true, ..link(40) };
    let timeline = Timeline::resolve(&[[link.clone(), link]], vec![outage(A, 1, 2)]);
    let dark = &timeline.changes[0].profile;
    assert_eq!(dark.loss, Loss::Random(always));
    assert_eq!((dark.duplicate, dark.ecn), (Correlated::default(), false));
}

use super::*;
use crate::recording::sample;
use crate::report::summarise;

/// Without an outage the messages of `udp` do not depend on one another: its P99 has an interval
/// after one run, and nobody's cost has.
#[test]
fn the_caption_says_of_the_lines_what_is_drawn() {
    for (runs, says, drawn) in [
        (1, "where they are known; the others need 5 runs (--repeat 5)", 1),
        (5, "Lines through a point: 95 % intervals. ", 2),
    ] {
        let mut recordings = sample::recordings(runs);
        for recording in &mut recordings {
            recording.outages.clear();
            if let crate::recording::Messages::Each(messages) = &mut recording.messages {
                messages.iter_mut().for_each(|it| it.delivered = Some(it.scheduled + 40_000_000));
            }
        }
        let report = summarise(&sample::plan(runs), &recordings);
        let data = &Data::new(&report, &recordings);
        let spots = spots(data);
        let across = cost_axis(&spots, Span { from: 0.0, to: 100.0 });
        let plot = Plot { left: 0.0, right: 100.0, top: 0.0, bottom: 100.0 };
        let up = latency_axis(data, &spots, &plot);
        let placed: Vec<Placed> =
            spots.into_iter().map(|spot| Placed { spot, at: (50.0, 50.0) }).collect();
        let mut document = String::new();
        let mut canvas = Canvas::svg(&mut document, 100.0);
        for it in &placed {
            let lines = it.whiskers(&mut canvas, &across, &up).len();
            assert_eq!(lines, it.spot.intervals().filter(|is_drawn| *is_drawn).count());
            if it.spot.sender.pooled.sender == "udp" {
                assert_eq!(lines, drawn);
            }
        }
        let caption = how_to_read(data, &placed, 0);
        assert!(caption.contains(says), "{runs}: {caption}");
    }
}

/// The words of a chart, in the order in which they are drawn: names at points before the legend.
fn words(plan: &crate::scenario::plan::Plan, recordings: &[crate::recording::Recording]) -> String {
    let report = summarise(plan, recordings);
    let data = Data::new(&report, recordings);
    let mut document = String::new();
    let mut canvas = Canvas::svg(&mut document, height(&data));
    draw(&data, &mut canvas);
    canvas.finish().unwrap();
    let words = document.split("<text").skip(1).filter_map(|rest| rest.split_once(">\n"));
    words.filter_map(|(_, rest)| rest.split('\n').next()).map(|it| format!("[{it}]")).collect()
}

/// All in one place: no names of sixteen go around it without a leader across another.
#[test]
fn points_without_a_name_are_counted() {
    for count in [2, 8, 16] {
        let mut plan = sample::plan(1);
        let name = |n: usize| format!("a sender with quite a long name, {n:02}");
        plan.senders = (0..count)
            .map(|n| crate::scenario::plan::SenderPlan { name: name(n), ..plan.senders[1].clone() })
            .collect();
        let recording =
            |n| crate::recording::Recording { sender: name(n), ..sample::recording("kcp", 0) };
        let words = words(&plan, &(0..count).map(recording).collect::<Vec<_>>());
        let (plot, key) = words.split_once("[Senders]").unwrap();
        let named = plot.matches("[a sender with").count();
        assert_eq!(key.matches("[a sender with").count(), count);
        let without = match count - named {
            0 => String::new(),
            1 => "For the name of one there is no room".to_owned(),
            n => format!("For the names of {n} there is no room"),
        };
        assert_eq!(words.contains("there is no room"), named < count, "{words}");
        assert!(words.contains(&without), "{named} of {count}: {words}");
    }
}

#[test]
fn who_has_no_p99_is_not_said_to_be_beaten() {
    let (plan, recordings) = (sample::plan(1), sample::recordings(1));
    assert!(words(&plan, &recordings).contains("[no ring: beaten, or no P99]"));
    let delivering: Vec<_> = recordings.into_iter().filter(|it| it.sender != "udp").collect();
    assert!(words(&plan, &delivering).contains("[no ring: beaten]"));
}

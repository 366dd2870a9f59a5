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
        let caption = how_to_read(data, &placed);
        assert!(caption.contains(says), "{runs}: {caption}");
    }
}

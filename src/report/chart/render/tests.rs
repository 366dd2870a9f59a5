use std::time::Duration;

use super::*;
use crate::recording::{Message, MessageHistogram, Messages, Status, Window, sample};
use crate::report::summarise;
use crate::scenario::plan::Plan;

fn files(plan: &Plan, recordings: &[Recording]) -> Vec<ChartFile> {
    render_all(&summarise(plan, recordings), recordings).unwrap()
}

/// Writes them where a person can look at them, if asked to.
fn keep(files: &[ChartFile], folder: &str) {
    if let Some(root) = std::env::var_os("IMPAIRLAB_KEEP_CHARTS") {
        let folder = std::path::Path::new(&root).join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        files.iter().for_each(|file| std::fs::write(folder.join(&file.name), &file.bytes).unwrap());
    }
}

fn svg<'a>(files: &'a [ChartFile], name: &str) -> &'a str {
    let file = files.iter().find(|file| file.name == format!("{name}.svg")).unwrap();
    std::str::from_utf8(&file.bytes).unwrap()
}

/// Of every text of an SVG: where it begins and ends, its height on the canvas and its words;
/// upright ones left out.
fn texts(svg: &str) -> Vec<(f64, f64, f64, String)> {
    let attribute = |tag: &str, name: &str| {
        let rest = tag.split_once(&format!(" {name}=\"")).unwrap().1;
        rest.split_once('"').unwrap().0.to_owned()
    };
    let number = |tag: &str, name: &str| attribute(tag, name).parse::<f64>().unwrap();
    svg.split("<text")
        .skip(1)
        .filter(|rest| !rest.split('>').next().unwrap().contains("rotate"))
        .map(|rest| {
            let (tag, words) = rest.split_once(">\n").unwrap();
            let words = words.split("\n</text>").next().unwrap().replace("&lt;", "<");
            let words = words.replace("&apos;", "'");
            let bold = tag.contains("bold");
            let width = super::super::canvas::text_width(&words, number(tag, "font-size"), bold);
            let from = match attribute(tag, "text-anchor").as_str() {
                "start" => 0.0,
                "middle" => width / 2.0,
                _ => width,
            };
            let from = number(tag, "x") - from;
            (from, from + width, number(tag, "y"), words)
        })
        .collect()
}

/// Of every element of an SVG its words, or the colour of a shape.
fn elements(svg: &str) -> Vec<Result<String, String>> {
    let element = |tag: &str| {
        let (start, rest) = tag.split_once('>')?;
        if start.starts_with("text") {
            return Some(Ok(rest.split("\n</text").next()?.trim().to_owned()));
        }
        let colours = ["stroke=\"#", "fill=\"#"];
        let colour = colours.iter().find_map(|name| start.split_once(name))?.1;
        Some(Err(colour[..6].to_owned()))
    };
    svg.split('<').filter(|tag| !tag.starts_with('/')).filter_map(element).collect()
}

const PAPER: &str = "FFFFFF";

/// The colour of the shape that is drawn just before a text, or else just after it, wherever that
/// is not paper.
fn colour_beside(svg: &str, words: &str, before: bool) -> String {
    let elements = elements(svg);
    let says = |element: &Result<String, String>| {
        element.as_ref().is_ok_and(|text| text == words || text.starts_with(&format!("{words} · ")))
    };
    let places = (0..elements.len()).filter(|n| says(&elements[*n]));
    let colour = |n: usize| match before {
        true => elements[..n].iter().rev().find_map(|it| it.as_ref().err()),
        false => elements[n..].iter().find_map(|it| it.as_ref().err()),
    };
    let mut colours = places.filter_map(colour).filter(|colour| *colour != PAPER);
    colours.next().unwrap_or_else(|| panic!("{words}: no colour")).clone()
}

fn many_senders(count: usize) -> (Plan, Vec<Recording>) {
    let mut plan = sample::plan(1);
    let names = (0..count).map(|n| format!("{}-{n}", sample::SENDERS[n % sample::SENDERS.len()]));
    let all: Vec<(String, &str)> = names
        .enumerate()
        .map(|(n, name)| (name, sample::SENDERS[n % sample::SENDERS.len()]))
        .collect();
    plan.senders = all
        .iter()
        .map(|(name, _)| crate::scenario::plan::SenderPlan {
            name: name.clone(),
            ..plan.senders[0].clone()
        })
        .collect();
    let recording = |(name, like): &(String, &str)| Recording {
        sender: name.clone(),
        ..sample::recording(like, name.len() as u32 % 3)
    };
    (plan, all.iter().map(recording).collect())
}

#[test]
fn every_chart_is_an_svg_and_a_png() {
    let files = files(&sample::plan(1), &sample::recordings(1));
    keep(&files, "handover");
    assert_eq!(files.len(), 2 * CHARTS.len());
    for file in &files {
        let start: &[u8] =
            if file.name.ends_with(".svg") { b"<svg width=\"1100\"" } else { b"\x89PNG" };
        assert!(file.bytes.starts_with(start), "{}", file.name);
        assert!(file.bytes.len() < 1 << 20, "{}: {} bytes", file.name, file.bytes.len());
    }
}

#[test]
fn the_same_recordings_give_the_same_bytes() {
    let recordings = sample::recordings(1);
    assert_eq!(files(&sample::plan(1), &recordings), files(&sample::plan(1), &recordings));
}

#[test]
fn no_text_leaves_the_canvas() {
    let (plan, recordings) = many_senders(64);
    let many = files(&plan, &recordings);
    keep(&many, "many");
    for all in [many, files(&sample::plan(5), &sample::recordings(5))] {
        for chart in &CHARTS {
            for (from, to, _, words) in texts(svg(&all, chart.name)) {
                assert!(from >= 0.0 && to <= WIDTH * SCALE, "{}: {words}", chart.name);
            }
        }
    }
}

#[test]
fn no_text_lies_on_another() {
    let few = files(&sample::plan(5), &sample::recordings(5));
    keep(&few, "five-runs");
    let (plan, recordings) = many_senders(24);
    for all in [few, files(&plan, &recordings)] {
        for chart in &CHARTS {
            let texts = texts(svg(&all, chart.name));
            for (n, one) in texts.iter().enumerate() {
                for other in &texts[n + 1..] {
                    let apart = (one.2 - other.2).abs() >= 10.0 * SCALE;
                    assert!(
                        apart || one.1 <= other.0 || other.1 <= one.0,
                        "{}: {} / {}",
                        chart.name,
                        one.3,
                        other.3
                    );
                }
            }
        }
    }
}

/// Each with another cost and, the other way round, another P99: all on the front.
#[test]
fn of_many_senders_the_front_is_named_and_the_others_are_not() {
    let (plan, mut recordings) = many_senders(50);
    for (n, recording) in recordings.iter_mut().enumerate() {
        let best = n % 10 == 0;
        for wire in &mut recording.wire {
            (wire.up.offered.bytes, wire.down.offered.bytes) = (0, 0);
        }
        recording.wire[0].up.offered.bytes = 2_000_000 + 40_000 * n as u64;
        let latency = 500_000_000 - 8_000_000 * n as u64 + if best { 0 } else { 500_000_000 };
        if let Messages::Each(messages) = &mut recording.messages {
            messages.iter_mut().for_each(|it| it.delivered = Some(it.scheduled + latency));
        }
    }
    let files = files(&plan, &recordings);
    keep(&files, "front");
    let words: Vec<String> = texts(svg(&files, "trade-off")).into_iter().map(|it| it.3).collect();
    for (n, sender) in plan.senders.iter().enumerate() {
        assert!(n % 10 != 0 || words.contains(&sender.name), "{}: {words:?}", sender.name);
    }
    let named = plan.senders.iter().filter(|sender| words.contains(&sender.name)).count();
    assert!((5..=6).contains(&named), "{named}");
}

#[test]
fn a_sender_has_one_colour_in_all_charts() {
    for count in [12, 50] {
        let (plan, recordings) = many_senders(count);
        let report = summarise(&plan, &recordings);
        let files = files(&plan, &recordings);
        let chosen = crate::report::chart::selection::chosen(&report);
        assert!(chosen.len() > 4);
        for sender in chosen {
            let colour = |chart, before| {
                colour_beside(svg(&files, chart), &sender.pooled.sender, before).to_uppercase()
            };
            let colours = [
                colour("tail", true),
                colour("trade-off", true),
                colour("over-time", false),
                colour("amplification", false),
            ];
            let name = &sender.pooled.sender;
            assert!(colours.iter().all(|it| *it == colours[0]), "{name}: {colours:?}");
        }
    }
}

#[test]
fn an_order_of_the_report_changes_no_colour() {
    let (plan, recordings) = many_senders(50);
    let report = summarise(&plan, &recordings);
    let sorted = report.clone().in_order(crate::report::Order::P99);
    assert_ne!(report.senders, sorted.senders);
    assert_eq!(Data::new(&report, &[]).looks, Data::new(&sorted, &[]).looks);
}

#[test]
fn a_curve_that_ends_in_losses_says_how_many() {
    // Of 12 each is in the legend, of 24 some are grey.
    for count in [12, 24] {
        let (plan, recordings) = many_senders(count);
        let report = summarise(&plan, &recordings);
        let files = files(&plan, &recordings);
        let losing: Vec<_> = report.senders.iter().filter(|it| it.pooled.lost > 0).collect();
        let arrows = svg(&files, "tail").matches("<polygon").count();
        assert_eq!(arrows, losing.len());
        let words: Vec<String> = texts(svg(&files, "tail")).into_iter().map(|it| it.3).collect();
        for sender in losing.iter().filter(|_| count == 12) {
            let share = crate::report::figures::share(sender.pooled.lost_share());
            let line = format!("{} · {share} lost", sender.pooled.sender);
            assert!(words.contains(&line), "{line}: {words:?}");
        }
    }
}

/// Arrows of senders in grey have no share beside them, but no other's lies on them.
#[test]
fn no_share_lost_lies_on_the_head_of_an_arrow() {
    let (plan, recordings) = many_senders(24);
    let files = files(&plan, &recordings);
    let tail = svg(&files, "tail");
    let corners = |rest: &str| -> Vec<f64> {
        let points = rest.split_once("points=\"").unwrap().1.split('"').next().unwrap();
        points.split(' ').filter_map(|it| it.split_once(',')?.0.parse().ok()).collect()
    };
    let heads: Vec<Vec<f64>> = tail.split("<polygon").skip(1).map(corners).collect();
    assert!(heads.len() > 2, "some are grey");
    let in_band = |it: &&(f64, f64, f64, String)| it.2 < 140.0 * SCALE && it.3.ends_with(" %");
    for (from, to, _, words) in texts(tail).iter().filter(in_band) {
        assert!(!heads.iter().flatten().any(|x| (*from..*to).contains(x)), "{words}");
    }
}

/// A message in no time at all, as of a delay that a distribution cut off at zero.
#[test]
fn what_is_below_the_scale_over_time_is_told() {
    let caption = |nanos: u64| {
        let mut recording = sample::recording("kcp", 0);
        let Messages::Each(messages) = &mut recording.messages else { panic!("each is kept") };
        messages[0].delivered = Some(messages[0].scheduled + nanos);
        let files = files(&sample::plan(1), &[recording]);
        texts(svg(&files, "over-time")).into_iter().map(|it| it.3).collect::<Vec<_>>().join(" ")
    };
    for (nanos, told) in [(0, true), (1_000_000, true), (40_000_000, false)] {
        assert_eq!(caption(nanos).contains("at the lower edge"), told, "{nanos}");
    }
}

/// Neither on the front nor the corner of it, however good, and with their sign in every chart.
#[test]
fn senders_that_are_not_ranked_are_crosses() {
    let mut recordings = sample::recordings(5);
    for kcp in recordings.iter_mut().filter(|it| it.sender == "kcp-both") {
        let spoilt = Some("the host stood still for 80.0 ms".to_owned());
        kcp.fidelity = Some(crate::recording::Fidelity { spoilt, ..sample::fidelity() });
    }
    recordings[0].status =
        crate::recording::Status::Interrupted { after: std::time::Duration::from_secs(30) };
    let files = files(&sample::plan(5), &recordings);
    keep(&files, "not-ranked");
    for chart in &CHARTS {
        let texts = texts(svg(&files, chart.name));
        let says = |words: &str| texts.iter().any(|it| it.3.starts_with(words));
        assert!(says("kcp-both †") && says("udp ‡"), "{}", chart.name);
        let note: String = texts.iter().map(|it| format!("{} ", it.3)).collect();
        assert!(note.contains("†: spoilt by the host. "), "{}: {note}", chart.name);
    }
    let words: Vec<String> = texts(svg(&files, "trade-off")).into_iter().map(|it| it.3).collect();
    assert!(words.contains(&"cross: not ranked".to_owned()), "{words:?}");
}

#[test]
fn where_only_some_points_are_in_colour_the_caption_says_so() {
    let (plan, recordings) = many_senders(50);
    let files = files(&plan, &recordings);
    let caption: String = texts(svg(&files, "trade-off")).into_iter().map(|it| it.3).collect();
    assert!(caption.contains("n colour: 20 of 50 senders"), "{caption}");
}

#[test]
fn of_many_vehicles_it_is_said_whose_dots_are_shown() {
    let mut recording = sample::recording("kcp", 0);
    let caption = |recording: &Recording| {
        let files = files(&sample::plan(1), std::slice::from_ref(recording));
        texts(svg(&files, "over-time")).into_iter().map(|it| it.3).collect::<String>()
    };
    assert!(!caption(&recording).contains("first vehicle"));
    recording.others = vec![Recording { vehicle: 1, ..sample::recording("kcp", 0) }];
    assert!(caption(&recording).contains("first vehicle"));
}

#[test]
fn where_a_trial_was_interrupted_it_is_marked() {
    let words = |after: Duration| {
        let mut recording = sample::recording("kcp", 0);
        let Messages::Each(messages) = &mut recording.messages else { panic!("each is kept") };
        messages.retain(|message| u128::from(message.scheduled) < after.as_nanos());
        recording.status = Status::Interrupted { after };
        let files = files(&sample::plan(1), &[recording]);
        keep(&files, "interrupted");
        let told = texts(svg(&files, "over-time")).into_iter();
        told.filter(|text| text.3.starts_with("interrupted at")).collect::<Vec<_>>()
    };
    let [early] = &words(Duration::from_secs(30))[..] else { panic!("one strip, one mark") };
    assert_eq!(early.3, "interrupted at 30.0 s");
    let [late] = &words(Duration::from_millis(59_900))[..] else { panic!("one strip, one mark") };
    assert!(early.1 < late.1 && late.1 < WIDTH * SCALE, "{late:?}");
    assert_eq!(words(Duration::from_secs(61)), [], "all was measured");
}

#[test]
fn one_sender_all_lost_and_no_messages_are_drawn() {
    let lose = |messages: &mut Messages| {
        if let Messages::Each(each) = messages {
            each.iter_mut().for_each(|message| message.delivered = None);
        }
    };
    let mut recordings = vec![sample::recording("udp", 0), sample::recording("kcp", 0)];
    lose(&mut recordings[0].messages);
    recordings[1].messages = Messages::Each(Vec::new());
    keep(&files(&sample::plan(1), &recordings), "odd");
    keep(&files(&sample::plan(1), &recordings[..1]), "lost");
    keep(&files(&sample::plan(1), &recordings[1..]), "empty");
    keep(&files(&sample::plan(1), &[]), "nothing");
    let one =
        Messages::Each(vec![Message { scheduled: 0, sent: Some(0), delivered: Some(41_000_000) }]);
    recordings[1].messages = one;
    keep(&files(&sample::plan(1), &recordings[1..]), "one-message");
}

#[test]
fn a_histogram_is_drawn_from_its_windows() {
    let mut recording = sample::recording("kcp", 0);
    let windows = (0..60u64).map(|second| Window {
        from: second * 1_000_000_000,
        until: (second + 1) * 1_000_000_000,
        scheduled: 50,
        delivered: 50 - u64::from(second == 22),
        p50: 45_000_000,
        p99: 140_000_000 + 1_000_000_000 * u64::from((20..25).contains(&second)),
        max: 160_000_000 + 1_100_000_000 * u64::from((20..25).contains(&second)),
    });
    recording.messages = Messages::Histogram(MessageHistogram {
        scheduled: 3000,
        delivered: 2999,
        latencies: vec![(45_000_000, 2700), (160_000_000, 299)],
        windows: windows.collect(),
        ..MessageHistogram::default()
    });
    keep(&files(&sample::plan(1), &[recording]), "histogram");
}

#[test]
fn a_long_subtitle_takes_more_lines_and_pushes_the_chart_down() {
    let (plan, recordings) = (sample::plan(1), sample::recordings(1));
    let mut report = summarise(&plan, &recordings);
    report.paths =
        (0..8).map(|path| format!("path-{path} 40 ± 10 ms normal reordering, 2% lost")).collect();
    let files = render_all(&report, &recordings).unwrap();
    keep(&files, "eight-paths");
    for name in ["quantiles", "tail", "over-time", "trade-off", "amplification"] {
        let texts = texts(svg(&files, name));
        let of_paths = texts.iter().filter(|text| text.3.contains("path-"));
        let lines: Vec<&(f64, f64, f64, String)> = of_paths.collect();
        let words = lines.iter().map(|line| line.3.as_str()).collect::<Vec<_>>().join(" · ");
        assert_eq!(words, report.paths.join(" · "), "{name}");
        let lowest = lines.iter().map(|line| line.2).fold(0.0, f64::max);
        let rest = texts.iter().filter(|text| text.2 > lowest).map(|text| text.2);
        assert!(rest.fold(f64::INFINITY, f64::min) - lowest >= 14.0, "{name}");
    }
}

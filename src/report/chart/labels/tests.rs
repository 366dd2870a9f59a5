use super::*;

const ROOM: Area = Area { left: 0.0, top: 0.0, right: 900.0, bottom: 500.0 };

fn places(labels: &[(Point, Point)], marks: &[Point]) -> Vec<Place> {
    let drawn = Drawn { marks, texts: &[], lines: &[] };
    place(labels, ROOM, drawn).into_iter().flatten().collect()
}

/// Eight columns of points that touch, as where all senders with a copy have the same cost.
fn cluster() -> Vec<Point> {
    let at = |n: u32| (430.0 + 6.0 * f64::from(n % 8), 250.0 + 9.0 * f64::from(n / 8));
    (0..40).map(at).collect()
}

fn labels(points: impl IntoIterator<Item = Point>) -> Vec<(Point, Point)> {
    points.into_iter().map(|at| (at, (60.0, 14.0))).collect()
}

#[test]
fn labels_around_one_point_do_not_touch() {
    let places = places(&labels([(450.0, 250.0); 40]), &[(450.0, 250.0)]);
    assert!(places.len() >= 4, "{}", places.len());
    for (n, one) in places.iter().enumerate() {
        assert!(ROOM.holds(&one.area));
        assert!(places[n + 1..].iter().all(|other| !one.area.meets(&other.area)));
    }
}

#[test]
fn a_lone_point_has_its_label_at_its_right_and_needs_no_leader() {
    let places = places(&labels([(100.0, 100.0)]), &[(100.0, 100.0)]);
    assert_eq!((places[0].area.left, places[0].leader), (108.0, None));
}

#[test]
fn at_the_right_edge_the_label_goes_elsewhere() {
    let places = places(&labels([(890.0, 100.0)]), &[(890.0, 100.0)]);
    assert!(places[0].area.right <= 900.0);
}

#[test]
fn a_label_is_nearest_to_its_own_point_or_has_a_leader_to_it() {
    let marks = cluster();
    let named: Vec<Point> = marks.iter().copied().step_by(4).collect();
    let places = places(&labels(named.clone()), &marks);
    assert_eq!(places.len(), named.len());
    assert!(places.iter().any(|place| place.leader.is_some()));
    for (at, place) in named.iter().zip(&places) {
        let own = place.area.distance(*at);
        let others = marks.iter().filter(|mark| *mark != at);
        let nearest = others.map(|mark| place.area.distance(*mark)).fold(f64::INFINITY, f64::min);
        match place.leader {
            Some((_, end)) => assert_eq!(end, *at),
            None => assert!(own < nearest, "{at:?}: {own} to its own, {nearest} to another"),
        }
    }
}

#[test]
fn no_leader_runs_through_another_label_or_across_another_leader() {
    let marks = cluster();
    let places = places(&labels(marks.iter().copied().step_by(3)), &marks);
    for (n, one) in places.iter().enumerate() {
        for (m, other) in places.iter().enumerate().filter(|(m, _)| *m != n) {
            let Some(leader) = one.leader else { continue };
            assert!(!other.area.is_crossed_by(&leader), "{n} runs through {m}");
            assert!(!other.leader.is_some_and(|line| cross(line, leader)), "{n} crosses {m}");
        }
    }
}

#[test]
fn a_line_is_seen_to_cross_an_area_or_to_pass_it_by() {
    let area = Area { left: 10.0, top: 10.0, right: 20.0, bottom: 20.0 };
    let crossing =
        [((0.0, 15.0), (30.0, 15.0)), ((0.0, 0.0), (30.0, 30.0)), ((15.0, 0.0), (15.0, 12.0))];
    assert!(crossing.iter().all(|line| area.is_crossed_by(line)));
    let passing =
        [((0.0, 5.0), (30.0, 5.0)), ((0.0, 15.0), (9.0, 15.0)), ((0.0, 15.0), (15.0, 0.0))];
    assert!(passing.iter().all(|line| !area.is_crossed_by(line)));
}

/// Like the front, which runs to the right of each of its points.
#[test]
fn a_label_does_not_lie_on_a_line() {
    let line = Area { left: 100.0, right: 900.0, top: 99.0, bottom: 101.0 };
    let drawn = Drawn { marks: &[(100.0, 100.0)], texts: &[], lines: &[line] };
    let place = place(&labels([(100.0, 100.0)]), ROOM, drawn)[0].unwrap();
    assert!(!place.area.meets(&line));
    assert_eq!(place.leader, None);
}

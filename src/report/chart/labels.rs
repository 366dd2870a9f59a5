//! Where to put the label of each point so that none lies on another label or point, and so that
//! nobody takes it for the label of another point.

use super::canvas::Point;

/// Left, top, right, bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub fn meets(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn holds(&self, other: &Area) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    pub fn around(centre: Point, (width, height): Point) -> Self {
        let (x, y) = centre;
        Self {
            left: x - width / 2.0,
            right: x + width / 2.0,
            top: y - height / 2.0,
            bottom: y + height / 2.0,
        }
    }

    pub fn middle(&self) -> Point {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    /// The point of it that is nearest to another.
    fn nearest(&self, (x, y): Point) -> Point {
        (x.clamp(self.left, self.right), y.clamp(self.top, self.bottom))
    }

    fn distance(&self, to: Point) -> f64 {
        distance(self.nearest(to), to)
    }

    /// Whether a line runs through it: whether some part of it lies between all four sides.
    fn is_crossed_by(&self, &(from, to): &(Point, Point)) -> bool {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let sides = [
            (-dx, from.0 - self.left),
            (dx, self.right - from.0),
            (-dy, from.1 - self.top),
            (dy, self.bottom - from.1),
        ];
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        for (towards, room) in sides {
            if towards == 0.0 && room <= 0.0 {
                return false;
            } else if towards < 0.0 {
                enters = enters.max(room / towards);
            } else if towards > 0.0 {
                leaves = leaves.min(room / towards);
            }
        }
        enters < leaves
    }
}

/// What is on a chart before the labels.
#[derive(Debug, Clone, Copy)]
pub struct Drawn<'a> {
    /// Every point, also those without a label.
    pub marks: &'a [Point],
    /// Labels that are there already: no line may run through them.
    pub texts: &'a [Area],
    /// What a label may not lie on, though a line may run through it.
    pub lines: &'a [Area],
}

/// Where a label is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub area: Area,
    /// From its edge to its point, where it is not plain without whose label it is.
    pub leader: Option<(Point, Point)>,
}

/// Around each point, first beside it, then in ever wider rings; the one taken touches nothing and
/// is the nearest, or else the one whose leader runs over the fewest other points. Those before have
/// the better places, but for those that would have none: they go first. `None` where no place
/// within `room` is free even so.
pub fn place(labels: &[(Point, Point)], room: Area, drawn: Drawn) -> Vec<Option<Place>> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    let mut best = place_in(&order, labels, room, drawn);
    let mut last = best.clone();
    for _ in 0..TRIES {
        if best.iter().all(Option::is_some) {
            break;
        }
        // Stable, so that the others stay as they were.
        order.sort_by_key(|n| last[*n].is_some());
        last = place_in(&order, labels, room, drawn);
        let placed = |places: &[Option<Place>]| places.iter().flatten().count();
        if placed(&last) > placed(&best) {
            best.clone_from(&last);
        }
    }
    best
}

/// One after another; the places are in the order of the labels.
fn place_in(
    order: &[usize],
    labels: &[(Point, Point)],
    room: Area,
    drawn: Drawn,
) -> Vec<Option<Place>> {
    let marks: Vec<Area> = drawn.marks.iter().map(|at| Area::around(*at, (MARK, MARK))).collect();
    let mut places: Vec<Option<Place>> = vec![None; labels.len()];
    for (n, (at, size)) in order.iter().map(|n| (*n, labels[*n])) {
        let taken: Vec<Place> = places.iter().flatten().copied().collect();
        let is_free = |place: &Place| {
            let covers = |other: &Area| place.area.meets(other);
            let cuts = |other: &Area| place.leader.is_some_and(|line| other.is_crossed_by(&line));
            room.holds(&place.area)
                && !marks.iter().any(covers)
                && !drawn.lines.iter().any(covers)
                && !drawn.texts.iter().any(|text| covers(text) || cuts(text))
                && !taken.iter().any(|other| {
                    covers(&other.area) || cuts(&other.area) || place.is_confused_with(other)
                })
        };
        let candidates = candidates(at, size).map(|area| Place::of(area, at, drawn.marks));
        let cost = |place: &Place| place.cost(at, &marks);
        places[n] = candidates.filter(is_free).min_by(|a, b| cost(a).total_cmp(&cost(b)));
    }
    places
}

/// In how many other orders places are looked for.
const TRIES: usize = 12;
/// The side of the square around a point that is kept free.
const MARK: f64 = 14.0;
const RINGS: u32 = 40;
const DIRECTIONS: u32 = 16;
/// Beyond this a label needs a leader, however alone it is.
const NEAR: f64 = 14.0;
/// A label without a leader is nearer to its point than to any other by so much.
const NEARER: f64 = 4.0;
/// So much further away may a label be to have no leader, or one that runs over one point less.
const WORTH: f64 = 12.0;

impl Place {
    fn of(area: Area, at: Point, marks: &[Point]) -> Self {
        let own = area.distance(at);
        let others = marks.iter().filter(|mark| **mark != at);
        let other = others.map(|mark| area.distance(*mark)).fold(f64::INFINITY, f64::min);
        let is_plain = own <= NEAR && own + NEARER <= other;
        Self { area, leader: (!is_plain).then(|| (area.nearest(at), at)) }
    }

    fn cost(&self, at: Point, marks: &[Area]) -> f64 {
        let Some(leader) = &self.leader else { return self.area.distance(at) };
        let crossed = marks.iter().filter(|mark| mark.is_crossed_by(leader)).count();
        self.area.distance(at) + WORTH * crossed as f64
    }

    /// Whether the leader of the other runs through this one, or across its leader.
    fn is_confused_with(&self, other: &Place) -> bool {
        other.leader.is_some_and(|line| {
            self.area.is_crossed_by(&line) || self.leader.is_some_and(|own| cross(own, line))
        })
    }
}

fn candidates((x, y): Point, (width, height): Point) -> impl Iterator<Item = Area> {
    (0..RINGS).flat_map(move |ring| {
        (0..DIRECTIONS).map(move |direction| {
            let angle = f64::from(direction) * std::f64::consts::TAU / f64::from(DIRECTIONS);
            let (sin, cos) = angle.sin_cos();
            let gap = MARK / 2.0 + 1.0 + 7.0 * f64::from(ring);
            let centre = (x + cos * (gap + width / 2.0), y + sin * (gap + height / 2.0));
            Area::around(centre, (width, height))
        })
    })
}

fn distance(one: Point, other: Point) -> f64 {
    (one.0 - other.0).hypot(one.1 - other.1)
}

/// Whether each has its ends on both sides of the other.
fn cross(one: (Point, Point), other: (Point, Point)) -> bool {
    let side = |(from, to): (Point, Point), at: Point| {
        (to.0 - from.0) * (at.1 - from.1) - (to.1 - from.1) * (at.0 - from.0)
    };
    let parted = |line, (from, to): (Point, Point)| side(line, from) * side(line, to) < 0.0;
    parted(one, other) && parted(other, one)
}

#[cfg(test)]
mod tests;

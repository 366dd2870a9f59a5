//! Where to put the label of each point so that none lies on another label or point.

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
}

/// Around each point, first beside it, then in ever wider rings; the label nearest to its point
/// that touches nothing is taken. `None` where no place within `room` is free. `taken` is kept free
/// as well.
pub fn place(points: &[(Point, Point)], room: Area, taken: &[Area]) -> Vec<Option<Area>> {
    let marks = points.iter().map(|(at, _)| Area::around(*at, (MARK, MARK)));
    let mut taken: Vec<Area> = taken.iter().copied().chain(marks).collect();
    points
        .iter()
        .map(|(at, size)| {
            let free = |candidate: &Area| {
                room.holds(candidate) && !taken.iter().any(|other| candidate.meets(other))
            };
            let found = candidates(*at, *size).find(free);
            taken.extend(found);
            found
        })
        .collect()
}

/// The side of the square around a point that is kept free.
const MARK: f64 = 14.0;
const RINGS: u32 = 40;
const DIRECTIONS: u32 = 16;

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

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Area = Area { left: 0.0, top: 0.0, right: 900.0, bottom: 500.0 };

    #[test]
    fn sixty_four_labels_around_one_point_do_not_touch() {
        let points = vec![((450.0, 250.0), (60.0, 14.0)); 64];
        let places: Vec<Area> = place(&points, ROOM, &[]).into_iter().flatten().collect();
        assert!(places.len() >= 60, "{}", places.len());
        for (n, one) in places.iter().enumerate() {
            assert!(ROOM.holds(one));
            assert!(places[n + 1..].iter().all(|other| !one.meets(other)));
        }
    }

    #[test]
    fn a_lone_point_has_its_label_at_its_right() {
        let places = place(&[((100.0, 100.0), (50.0, 14.0))], ROOM, &[]);
        assert_eq!(places[0].unwrap().left, 108.0);
    }

    #[test]
    fn at_the_right_edge_the_label_goes_elsewhere() {
        let places = place(&[((890.0, 100.0), (50.0, 14.0))], ROOM, &[]);
        assert!(places[0].unwrap().right <= 900.0);
    }
}

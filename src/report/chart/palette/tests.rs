use super::*;

/// How a linear RGB looks to somebody with no cone of a kind: Machado, Oliveira and Fernandes
/// (2009), severity 1; the last is what everybody else sees.
const SIGHTS: [[[f64; 3]; 3]; 4] = [
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

fn linear(RGBColor(red, green, blue): RGBColor) -> [f64; 3] {
    [red, green, blue].map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    })
}

fn times(matrix: &[[f64; 3]; 3], [x, y, z]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[a, b, c]| a * x + b * y + c * z)
}

/// WCAG 2.2: 1 to 21.
fn contrast_with_white(colour: RGBColor) -> f64 {
    let [red, green, blue] = linear(colour);
    1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

/// CIE L*a*b* under D65.
fn lab(colour: RGBColor, sight: &[[f64; 3]; 3]) -> [f64; 3] {
    const XYZ: [[f64; 3]; 3] =
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
    let seen = times(sight, linear(colour)).map(|part| part.clamp(0.0, 1.0));
    let [x, y, z] = times(&XYZ, seen);
    let root = |t: f64| {
        if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
    };
    let [x, y, z] = [root(x / 0.95047), root(y), root(z / 1.08883)];
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// As far as the eye that tells them apart worst.
fn distance(one: RGBColor, other: RGBColor) -> f64 {
    let distance = |sight| {
        let (one, other) = (lab(one, sight), lab(other, sight));
        one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    };
    SIGHTS.iter().map(distance).fold(f64::INFINITY, f64::min)
}

#[test]
fn contrast_is_that_of_known_pairs() {
    assert!((contrast_with_white(RGBColor(0, 0, 0)) - 21.0).abs() < 1e-9);
    // WebAIM's checker: #767676 on white is the lightest grey with 4.5 : 1.
    assert!((contrast_with_white(RGBColor(118, 118, 118)) - 4.54).abs() < 0.01);
}

/// WCAG 2.2, 1.4.11 (non-text contrast).
#[test]
fn every_colour_stands_out_from_white() {
    for colour in COLOURS.into_iter().chain([GREY, DEADLINE, FAINT_INK]) {
        let contrast = contrast_with_white(colour);
        assert!(contrast >= 3.0, "{colour:?}: {contrast:.2}");
    }
}

/// A difference of 2 is just seen, side by side and large.
#[test]
fn neighbours_differ_for_every_eye() {
    for (n, colour) in COLOURS.iter().enumerate() {
        let next = COLOURS[(n + 1) % COLOURS.len()];
        let distance = distance(*colour, next);
        assert!(distance >= 30.0, "{colour:?} and {next:?}: {distance:.1}");
    }
}

#[test]
fn the_first_eight_all_differ_for_every_eye() {
    let first = &COLOURS[..SOLID];
    for (n, colour) in first.iter().enumerate() {
        for other in &first[n + 1..] {
            let distance = distance(*colour, *other);
            assert!(distance >= 20.0, "{colour:?} and {other:?}: {distance:.1}");
        }
    }
}

/// Half as much again as the least of Carbon's fourteen.
#[test]
fn all_differ_for_every_eye() {
    for (n, colour) in COLOURS.iter().enumerate() {
        for other in &COLOURS[n + 1..] {
            let distance = distance(*colour, *other);
            assert!(distance >= 14.5, "{colour:?} and {other:?}: {distance:.1}");
        }
    }
}

#[test]
fn lines_of_eight_senders_each_are_dashed_alike() {
    for n in SOLID..COLOURS.len() {
        let [one, before] = [n, n - SOLID].map(|number| SenderLook::Coloured(number).dash());
        assert_ne!(one, before, "{n}");
    }
}

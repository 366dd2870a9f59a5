//! Matrices of probabilities, and with them the first moments of what is counted on the way.

use super::{Count, LossChain};

#[derive(Debug, Clone)]
pub(super) struct Matrix {
    size: usize,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    pub(super) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        row * self.size + column
    }

    pub(super) fn map(&self, change: impl Fn(usize, usize, f64) -> f64) -> Self {
        let values = self.values.iter().enumerate();
        let values = values.map(|(place, value)| {
            if *value == 0.0 { 0.0 } else { change(place / self.size, place % self.size, *value) }
        });
        Self { size: self.size, values: values.collect() }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::zero(self.size);
        for row in 0..self.size {
            for through in 0..self.size {
                let factor = self.values[self.at(row, through)];
                if factor == 0.0 {
                    continue;
                }
                for column in 0..self.size {
                    let place = product.at(row, column);
                    product.values[place] += factor * other.values[other.at(through, column)];
                }
            }
        }
        product
    }

    pub(super) fn plus(mut self, factor: f64, other: &Self) -> Self {
        self.values.iter_mut().zip(&other.values).for_each(|(sum, more)| *sum += factor * more);
        self
    }

    pub(super) fn after(&self, row: &[f64]) -> Vec<f64> {
        let column = |column| {
            let products = row.iter().enumerate();
            products.map(|(place, value)| value * self.values[self.at(place, column)]).sum()
        };
        (0..self.size).map(column).collect()
    }

    /// Takes back what rounding did to rows that add up to one.
    pub(super) fn make_rows_whole(&mut self) {
        for row in self.values.chunks_mut(self.size) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= sum);
        }
    }

    /// Divides by the largest value, and returns the logarithm of it.
    pub(super) fn normalise(&mut self) -> f64 {
        let largest = self.values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        self.values.iter_mut().for_each(|value| *value /= largest);
        largest.ln()
    }
}

/// A matrix of generating functions up to the second order: probabilities, and first and second
/// moments on the way.
pub(super) struct Jet([Matrix; 3]);

impl Jet {
    pub(super) fn of(chain: &LossChain, count: Count) -> Self {
        let moment =
            |power: i32| chain.steps.map(|from, to, value| value * count.of(from, to).powi(power));
        Self([moment(0), moment(1), moment(2)])
    }

    pub(super) fn squared(&self) -> Self {
        let [value, first, second] = &self.0;
        let cross = first.times(first);
        Self([
            value.times(value),
            value.times(first).plus(1.0, &first.times(value)),
            value.times(second).plus(1.0, &second.times(value)).plus(2.0, &cross),
        ])
    }

    pub(super) fn after(&self, [value, first, second]: &[Vec<f64>; 3]) -> [Vec<f64>; 3] {
        let [m0, m1, m2] = &self.0;
        let sum = |parts: [(f64, Vec<f64>); 3]| {
            let [(a, x), (b, y), (c, z)] = parts;
            let places = 0..x.len();
            places.map(|place| a * x[place] + b * y[place] + c * z[place]).collect()
        };
        let nothing = vec![0.0; value.len()];
        [
            m0.after(value),
            sum([(1.0, m0.after(first)), (1.0, m1.after(value)), (0.0, nothing)]),
            sum([(1.0, m0.after(second)), (2.0, m1.after(first)), (1.0, m2.after(value))]),
        ]
    }
}

//! Quantiles, how far they can be trusted, and whether a measurement agrees with what somebody
//! claimed. Pure: knows nothing of recordings, files or clocks, and its only randomness is a seed
//! that is passed in.

mod bootstrap;
mod bounds;
mod distribution;
mod interval;
mod latency;
mod quantile;
mod verdict;

pub use bootstrap::{FEWEST_RUNS, over_runs};
pub use bounds::{poisson_surprise, proportion, stray};
pub use distribution::Distribution;
pub use interval::{CONFIDENCE, Interval, order_statistics};
pub use latency::Latency;
pub use quantile::Quantile;
pub use verdict::{TOLERANCE, Verdict, judge};

//! One direction of one path, with the meaning Linux's netem gives its settings. In reading order:
//!
//! ```text
//! profile       the settings
//! overrides     some of them, laid over others
//! packet        what goes in and what comes out
//! counters      what was done to it
//! link          the steps of a packet, in netem's order
//! chance        does something with a probability happen to this packet?
//! loss corrupt reorder delay rate queue slot bucket      one effect each
//! distribution  the tables behind normal, pareto and paretonormal jitter
//! table         reading a table from a file
//! rng           the generator all draws come from
//! ```
//!
//! No I/O and no clock: time and seed come in as arguments, so that the same packets at the same
//! instants always meet the same fate.

mod bucket;
mod chance;
mod corrupt;
mod counters;
mod delay;
pub mod distribution;
#[expect(clippy::module_inception, reason = "the type that gives the module its name")]
mod link;
mod loss;
pub mod overrides;
mod packet;
pub mod profile;
mod queue;
mod rate;
mod reorder;
mod rng;
mod slot;
pub mod table;

#[cfg(test)]
mod tests;

pub use counters::{Counters, Tally};
pub use distribution::table as quantiles;
pub use link::{LastDraws, Link};
pub use packet::{BitFlip, Departed, Packet, Pushed};

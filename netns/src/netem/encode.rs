//! [`Options`] to bytes. Whatever is off is said to be off, since the kernel keeps what a change
//! does not mention.

use std::time::Duration;

use thiserror::Error;

use super::{
    Chance, Correlated, Distribution, LONGEST_TABLE, Loss, Options, Rate, Slot, Spacing, layout,
};
use crate::attributes::{Attributes, NESTED};
use crate::qdisc::Encoded;

/// The kernel could not hold these options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// More than 2⁶³ − 1 nanoseconds.
    #[error("netem cannot hold a {0} of more than 292 years")]
    TooLong(&'static str),
    /// More than 2³¹ − 1.
    #[error("netem cannot hold {0} of more than 2,147,483,647")]
    TooMany(&'static str),
    /// No samples, or more than [`LONGEST_TABLE`].
    #[error("netem's {table} table has to have 1 to {LONGEST_TABLE} samples, not {samples}")]
    Table {
        /// Of delays or of slots.
        table: &'static str,
        /// How many there were.
        samples: usize,
    },
    /// Two tables that do not fit into one message together.
    #[error(
        "netem's delay and slot tables have {samples} samples together; a message holds 32,000"
    )]
    TablesTogether {
        /// How many there were.
        samples: usize,
    },
}

/// Samples of both tables together: an attribute is at most 65,535 bytes long, and the rest takes
/// less than 1,500.
const LONGEST_TABLES_TOGETHER: usize = 32_000;

/// What tables a queue discipline has been given, which the kernel neither forgets nor reports.
/// Keep one beside each netem that is changed in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct History {
    delay: Held,
    slot: Held,
}

/// A table that the kernel holds for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Held {
    #[default]
    None,
    Custom,
    /// One of our own that spreads evenly.
    Even,
}

impl Options {
    /// For a netem that is new.
    pub fn encode(&self) -> Result<Encoded, EncodeError> {
        self.encode_after(&mut History::default())
    }

    /// For a netem that is to be changed in place. The kernel cannot be made to drop a table, so
    /// where one was sent before and none is wanted now, an even one is sent in its stead.
    pub fn encode_after(&self, history: &mut History) -> Result<Encoded, EncodeError> {
        let (delay_table, delay) = self.delay_table(history.delay)?;
        let (slot_table, slot) = self.slot_table(history.slot)?;
        check_together(delay_table.as_deref(), slot_table.as_deref())?;
        let mut attributes = Attributes::after(self.fixed_part()?);
        self.add_chances(&mut attributes);
        self.add_loss(&mut attributes);
        self.add_rate(&mut attributes);
        self.add_times(&mut attributes)?;
        attributes.add(layout::SLOT, &slot_structure(self.slot.as_ref(), slot)?);
        add_table(&mut attributes, layout::DELAY_TABLE, delay_table);
        add_table(&mut attributes, layout::SLOT_TABLE, slot_table);
        if let Some(seed) = self.seed {
            attributes.add(layout::SEED, &seed.to_ne_bytes());
        }
        *history = History { delay, slot };
        Ok(Encoded { kind: "netem", options: attributes.into_bytes() })
    }

    /// `struct tc_netem_qopt`.
    fn fixed_part(&self) -> Result<Vec<u8>, EncodeError> {
        let loss = match self.loss {
            Loss::Random(loss) => loss.probability,
            Loss::GilbertElliott { .. } | Loss::FourState { .. } => Chance::NEVER,
        };
        Ok(words(&[
            ticks("delay", self.delay)?,
            self.limit,
            loss.0,
            self.gap,
            self.duplicate.probability.0,
            ticks("jitter", self.jitter)?,
        ]))
    }

    fn add_chances(&self, attributes: &mut Attributes) {
        let loss_correlation = match self.loss {
            Loss::Random(loss) => loss.correlation,
            Loss::GilbertElliott { .. } | Loss::FourState { .. } => Chance::NEVER,
        };
        let correlations =
            [self.delay_correlation.0, loss_correlation.0, self.duplicate.correlation.0];
        attributes.add(layout::CORRELATION, &words(&correlations));
        attributes.add(layout::REORDER, &correlated(self.reorder));
        attributes.add(layout::CORRUPT, &correlated(self.corrupt));
        attributes.add(layout::ECN, &words(&[u32::from(self.ecn)]));
    }

    /// Without the attribute the kernel goes back to random loss.
    fn add_loss(&self, attributes: &mut Attributes) {
        let (model, values) = match self.loss {
            Loss::Random(_) => return,
            Loss::FourState { p13, p31, p32, p14, p23 } => {
                (layout::LOSS_FOUR_STATE, words(&[p13.0, p31.0, p32.0, p14.0, p23.0]))
            }
            Loss::GilbertElliott { to_bad, to_good, in_bad, in_good } => (
                layout::LOSS_GILBERT_ELLIOTT,
                words(&[to_bad.0, to_good.0, in_bad.complement().0, in_good.0]),
            ),
        };
        let mut nested = Attributes::default();
        nested.add(model, &values);
        attributes.add(layout::LOSS | NESTED, &nested.into_bytes());
    }

    /// The kernel takes the larger of the two rates.
    fn add_rate(&self, attributes: &mut Attributes) {
        const NONE: Rate =
            Rate { bytes_per_second: 0, packet_overhead: 0, cell_size: 0, cell_overhead: 0 };
        let rate = self.rate.unwrap_or(NONE);
        let structure = words(&[
            u32::try_from(rate.bytes_per_second).unwrap_or(u32::MAX),
            rate.packet_overhead.cast_unsigned(),
            rate.cell_size,
            rate.cell_overhead.cast_unsigned(),
        ]);
        attributes.add(layout::RATE, &structure);
        attributes.add(layout::RATE64, &rate.bytes_per_second.to_ne_bytes());
    }

    /// To the nanosecond; these take precedence over the ticks.
    fn add_times(&self, attributes: &mut Attributes) -> Result<(), EncodeError> {
        let delay = nanoseconds("delay", self.delay)?;
        let jitter = nanoseconds("jitter", self.jitter)?;
        attributes.add(layout::LATENCY64, &delay.to_ne_bytes());
        attributes.add(layout::JITTER64, &jitter.to_ne_bytes());
        Ok(())
    }

    fn delay_table(&self, held: Held) -> Result<(Option<Vec<i16>>, Held), EncodeError> {
        match &self.distribution {
            Distribution::Table(table) => Ok((Some(checked("delay", table)?), Held::Custom)),
            Distribution::Uniform => Ok(even_instead_of(held)),
        }
    }

    fn slot_table(&self, held: Held) -> Result<(Option<Vec<i16>>, Held), EncodeError> {
        match self.slot.as_ref().map(|slot| &slot.spacing) {
            Some(Spacing::Distributed { table, .. }) => {
                Ok((Some(checked("slot", table)?), Held::Custom))
            }
            Some(Spacing::Between { .. }) | None => Ok(even_instead_of(held)),
        }
    }
}

fn checked(name: &'static str, table: &[i16]) -> Result<Vec<i16>, EncodeError> {
    if (1..=LONGEST_TABLE).contains(&table.len()) {
        Ok(table.to_vec())
    } else {
        Err(EncodeError::Table { table: name, samples: table.len() })
    }
}

/// The table that has to be sent where none is wanted, and what the kernel holds from then on.
fn even_instead_of(held: Held) -> (Option<Vec<i16>>, Held) {
    match held {
        Held::None | Held::Even => (None, held),
        Held::Custom => (Some(even_table()), Held::Even),
    }
}

/// From −1 to 1 in units of 8192, neither end included; half as long as allowed so that two of them
/// fit into a message.
fn even_table() -> Vec<i16> {
    (-8191..8192).step_by(2).collect()
}

fn check_together(delay: Option<&[i16]>, slot: Option<&[i16]>) -> Result<(), EncodeError> {
    let samples = delay.map_or(0, <[i16]>::len) + slot.map_or(0, <[i16]>::len);
    if samples > LONGEST_TABLES_TOGETHER {
        return Err(EncodeError::TablesTogether { samples });
    }
    Ok(())
}

fn add_table(attributes: &mut Attributes, kind: u16, table: Option<Vec<i16>>) {
    if let Some(table) = table {
        let bytes: Vec<u8> = table.into_iter().flat_map(i16::to_ne_bytes).collect();
        attributes.add(kind, &bytes);
    }
}

/// `struct tc_netem_slot`: shortest, longest, packets, bytes, middle, jitter. All zero: no slots.
fn slot_structure(slot: Option<&Slot>, held: Held) -> Result<Vec<u8>, EncodeError> {
    let [min, max, delay, jitter] = match slot.map(|slot| &slot.spacing) {
        None => [Duration::ZERO; 4],
        // Once it holds a table, the kernel draws from that alone; an even one has to be given the
        // same bounds.
        Some(Spacing::Between { min, max }) if held == Held::Even => {
            [*min, *max, (*min + *max) / 2, max.saturating_sub(*min) / 2]
        }
        Some(Spacing::Between { min, max }) => [*min, *max, Duration::ZERO, Duration::ZERO],
        Some(Spacing::Distributed { delay, jitter, .. }) => {
            [Duration::ZERO, Duration::ZERO, *delay, *jitter]
        }
    };
    let (packets, bytes) = slot.map_or((0, 0), |slot| (slot.packets, slot.bytes));
    let mut structure = Vec::with_capacity(40);
    structure.extend(nanoseconds("slot", min)?.to_ne_bytes());
    structure.extend(nanoseconds("slot", max)?.to_ne_bytes());
    structure.extend(count("packets a slot", packets)?.to_ne_bytes());
    structure.extend(count("bytes a slot", bytes)?.to_ne_bytes());
    structure.extend(nanoseconds("slot", delay)?.to_ne_bytes());
    structure.extend(nanoseconds("slot jitter", jitter)?.to_ne_bytes());
    Ok(structure)
}

fn correlated(chance: Correlated) -> Vec<u8> {
    words(&[chance.probability.0, chance.correlation.0])
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn count(what: &'static str, value: u32) -> Result<i32, EncodeError> {
    i32::try_from(value).map_err(|_| EncodeError::TooMany(what))
}

fn nanoseconds(what: &'static str, duration: Duration) -> Result<i64, EncodeError> {
    i64::try_from(duration.as_nanos()).map_err(|_| EncodeError::TooLong(what))
}

/// As many as fit: where they do not, kernels that know nanoseconds (4.15 and later) use those.
fn ticks(what: &'static str, duration: Duration) -> Result<u32, EncodeError> {
    let ticks = nanoseconds(what, duration)?.cast_unsigned() / layout::NANOSECONDS_PER_TICK;
    Ok(u32::try_from(ticks).unwrap_or(u32::MAX))
}

//! Bytes to [`Options`]: what the kernel reports, or what was encoded here.

use std::time::Duration;

use thiserror::Error;

use super::{Chance, Correlated, Distribution, Loss, Options, Rate, Slot, Spacing, layout};
use crate::attributes;

/// The bytes are not netem's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ParseError {
    /// Not even the fixed part is there, or a length does not fit.
    #[error("netem's options are cut short: {0} bytes")]
    CutShort(usize),
    /// An attribute has another size than it should.
    #[error("netem's attribute {kind} has {length} bytes")]
    Attribute {
        /// Its number in `linux/pkt_sched.h`.
        kind: u16,
        /// How many bytes it had.
        length: usize,
    },
    /// A time, or a count, that is negative.
    #[error("netem's attribute {kind} holds a negative number")]
    Negative {
        /// Its number in `linux/pkt_sched.h`.
        kind: u16,
    },
}

impl Options {
    /// Reads the bytes of `TCA_OPTIONS`. Attributes of later kernels are passed over. What tables
    /// the kernel holds is not in them.
    pub fn parse(bytes: &[u8]) -> Result<Self, ParseError> {
        let cut_short = ParseError::CutShort(bytes.len());
        let (fixed, rest) = bytes.split_at_checked(layout::FIXED_PART).ok_or(cut_short)?;
        let mut fields = Fields::of(fixed)?;
        for (kind, value) in attributes::parse(rest).ok_or(cut_short)? {
            fields.read(Attribute { kind, value })?;
        }
        Ok(fields.into_options())
    }
}

/// Options while attributes are still to come that say more about them.
struct Fields {
    options: Options,
    random_loss: Correlated,
    model: Option<Loss>,
    rate: Rate,
    slot_table: Vec<i16>,
}

impl Fields {
    fn of(fixed: &[u8]) -> Result<Self, ParseError> {
        let fixed = Attribute { kind: 0, value: fixed };
        let [delay, limit, loss, gap, duplicate, jitter] = fixed.words()?;
        Ok(Self {
            options: Options {
                delay: from_ticks(delay),
                jitter: from_ticks(jitter),
                limit,
                gap,
                duplicate: Correlated::of(Chance(duplicate)),
                ..Options::default()
            },
            random_loss: Correlated::of(Chance(loss)),
            model: None,
            rate: Rate { bytes_per_second: 0, packet_overhead: 0, cell_size: 0, cell_overhead: 0 },
            slot_table: Vec::new(),
        })
    }

    fn read(&mut self, attribute: Attribute<'_>) -> Result<(), ParseError> {
        let options = &mut self.options;
        match attribute.kind {
            layout::CORRELATION => {
                let [delay, loss, duplicate] = attribute.words()?;
                options.delay_correlation = Chance(delay);
                self.random_loss.correlation = Chance(loss);
                options.duplicate.correlation = Chance(duplicate);
            }
            layout::REORDER => options.reorder = attribute.correlated()?,
            layout::CORRUPT => options.corrupt = attribute.correlated()?,
            layout::ECN => options.ecn = attribute.words::<1>()? != [0],
            layout::LATENCY64 => options.delay = attribute.time(0)?,
            layout::JITTER64 => options.jitter = attribute.time(0)?,
            layout::SEED => options.seed = Some(u64::from_ne_bytes(attribute.array(0)?)),
            layout::DELAY_TABLE => options.distribution = Distribution::Table(attribute.table()),
            layout::SLOT_TABLE => self.slot_table = attribute.table(),
            layout::SLOT => options.slot = attribute.slot()?,
            layout::LOSS => self.model = attribute.loss_model()?,
            layout::RATE => self.read_rate(attribute)?,
            layout::RATE64 => {
                let rate = u64::from_ne_bytes(attribute.array(0)?);
                self.rate.bytes_per_second = self.rate.bytes_per_second.max(rate);
            }
            _ => {}
        }
        Ok(())
    }

    /// The structure holds all ones where the rate does not fit and comes in an attribute of its
    /// own.
    fn read_rate(&mut self, attribute: Attribute<'_>) -> Result<(), ParseError> {
        let [rate, packet_overhead, cell_size, cell_overhead] = attribute.words()?;
        self.rate = Rate {
            bytes_per_second: self.rate.bytes_per_second.max(u64::from(rate)),
            packet_overhead: packet_overhead.cast_signed(),
            cell_size,
            cell_overhead: cell_overhead.cast_signed(),
        };
        Ok(())
    }

    fn into_options(self) -> Options {
        let mut options = self.options;
        options.loss = self.model.unwrap_or(Loss::Random(self.random_loss));
        options.rate = (self.rate.bytes_per_second != 0).then_some(self.rate);
        if let Some(Slot { spacing: Spacing::Distributed { table, .. }, .. }) = &mut options.slot {
            *table = self.slot_table;
        }
        options
    }
}

#[derive(Clone, Copy)]
struct Attribute<'a> {
    kind: u16,
    value: &'a [u8],
}

impl Attribute<'_> {
    fn array<const N: usize>(self, at: usize) -> Result<[u8; N], ParseError> {
        let bytes = self.value.get(at..at + N).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or(ParseError::Attribute { kind: self.kind, length: self.value.len() })
    }

    fn words<const N: usize>(self) -> Result<[u32; N], ParseError> {
        let mut words = [0; N];
        for (index, word) in words.iter_mut().enumerate() {
            *word = u32::from_ne_bytes(self.array(4 * index)?);
        }
        Ok(words)
    }

    fn correlated(self) -> Result<Correlated, ParseError> {
        let [probability, correlation] = self.words()?;
        Ok(Correlated { probability: Chance(probability), correlation: Chance(correlation) })
    }

    fn time(self, at: usize) -> Result<Duration, ParseError> {
        let nanoseconds = i64::from_ne_bytes(self.array(at)?);
        let nanoseconds = u64::try_from(nanoseconds);
        nanoseconds.map(Duration::from_nanos).map_err(|_| ParseError::Negative { kind: self.kind })
    }

    fn count(self, at: usize) -> Result<u32, ParseError> {
        let count = i32::from_ne_bytes(self.array(at)?);
        u32::try_from(count).map_err(|_| ParseError::Negative { kind: self.kind })
    }

    fn table(self) -> Vec<i16> {
        let (samples, _) = self.value.as_chunks();
        samples.iter().map(|bytes| i16::from_ne_bytes(*bytes)).collect()
    }

    /// `struct tc_netem_slot`. By the kernel's own rule slots are off if the bounds and the jitter
    /// are all zero.
    fn slot(self) -> Result<Option<Slot>, ParseError> {
        let (min, max) = (self.time(0)?, self.time(8)?);
        let (packets, bytes) = (self.count(16)?, self.count(20)?);
        let (delay, jitter) = (self.time(24)?, self.time(32)?);
        let spacing = if !min.is_zero() || !max.is_zero() {
            Spacing::Between { min, max }
        } else if !jitter.is_zero() {
            Spacing::Distributed { delay, jitter, table: Vec::new() }
        } else {
            return Ok(None);
        };
        Ok(Some(Slot { spacing, packets, bytes }))
    }

    fn loss_model(self) -> Result<Option<Loss>, ParseError> {
        let cut_short = ParseError::Attribute { kind: self.kind, length: self.value.len() };
        let nested = attributes::parse(self.value).ok_or(cut_short)?;
        let model = nested.first().map(|&(kind, value)| Attribute { kind, value });
        match model {
            Some(model) if model.kind == layout::LOSS_FOUR_STATE => {
                let [p13, p31, p32, p14, p23] = model.words()?.map(Chance);
                Ok(Some(Loss::FourState { p13, p31, p32, p14, p23 }))
            }
            Some(model) if model.kind == layout::LOSS_GILBERT_ELLIOTT => {
                let [to_bad, to_good, h, in_good] = model.words()?.map(Chance);
                let in_bad = h.complement();
                Ok(Some(Loss::GilbertElliott { to_bad, to_good, in_bad, in_good }))
            }
            _ => Ok(None),
        }
    }
}

fn from_ticks(ticks: u32) -> Duration {
    Duration::from_nanos(u64::from(ticks) * layout::NANOSECONDS_PER_TICK)
}

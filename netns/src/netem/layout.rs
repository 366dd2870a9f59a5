//! The numbers that the kernel gives to netem's attributes, and the sizes of their structures
//! (`linux/pkt_sched.h`).

pub(super) const CORRELATION: u16 = 1;
pub(super) const DELAY_TABLE: u16 = 2;
pub(super) const REORDER: u16 = 3;
pub(super) const CORRUPT: u16 = 4;
pub(super) const LOSS: u16 = 5;
pub(super) const RATE: u16 = 6;
pub(super) const ECN: u16 = 7;
pub(super) const RATE64: u16 = 8;
pub(super) const LATENCY64: u16 = 10;
pub(super) const JITTER64: u16 = 11;
pub(super) const SLOT: u16 = 12;
pub(super) const SLOT_TABLE: u16 = 13;
pub(super) const SEED: u16 = 14;

/// Within [`LOSS`]: four states (the kernel's "general and intuitive" model).
pub(super) const LOSS_FOUR_STATE: u16 = 1;
/// Within [`LOSS`]: Gilbert-Elliott.
pub(super) const LOSS_GILBERT_ELLIOTT: u16 = 2;

/// Bytes of `struct tc_netem_qopt`, which comes before the attributes: latency, limit, loss, gap,
/// duplicate, jitter.
pub(super) const FIXED_PART: usize = 24;
/// The unit of the times in `struct tc_netem_qopt`.
pub(super) const NANOSECONDS_PER_TICK: u64 = 64;

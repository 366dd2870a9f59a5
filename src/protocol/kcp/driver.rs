//! Who calls the engine, and when: KCP leaves that to its user. Times are those of the trial's clock
//! in whole milliseconds (64 bits: they do not wrap).

use std::fmt::Debug;

use super::engine::Engine;
use super::sender::SendError;
use super::serial::distance;

pub trait Driver: Debug + Send {
    /// It is now so late, and what was due by now happens. Before everything else, and for the
    /// first time when the connection starts.
    fn advance(&mut self, engine: &mut Engine, now_ms: u64);

    /// A message, or in stream mode bytes.
    fn write(&mut self, engine: &mut Engine, bytes: &[u8]) -> Result<(), SendError>;

    /// The engine has taken in a datagram, and the application the messages in it.
    fn after_input(&mut self, engine: &mut Engine);

    /// When `advance` has something to do, if nothing else happens before; now, if it has.
    fn wake_ms(&self, engine: &Engine, now_ms: u64) -> Option<u64>;
}

/// When there is something to flush; the engine's clock shows `now_ms`.
pub fn work_ms(engine: &Engine, now_ms: u64) -> Option<u64> {
    let wait_ms = distance(engine.work_due_ms()?, now_ms as u32);
    Some(now_ms.saturating_add_signed(i64::from(wait_ms)))
}

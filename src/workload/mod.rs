//! What is sent when: open-loop schedules, fixed before the trial starts, so that a late sender
//! cannot hide its lateness (no coordinated omission).

mod message;
mod schedule;

pub use message::{MESSAGE_HEADER_LEN, message_id, write_message};
pub use schedule::{Keep, Periodic, Workload};

//! KCP, twice: the state machine of the published C code in our own words (`engine`), and the
//! sender under test that drives it (`adapter`). Where published versions differ is one table
//! (`behaviour`); nothing here reads a clock.

mod adapter;
mod behaviour;
mod clock;
mod congestion;
mod engine;
mod flush;
mod framing;
mod input;
mod polling;
mod probe;
mod receiver;
mod rto;
mod segment;
mod sender;
mod serial;
mod settings;

pub use adapter::Kcp;
pub use behaviour::{Behaviour, FastAckRule, TimeoutThreshold};
pub use engine::Engine;
pub use input::News;
pub use rto::NoDelay;
pub use segment::{Command, DatagramError, HEADER_LEN, Header, Segment};
pub use sender::{SEND_QUEUE_LIMIT, SendError};
pub use settings::EngineSettings;

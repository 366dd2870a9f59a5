//! KCP, twice: the state machine of the published C code and of kcp-go in our own words (`engine`),
//! and the sender under test (`adapter`), which has it driven as the C code asks for (`polled`) or
//! as kcp-go does it (`session`). Where published versions differ is one table (`behaviour`);
//! nothing here reads a clock.

mod adapter;
mod behaviour;
mod channel;
mod clock;
mod congestion;
mod driver;
mod engine;
mod flush;
mod framing;
mod input;
mod longest;
mod polled;
mod polling;
mod probe;
mod receiver;
mod resend;
mod rto;
mod segment;
mod sender;
mod serial;
mod session;
mod settings;

pub use adapter::Kcp;
pub use behaviour::{
    AcknowledgedRule, AcknowledgementRule, Behaviour, EmptyMessageRule, FastAckRule, FlushRule,
    ReceiveWindowRule, ResendRule, RoundTripRule, TimeoutThreshold,
};
pub use engine::Engine;
pub use input::{News, Origin};
pub use longest::{Bound, LongestMessage};
pub use rto::NoDelay;
pub use segment::{Command, DatagramError, HEADER_LEN, Header, Segment};
pub use sender::{SEND_QUEUE_LIMIT, SendError};
pub use settings::{EngineSettings, SMALLEST_MTU};

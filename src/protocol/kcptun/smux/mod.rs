//! Streams inside of one KCP connection, as smux makes them: of the protocol what one stream needs,
//! in both of its versions. `frame` is the wire format, `reader` takes a byte stream apart,
//! `session` is one side of the conversation.

mod frame;
mod reader;
mod session;

pub use frame::{Command, HEADER_LEN, Header, Version};
pub use reader::{Event, Reader, SmuxError};
pub use session::{SEND_BUFFER_LIMIT, Session};

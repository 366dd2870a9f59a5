//! Redundancy as a combinator, so that it can be judged apart from the protocol: any single-path
//! protocol over several paths at once, by copying its datagrams or by copying the messages. Knows
//! no protocol by name.

mod datagram_copies;
mod message_copies;

pub use datagram_copies::DatagramCopies;
pub use message_copies::MessageCopies;

#[cfg(test)]
mod tests;

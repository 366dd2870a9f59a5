//! Between the lab's datagrams and the library's. Knows the library as `super::proto`: quinn's and
//! noq's are alike here, and this file is compiled for each.

use super::proto::{EcnCodepoint, Transmit};
use crate::protocol::{Datagram, Ecn};
use crate::units::PathId;

pub fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    EcnCodepoint::from_bits(ecn as u8)
}

pub fn outgoing(path: PathId, transmit: &Transmit, mut payload: Vec<u8>) -> Datagram {
    payload.truncate(transmit.size);
    let ecn = match transmit.ecn {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ect0) => Ecn::Capable0,
        Some(EcnCodepoint::Ect1) => Ecn::Capable1,
        Some(EcnCodepoint::Ce) => Ecn::CongestionExperienced,
    };
    Datagram { path, payload, ecn }
}

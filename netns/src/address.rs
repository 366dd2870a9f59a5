//! Addresses as links carry them: MAC addresses, and IP addresses with a prefix length. Pure
//! values, no I/O.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use thiserror::Error;

/// An Ethernet address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// A locally administered unicast address, `02:00:` followed by `number`.
    pub const fn local(number: u32) -> Self {
        let [a, b, c, d] = number.to_be_bytes();
        Self([0x02, 0, a, b, c, d])
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// An IP address with the length of its network prefix, as in `10.0.1.1/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    ip: IpAddr,
    prefix: u8,
}

impl Address {
    /// `None` if the prefix is longer than the address.
    pub fn new(ip: IpAddr, prefix: u8) -> Option<Self> {
        (prefix <= bits(ip)).then_some(Self { ip, prefix })
    }

    /// The address without its prefix length.
    pub const fn ip(self) -> IpAddr {
        self.ip
    }

    /// The length of the network prefix in bits.
    pub const fn prefix(self) -> u8 {
        self.prefix
    }
}

fn bits(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

/// The text is no address with a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no address with a prefix length, such as 10.0.1.1/24 or fd00::1/64")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let parse = || {
            let (ip, prefix) = text.split_once('/')?;
            Self::new(ip.parse().ok()?, prefix.parse().ok()?)
        };
        parse().ok_or_else(|| AddressError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_they_are_written() {
        for text in ["10.0.1.1/24", "0.0.0.0/0", "fd00::1/64", "::1/128"] {
            let address: Address = text.parse().expect("a good address");
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "10.0.1.1", "10.0.1.1/33", "fd00::1/129", "10.0.1/24", "10.0.1.1/-1"] {
            assert_eq!(text.parse::<Address>(), Err(AddressError(text.to_owned())));
        }
    }

    #[test]
    fn local_mac_addresses_are_unicast_and_locally_administered() {
        let mac = MacAddress::local(0x0102_0304);
        assert_eq!(mac.to_string(), "02:00:01:02:03:04");
        assert_eq!(mac.0[0] & 0b11, 0b10);
    }
}

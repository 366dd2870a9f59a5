//! Netlink attributes as bytes: a length, a kind, a value, padded to four bytes.

/// Attributes one after the other.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    bytes: Vec<u8>,
}

const HEADER: usize = 4;
const ALIGNMENT: usize = 4;
/// Bits of the kind that say something about the value instead (nested, byte order).
const KIND_MASK: u16 = 0x3fff;
/// Set on the kind of an attribute whose value is attributes again.
pub(crate) const NESTED: u16 = 0x8000;

impl Attributes {
    /// Begins after a fixed part, such as netem's `struct tc_netem_qopt`.
    pub(crate) fn after(fixed_part: Vec<u8>) -> Self {
        Self { bytes: fixed_part }
    }

    /// `value` may be at most 65,531 bytes long, which every caller checks or has by its type.
    pub(crate) fn add(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(HEADER + value.len()).expect("callers bound the value");
        self.bytes.extend(length.to_ne_bytes());
        self.bytes.extend(kind.to_ne_bytes());
        self.bytes.extend(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The attributes in `bytes`, kinds without their flag bits. `None` if a length does not fit.
pub(crate) fn parse(bytes: &[u8]) -> Option<Vec<(u16, &[u8])>> {
    let mut attributes = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (length, kind) = (two(rest, 0)?, two(rest, 2)?);
        let length = usize::from(length);
        attributes.push((kind & KIND_MASK, rest.get(HEADER..length)?));
        // The last one need not be padded.
        rest = rest.get(length.next_multiple_of(ALIGNMENT)..).unwrap_or_default();
    }
    Some(attributes)
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

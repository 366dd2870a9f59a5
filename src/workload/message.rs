//! The bytes of a message: its number, then a pattern that depends on it, so that a mangled message
//! is noticed.

/// Bytes of the number every message starts with.
pub const MESSAGE_HEADER_LEN: usize = 8;

/// Fills `buffer` (its length is the message's size) with message `id`.
pub fn write_message(id: u64, buffer: &mut [u8]) {
    let (header, body) = buffer.split_at_mut(MESSAGE_HEADER_LEN);
    header.copy_from_slice(&id.to_le_bytes());
    body.iter_mut().enumerate().for_each(|(offset, byte)| *byte = pattern(id, offset));
}

/// The number of a message, or `None` if these bytes are not one that [`write_message`] made.
pub fn message_id(message: &[u8]) -> Option<u64> {
    let (header, body) = message.split_first_chunk::<MESSAGE_HEADER_LEN>()?;
    let id = u64::from_le_bytes(*header);
    let intact = body.iter().enumerate().all(|(offset, byte)| *byte == pattern(id, offset));
    intact.then_some(id)
}

fn pattern(id: u64, offset: usize) -> u8 {
    (id as u8).wrapping_mul(31).wrapping_add(offset as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_carries_its_number_and_a_mangled_one_is_noticed() {
        let mut bytes = [0; 600];
        write_message(70_000, &mut bytes);
        assert_eq!(message_id(&bytes), Some(70_000));
        bytes[300] ^= 4;
        assert_eq!(message_id(&bytes), None);
        assert_eq!(message_id(&bytes[..7]), None);
    }
}

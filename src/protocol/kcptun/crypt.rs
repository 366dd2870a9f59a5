//! kcp-go's envelope around a datagram: 16 bytes of nonce, a checksum, and all of it enciphered with
//! AES in CFB mode from an initial vector that is always the same, so that the nonce stands in for
//! it. The password is kcptun's default one and the nonces are drawn from the trial's seed: this is
//! a lab, which has to cost what encryption costs and talk to what encrypts, and has no secrets.
//!
//! ```text
//! nonce, 16 bytes | CRC-32 of the datagram u32 | datagram
//! ```

use std::num::NonZeroU32;
use std::sync::OnceLock;

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherEncrypt, InnerIvInit, KeyInit};
use aes::{Aes128Enc, Aes256Enc};
use cfb_mode::{Decryptor, Encryptor};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::splitmix::SplitMix64;

const NONCE_LEN: usize = 16;
/// What the envelope adds; bytes.
pub const OVERHEAD: usize = NONCE_LEN + 4;
/// What kcptun takes where no `--key` is given (its own spelling).
pub const PASSWORD: &str = "it's a secrect";
const SALT: &[u8] = b"kcp-go";
const KEY_ITERATIONS: NonZeroU32 = NonZeroU32::new(4096).expect("not zero");
const INITIAL_VECTOR: [u8; 16] = [
    0xa7, 0x73, 0x4f, 0x9c, 0x12, 0xac, 0x1b, 0x01, 0xa4, 0x15, 0xf2, 0xc1, 0xfc, 0x78, 0xe6, 0x6b,
];

/// By the names of kcptun's `--crypt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crypt {
    /// The envelope without a cipher: nonce and checksum are there all the same.
    None,
    #[serde(rename = "aes-128")]
    Aes128,
    /// With a key of 256 bits.
    Aes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CryptError {
    #[error("a packet of {0} bytes is shorter than the envelope's {OVERHEAD}")]
    TooShort(usize),
    #[error("the checksum is not that of the content: damaged, or another key")]
    WrongChecksum,
}

/// One side's half of it: both sides have the same key and nonces of their own.
#[derive(Debug)]
pub struct Envelope {
    cipher: Cipher,
    nonces: SplitMix64,
}

#[derive(Debug)]
enum Cipher {
    None,
    Aes128(Aes128Enc),
    Aes256(Aes256Enc),
}

impl Envelope {
    pub fn new(crypt: Crypt, seed: u64) -> Self {
        Self { cipher: Cipher::new(crypt, key()), nonces: SplitMix64::new(seed) }
    }

    /// The packet that carries this datagram.
    pub fn seal(&mut self, datagram: &[u8]) -> Vec<u8> {
        let nonce = [self.nonces.next().to_le_bytes(), self.nonces.next().to_le_bytes()];
        let checksum = crc32fast::hash(datagram).to_le_bytes();
        let mut packet = [nonce.as_flattened(), &checksum, datagram].concat();
        self.cipher.encrypt(&mut packet);
        packet
    }

    /// The datagram in this packet.
    pub fn open(&self, mut packet: Vec<u8>) -> Result<Vec<u8>, CryptError> {
        if packet.len() < OVERHEAD {
            return Err(CryptError::TooShort(packet.len()));
        }
        self.cipher.decrypt(&mut packet);
        let datagram = packet.split_off(OVERHEAD);
        let checksum = crc32fast::hash(&datagram).to_le_bytes();
        if packet[NONCE_LEN..] == checksum { Ok(datagram) } else { Err(CryptError::WrongChecksum) }
    }
}

/// Slow by intention, and the same for every connection.
fn key() -> &'static [u8; 32] {
    static KEY: OnceLock<[u8; 32]> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut key = [0; 32];
        let function = ring::pbkdf2::PBKDF2_HMAC_SHA1;
        ring::pbkdf2::derive(function, KEY_ITERATIONS, SALT, PASSWORD.as_bytes(), &mut key);
        key
    })
}

impl Cipher {
    fn new(crypt: Crypt, key: &[u8; 32]) -> Self {
        match crypt {
            Crypt::None => Self::None,
            Crypt::Aes128 => {
                let half: [u8; 16] = std::array::from_fn(|at| key[at]);
                Self::Aes128(Aes128Enc::new(&half.into()))
            }
            Crypt::Aes => Self::Aes256(Aes256Enc::new(key.into())),
        }
    }

    fn encrypt(&self, packet: &mut [u8]) {
        match self {
            Self::None => {}
            Self::Aes128(aes) => encrypt_with(aes, packet),
            Self::Aes256(aes) => encrypt_with(aes, packet),
        }
    }

    fn decrypt(&self, packet: &mut [u8]) {
        match self {
            Self::None => {}
            Self::Aes128(aes) => decrypt_with(aes, packet),
            Self::Aes256(aes) => decrypt_with(aes, packet),
        }
    }
}

// CFB runs the block cipher forwards both ways.

fn encrypt_with<C: BlockCipherEncrypt<BlockSize = U16>>(cipher: &C, packet: &mut [u8]) {
    Encryptor::inner_iv_init(cipher, &INITIAL_VECTOR.into()).encrypt(packet);
}

fn decrypt_with<C: BlockCipherEncrypt<BlockSize = U16>>(cipher: &C, packet: &mut [u8]) {
    Decryptor::inner_iv_init(cipher, &INITIAL_VECTOR.into()).decrypt(packet);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CRYPTS: [Crypt; 3] = [Crypt::None, Crypt::Aes128, Crypt::Aes];

    fn bytes(hex: &str) -> Vec<u8> {
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits");
        (0..hex.len()).step_by(2).map(digit).collect()
    }

    /// Made with Python's hashlib and zlib and with OpenSSL's `enc`, from the nonce 00 01 … 0f and
    /// the datagram 01 02 … 25.
    #[test]
    fn packets_of_other_tools_are_opened() {
        let datagram: Vec<u8> = (1..=37).collect();
        for (crypt, packet) in [
            (
                Crypt::Aes128,
                "ddd7e0a7981ba3e2a7f6d51f2a2663187b8780abeb1acbd7cb42ec485d8b4eb0c8b9dc4ab045a1a3fcfa1d80b86bd503270e1f3ebd56068a31",
            ),
            (
                Crypt::Aes,
                "86834343335b168ca911bf584a05f99030aa073539953f8b03a9141a540b007a70b4d97b413253dcde204ee6fc3e0475a79f40a27c17a5dd13",
            ),
        ] {
            let mut envelope = Envelope::new(crypt, 0);
            assert_eq!(envelope.open(bytes(packet)), Ok(datagram.clone()));
            // And back, with that nonce.
            let mut again = bytes(packet);
            envelope.cipher.decrypt(&mut again);
            assert_eq!(again[..NONCE_LEN], Vec::from_iter(0..16)[..]);
            envelope.cipher.encrypt(&mut again);
            assert_eq!(again, bytes(packet));
            assert_ne!(envelope.seal(&datagram), envelope.seal(&datagram), "another nonce");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn what_is_sealed_is_opened_and_damage_is_found(
            datagram in prop::collection::vec(any::<u8>(), 0..200),
            seed: u64,
            place: prop::sample::Index,
            bit in 0..8_u32,
        ) {
            for crypt in CRYPTS {
                let packet = Envelope::new(crypt, seed).seal(&datagram);
                let other_side = Envelope::new(crypt, seed.wrapping_add(1));
                prop_assert_eq!(packet.len(), datagram.len() + OVERHEAD);
                prop_assert_eq!(other_side.open(packet.clone()), Ok(datagram.clone()));
                // CRC-32 finds every single bit; a cipher spreads it over a block or two, which
                // passes once in 2³². The nonce itself is not checked.
                let mut damaged = packet.clone();
                let place = NONCE_LEN + place.index(packet.len() - NONCE_LEN);
                damaged[place] ^= 1 << bit;
                prop_assert_eq!(other_side.open(damaged), Err(CryptError::WrongChecksum));
                let cut = &packet[..packet.len() - 1];
                prop_assert!(other_side.open(cut.to_vec()).is_err());
            }
        }

        #[test]
        fn garbage_is_refused(packet in prop::collection::vec(any::<u8>(), 0..100)) {
            for crypt in CRYPTS {
                let error = match packet.len() {
                    len @ ..OVERHEAD => CryptError::TooShort(len),
                    _ => CryptError::WrongChecksum,
                };
                prop_assert_eq!(Envelope::new(crypt, 1).open(packet.clone()), Err(error));
            }
        }
    }
}

//! Requests over generic netlink, where a part of the kernel is found by its name. One at a time:
//! nothing here is in a hurry.

use std::io;
use std::os::fd::AsRawFd;

use netlink_sys::protocols::NETLINK_GENERIC;
use netlink_sys::{Socket, SocketAddr};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use thiserror::Error;

use crate::attributes::{self, Attributes};

/// `struct nlmsghdr` and, behind it, `struct genlmsghdr`.
const NETLINK_HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
const REQUEST_AND_ACKNOWLEDGE: u16 = 0x1 | 0x4;
/// The type of an answer that is an error number, or 0.
const ERROR: u16 = 2;
/// The family that knows the others, its request for one, and the attributes of that
/// (`linux/genetlink.h`).
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
/// Longer than any answer to what is asked here.
const LONGEST_ANSWER: usize = 32 * 1024;

/// The kernel refused a request, or could not be asked.
#[derive(Debug, Error)]
pub enum GenericError {
    /// The kernel has no such part.
    #[error("the kernel does not know of it")]
    NoSuchFamily,
    /// The kernel refused.
    #[error("{0}")]
    Refused(Errno),
    /// The socket failed.
    #[error("cannot talk to the kernel (generic netlink): {0}")]
    Socket(#[from] io::Error),
    /// The kernel's answer was not understood.
    #[error("the kernel's answer was not understood")]
    Answer,
}

/// A part of the kernel, in the namespace of the thread that found it.
pub(crate) struct Family {
    socket: Socket,
    id: u16,
}

impl Family {
    pub(crate) fn find(name: &str) -> Result<Self, GenericError> {
        let mut family = Self { socket: open()?, id: CONTROL };
        let mut asked = Attributes::default();
        asked.add(FAMILY_NAME, &[name.as_bytes(), &[0]].concat());
        let answer = match family.exchange(GET_FAMILY, asked) {
            Err(GenericError::Refused(Errno::ENOENT)) => Err(GenericError::NoSuchFamily),
            other => other,
        }?;
        let attributes = attributes::parse(&answer).ok_or(GenericError::Answer)?;
        let id = attributes.iter().find(|(kind, _)| *kind == FAMILY_ID);
        let id = id.and_then(|(_, value)| value.first_chunk()).ok_or(GenericError::Answer)?;
        family.id = u16::from_ne_bytes(*id);
        Ok(family)
    }

    /// Has the kernel do something, and waits until it has.
    pub(crate) fn ask(&self, command: u8, attributes: Attributes) -> Result<(), GenericError> {
        self.exchange(command, attributes).map(drop)
    }

    /// The attributes of what the kernel tells before it says that all went well.
    fn exchange(&self, command: u8, attributes: Attributes) -> Result<Vec<u8>, GenericError> {
        self.socket.send(&request(self.id, command, &attributes.into_bytes()), 0)?;
        let mut told = Vec::new();
        let mut datagram = vec![0; LONGEST_ANSWER];
        loop {
            let length = recv(self.socket.as_raw_fd(), &mut datagram, MsgFlags::empty());
            let mut rest = &datagram[..length.map_err(io::Error::from)?];
            while let Some((kind, payload, following)) = first_message(rest) {
                if kind == ERROR {
                    return error_code(payload).map(|()| told);
                }
                told = payload.get(GENERIC_HEADER..).unwrap_or_default().to_vec();
                rest = following;
            }
        }
    }
}

fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_GENERIC)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    // The kernel has answered before `send` returns, so there is never anything to wait for.
    socket.set_non_blocking(true)?;
    Ok(socket)
}

fn request(family: u16, command: u8, attributes: &[u8]) -> Vec<u8> {
    const VERSION: u8 = 1;
    let length = (NETLINK_HEADER + GENERIC_HEADER + attributes.len()) as u32;
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(family.to_ne_bytes());
    bytes.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    // Sequence number and port: one request is on its way at a time, and the kernel knows the port.
    bytes.extend([0; 8]);
    bytes.extend([command, VERSION, 0, 0]);
    bytes.extend(attributes);
    bytes
}

/// The type of the first message, what is in it, and what comes after it.
fn first_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let payload = bytes.get(NETLINK_HEADER..length)?;
    Some((kind, payload, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

fn error_code(payload: &[u8]) -> Result<(), GenericError> {
    match payload.first_chunk().map(|code| i32::from_ne_bytes(*code)) {
        Some(0) => Ok(()),
        Some(code) => Err(GenericError::Refused(Errno::from_raw(code.saturating_neg()))),
        None => Err(GenericError::Answer),
    }
}

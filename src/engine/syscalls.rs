//! The few system calls that neither std nor nix offers: whole batches of datagrams in one call,
//! binding a packet socket, a real-time scheduling class. Knows nothing of what the bytes mean.
#![expect(unsafe_code, reason = "the one file of the engines that talks to libc itself")]

mod receive_ring;

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

pub use self::receive_ring::{ReceiveRing, RingFrame, SLOT};

/// Datagrams that one call receives or sends at most.
pub const BATCH: usize = 32;

/// Room for a timestamp, a TOS byte and an overflow count, each with its header.
const CONTROL_LEN: usize = 128;

/// What the kernel tells beside the datagrams of one `recvmmsg`; where their bytes go is up to the
/// caller.
pub struct Receiver {
    controls: Vec<Control>,
    received: Vec<Received>,
}

/// Control messages, aligned as their headers have to be.
#[derive(Clone)]
#[repr(align(8))]
struct Control([u8; CONTROL_LEN]);

/// What the kernel told beside a datagram's bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Received {
    pub length: usize,
    /// CLOCK_REALTIME in nanoseconds when the kernel took the datagram in.
    pub stamp: Option<u64>,
    pub tos: u8,
}

impl Receiver {
    pub fn new() -> Self {
        Self {
            controls: vec![Control([0; CONTROL_LEN]); BATCH],
            received: Vec::with_capacity(BATCH),
        }
    }

    /// Takes what waits on a socket, at most [`BATCH`] datagrams and one for each place, and says
    /// how many; never blocks.
    pub fn receive<'a>(
        &mut self,
        socket: BorrowedFd<'_>,
        places: impl Iterator<Item = &'a mut [u8]>,
    ) -> io::Result<usize> {
        self.received.clear();
        let mut iovecs = [EMPTY_IOVEC; BATCH];
        let mut headers = [EMPTY_HEADER; BATCH];
        let mut count = 0;
        for (index, (place, control)) in places.zip(&mut self.controls).enumerate() {
            iovecs[index] = iovec(place.as_mut_ptr(), place.len());
            let header = &mut headers[index].msg_hdr;
            header.msg_iov = &raw mut iovecs[index];
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_LEN;
            count = index + 1;
        }
        // SAFETY: each of the `count` headers points to its own iovec, buffer and control block,
        // all of which outlive the call and are borrowed by nothing else; the timeout may be null.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                count as libc::c_uint,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let count = or_zero_if_it_would_block(count)?;
        self.received.extend(headers[..count].iter().zip(&self.controls).map(Received::read));
        Ok(count)
    }

    /// Of the datagrams of the last call, in the order of their arrival.
    pub fn received(&self) -> &[Received] {
        &self.received
    }
}

impl Received {
    fn read((header, control): (&libc::mmsghdr, &Control)) -> Self {
        let mut received = Self { length: header.msg_len as usize, ..Self::default() };
        received.read_control(&control.0[..header.msg_hdr.msg_controllen.min(CONTROL_LEN)]);
        received
    }

    /// Control messages are `{ length: usize, level: i32, kind: i32, data … }`, each aligned to 8
    /// bytes.
    fn read_control(&mut self, mut bytes: &[u8]) {
        const HEADER: usize = size_of::<libc::cmsghdr>();
        while let Some((header, rest)) = bytes.split_first_chunk::<HEADER>() {
            let length = word(header, 0) as usize;
            let (level, kind) = (half(header, 8), half(header, 12));
            let data = &rest[..length.saturating_sub(HEADER).min(rest.len())];
            self.take_control(level, kind, data);
            bytes = bytes.get(length.max(HEADER).next_multiple_of(8)..).unwrap_or_default();
        }
    }

    fn take_control(&mut self, level: i32, kind: i32, data: &[u8]) {
        match (level, kind) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) if data.len() >= 16 => {
                self.stamp = Some(word(data, 0) * 1_000_000_000 + word(data, 8));
            }
            (libc::IPPROTO_IP, libc::IP_TOS) if !data.is_empty() => self.tos = data[0],
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) if data.len() >= 4 => {
                self.tos = half(data, 0) as u8;
            }
            _ => {}
        }
    }
}

/// Sends the first datagrams of `datagrams`, at most [`BATCH`], on a socket that knows where to;
/// says how many the kernel took. Never blocks.
pub fn send_batch(socket: BorrowedFd<'_>, datagrams: &[impl AsRef<[u8]>]) -> io::Result<usize> {
    let datagrams = &datagrams[..datagrams.len().min(BATCH)];
    let mut iovecs = [EMPTY_IOVEC; BATCH];
    let mut headers = [EMPTY_HEADER; BATCH];
    for (index, datagram) in datagrams.iter().enumerate() {
        let datagram = datagram.as_ref();
        iovecs[index] = iovec(datagram.as_ptr().cast_mut(), datagram.len());
        headers[index].msg_hdr.msg_iov = &raw mut iovecs[index];
        headers[index].msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: as many headers as are announced point to an iovec and a datagram that outlive the
    // call, and sendmmsg only reads the datagrams.
    let count = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            headers.as_mut_ptr(),
            datagrams.len() as libc::c_uint,
            libc::MSG_DONTWAIT,
        )
    };
    or_zero_if_it_would_block(count)
}

/// Ties a packet socket to one interface: from then on it receives every frame of it, and sends on
/// it.
pub fn bind_to_interface(socket: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the address is a whole sockaddr_ll that outlives the call, and its length is told.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets a socket option whose value is a C int.
pub fn set_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    set_option_bytes(socket, level, name, &value)
}

/// Sets a socket option whose value is a plain C structure.
fn set_option_bytes<T: Copy>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: the value outlives the call, and its length is told; the kernel only reads it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const *value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A socket option of any length: as many of its bytes as there is room for. What is in `value`
/// before the call is told to the kernel, which some options want.
pub fn read_option(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: &mut [u8],
) -> io::Result<usize> {
    let mut length = value.len() as libc::socklen_t;
    // SAFETY: the kernel writes no more than the length it is told, and both places outlive the
    // call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

/// A stream socket of a protocol that nix has no name for; it never blocks.
pub fn stream_socket(family: libc::c_int, protocol: libc::c_int) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes no pointers.
    let descriptor = unsafe { libc::socket(family, kind, protocol) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and nothing else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Has a packet socket receive only what leaves by its interface.
pub fn take_only_outgoing(socket: BorrowedFd<'_>) -> io::Result<()> {
    // Classic BPF: load the packet's type; the whole packet if it is outgoing, else nothing.
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let packet_type = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32;
    let mut steps = [
        step((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0, packet_type),
        step(
            (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            0,
            1,
            u32::from(libc::PACKET_OUTGOING),
        ),
        step((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, u32::MAX),
        step((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // It points to the steps, which outlive the call too.
    set_option_bytes(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)
}

/// Frames that a packet socket has dropped since the last call because its buffer was full.
pub fn packet_socket_drops(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the kernel writes no more than the length it is told, and both places outlive the
    // call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(statistics.tp_drops) } else { Err(io::Error::last_os_error()) }
}

/// Puts the calling thread into SCHED_FIFO.
pub fn run_first_in_first_out(priority: i32) -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameters outlive the call; thread 0 is the calling one.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Bytes of the heap in use, in all threads and by all libraries: glibc's own count. `None` with
/// another C library. A few hundred kilobytes that each thread keeps for the next small request
/// count as used.
pub fn heap_in_use() -> Option<u64> {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: takes no argument, and returns plain numbers.
        let heap = unsafe { libc::mallinfo2() };
        Some((heap.uordblks + heap.hblkhd) as u64)
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

fn or_zero_if_it_would_block(count: libc::c_int) -> io::Result<usize> {
    if let Ok(count) = usize::try_from(count) {
        return Ok(count);
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
        _ => Err(error),
    }
}

const EMPTY_IOVEC: libc::iovec = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };

const EMPTY_HEADER: libc::mmsghdr = libc::mmsghdr {
    msg_hdr: libc::msghdr {
        msg_name: std::ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: std::ptr::null_mut(),
        msg_iovlen: 0,
        msg_control: std::ptr::null_mut(),
        msg_controllen: 0,
        msg_flags: 0,
    },
    msg_len: 0,
};

fn iovec(base: *mut u8, length: usize) -> libc::iovec {
    libc::iovec { iov_base: base.cast(), iov_len: length }
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(word)
}

fn half(bytes: &[u8], at: usize) -> i32 {
    let mut half = [0; 4];
    half.copy_from_slice(&bytes[at..at + 4]);
    i32::from_ne_bytes(half)
}

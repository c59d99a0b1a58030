//! The system calls that no crate wraps, each behind a safe function.

#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What Linux tells of a TCP socket (`struct tcp_info`, the fields used here).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpInfo {
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Sender's segment size, bytes.
    pub mss: u32,
    /// Segments believed to be in the network or waiting to be judged.
    pub unacked: u32,
    /// Of these: acknowledged selectively, lost, sent again.
    pub sacked: u32,
    /// Lost.
    pub lost: u32,
    /// Sent again.
    pub retrans: u32,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u32,
    /// Slow start threshold, segments.
    pub ssthresh: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Payload sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload sent again.
    pub bytes_retrans: u64,
    /// Segments whose delivery was acknowledged.
    pub delivered: u32,
    /// Of these with a mark.
    pub delivered_ce: u32,
}

/// Bytes of that structure that are read.
pub const INFO_BYTES: usize = 232;

impl TcpInfo {
    /// Reads the kernel's structure, as `TCP_INFO` and sock_diag's `INET_DIAG_INFO` deliver it: one
    /// function of the kernel fills both (`tcp_get_info`).
    pub fn read(info: &[u8; INFO_BYTES]) -> TcpInfo {
        let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().expect("4 bytes"));
        let long = |at: usize| u64::from_ne_bytes(info[at..at + 8].try_into().expect("8 bytes"));
        TcpInfo {
            ca_state: info[1],
            mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            rtt_us: word(68),
            ssthresh: word(76),
            cwnd: word(80),
            delivered: word(192),
            delivered_ce: word(196),
            bytes_sent: long(200),
            bytes_retrans: long(208),
        }
    }
}

/// Asks for `TCP_INFO` of a socket: the same account as sock_diag's, without a search for the socket.
///
/// # Errors
/// What the kernel says.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut info = [0u8; INFO_BYTES];
    let mut length = INFO_BYTES as libc::socklen_t;
    // SAFETY: the pointer and the length are those of a buffer that lives through the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(TcpInfo::read(&info)) }
}

/// How many packets a packet socket had no room for, since this was asked last.
///
/// # Errors
/// What the kernel says.
pub fn packets_lost(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut counts = [0u32; 2]; // struct tpacket_stats: packets, drops
    let mut length = mem::size_of_val(&counts) as libc::socklen_t;
    // SAFETY: the pointer and the length are those of a buffer that lives through the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 { Err(io::Error::last_os_error()) } else { Ok(counts[1]) }
}

/// Turns an open `/dev/net/tun` into the TUN device `name`, without a header before packets.
///
/// # Errors
/// What the kernel says.
pub fn make_tun(file: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `ifreq`, a plain C structure.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    write_name(&mut request, name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives through the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// An on-off feature of an interface, by the numbers of `ethtool`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload {
    /// Its name.
    pub name: &'static str,
    get: u32,
    set: u32,
}

/// What must be off, or the queue would hold packets of 64 kB (`linux/ethtool.h`).
pub const OFFLOADS: [Offload; 3] = [
    Offload { name: "tso", get: 0x1e, set: 0x1f },
    Offload { name: "gso", get: 0x23, set: 0x24 },
    Offload { name: "gro", get: 0x2b, set: 0x2c },
];

#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Switches an offload off and reads it back: whether it is on.
///
/// # Errors
/// What the kernel says; an interface may not know the feature.
pub fn switch_off(socket: BorrowedFd<'_>, device: &str, offload: Offload) -> io::Result<bool> {
    ethtool(socket, device, EthtoolValue { command: offload.set, data: 0 })?;
    Ok(ethtool(socket, device, EthtoolValue { command: offload.get, data: 0 })? != 0)
}

fn ethtool(socket: BorrowedFd<'_>, device: &str, mut value: EthtoolValue) -> io::Result<u32> {
    // SAFETY: all-zero bytes are a valid `ifreq`, a plain C structure.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    write_name(&mut request, device)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: SIOCETHTOOL reads and writes one `ifreq` and the value it points to; both live through
    // the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(value.data) }
}

fn write_name(request: &mut libc::ifreq, name: &str) -> io::Result<()> {
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(())
}

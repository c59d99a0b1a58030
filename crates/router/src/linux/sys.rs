//! The system calls that no crate wraps, each behind a safe function.

#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::sys::socket::setsockopt;
use nix::{getsockopt_impl, setsockopt_impl, sockopt_impl};
use socket2::{Domain, Socket, Type};

/// The fields of `struct tcp_info` (linux/tcp.h), Linux's report about a TCP socket, that are used
/// here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TcpInfo {
    /// The handshake is complete.
    pub is_established: bool,
    /// ECN was negotiated (`TCPI_OPT_ECN`).
    pub uses_ecn: bool,
    /// 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Sender's segment size, bytes.
    pub mss: u32,
    /// Segments sent and not cumulatively acknowledged.
    pub unacked: u32,
    /// Of these, segments acknowledged selectively.
    pub sacked: u32,
    /// Of these, segments deemed lost.
    pub lost: u32,
    /// Of these, segments retransmitted.
    pub retrans: u32,
    /// Smoothed round-trip time, microseconds.
    pub rtt_us: u32,
    /// Slow start threshold, segments.
    pub ssthresh: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Payload sent, retransmissions included.
    pub bytes_sent: u64,
    /// Payload retransmitted.
    pub bytes_retrans: u64,
    /// Acknowledged cumulatively: payload, and SYN and FIN as a byte each (`tcpi_bytes_acked`).
    pub bytes_acked: u64,
    /// Segments delivered, by the acknowledgements.
    pub delivered: u32,
    /// The number of these segments delivered with a CE mark.
    pub delivered_ce: u32,
    /// Pacing rate, bytes per second; all ones without pacing.
    pub pacing_rate: u64,
    /// Smallest round-trip time, microseconds.
    pub min_rtt_us: u32,
    /// Microseconds during which data was outstanding or unsent, and the parts of it in which only
    /// the receiver's window, and only the send buffer, held the sender back.
    pub limits_us: [u64; 3],
}

/// States of a connection whose handshake is incomplete or failed (Linux 6.1 tcp_states.h).
const SYN_SENT: u8 = 2;
const CLOSED: u8 = 7;
/// `TCPI_OPT_ECN` (Linux 6.1 uapi/linux/tcp.h).
const OPTION_ECN: u8 = 8;

/// The bytes of that structure that are read.
pub(crate) const INFO_BYTES: usize = 232;

impl TcpInfo {
    /// Reads the kernel's structure, as delivered by `TCP_INFO` and by sock_diag's
    /// `INET_DIAG_INFO`: the same function fills both (Linux 6.1 tcp.c, tcp_get_info).
    pub(crate) fn read(info: &[u8; INFO_BYTES]) -> TcpInfo {
        let word = |at: usize| u32::from_ne_bytes(info[at..at + 4].try_into().expect("4 bytes"));
        let long = |at: usize| u64::from_ne_bytes(info[at..at + 8].try_into().expect("8 bytes"));
        TcpInfo {
            is_established: !matches!(info[0], SYN_SENT | CLOSED),
            uses_ecn: info[5] & OPTION_ECN != 0,
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
            bytes_acked: long(120),
            pacing_rate: long(104),
            min_rtt_us: word(148),
            limits_us: [168, 176, 184].map(long),
        }
    }
}

// An `unsigned long`; for a `usize` the macro would pass an `int` (fact linux-22).
sockopt_impl!(MaxPacingRate, Both, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, libc::c_ulong);

/// Makes TCP pace the socket's packets: a limit above every rate enables pacing (Linux 6.1 sock.c,
/// `sk_setsockopt`).
pub(crate) fn pace(socket: &Socket) -> io::Result<()> {
    Ok(setsockopt(socket, MaxPacingRate, &(libc::c_ulong::MAX >> 1))?)
}

/// Gives this thread and its children priority over all threads that share the CPU by usage
/// (`SCHED_FIFO`).
///
/// # Errors
/// The error of the system call.
pub(crate) fn schedule_first() -> io::Result<()> {
    schedule(libc::SCHED_FIFO)
}

/// [`schedule_first`] for this thread only: its children share the CPU by usage.
///
/// # Errors
///
/// The error of the system call.
pub(crate) fn schedule_first_alone() -> io::Result<()> {
    schedule(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK)
}

fn schedule(policy: libc::c_int) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `sched_param`, a plain C structure.
    let mut param: libc::sched_param = unsafe { mem::zeroed() };
    param.sched_priority = 1;
    // SAFETY: the structure lives through the call; 0 is this thread.
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const param) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Capabilities (linux/capability.h) that would let a program end the guest or set its clock.
const OF_MACHINE: [libc::c_ulong; 2] = [22, 25]; // CAP_SYS_BOOT, CAP_SYS_TIME

/// Denies programs that this process starts from now on the capabilities to end the machine and to
/// set its clock; this process keeps them.
///
/// # Errors
///
/// The error of the system call.
pub(crate) fn forbid_programs_the_machine() -> io::Result<()> {
    for capability in OF_MACHINE {
        // SAFETY: the call takes two integers and touches no memory.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// The kernel's log, or the end of a longer one.
///
/// # Errors
///
/// The error of the system call.
pub(crate) fn kernel_log() -> io::Result<String> {
    const READ_ALL: libc::c_int = 3; // SYSLOG_ACTION_READ_ALL, syslog(2)
    let mut text = vec![0u8; 1 << 18];
    // SAFETY: the buffer is as long as the call says, and lives through it.
    let length =
        unsafe { libc::klogctl(READ_ALL, text.as_mut_ptr().cast(), text.len() as libc::c_int) };
    text.truncate(usize::try_from(length).map_err(|_| io::Error::last_os_error())?);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads a socket's `TCP_INFO`. It equals sock_diag's but needs no search for the socket.
///
/// # Errors
///
/// The error of the system call.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
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

/// The number of packets for which a packet socket had no room since the last call
/// (`PACKET_STATISTICS`).
///
/// # Errors
///
/// The error of the system call.
pub(crate) fn packets_lost(socket: BorrowedFd<'_>) -> io::Result<u32> {
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

/// Turns an open `/dev/net/tun` into the TUN device `name`, without a header in front of packets.
///
/// # Errors
/// The error of the system call.
pub(crate) fn make_tun(file: BorrowedFd<'_>, name: &str) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `ifreq`, a plain C structure.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    write_name(&mut request, name)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which lives through the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// An on-off feature of an interface, with its ethtool commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Offload {
    name: &'static str,
    get: u32,
    set: u32,
}

/// The offloads (linux/ethtool.h) that must be off: with them, queues hold packets of up to 64 kB.
const OFFLOADS: [Offload; 3] = [
    Offload { name: "tso", get: 0x1e, set: 0x1f },
    Offload { name: "gso", get: 0x23, set: 0x24 },
    Offload { name: "gro", get: 0x2b, set: 0x2c },
];

/// The offload that leaves checksums to the device, so captures of sent packets lack checksums.
const CHECKSUMS: Offload = Offload { name: "tx-checksumming", get: 0x16, set: 0x17 };

#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Switches off every packet offload of a device in the current network namespace; returns the
/// names of those that stayed on.
///
/// # Errors
/// The error of the system call.
pub(crate) fn switch_off_offloads(device: &str) -> io::Result<Vec<&'static str>> {
    switch_all_off(device, &OFFLOADS)
}

/// Switches off checksum offload in the same way.
///
/// # Errors
/// The error of the system call.
pub(crate) fn switch_off_checksums(device: &str) -> io::Result<Vec<&'static str>> {
    switch_all_off(device, &[CHECKSUMS])
}

fn switch_all_off(device: &str, offloads: &[Offload]) -> io::Result<Vec<&'static str>> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    let mut on = Vec::new();
    for &offload in offloads {
        match switch_off(socket.as_fd(), device, offload) {
            Ok(false) => {}
            Ok(true) => on.push(offload.name),
            // If a device does not know an offload, that offload is off.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(on)
}

/// Switches an offload off and reads it back; returns whether it is still on.
fn switch_off(socket: BorrowedFd<'_>, device: &str, offload: Offload) -> io::Result<bool> {
    ethtool(socket, device, EthtoolValue { command: offload.set, data: 0 })?;
    Ok(ethtool(socket, device, EthtoolValue { command: offload.get, data: 0 })? != 0)
}

fn ethtool(socket: BorrowedFd<'_>, device: &str, mut value: EthtoolValue) -> io::Result<u32> {
    // SAFETY: all-zero bytes are a valid `ifreq`, a plain C structure.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    write_name(&mut request, device)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // The request's type differs between C libraries.
    let number = libc::SIOCETHTOOL as libc::Ioctl;
    // SAFETY: SIOCETHTOOL reads and writes one `ifreq` and the value it points to; both live
    // through the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), number, &raw mut request) };
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

#[cfg(test)]
mod tests {
    use nix::sys::socket::getsockopt;

    use super::*;

    #[test]
    fn a_paced_socket_has_a_limit_above_every_rate_and_below_none() {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let limit = || getsockopt(&socket, MaxPacingRate).unwrap();
        assert_eq!(limit(), libc::c_ulong::MAX, "no limit: not paced");
        pace(&socket).unwrap();
        assert_eq!(limit(), libc::c_ulong::MAX >> 1);
    }
}

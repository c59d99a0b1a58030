//! Sockets of a network namespace, as sock_diag lists them (sock_diag(7); Linux 6.1
//! include/uapi/linux/inet_diag.h).

use std::io;

use super::netlink::{Netlink, Request, find};
use super::sys::{INFO_BYTES, TcpInfo};

/// The type of requests and responses.
const BY_FAMILY: u16 = 20;
/// The attributes with `struct tcp_info` and with the name of the congestion control.
const INFO: u16 = 2;
const CONG: u16 = 4;
/// `struct inet_diag_req_v2`.
const REQUEST_BYTES: usize = 56;
/// `struct inet_diag_msg`: four bytes, the socket's identity, five words.
const MESSAGE_BYTES: usize = 72;
const TCP: u8 = 6;
/// The first bytes of an address of IPv4 in an IPv6 socket (RFC 4291 §2.5.5.2).
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// An address of IPv4 and a port.
pub(crate) type SocketEnd = ([u8; 4], u16);

/// A TCP socket whose ends have addresses of IPv4.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DiagSocket {
    /// Its own end.
    pub(crate) local: SocketEnd,
    /// The other end.
    pub(crate) remote: SocketEnd,
    /// Its state.
    pub(crate) info: TcpInfo,
    /// Its congestion control.
    pub(crate) cc: String,
}

/// All TCP sockets of the namespace, except for those in TIME-WAIT.
///
/// # Errors
/// The error of a system call, or the one in the response.
pub(crate) fn tcp_sockets(diag: &mut Netlink) -> io::Result<Vec<DiagSocket>> {
    let mut sockets = Vec::new();
    // IPv4 over an IPv6 socket, as Go and Java open them, is listed as IPv6.
    for family in [libc::AF_INET, libc::AF_INET6] {
        let mut request = [0u8; REQUEST_BYTES];
        request[..3].copy_from_slice(&[family as u8, TCP, 1 << (INFO - 1) | 1 << (CONG - 1)]);
        request[4..8].copy_from_slice(&u32::MAX.to_ne_bytes()); // sockets in every state
        match diag.ask(Request::new(BY_FAMILY, libc::NLM_F_DUMP, &request)) {
            Ok(found) => sockets.extend(found.iter().filter_map(|message| read(message))),
            // A kernel without IPv6.
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sockets)
}

fn read(message: &[u8]) -> Option<DiagSocket> {
    let attributes = message.get(MESSAGE_BYTES..)?;
    // Kernels before 5.5 report less.
    let (found, mut info) = (find(attributes, INFO)?, [0; INFO_BYTES]);
    let known = found.len().min(INFO_BYTES);
    info[..known].copy_from_slice(&found[..known]);
    let cc = find(attributes, CONG).unwrap_or_default();
    let cc = cc.split(|&byte| byte == 0).next().unwrap_or_default();
    let is_mapped = i32::from(message[0]) == libc::AF_INET6;
    let end = |address: usize, port: usize| -> Option<SocketEnd> {
        let port = u16::from_be_bytes([message[port], message[port + 1]]);
        let bytes = &message[address..address + 16];
        let address = match is_mapped {
            true => bytes.strip_prefix(&MAPPED)?,
            false => &bytes[..4],
        };
        Some((address.try_into().ok()?, port))
    };
    Some(DiagSocket {
        local: end(8, 4)?,
        remote: end(24, 6)?,
        info: TcpInfo::read(&info),
        cc: String::from_utf8_lossy(cc).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::netlink::attribute;

    /// A message about port 80 at 10.1.1.10 and port 4000 at 10.2.1.10.
    fn message(family: i32, mapped: &[u8]) -> Vec<u8> {
        let mut message = vec![0; MESSAGE_BYTES];
        message[0] = family as u8;
        message[4..8].copy_from_slice(&[0, 80, 0x0f, 0xa0]);
        for (at, network) in [(8, 1), (24, 2)] {
            let address = [mapped, &[10, network, 1, 10]].concat();
            message[at..at + address.len()].copy_from_slice(&address);
        }
        message.extend(attribute(INFO, &[0; INFO_BYTES]));
        message.extend(attribute(CONG, b"cubic\0"));
        message
    }

    #[test]
    fn a_socket_of_ipv6_with_addresses_of_ipv4_is_read_like_one_of_ipv4() {
        let plain = read(&message(libc::AF_INET, &[])).expect("it is read");
        assert_eq!((plain.local, plain.remote), (([10, 1, 1, 10], 80), ([10, 2, 1, 10], 4000)));
        assert_eq!(plain.cc, "cubic");
        assert_eq!(read(&message(libc::AF_INET6, &MAPPED)), Some(plain));
        assert_eq!(read(&message(libc::AF_INET6, &[0x20; 12])), None, "an address of IPv6");
        let bare = message(libc::AF_INET, &[])[..MESSAGE_BYTES].to_vec();
        assert_eq!(read(&bare), None, "a socket in TIME-WAIT has no state");
    }
}

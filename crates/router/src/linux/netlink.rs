//! Netlink: requests to the kernel and its responses (RFC 3549; linux/netlink.h).

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket,
};

/// Size of a message header: length, type, flags, sequence number, port.
const HEADER_BYTES: usize = 16;
/// Size of an attribute's header: length and type.
const ATTRIBUTE_BYTES: usize = 4;
/// The largest datagram in a response of the kernel.
const ANSWER_BYTES: usize = 1 << 16;
/// Masks out `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER`, which are not part of an attribute's type.
const TYPE_BITS: u16 = 0x3fff;

/// A request under construction.
pub(crate) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// Creates a request of type `kind`; `body` is the structure that follows the header.
    pub(crate) fn new(kind: u16, flags: i32, body: &[u8]) -> Request {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&((flags | libc::NLM_F_REQUEST) as u16).to_ne_bytes());
        bytes.extend(body);
        Request { bytes }
    }

    /// Adds an attribute.
    pub(crate) fn with(mut self, kind: u16, value: &[u8]) -> Request {
        self.bytes.extend(attribute(kind, value));
        self
    }
}

/// An attribute, padded to a multiple of four bytes.
pub(crate) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = (ATTRIBUTE_BYTES + value.len()) as u16;
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The attributes in a part of a response, as pairs of type and value.
pub(crate) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (head, _) = rest.split_at_checked(ATTRIBUTE_BYTES)?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let value = rest.get(ATTRIBUTE_BYTES..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((u16::from_ne_bytes([head[2], head[3]]) & TYPE_BITS, value))
    })
}

/// The value of an attribute.
pub(crate) fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    attributes(bytes).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

/// A socket of a netlink family, in the network namespace where it was opened.
pub(crate) struct Netlink {
    socket: OwnedFd,
    answer: Vec<u8>,
}

impl Netlink {
    /// Opens a socket.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    pub(crate) fn open(family: SockProtocol) -> io::Result<Netlink> {
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Netlink, SockType::Raw, flags, family)?;
        Ok(Netlink { socket, answer: vec![0; ANSWER_BYTES] })
    }

    /// Sends a request for an acknowledgement or a dump; returns the body of each message of the
    /// response.
    ///
    /// # Errors
    ///
    /// The error of the system call, or the one in the response.
    pub(crate) fn ask(&mut self, request: Request) -> io::Result<Vec<Vec<u8>>> {
        let mut bytes = request.bytes;
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        send(self.socket.as_raw_fd(), &bytes, MsgFlags::empty())?;
        let mut found = Vec::new();
        loop {
            let got = recv(self.socket.as_raw_fd(), &mut self.answer, MsgFlags::empty())?;
            if read_messages(&self.answer[..got], &mut found)? {
                return Ok(found);
            }
        }
    }
}

/// Appends the messages of a datagram; returns whether it ends the response.
fn read_messages(mut rest: &[u8], found: &mut Vec<Vec<u8>>) -> io::Result<bool> {
    while let Some((head, _)) = rest.split_at_checked(HEADER_BYTES) {
        let length = u32::from_ne_bytes(head[..4].try_into().expect("4 bytes")) as usize;
        let body = rest.get(HEADER_BYTES..length).ok_or(io::ErrorKind::InvalidData)?;
        match i32::from(u16::from_ne_bytes([head[4], head[5]])) {
            libc::NLMSG_DONE => return Ok(true),
            libc::NLMSG_ERROR => {
                let number = body.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes));
                let failed = number != 0;
                return if failed { Err(io::Error::from_raw_os_error(-number)) } else { Ok(true) };
            }
            _ => found.push(body.to_vec()),
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;
    use crate::linux::sock_diag::{DiagSocket, tcp_sockets};
    use crate::linux::sys::tcp_info;

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let bytes = [attribute(1, b"red\0"), attribute(2 | 0x8000, b"12345"), attribute(3, b"x")];
        let bytes = bytes.concat();
        let read: Vec<_> = attributes(&bytes).collect();
        assert_eq!(read, [(1, &b"red\0"[..]), (2, b"12345"), (3, b"x")]);
        assert_eq!(find(&bytes, 3), Some(&b"x"[..]));
        assert_eq!(
            attributes(&bytes[..bytes.len() - 4]).count(),
            2,
            "a truncated attribute is not read"
        );
    }

    #[test]
    fn the_kernel_answers_a_dump_of_interfaces_and_refuses_an_invalid_request() {
        let mut route = Netlink::open(SockProtocol::NetlinkRoute).unwrap();
        // struct ifinfomsg, all zero, asks for every interface; IFLA_IFNAME is attribute 3.
        let every = Request::new(libc::RTM_GETLINK, libc::NLM_F_DUMP, &[0; 16]);
        let links = route.ask(every).unwrap();
        let names = links.iter().filter_map(|link| find(&link[16..], libc::IFLA_IFNAME));
        assert!(names.into_iter().any(|name| name == b"lo\0"));
        let invalid = Request::new(libc::RTM_NEWQDISC, libc::NLM_F_ACK, &[0; 20]);
        assert!(route.ask(invalid).is_err());
    }

    /// Linux 6.1 tcp.c, tcp_get_info.
    #[test]
    fn sock_diag_and_tcp_info_report_the_same() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[0; 5000]).unwrap();
        receiver.read_exact(&mut [0; 5000]).unwrap();
        let mut diag = Netlink::open(SockProtocol::NetlinkSockDiag).unwrap();
        let ends = [sender.local_addr().unwrap(), listener.local_addr().unwrap()];
        let [local, remote] = ends.map(|end| ([127, 0, 0, 1], end.port()));
        let sockets = tcp_sockets(&mut diag).unwrap();
        let ours = sockets.iter().find(|socket| (socket.local, socket.remote) == (local, remote));
        let DiagSocket { info: reported, cc, .. } = ours.expect("it is listed");
        assert!(cc.chars().all(char::is_alphanumeric) && !cc.is_empty(), "{cc}");
        assert_eq!(*reported, tcp_info(sender.as_fd()).unwrap());
        assert_eq!(reported.bytes_sent, 5000);
    }
}

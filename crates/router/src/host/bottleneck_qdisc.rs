//! The discipline below the shaper, by netlink: builds requests for it, and finds the messages that
//! describe it. The installed tc does not support all disciplines.

use std::io;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, Request, find};
use crate::plan::{HANDLE, Netns};

/// `struct tcmsg` (linux/rtnetlink.h): family, then at byte 4 the interface, handle, parent and
/// info.
pub(super) const TCMSG_BYTES: usize = 20;
/// Below the shaper `1:`, whose only class is `1:1`.
const PARENT: u32 = 0x0001_0001;
/// The place of the discipline below the shaper.
pub(super) const BELOW_SHAPER: (u32, u32) = (HANDLE, PARENT);
/// `NLA_F_NESTED` (linux/netlink.h): newer disciplines refuse options without it.
const NESTED: u16 = 0x8000;

/// Opens a socket in the router's namespace; returns it and the interface `out`.
pub(super) fn open(hosts: &Hosts) -> io::Result<(Netlink, u32)> {
    let open = || Ok((Netlink::open(SockProtocol::NetlinkRoute)?, if_nametoindex("out")?));
    hosts.within(Netns::Router, open)
}

/// The request that creates or changes a discipline at a place: its handle and its parent.
pub(super) fn make(kind: &str, options: &[u8], device: u32, place: (u32, u32)) -> Request {
    let tcmsg = tcmsg(device, place);
    let flags = libc::NLM_F_CREATE | libc::NLM_F_REPLACE | libc::NLM_F_ACK;
    Request::new(libc::RTM_NEWQDISC, flags, &tcmsg)
        .with(libc::TCA_KIND, &[kind.as_bytes(), b"\0"].concat())
        .with(libc::TCA_OPTIONS | NESTED, options)
}

/// `struct tcmsg` for an interface, a handle and a parent.
pub(super) fn tcmsg(device: u32, (handle, parent): (u32, u32)) -> [u8; TCMSG_BYTES] {
    let mut tcmsg = [0; TCMSG_BYTES];
    for (at, word) in [(4, device), (8, handle), (12, parent)] {
        tcmsg[at..at + 4].copy_from_slice(&word.to_ne_bytes());
    }
    tcmsg
}

/// The kernel's description of every discipline of the router.
pub(super) fn dump(route: &mut Netlink) -> io::Result<Vec<Vec<u8>>> {
    route.ask(Request::new(libc::RTM_GETQDISC, libc::NLM_F_DUMP, &[0; TCMSG_BYTES]))
}

/// The attributes of a message, if it describes a discipline of that kind.
pub(super) fn of_kind<'a>(message: &'a [u8], kind: &str) -> Option<&'a [u8]> {
    let (_, rest) = message.split_at_checked(TCMSG_BYTES)?;
    (find(rest, libc::TCA_KIND)?.strip_suffix(b"\0")? == kind.as_bytes()).then_some(rest)
}

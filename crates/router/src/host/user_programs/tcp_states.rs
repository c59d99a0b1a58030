//! The state of the programs' TCP sockets.

use std::io;

use nix::sys::socket::SockProtocol;

use super::host_place::HostPlace;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::Netlink;
use crate::linux::sock_diag::{DiagSocket, tcp_sockets};
use crate::plan::{HostSide, ProgramsPlan};

/// A socket of sock_diag on every host.
pub(super) struct TcpStates {
    of_hosts: Vec<(HostSide, Netlink)>,
}

impl TcpStates {
    /// Opens a socket in each host's namespace.
    pub(super) fn open(
        plan: &ProgramsPlan,
        places: &[HostPlace],
        hosts: &Hosts,
    ) -> io::Result<TcpStates> {
        let open = |place: &HostPlace| {
            hosts.within_added(&place.netns, || Netlink::open(SockProtocol::NetlinkSockDiag))
        };
        let sides = plan.hosts.iter().map(|host| host.side);
        let of_hosts = sides.zip(places).map(|(side, place)| Ok((side, open(place)?)));
        Ok(TcpStates { of_hosts: of_hosts.collect::<io::Result<_>>()? })
    }

    /// The TCP sockets of all hosts.
    pub(super) fn read(&mut self) -> io::Result<Vec<(HostSide, DiagSocket)>> {
        let mut all = Vec::new();
        for (side, diag) in &mut self.of_hosts {
            all.extend(tcp_sockets(diag)?.into_iter().map(|socket| (*side, socket)));
        }
        Ok(all)
    }
}

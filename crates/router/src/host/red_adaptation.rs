//! Enables adaptation in the kernel's RED, which tc cannot do (fact linux-4): the discipline that
//! tc has created is sent to the kernel again, unchanged except for the flag in `tc_red_qopt`.

use std::io;

use nix::sys::socket::SockProtocol;
use sojourn_aqm::Rate;
use sojourn_aqm::parts::idle_table::IdleTable;

use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, Request, attribute, find};
use crate::plan::{Netns, RedAdaptation};

/// `struct tcmsg` (linux/rtnetlink.h): family, interface, handle, parent, info.
const TCMSG_BYTES: usize = 20;
const TCA_RED_PARMS: u16 = 1;
const TCA_RED_STAB: u16 = 2;
const TCA_RED_MAX_P: u16 = 3;
/// `struct tc_red_qopt` (linux/pkt_sched.h): limit, two thresholds, then three logarithms and the
/// flags, one byte each.
const WEIGHT_LOG: usize = 12;
const CELL_LOG: usize = 14;
const FLAGS: usize = 15;
const TC_RED_ADAPTATIVE: u8 = 4;

/// Enables it for the RED at the router.
pub(super) fn start(adaptation: &RedAdaptation, hosts: &Hosts) -> Result<(), Failure> {
    let failure = |error: io::Error| format!("adaptation of the kernel's red: {error}");
    let mut route = hosts
        .within(Netns::Router, || Netlink::open(SockProtocol::NetlinkRoute))
        .map_err(failure)?;
    let every = Request::new(libc::RTM_GETQDISC, libc::NLM_F_DUMP, &[0; TCMSG_BYTES]);
    let messages = route.ask(every).map_err(failure)?;
    let red = messages.iter().find_map(|message| Red::read(message));
    let request = red.ok_or("the router has no red")?.adaptive(adaptation)?;
    route.ask(request).map(drop).map_err(failure)
}

/// A RED discipline as the kernel dumps it.
struct Red<'a> {
    /// Its `struct tcmsg`.
    tcmsg: &'a [u8],
    parms: [u8; 16],
    max_p: &'a [u8],
}

impl Red<'_> {
    fn read(message: &[u8]) -> Option<Red<'_>> {
        let (tcmsg, rest) = message.split_at_checked(TCMSG_BYTES)?;
        if find(rest, libc::TCA_KIND)? != b"red\0" {
            return None;
        }
        let options = find(rest, libc::TCA_OPTIONS)?;
        let parms = find(options, TCA_RED_PARMS)?.try_into().ok()?;
        Some(Red { tcmsg, parms, max_p: find(options, TCA_RED_MAX_P)? })
    }

    /// The request that configures the same RED with adaptation. The kernel does not dump the table
    /// of decay while idle, so we send our own, with cells as wide as those of tc.
    fn adaptive(mut self, adaptation: &RedAdaptation) -> Result<Request, Failure> {
        let weight = u32::from(self.parms[WEIGHT_LOG]);
        let rate = Rate::from_bps(adaptation.rate_bps);
        let table = IdleTable::new(weight, adaptation.mean_packet_bytes, rate);
        if u32::from(self.parms[CELL_LOG]) != table.log {
            return Err(format!(
                "red at out: tc made cells of 2^{} us for idle times, this is written for its 2^{}",
                self.parms[CELL_LOG], table.log
            ));
        }
        self.parms[FLAGS] |= TC_RED_ADAPTATIVE;
        let options = [
            attribute(TCA_RED_PARMS, &self.parms),
            attribute(TCA_RED_STAB, &table.shifts[..]),
            attribute(TCA_RED_MAX_P, self.max_p),
        ];
        Ok(Request::new(libc::RTM_NEWQDISC, libc::NLM_F_ACK, self.tcmsg)
            .with(libc::TCA_KIND, b"red\0")
            .with(libc::TCA_OPTIONS, &options.concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dumped(cell_log: u8) -> Vec<u8> {
        let mut parms = [7u8; 16];
        (parms[WEIGHT_LOG], parms[CELL_LOG], parms[FLAGS]) = (4, cell_log, 1);
        let options =
            [attribute(TCA_RED_PARMS, &parms), attribute(TCA_RED_MAX_P, &[1, 2, 3, 4])].concat();
        let parts = [
            vec![9; TCMSG_BYTES],
            attribute(libc::TCA_KIND, b"red\0"),
            attribute(libc::TCA_OPTIONS, &options),
        ];
        parts.concat()
    }

    const OF_TC: RedAdaptation = RedAdaptation { mean_packet_bytes: 1000, rate_bps: 10_000_000 };

    #[test]
    fn an_idle_table_with_other_cells_than_tcs_is_refused() {
        let log = IdleTable::new(4, 1000, Rate::from_bps(10_000_000)).log as u8;
        assert!(Red::read(&dumped(log)).unwrap().adaptive(&OF_TC).is_ok());
        let refused = Red::read(&dumped(log + 1)).unwrap().adaptive(&OF_TC).err().unwrap();
        assert!(refused.contains("cells of 2^"), "{refused}");
    }

    #[test]
    fn only_a_red_is_read() {
        let codel = [vec![0; TCMSG_BYTES], attribute(libc::TCA_KIND, b"codel\0")].concat();
        assert!(Red::read(&codel).is_none() && Red::read(&[]).is_none());
    }
}

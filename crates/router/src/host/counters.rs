//! The counters of the kernel's discipline at the bottleneck, read by netlink at one instant.
//! Packets would keep flowing while `tc` starts.

use std::io;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

use super::clock::Clock;
use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, Request, find};
use crate::plan::{Netns, Plan};
use crate::run_files::KernelCounters;

/// `struct tcmsg` (linux/rtnetlink.h): family, then at byte 4 the interface, handle, parent and
/// info.
const TCMSG_BYTES: usize = 20;
const TCA_STATS2: u16 = 7;
const TCA_STATS_QUEUE: u16 = 3;

/// Reads the counters.
pub(super) fn read(plan: &Plan, hosts: &Hosts, clock: &Clock) -> Result<KernelCounters, Failure> {
    let failure = |error: io::Error| format!("counters of the bottleneck: {error}");
    let open = || Ok((Netlink::open(SockProtocol::NetlinkRoute)?, if_nametoindex("out")?));
    let (mut route, device) = hosts.within(Netns::Router, open).map_err(failure)?;
    let every = Request::new(libc::RTM_GETQDISC, libc::NLM_F_DUMP, &[0; TCMSG_BYTES]);
    let messages = route.ask(every).map_err(failure)?;
    let at_ns = clock.now().map_err(failure)?.as_nanos();
    let expected = plan.expected.iter().find(|expected| expected.device == "out");
    let kind = expected.map_or("", |expected| &expected.kind);
    let found = messages.iter().find_map(|message| counted(message, device, kind, at_ns));
    found.ok_or_else(|| "counters of the bottleneck: its discipline is missing".to_owned())
}

/// The counters in a message, if it describes this discipline at this interface.
fn counted(message: &[u8], device: u32, kind: &str, at_ns: u64) -> Option<KernelCounters> {
    let (tcmsg, rest) = message.split_at_checked(TCMSG_BYTES)?;
    let is_kind = find(rest, libc::TCA_KIND)?.strip_suffix(b"\0")? == kind.as_bytes();
    if tcmsg[4..8] != device.to_ne_bytes() || !is_kind {
        return None;
    }
    // struct gnet_stats_queue (linux/gen_stats.h): queued packets, bytes, drops, requeues,
    // overlimits.
    let queue = find(find(rest, TCA_STATS2)?, TCA_STATS_QUEUE)?;
    let word = |at: usize| queue.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    Some(KernelCounters { at_ns, waiting: word(0)?.into(), dropped: word(8)?.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::netlink::attribute;

    fn message(device: u32, kind: &[u8]) -> Vec<u8> {
        let queue: Vec<u8> =
            [17u32, 25_000, 4, 0, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
        let mut tcmsg = vec![0; TCMSG_BYTES];
        tcmsg[4..8].copy_from_slice(&device.to_ne_bytes());
        let parts = [
            tcmsg,
            attribute(libc::TCA_KIND, kind),
            attribute(TCA_STATS2, &attribute(TCA_STATS_QUEUE, &queue)),
        ];
        parts.concat()
    }

    #[test]
    fn counters_are_read_from_the_discipline_at_the_bottleneck() {
        let expected = Some(KernelCounters { at_ns: 9, waiting: 17, dropped: 4 });
        assert_eq!(counted(&message(3, b"pie\0"), 3, "pie", 9), expected);
        assert_eq!(counted(&message(3, b"pie\0"), 2, "pie", 9), None, "another interface");
        assert_eq!(counted(&message(3, b"fq_pie\0"), 3, "pie", 9), None, "another discipline");
        assert_eq!(counted(&message(3, b"pie\0")[..40], 3, "pie", 9), None, "cut short");
    }
}

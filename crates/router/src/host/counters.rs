//! The counters of the kernel's discipline at the bottleneck, read by netlink at one instant.
//! Packets would keep flowing while `tc` starts.

use std::io;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

use super::clock::Clock;
use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, Request, find};
use crate::plan::{KernelLeaf, Netns, Plan};
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
    let missing = || "counters of the bottleneck: a discipline is missing".to_owned();
    let of = |kind: &str, place: Option<(u32, u32)>| {
        messages.iter().find_map(|message| counted(message, (device, place), kind))
    };
    let leaves = plan.classes.iter().flat_map(|classes| &classes.leaves);
    let waiting = |leaf: &KernelLeaf| of(&leaf.qdisc.kind, Some((leaf.handle, leaf.class)));
    let in_leaves = leaves.map(|leaf| Some(waiting(leaf)?.0)).collect::<Option<_>>();
    let (waiting, dropped) = of(kind, None).ok_or_else(missing)?;
    Ok(KernelCounters { at_ns, waiting, dropped, in_leaves: in_leaves.ok_or_else(missing)? })
}

/// The numbers of queued and of dropped packets, if a message describes a discipline of that
/// kind at this interface, and at a place if one is given: its handle and its parent.
fn counted(
    message: &[u8],
    (device, place): (u32, Option<(u32, u32)>),
    kind: &str,
) -> Option<(u64, u64)> {
    let (tcmsg, rest) = message.split_at_checked(TCMSG_BYTES)?;
    let word =
        |bytes: &[u8], at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let is_kind = find(rest, libc::TCA_KIND)?.strip_suffix(b"\0")? == kind.as_bytes();
    let is_there = place.is_none_or(|(handle, parent)| {
        (word(tcmsg, 8), word(tcmsg, 12)) == (Some(handle), Some(parent))
    });
    if word(tcmsg, 4)? != device || !is_kind || !is_there {
        return None;
    }
    // struct gnet_stats_queue (linux/gen_stats.h): queued packets, bytes, drops, requeues,
    // overlimits.
    let queue = find(find(rest, TCA_STATS2)?, TCA_STATS_QUEUE)?;
    Some((word(queue, 0)?.into(), word(queue, 8)?.into()))
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
        let expected = Some((17, 4));
        assert_eq!(counted(&message(3, b"pie\0"), (3, None), "pie"), expected);
        assert_eq!(counted(&message(3, b"pie\0"), (3, Some((0, 0))), "pie"), expected);
        let elsewhere = counted(&message(3, b"pie\0"), (3, Some((1, 0))), "pie");
        assert_eq!(elsewhere, None, "another class");
        assert_eq!(counted(&message(3, b"pie\0"), (2, None), "pie"), None, "another interface");
        assert_eq!(counted(&message(3, b"fq_pie\0"), (3, None), "pie"), None, "another kind");
        assert_eq!(counted(&message(3, b"pie\0")[..40], (3, None), "pie"), None, "cut short");
    }
}

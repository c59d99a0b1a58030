//! The classes of the kernel's scheduler: creates the queues that tc does not support, and compares
//! scheduler, classes, filters and queues with what netlink reports.

use std::io;

use super::bottleneck_qdisc::{TCMSG_BYTES, dump, of_kind, open, tcmsg};
use super::kernel_qdisc::{compare, create};
use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::netlink::{Netlink, Request, find};
use crate::plan::{HANDLE, KernelClasses, KernelQdisc};

/// Linux 6.1 pkt_cls.h.
const TCA_U32_CLASSID: u16 = 1;
const TCA_U32_SEL: u16 = 5;
/// Where the only key of a `struct tc_u32_sel` begins (mask, value, offset), and its size.
const KEY: usize = 16;
const KEY_BYTES: usize = 16;

/// Creates the queues that tc has not created, and reads everything back.
pub(super) fn install(classes: &KernelClasses, hosts: &Hosts) -> Result<(), Failure> {
    let (mut route, device) = open(hosts).map_err(|error| failure(&error))?;
    for leaf in classes.leaves.iter().filter(|leaf| leaf.by_netlink) {
        create(&leaf.qdisc, &mut route, device, (leaf.handle, leaf.class))?;
    }
    let qdiscs = dump(&mut route).map_err(|error| failure(&error))?;
    verify(&classes.scheduler, (HANDLE, None), &qdiscs)?;
    for leaf in &classes.leaves {
        verify(&leaf.qdisc, (leaf.handle, Some(leaf.class)), &qdiscs)?;
    }
    let shown = ask(&mut route, libc::RTM_GETTCLASS, device, (0, 0))?;
    for (class, parent, asked) in &classes.classes {
        verify(asked, (*class, Some(*parent)), &shown)?;
    }
    let shown = ask(&mut route, libc::RTM_GETTFILTER, device, (0, HANDLE))?;
    let mut found: Vec<(u8, u32)> = shown.iter().filter_map(|it| filter(it)).collect();
    let mut asked = classes.filters.clone();
    found.sort_unstable();
    asked.sort_unstable();
    match found == asked {
        true => Ok(()),
        false => Err(format!("filters at out: asked for {asked:x?}, the kernel has {found:x?}")),
    }
}

fn ask(
    route: &mut Netlink,
    what: u16,
    device: u32,
    place: (u32, u32),
) -> Result<Vec<Vec<u8>>, Failure> {
    let request = Request::new(what, libc::NLM_F_DUMP, &tcmsg(device, place));
    route.ask(request).map_err(|error| failure(&error))
}

fn failure(error: &io::Error) -> Failure {
    format!("classes at out: netlink: {error}")
}

/// Finds the discipline or class with a handle, and under a parent if one is given.
fn verify(
    asked: &KernelQdisc,
    (handle, parent): (u32, Option<u32>),
    messages: &[Vec<u8>],
) -> Result<(), Failure> {
    let is_there = |message: &&Vec<u8>| {
        let parent = parent.or(word(message, 12));
        (word(message, 8), word(message, 12)) == (Some(handle), parent)
    };
    let found = messages.iter().filter(is_there).find_map(|it| of_kind(it, &asked.kind));
    let missing = || format!("{} {:x}:{:x} is missing", asked.kind, handle >> 16, handle & 0xffff);
    compare(asked, found.and_then(|rest| find(rest, libc::TCA_OPTIONS)).ok_or_else(missing)?)
}

fn word(message: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*message.get(at..)?.first_chunk()?))
}

/// The DSCP and the class of a filter; none for a table of filters. A filter with other keys gets a
/// DSCP that no plan requests.
fn filter(message: &[u8]) -> Option<(u8, u32)> {
    const OTHER: u8 = u8::MAX;
    let (_, rest) = message.split_at_checked(TCMSG_BYTES)?;
    let options = find(rest, libc::TCA_OPTIONS)?;
    let class = word(find(options, TCA_U32_CLASSID)?, 0)?;
    let selector = find(options, TCA_U32_SEL)?;
    let key = selector.get(KEY..KEY + KEY_BYTES)?;
    let is_dscp = selector[2] == 1 && key[..4] == [0, 0xfc, 0, 0] && key[8..12] == [0; 4];
    Some((if is_dscp { key[5] >> 2 } else { OTHER }, class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::netlink::attribute;
    use crate::plan::{QdiscOption, Width};

    fn class(rate: u32) -> KernelQdisc {
        let values = vec![rate];
        let (name, shown) = ("rate".to_owned(), values.clone());
        let (attribute, width) = (Some(1), Width::U32);
        let option = QdiscOption { name, attribute, offset: 8, width, values, shown };
        KernelQdisc { kind: "htb".to_owned(), options: vec![option] }
    }

    #[test]
    fn a_class_is_compared_with_the_one_of_its_number_under_its_parent() {
        let parms = [0u32, 0, 1000].map(u32::to_ne_bytes).concat();
        let message = [
            tcmsg(3, (0x10_0001, HANDLE)).to_vec(),
            attribute(libc::TCA_KIND, b"htb\0"),
            attribute(libc::TCA_OPTIONS, &attribute(1, &parms)),
        ];
        let shown = [message.concat()];
        let place = (0x10_0001, Some(HANDLE));
        assert_eq!(verify(&class(1000), place, &shown), Ok(()));
        assert!(verify(&class(999), place, &shown).unwrap_err().contains("asked for [999]"));
        let elsewhere = verify(&class(1000), (0x10_0001, Some(0x10_0002)), &shown);
        assert_eq!(elsewhere.unwrap_err(), "htb 10:1 is missing");
    }

    #[test]
    fn a_filter_is_a_dscp_and_a_class() {
        let message = |value: u8, mask: u8| {
            let mut selector = [0; KEY + KEY_BYTES];
            (selector[2], selector[KEY + 1], selector[KEY + 5]) = (1, mask, value);
            let options = [
                attribute(TCA_U32_CLASSID, &0x10_0002u32.to_ne_bytes()),
                attribute(TCA_U32_SEL, &selector),
            ];
            let options = attribute(libc::TCA_OPTIONS, &options.concat());
            [tcmsg(3, (0, HANDLE)).to_vec(), options].concat()
        };
        assert_eq!(filter(&message(0xb8, 0xfc)), Some((46, 0x10_0002)));
        assert_eq!(filter(&message(0xb8, 0xff)), Some((u8::MAX, 0x10_0002)));
        assert_eq!(filter(&tcmsg(3, (0, HANDLE))), None, "a table");
    }
}

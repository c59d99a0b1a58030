//! Trees of hfsc, checked.

use sojourn_aqm::qdiscs::classes::{HfscNode, ServiceCurve};
use sojourn_aqm::{CustomLaws, Span};

use super::classes::{check_depth, check_inner, class, class_place, named, names};
use super::{Checked, refuse};
use crate::document::scheduler as written;
use crate::error::join;
use crate::resolved::{Scheduler, SchedulerKind};

/// The kernel has rates of 32 bits in bytes per second, and times of 32 bits in microseconds (Linux
/// 6.1 pkt_sched.h, tc_service_curve).
const HIGHEST_BPS: u64 = u32::MAX as u64 * 8;
const LONGEST: Span = Span::from_micros(u32::MAX as u64);

pub(super) fn of_hfsc(
    place: &str,
    hfsc: &written::HfscScheduler,
    laws: &CustomLaws,
) -> Checked<Scheduler> {
    let names = names(place, hfsc.classes.iter().map(|class| &class.name))?;
    let mut nodes = Vec::new();
    let mut classes = Vec::new();
    for (index, it) in hfsc.classes.iter().enumerate() {
        let place = class_place(place, index);
        let of_parent = |name: &String| named(&join(&place, "parent"), &names, name);
        let curve_of = |key: &str, written: Option<written::ServiceCurve>| {
            written.map(|it| curve(&join(&place, key), it)).transpose()
        };
        let (rt, ls) = (curve_of("rt", it.rt)?, curve_of("ls", it.ls)?);
        if rt.is_none() && ls.is_none() {
            return refuse(
                &place,
                "has neither `rt` nor `ls`; write for example ls.m2 = \"5mbit\"",
            );
        }
        let parent = it.parent.as_ref().map(of_parent).transpose()?;
        nodes.push(HfscNode { parent, rt, ls, ul: curve_of("ul", it.ul)? });
        classes.push(class(&place, &it.name, &it.dscp, it.queue.as_ref(), laws)?);
    }
    check_depth(place, nodes.iter().map(|it| it.parent).collect())?;
    let default = Some(named(&join(place, "default"), &names, &hfsc.default)?);
    let resolved = Scheduler { kind: SchedulerKind::Hfsc(nodes), default, classes };
    check_inner(place, &resolved)?;
    Ok(resolved)
}

fn curve(place: &str, written: written::ServiceCurve) -> Checked<ServiceCurve> {
    let written::ServiceCurve { m1, d, m2 } = written;
    if m1.is_some() && d.is_none() {
        return refuse(&join(place, "m1"), "holds for a time; write `d` too");
    }
    if m1.is_none() && m2.is_none() {
        return refuse(place, "has no rate; write `m2`");
    }
    for (key, rate) in [("m1", m1), ("m2", m2)] {
        if rate.is_some_and(|rate| rate.0.as_bps() > HIGHEST_BPS) {
            return refuse(&join(place, key), "is above 34 Gbit/s, which the kernel cannot count");
        }
    }
    let d = d.map_or(Span::ZERO, |d| d.0);
    if d > LONGEST || !d.as_nanos().is_multiple_of(1000) {
        return refuse(&join(place, "d"), "is not a whole number of microseconds up to 4294s");
    }
    Ok(ServiceCurve { m1: m1.map(|rate| rate.0), d, m2: m2.map(|rate| rate.0) })
}

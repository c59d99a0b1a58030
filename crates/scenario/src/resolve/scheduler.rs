//! The scheduler of a link's classes.

use std::collections::BTreeMap;

use sojourn_aqm::qdiscs::classes::{HtbNode, PRIORITIES};
use sojourn_aqm::{CustomLaws, Framing};

use super::checks::{framing_bytes, packing};
use super::classes::{check_depth, check_inner, class, class_place, named, names};
use super::wire::DEEPEST_BUCKET;
use super::{Checked, refuse};
use crate::document::quantities::SizeText;
use crate::document::scheduler as written;
use crate::error::join;
use crate::resolved::{Scheduler, SchedulerKind};

/// The scheduler, checked.
pub(super) fn scheduler(
    place: &str,
    written: &written::Scheduler,
    laws: &CustomLaws,
) -> Checked<Scheduler> {
    let resolved = match written {
        written::Scheduler::Htb(htb) => of_htb(place, htb, laws)?,
        #[cfg(not(target_arch = "wasm32"))]
        written::Scheduler::Hfsc(hfsc) => super::hfsc::of_hfsc(place, hfsc, laws)?,
        written::Scheduler::Prio(prio) => of_prio(place, prio, laws)?,
        #[cfg(not(target_arch = "wasm32"))]
        written::Scheduler::Ets(ets) => of_ets(place, ets, laws)?,
    };
    check_code_points(place, &resolved)?;
    Ok(resolved)
}

fn of_prio(place: &str, prio: &written::PrioScheduler, laws: &CustomLaws) -> Checked<Scheduler> {
    let names = names(place, prio.classes.iter().map(|class| &class.name))?;
    let class = |(index, it): (usize, &written::PrioClass)| {
        class(&class_place(place, index), &it.name, &it.dscp, it.queue.as_ref(), laws)
    };
    let classes = prio.classes.iter().enumerate().map(class).collect::<Checked<_>>()?;
    let default = Some(named(&join(place, "default"), &names, &prio.default)?);
    Ok(Scheduler { kind: SchedulerKind::Prio, default, classes })
}

#[cfg(not(target_arch = "wasm32"))]
fn of_ets(place: &str, ets: &written::EtsScheduler, laws: &CustomLaws) -> Checked<Scheduler> {
    let names = names(place, ets.classes.iter().map(|class| &class.name))?;
    let mut quanta = Vec::new();
    let mut classes = Vec::new();
    for (index, it) in ets.classes.iter().enumerate() {
        let place = class_place(place, index);
        let takes_turns = quanta.last().is_some_and(Option::is_some);
        if it.quantum.is_none() && takes_turns {
            let message = "is missing; classes in strict priority come first";
            return refuse(&join(&place, "quantum"), message);
        }
        let quantum = it.quantum.map(|bytes| depth(&join(&place, "quantum"), bytes)).transpose()?;
        quanta.push(quantum);
        classes.push(class(&place, &it.name, &it.dscp, it.queue.as_ref(), laws)?);
    }
    let default = Some(named(&join(place, "default"), &names, &ets.default)?);
    Ok(Scheduler { kind: SchedulerKind::Ets(quanta), default, classes })
}

/// A number of bytes that a class may send.
fn depth(place: &str, SizeText(bytes): SizeText) -> Checked<u64> {
    match bytes {
        1..=DEEPEST_BUCKET => Ok(bytes),
        _ => refuse(place, "is not a valid bucket depth; write 1B to 1GB"),
    }
}

fn of_htb(place: &str, htb: &written::HtbScheduler, laws: &CustomLaws) -> Checked<Scheduler> {
    let names = names(place, htb.classes.iter().map(|class| &class.name))?;
    let mut rates = Vec::new();
    let mut classes = Vec::new();
    for (index, it) in htb.classes.iter().enumerate() {
        let place = class_place(place, index);
        rates.push(rates_of(&place, it, &names)?);
        classes.push(class(&place, &it.name, &it.dscp, it.queue.as_ref(), laws)?);
    }
    check_depth(place, rates.iter().map(|it: &HtbNode| it.parent).collect())?;
    let overhead = framing_bytes(&join(place, "overhead"), htb.overhead)?;
    let framing =
        Framing { overhead: i64::from(overhead), packing: packing(place, htb.mpu, htb.cells)? };
    let of_default = |name: &String| named(&join(place, "default"), &names, name);
    let default = htb.default.as_ref().map(of_default).transpose()?;
    let kind = SchedulerKind::Htb { classes: rates, framing };
    let resolved = Scheduler { kind, default, classes };
    check_inner(place, &resolved)?;
    Ok(resolved)
}

fn rates_of(
    place: &str,
    written: &written::HtbClass,
    names: &BTreeMap<&str, usize>,
) -> Checked<HtbNode> {
    let rate = written.rate.0;
    let ceil = written.ceil.map_or(rate, |ceil| ceil.0);
    let priority = written.prio;
    if usize::from(priority) >= PRIORITIES {
        return refuse(&join(place, "prio"), format!("{priority} is not from 0 to 7"));
    }
    let depth = |key: &str, size: SizeText| depth(&join(place, key), size);
    let of_parent = |name: &String| named(&join(place, "parent"), names, name);
    Ok(HtbNode {
        parent: written.parent.as_ref().map(of_parent).transpose()?,
        rate,
        ceil,
        burst_bytes: depth("burst", written.burst)?,
        cburst_bytes: depth("cburst", written.cburst)?,
        quantum_bytes: match written.quantum {
            Some(quantum) => depth("quantum", quantum)?,
            // Linux 6.1 sch_htb.c, htb_change_class, with tc's r2q of 10.
            None => (rate.as_bps() / 8 / 10).clamp(1000, 200_000),
        },
        priority,
    })
}

/// Refuses a DSCP that two classes have.
fn check_code_points(place: &str, scheduler: &Scheduler) -> Checked<()> {
    let mut owners: BTreeMap<u8, &str> = BTreeMap::new();
    for (index, class) in scheduler.classes.iter().enumerate() {
        for &dscp in &class.dscp {
            if let Some(other) = owners.insert(dscp, &class.name) {
                let message = format!("DSCP {dscp} belongs to `{other}` already");
                let place = join(&class_place(place, index), "dscp");
                return refuse(&place, message + "; name it once");
            }
        }
    }
    Ok(())
}

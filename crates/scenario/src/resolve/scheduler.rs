//! The scheduler of a link's classes.

use std::collections::BTreeMap;

use sojourn_aqm::qdiscs::classes::{HtbNode, MOST_CLASSES, MOST_DEPTH, PRIORITIES};
use sojourn_aqm::{CustomLaws, Framing};

use super::checks::{framing_bytes, name, packing};
use super::queue::{limit, queue};
use super::wire::DEEPEST_BUCKET;
use super::{Checked, refuse};
use crate::document::algorithm::AlgorithmSpec;
use crate::document::ip_fields::DscpKey;
use crate::document::quantities::SizeText;
use crate::document::scheduler as written;
use crate::error::join;
use crate::resolved::{Class, Scheduler, SchedulerKind};

/// The scheduler, checked.
pub(super) fn scheduler(
    place: &str,
    written: &written::Scheduler,
    laws: &CustomLaws,
) -> Checked<Scheduler> {
    let resolved = match written {
        written::Scheduler::Htb(htb) => of_htb(place, htb, laws)?,
        written::Scheduler::Prio(prio) => of_prio(place, prio, laws)?,
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

fn of_htb(place: &str, htb: &written::HtbScheduler, laws: &CustomLaws) -> Checked<Scheduler> {
    let names = names(place, htb.classes.iter().map(|class| &class.name))?;
    let mut rates = Vec::new();
    let mut classes = Vec::new();
    for (index, it) in htb.classes.iter().enumerate() {
        let place = class_place(place, index);
        rates.push(rates_of(&place, it, &names)?);
        classes.push(class(&place, &it.name, &it.dscp, it.queue.as_ref(), laws)?);
    }
    check_depth(place, &rates)?;
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

fn class_place(place: &str, index: usize) -> String {
    format!("{place}.classes[{index}]")
}

/// The index of each class by its name.
fn names<'a>(
    place: &str,
    all: impl Iterator<Item = &'a String>,
) -> Checked<BTreeMap<&'a str, usize>> {
    let mut names = BTreeMap::new();
    for (index, one) in all.enumerate() {
        let place = join(&class_place(place, index), "name");
        name(&place, "a class's name", one)?;
        if names.insert(one.as_str(), index).is_some() {
            return refuse(&place, format!("two classes are named `{one}`; rename one"));
        }
    }
    match names.len() {
        0 => refuse(&join(place, "classes"), "the list is empty; write at least one class"),
        1..=MOST_CLASSES => Ok(names),
        more => refuse(
            &join(place, "classes"),
            format!("{more} classes are more than the {MOST_CLASSES} of a tree"),
        ),
    }
}

fn named(place: &str, names: &BTreeMap<&str, usize>, name: &str) -> Checked<usize> {
    match names.get(name) {
        Some(&index) => Ok(index),
        None => {
            let known: Vec<&str> = names.keys().copied().collect();
            refuse(place, format!("no class `{name}`; there are {}", known.join(", ")))
        }
    }
}

fn class(
    place: &str,
    name: &str,
    dscp: &[DscpKey],
    own: Option<&AlgorithmSpec>,
    laws: &CustomLaws,
) -> Checked<Class> {
    let own = own.map(|written| {
        let place = join(place, "queue");
        let spec = queue(&place, written, laws)?;
        let limit = limit(&join(&place, "limit"), &spec)?;
        Ok((spec, limit))
    });
    let dscp = dscp.iter().map(|key| key.0).collect();
    Ok(Class { name: name.to_owned(), dscp, queue: own.transpose()? })
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
    let depth = |key: &str, SizeText(bytes): SizeText| match bytes {
        1..=DEEPEST_BUCKET => Ok(bytes),
        _ => refuse(&join(place, key), "is not a valid bucket depth; write 1B to 1GB"),
    };
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

/// Refuses a class that is its own ancestor, and a tree deeper than the kernel's.
fn check_depth(place: &str, classes: &[HtbNode]) -> Checked<()> {
    for index in 0..classes.len() {
        let mut at = Some(index);
        for _ in 0..MOST_DEPTH {
            at = at.and_then(|class| classes[class].parent);
        }
        if at.is_some() {
            let message = format!(
                "has more than {} ancestors, or is one of its own; a tree has {MOST_DEPTH} levels",
                MOST_DEPTH - 1
            );
            return refuse(&join(&class_place(place, index), "parent"), message);
        }
    }
    Ok(())
}

/// Refuses packets and queues of a class that has children.
fn check_inner(place: &str, scheduler: &Scheduler) -> Checked<()> {
    let leaves: Vec<usize> = scheduler.leaves().collect();
    for (index, class) in scheduler.classes.iter().enumerate() {
        let place = class_place(place, index);
        let inner = |key: &str| {
            let message = format!("`{}` has children, which have the packets", class.name);
            refuse(&join(&place, key), message + "; leave it out")
        };
        match leaves.contains(&index) {
            true => {}
            false if class.queue.is_some() => return inner("queue"),
            false if !class.dscp.is_empty() => return inner("dscp"),
            false => {}
        }
    }
    match scheduler.default {
        Some(default) if !leaves.contains(&default) => refuse(
            &join(place, "default"),
            format!("`{}` has children; name a leaf", scheduler.classes[default].name),
        ),
        _ => Ok(()),
    }
}

/// Refuses a DSCP of two classes.
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

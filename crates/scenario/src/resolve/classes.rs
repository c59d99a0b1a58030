//! Rules of every scheduler's classes: names, parents, queues.

use std::collections::BTreeMap;

use sojourn_aqm::CustomLaws;
use sojourn_aqm::qdiscs::classes::{MOST_CLASSES, MOST_DEPTH};

use super::checks::name;
use super::queue::{limit, queue};
use super::{Checked, refuse};
use crate::document::algorithm::AlgorithmSpec;
use crate::document::ip_fields::DscpKey;
use crate::error::join;
use crate::resolved::{Class, Scheduler};

pub(super) fn class_place(place: &str, index: usize) -> String {
    format!("{place}.classes[{index}]")
}

/// The index of each class by its name.
pub(super) fn names<'a>(
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

pub(super) fn named(place: &str, names: &BTreeMap<&str, usize>, name: &str) -> Checked<usize> {
    match names.get(name) {
        Some(&index) => Ok(index),
        None => {
            let known: Vec<&str> = names.keys().copied().collect();
            refuse(place, format!("no class `{name}`; there are {}", known.join(", ")))
        }
    }
}

pub(super) fn class(
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

/// Refuses a class that is its own ancestor, and a tree deeper than the kernel's.
pub(super) fn check_depth(place: &str, parents: Vec<Option<usize>>) -> Checked<()> {
    for index in 0..parents.len() {
        let mut at = Some(index);
        for _ in 0..MOST_DEPTH {
            at = at.and_then(|class| parents[class]);
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

/// Refuses a class that has children and also packets or a queue.
pub(super) fn check_inner(place: &str, scheduler: &Scheduler) -> Checked<()> {
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

//! Places in which the kernel refuses a discipline or a class (Linux 6.1 sch_api.c, tc_modify_qdisc
//! and tc_ctl_tclass; the class operations of each kind).

use super::tree::{TcClass, TcNoteKind, TcParent, TcQdisc, TcSetup};
use super::tree::{is_class, minor, same_number};
use super::{ets, options};

/// Kinds that take no discipline below them: no class operations, or no `graft`.
const WITHOUT_CLASSES: [&str; 15] = [
    "pfifo",
    "bfifo",
    "pfifo_head_drop",
    "pfifo_fast",
    "codel",
    "fq_codel",
    "pie",
    "fq_pie",
    "choke",
    "sfq",
    "fq",
    "cake",
    "dualpi2",
    "ingress",
    "clsact",
];
/// Kinds whose classes commands add.
const WITH_CLASSES: [&str; 3] = ["htb", "hfsc", "drr"];

/// Whether a discipline below a class is left out, as the kernel refuses it; says so. A device
/// without a root discipline in the text may have another one.
pub(super) fn place(device: &str, parent: &TcParent, line: usize, setup: &mut TcSetup) -> bool {
    let TcParent::Class(id) = parent else { return false };
    let Some(found) = owner(device, id, setup) else { return false };
    // `tc check` names what is below cake.
    let is_left_out = !matches!(found, Ok(owner) if owner.kind == "cake");
    let text = match found {
        Ok(owner) => below(owner, id, setup),
        Err(text) => Some(text),
    };
    text.map(|text| setup.note(TcNoteKind::Refused, line, text)).is_some() && is_left_out
}

/// The discipline of a class, or why the kernel finds none.
fn owner<'s>(device: &str, id: &str, setup: &'s TcSetup) -> Option<Result<&'s TcQdisc, String>> {
    let major = id.split(':').next().unwrap_or("");
    // What has no handle gets one of these from the kernel (Linux 6.1 sch_api.c,
    // qdisc_alloc_handle).
    let is_given = u32::from_str_radix(major, 16).is_ok_and(|it| it >= 0x8000);
    let is_owner = |it: &&TcQdisc| match it.handle.trim_end_matches(':') {
        "" => is_given,
        handle => same_number(handle, major),
    };
    let of_device = || setup.qdiscs.iter().filter(|it| it.device == device);
    let root = of_device().find(|it| it.parent == TcParent::Root)?;
    Some(of_device().find(is_owner).ok_or_else(|| {
        format!(
            "the kernel refuses `parent {id}` (`Failed to find specified qdisc`), as no discipline \
             of {device} has the handle {major}:; write `handle {major}:` before `{}` in line {}",
            root.kind, root.line
        )
    }))
}

/// Why the kernel refuses a discipline below a class of another one.
fn below(owner: &TcQdisc, id: &str, setup: &TcSetup) -> Option<String> {
    let kind = owner.kind.as_str();
    if kind == "cake_mq" {
        // Linux 7.2 sch_cake.c, cake_mq_graft.
        let text = "the kernel refuses another discipline below cake_mq, which has its cakes \
                    itself; delete this line";
        return Some(text.to_owned());
    }
    if WITHOUT_CLASSES.contains(&kind) {
        return Some(format!(
            "the kernel refuses a discipline below the {kind} of line {}; name the class of a \
             shaper or a scheduler",
            owner.line
        ));
    }
    let is_missing = match kind {
        "prio" | "ets" => {
            let bands = owner.count("bands").unwrap_or(3);
            !minor(id).is_some_and(|band| (1..=bands).contains(&band))
        }
        _ if !WITH_CLASSES.contains(&kind) => return None,
        _ => !setup.classes_of(owner).any(|it| is_class(&it.id, id)),
    };
    if is_missing {
        return Some(format!(
            "the kernel refuses `parent {id}` (`Specified class not found`), as the {kind} of line \
             {} has no such class; add it in an earlier line, or correct the number",
            owner.line
        ));
    }
    let is_inner = |it: &TcClass| matches!(&it.parent, TcParent::Class(at) if is_class(at, id));
    // Linux 6.1 sch_htb.c, htb_graft; sch_hfsc.c, hfsc_graft_class.
    setup.classes_of(owner).find(|it| is_inner(it)).map(|it| {
        format!(
            "the kernel refuses a discipline at class {id}, which has class {} below it; name a \
             leaf",
            it.id
        )
    })
}

/// Whether the kernel refuses a command about a class; says so.
pub(super) fn class(verb: &str, class: &TcClass, setup: &mut TcSetup) -> bool {
    let Some(found) = owner(&class.device, &class.id, setup) else { return false };
    let text = match found {
        Ok(owner) => of_class(verb, class, owner, setup),
        Err(text) => Some(text),
    };
    text.map(|text| setup.note(TcNoteKind::Refused, class.line, text)).is_some()
}

/// Why the kernel refuses a command about a class of a discipline.
fn of_class(verb: &str, class: &TcClass, owner: &TcQdisc, setup: &TcSetup) -> Option<String> {
    let (id, kind) = (class.id.as_str(), class.kind.as_str());
    if kind != owner.kind && options::table(&owner.kind).is_some() {
        return Some(format!(
            "the kernel refuses a class of {kind}, as the discipline in line {} is a {}; write the \
             class of that kind, or correct its number",
            owner.line, owner.kind
        ));
    }
    if kind == "ets" {
        return ets::refused_class(verb, class, owner);
    }
    let major = |id: &str| id.split(':').next().unwrap_or("").to_owned();
    if let TcParent::Class(parent) = &class.parent
        && !same_number(&major(parent), &major(id))
    {
        return Some(format!(
            "the kernel refuses class {id} below {parent}, which has another number before the \
             colon; write the same number"
        ));
    }
    let known = setup.classes_of(owner).find(|it| is_class(&it.id, id));
    match (verb, known) {
        ("add", Some(known)) => Some(format!(
            "the kernel refuses this (`File exists`), as line {} added class {id}; write replace \
             or change",
            known.line
        )),
        ("change", None) => Some(format!(
            "the kernel refuses to change class {id}, which no earlier line added; write add"
        )),
        _ => None,
    }
}

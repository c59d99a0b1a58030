//! Where classes and filters belong that tc shows without their device, and the default class that
//! an old tc prints in decimal.

use super::tree::{TcNote, TcNoteKind, TcParent, TcQdisc, TcSetup, TcValue, minor, same_number};

/// Completes what tc has shown.
pub(super) fn complete(setup: &mut TcSetup) {
    classes(setup);
    filters(setup);
    of_arrivals(setup);
    decimal_defaults(setup);
}

/// Classes are shown without their device; it is the device of the discipline with their major
/// number.
fn classes(setup: &mut TcSetup) {
    let TcSetup { classes, qdiscs, notes, .. } = setup;
    for class in classes.iter_mut().filter(|it| it.device.is_empty()) {
        let major = class.id.split(':').next().unwrap_or("");
        let is_owner = |it: &&TcQdisc| {
            it.kind == class.kind && same_number(it.handle.trim_end_matches(':'), major)
        };
        let mut owners = qdiscs.iter().filter(is_owner);
        let (first, second) = (owners.next(), owners.next());
        match (first, second) {
            (Some(owner), None) => owner.device.clone_into(&mut class.device),
            (Some(_), Some(_)) => notes.push(TcNote {
                kind: TcNoteKind::Unknown,
                line: class.line,
                text: format!(
                    "several devices have a {} with class {}: paste `tc class show dev NAME` with \
                     that line",
                    class.kind, class.id
                ),
            }),
            (None, _) => {}
        }
    }
}

/// Filters belong to the device of the only discipline with their major number.
fn filters(setup: &mut TcSetup) {
    let TcSetup { filters, qdiscs, notes, .. } = setup;
    for filter in filters.iter_mut().filter(|it| it.device.is_empty()) {
        let of_major = |it: &&TcQdisc| same_number(it.handle.trim_end_matches(':'), &filter.major);
        let mut owners = qdiscs.iter().filter(of_major);
        match (owners.next(), owners.next()) {
            (Some(owner), None) => owner.device.clone_into(&mut filter.device),
            (Some(_), Some(_)) => notes.push(TcNote {
                kind: TcNoteKind::Unknown,
                line: filter.line,
                text: format!(
                    "several devices have a discipline {}: for this filter; paste `tc filter show \
                     dev NAME` with that line",
                    filter.major
                ),
            }),
            (None, _) => {}
        }
    }
}

/// Redirections and policers of arrivals belong to the only device with an ingress hook.
fn of_arrivals(setup: &mut TcSetup) {
    let TcSetup { qdiscs, redirects, policers, .. } = setup;
    let mut hooks = qdiscs.iter().filter(|it| it.parent == TcParent::Ingress);
    let (Some(hook), None) = (hooks.next(), hooks.next()) else { return };
    for redirect in redirects.iter_mut().filter(|it| it.from.is_empty()) {
        hook.device.clone_into(&mut redirect.from);
    }
    for policer in policers.iter_mut().filter(|it| it.device.is_empty() && it.is_ingress) {
        hook.device.clone_into(&mut policer.device);
    }
}

/// iproute2 4.17 to 4.20 print htb's `default` in decimal, others in hexadecimal: the class that
/// exists decides.
fn decimal_defaults(setup: &mut TcSetup) {
    for at in 0..setup.qdiscs.len() {
        let qdisc = &setup.qdiscs[at];
        let Some(option) = qdisc.option("default").filter(|_| qdisc.kind == "htb") else {
            continue;
        };
        let digits = option.text.rsplit(' ').next().unwrap_or("");
        let (TcValue::Count(hex), Ok(decimal)) = (&option.value, digits.parse::<u64>()) else {
            continue;
        };
        let of_class = setup.classes_of(qdisc).filter_map(|it| minor(&it.id));
        let of_child = setup.children(qdisc).filter_map(|it| match &it.parent {
            TcParent::Class(id) => minor(id),
            _ => None,
        });
        let minors: Vec<u64> = of_class.chain(of_child).collect();
        if minors.contains(hex) || !minors.contains(&decimal) || decimal == 0 {
            continue;
        }
        let text = format!(
            "`default {decimal}` is taken as decimal, as tc of 2018 prints it: there is a class \
             {decimal:x} and no class {hex:x}"
        );
        let (line, value) = (option.line, TcValue::Count(decimal));
        let options = &mut setup.qdiscs[at].options;
        options
            .iter_mut()
            .filter(|it| it.name == "default")
            .for_each(|it| it.value = value.clone());
        setup.note(TcNoteKind::Unknown, line, text);
    }
}

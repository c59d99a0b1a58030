//! Classes of htb and hfsc: the leaf for packets that match no filter, and its rate.

use super::scheduler;
use super::shaped::{DEEPEST, ShapedLine, TcShaper, lacking, of_shaper, pfifo};
use super::tree::{TcClass, TcOption, TcParent, TcQdisc, TcSetup, TcValue, is_class, minor};
use super::values::TcCurve;

/// The leaf of the default class, with its rate and that of its ancestors.
pub(super) fn default_leaf<'s>(
    setup: &'s TcSetup,
    qdisc: &'s TcQdisc,
    line: &mut ShapedLine,
) -> Option<&'s TcQdisc> {
    if setup.classes_of(qdisc).next().is_none() {
        return without_classes(setup, qdisc, line);
    }
    let Some(class) = default_class(setup, qdisc) else {
        return without_default(setup, qdisc, line);
    };
    line.scheduler = match qdisc.kind.as_str() {
        "hfsc" => scheduler::of_hfsc(setup, qdisc, line),
        _ => scheduler::of_htb(setup, qdisc, line),
    };
    let leaves = setup.leaves_of(qdisc).count();
    let of_filter = scheduler::of_filters(setup, qdisc).filter(|_| line.scheduler.is_none());
    let class = of_filter.unwrap_or(class);
    if line.scheduler.is_none() && of_filter.is_none() {
        line.missing.extend(is_not_default(setup, qdisc, class));
    }
    if line.scheduler.is_none() && leaves > 1 {
        let why = match of_filter {
            Some(_) => "where a filter leads packets without a DSCP",
            None => "where traffic goes by default",
        };
        line.missing.push(format!(
            "{} has {leaves} leaves: that of class {} is taken, {why}",
            qdisc.kind, class.id
        ));
        let of_shares = |it: &&TcOption| matches!(it.name, "prio" | "quantum") || has_corner(it);
        let shares = class.options.iter().filter(of_shares);
        line.missing.extend(shares.map(|it| lacking(&it.text, it.line)));
    }
    // Without a limit, a tree divides a line whose rate is not in the text.
    if line.scheduler.as_ref().is_none_or(|it| it.bps.is_some()) {
        shape(setup, qdisc, class, line);
    }
    let below = setup.children(qdisc).find(|it| match &it.parent {
        TcParent::Class(id) => is_class(id, &class.id),
        _ => false,
    });
    if below.is_none() {
        line.queue = Some(pfifo(qdisc));
    }
    below
}

/// A tree of htb whose `default` names no class: it shapes the packets that filters lead to its
/// leaves, of which the first gives the link's queue.
fn without_default<'s>(
    setup: &'s TcSetup,
    qdisc: &'s TcQdisc,
    line: &mut ShapedLine,
) -> Option<&'s TcQdisc> {
    if qdisc.kind != "htb" {
        return None;
    }
    let scheduler = scheduler::of_htb(setup, qdisc, line)?;
    let first = setup.leaves_of(qdisc).min_by_key(|it| minor(&it.id))?;
    line.shapers.extend(scheduler.bps.map(|bps| TcShaper {
        kind: qdisc.kind.clone(),
        bps,
        burst: None,
        line: qdisc.line,
    }));
    line.scheduler = Some(scheduler);
    let below = setup.children(qdisc).find(|it| match &it.parent {
        TcParent::Class(id) => is_class(id, &first.id),
        _ => false,
    });
    if below.is_none() {
        line.queue = Some(pfifo(qdisc));
    }
    below
}

/// Whether an option is a curve of two pieces.
fn has_corner(option: &TcOption) -> bool {
    matches!(option.value, TcValue::Curve(TcCurve { d: 1.., .. }))
}

/// A discipline whose classes are not in the text, as `tc qdisc show` does not print them.
fn without_classes<'s>(
    setup: &'s TcSetup,
    qdisc: &'s TcQdisc,
    line: &mut ShapedLine,
) -> Option<&'s TcQdisc> {
    let asked = qdisc.count("default").filter(|it| *it > 0);
    let named = setup.children(qdisc).find(|it| match &it.parent {
        TcParent::Class(id) => asked.is_some() && minor(id) == asked,
        _ => false,
    });
    let mut all = setup.children(qdisc);
    let only = match (all.next(), all.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    let taken = named.or(only)?;
    line.missing.push(format!(
        "the classes of {}, which only `tc class show` prints, and with them its rate",
        qdisc.kind
    ));
    Some(taken)
}

/// A phrase if packets that match no filter do not go to the class.
fn is_not_default(setup: &TcSetup, qdisc: &TcQdisc, class: &TcClass) -> Option<String> {
    let asked = qdisc.count("default").unwrap_or(0);
    if minor(&class.id) == Some(asked) {
        return None;
    }
    let fate = match (qdisc.kind.as_str(), asked) {
        ("hfsc", _) => "the kernel drops packets that no filter names",
        _ => "the kernel does not shape packets that no filter names",
    };
    let why = match asked {
        0 => "has no default class".to_owned(),
        _ if setup.classes_of(qdisc).any(|it| minor(&it.id) == Some(asked)) => {
            format!("has the default class {asked:x}, which has classes below it")
        }
        _ => format!("has the default class {asked:x}, which is not in the text"),
    };
    Some(format!("{} {why}, so {fate}: the only leaf, {}, is taken", qdisc.kind, class.id))
}

/// Adds the slowest rate of a class and its ancestors, as one shaper.
fn shape(setup: &TcSetup, qdisc: &TcQdisc, class: &TcClass, line: &mut ShapedLine) {
    let mut at = Some(class);
    for _ in 0..DEEPEST {
        let Some(class) = at else { break };
        // A class without tokens for its ceiling waits, regardless of its burst (Linux 6.1
        // sch_htb.c, htb_class_mode).
        let burst = class.bytes("cburst");
        if burst.is_none() && line.scheduler.is_none() {
            let given = class.options.iter().filter(|it| it.name == "burst");
            line.missing.extend(given.map(|it| {
                format!(
                    "`{}` (line {}) without cburst, which tc sets to about a frame: nothing leaves \
                     faster than the ceiling",
                    it.text, it.line
                )
            }));
        }
        let shaper = most(class).map(|bps| TcShaper {
            kind: qdisc.kind.clone(),
            bps,
            burst: burst.and_then(|it| u64::try_from(it).ok()),
            line: class.line,
        });
        if let Some(shaper) = shaper {
            match line.shapers.last_mut().filter(|it| it.kind == qdisc.kind) {
                Some(known) if known.bps <= shaper.bps => {}
                Some(known) => *known = shaper,
                None => line.shapers.push(shaper),
            }
        }
        of_shaper(&class.options, line);
        at = match &class.parent {
            TcParent::Class(id) => setup.classes_of(qdisc).find(|it| is_class(&it.id, id)),
            _ => None,
        };
    }
}

/// The largest rate of a class. The link share of hfsc divides the rate left by its ancestors, and
/// limits nothing; a class without a link share gets at most its real-time curve (tc-hfsc(7)).
fn most(class: &TcClass) -> Option<u64> {
    let rate = class.rate("rate");
    match class.kind.as_str() {
        "hfsc" if rate.is_some() => class.rate("ceil"),
        "hfsc" => class.rate("ceil").or(class.rate("real_time")),
        _ => class.rate("ceil").or(rate),
    }
}

/// The leaf that `default` names, or the only one. A class with classes below it takes no packets
/// (Linux 6.1 sch_htb.c, htb_classify; sch_hfsc.c, hfsc_classify).
pub(super) fn default_class<'s>(setup: &'s TcSetup, qdisc: &'s TcQdisc) -> Option<&'s TcClass> {
    let asked = qdisc.count("default");
    let named = setup.leaves_of(qdisc).find(|it| asked.is_some() && minor(&it.id) == asked);
    named.or_else(|| {
        let mut leaves = setup.leaves_of(qdisc);
        let first = leaves.next();
        if leaves.next().is_none() { first } else { None }
    })
}

/// Whether the text has no class of a discipline of the kind.
pub(super) fn has_none(setup: &TcSetup, line: &ShapedLine, kind: &str) -> bool {
    let mut of_kind = setup.qdiscs.iter().filter(|it| it.device == line.device && it.kind == kind);
    of_kind.any(|it| setup.classes_of(it).next().is_none())
}

/// Why a tree without classes has no queue.
pub(super) fn no_classes(kind: &str, on: &str) -> String {
    let fate = if kind == "htb" { "does not shape" } else { "drops" };
    format!(
        "the text has no class of {kind} on {on}, without which the kernel {fate} any packet: give \
         `tc class add ...` too, or paste `tc class show`"
    )
}

/// Why a tree has no class for packets that no filter names.
pub(super) fn no_default(kind: &str, on: &str) -> String {
    let fate = if kind == "hfsc" { "the kernel drops" } else { "the kernel does not shape" };
    format!(
        "{kind} on {on} has several leaves and none that its `default` names, so {fate} packets \
         that no filter names: give `default` the number of a leaf, or paste `tc class show` too"
    )
}

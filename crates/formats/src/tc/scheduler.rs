//! The classes of htb, hfsc and drr and the bands of prio and ets as a scheduler of the scenario.

use super::aqm::{self, AqmOfTc};
use super::curves;
use super::ets;
use super::scheduler_toml::{TcScheduler, TcSchedulerClass};
use super::shaped::{DEEPEST, ShapedLine, of_shaper, pfifo};
use super::tree::{TcClass, TcParent, TcQdisc, TcSetup, TcValue, is_class, minor, same_number};
use super::units::show_rate;
use super::words::USUAL_BANDS;

/// The tree of an htb with several leaves; `None` if the text lacks a part of it, or a leaf has no
/// counterpart.
pub(super) fn of_htb(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    line: &mut ShapedLine,
) -> Option<TcScheduler> {
    let leaves: Vec<&TcClass> = setup.leaves_of(qdisc).collect();
    let mut all: Vec<&TcClass> = setup.classes_of(qdisc).collect();
    if leaves.len() < 2 || all.iter().any(|it| it.rate("rate").is_none()) {
        return None;
    }
    all.sort_by_key(|it| minor(&it.id));
    let (classes, default) = classes_of(setup, qdisc, (&all, &leaves), line)?;
    let overheads = all.iter().map(|class| {
        let mut alone = ShapedLine { shaper_overhead: None, ..line.clone() };
        of_shaper(&class.options, &mut alone);
        alone.shaper_overhead
    });
    let overheads: Vec<_> = overheads.collect();
    if overheads.windows(2).any(|pair| pair[0] != pair[1]) {
        return None;
    }
    if default.is_none() {
        line.missing.push("the kernel does not shape packets that no filter names".to_owned());
    }
    let overhead = overheads.into_iter().next().flatten();
    let bps = all.iter().filter_map(|it| it.rate("ceil").or(it.rate("rate"))).max();
    Some(TcScheduler { kind: "htb".to_owned(), default, overhead, classes, bps })
}

/// The tree of an hfsc with several leaves; `None` if the text lacks a part of it, or a leaf has no
/// counterpart.
pub(super) fn of_hfsc(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    line: &mut ShapedLine,
) -> Option<TcScheduler> {
    let leaves: Vec<&TcClass> = setup.leaves_of(qdisc).collect();
    // tc shows the root as a class too.
    let is_class = |it: &&TcClass| minor(&it.id).is_some_and(|minor| minor > 0);
    let mut all: Vec<&TcClass> = setup.classes_of(qdisc).filter(is_class).collect();
    let has_curve = |it: &&TcClass| ["rt", "ls"].iter().any(|name| curves::of(it, name).is_some());
    if leaves.len() < 2 || !all.iter().all(has_curve) {
        return None;
    }
    all.sort_by_key(|it| minor(&it.id));
    let missing = line.missing.len();
    let Some((classes, Some(default))) = classes_of(setup, qdisc, (&all, &leaves), line) else {
        line.missing.truncate(missing);
        return None;
    };
    let bps = limit_of(&all, &default);
    let (kind, default) = ("hfsc".to_owned(), Some(default));
    Some(TcScheduler { kind, default, overhead: None, classes, bps })
}

/// The least upper limit of a class of hfsc and its ancestors.
fn limit_of(all: &[&TcClass], class: &str) -> Option<u64> {
    let mut at = Some(class.to_owned());
    let mut limits = Vec::new();
    for _ in 0..DEEPEST {
        let Some(class) = all.iter().find(|it| Some(name(&it.id)) == at) else { break };
        limits.extend(class.rate("ceil"));
        at = parent_of(class);
    }
    limits.into_iter().min()
}

/// The classes, in the order of their numbers, and the name of the default one.
fn classes_of(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    (all, leaves): (&[&TcClass], &[&TcClass]),
    line: &mut ShapedLine,
) -> Option<(Vec<TcSchedulerClass>, Option<String>)> {
    let asked = qdisc.count("default").filter(|it| *it > 0);
    let default = leaves.iter().find(|it| asked.is_some() && minor(&it.id) == asked);
    let chosen = chosen(setup, qdisc, |id| leaves.iter().find(|it| is_class(&it.id, id)).copied());
    let mut classes = Vec::new();
    for class in all {
        let is_leaf = leaves.iter().any(|it| it.id == class.id);
        let aqm = match is_leaf {
            true => Some(queue_below(setup, qdisc, &class.id, line)?),
            false => None,
        };
        let dscp = (0..64).filter(|&at| chosen[usize::from(at)] == Some(class.id.as_str()));
        let dscp = dscp.filter(|_| default.is_none_or(|it| it.id != class.id)).collect();
        let mut keys = keys(class);
        // The kernel makes a class of htb a root if its parent is not there (Linux 6.1 sch_htb.c,
        // htb_change_class).
        let above = parent_of(class);
        if !all.iter().any(|it| Some(name(&it.id)) == above) {
            keys.retain(|it| it.0 != "parent");
        }
        classes.push(TcSchedulerClass {
            name: name(&class.id),
            keys,
            dscp,
            aqm: aqm.map(|it| it.text),
        });
    }
    Some((classes, default.map(|it| name(&it.id))))
}

/// The bands of prio or ets.
pub(super) fn of_prio(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    line: &mut ShapedLine,
) -> Option<TcScheduler> {
    let bands = usize::try_from(qdisc.count("bands").unwrap_or(3)).ok()?;
    let map = priomap(qdisc)?;
    let id = |band: usize| format!("{}:{:x}", qdisc.handle.trim_end_matches(':'), band + 1);
    let ids: Vec<String> = (0..bands).map(id).collect();
    let chosen =
        chosen(setup, qdisc, |found| ids.iter().find(|it| is_class(it, found)).map(String::as_str));
    // Without a filter, the priority determines the band, and three bits of the DSCP determine the
    // priority.
    let band_of = |dscp: u8| match chosen[usize::from(dscp)] {
        Some(id) => ids.iter().position(|it| it == id),
        None => Some(usize::from(map[usize::from(PRIORITY_OF_DSCP[usize::from(dscp & 7)])])),
    };
    let default = band_of(0)?;
    let quanta = ets::quanta(qdisc);
    let strict = bands.checked_sub(quanta.len())?;
    let mut classes = Vec::new();
    for (band, id) in ids.iter().enumerate() {
        let aqm = Some(queue_below(setup, qdisc, id, line)?.text);
        let own = |&dscp: &u8| band != default && band_of(dscp) == Some(band);
        let changed = setup.classes_of(qdisc).find(|it| is_class(&it.id, id));
        let changed = changed.and_then(|it| u64::try_from(it.bytes("quantum")?).ok());
        let quantum = band.checked_sub(strict).and_then(|at| quanta.get(at));
        let quantum = quantum.map(|it| changed.unwrap_or(*it));
        let keys = quantum.map(|it| ("quantum", format!("\"{it}B\""))).into_iter().collect();
        let name = format!("band-{}", band + 1);
        classes.push(TcSchedulerClass { name, keys, dscp: (0..64).filter(own).collect(), aqm });
    }
    let default = Some(classes.get(default)?.name.clone());
    Some(TcScheduler { kind: qdisc.kind.clone(), default, overhead: None, classes, bps: None })
}

/// The classes of drr as bands of ets, which take the same turns; `None` unless a filter has a
/// class for packets without a DSCP, which the kernel would drop, or there is one class alone.
pub(super) fn of_drr(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    line: &mut ShapedLine,
) -> Option<TcScheduler> {
    let all: Vec<&TcClass> = setup.classes_of(qdisc).collect();
    let chosen = chosen(setup, qdisc, |id| all.iter().find(|it| is_class(&it.id, id)).copied());
    let only = || all.first().filter(|_| all.len() == 1).map(|it| it.id.as_str());
    let default = chosen[0].or_else(only)?;
    let mut classes = Vec::new();
    for class in &all {
        let aqm = Some(queue_below(setup, qdisc, &class.id, line)?.text);
        let quantum = class.bytes("quantum").unwrap_or(ets::FRAME as i64);
        let own = |&dscp: &u8| class.id != default && chosen[usize::from(dscp)] == Some(&class.id);
        classes.push(TcSchedulerClass {
            name: name(&class.id),
            keys: vec![("quantum", format!("\"{quantum}B\""))],
            dscp: (0..64).filter(own).collect(),
            aqm,
        });
    }
    if chosen.contains(&None) {
        line.missing.push("the kernel drops packets that no filter names".to_owned());
    }
    let default = Some(name(default));
    Some(TcScheduler { kind: "ets".to_owned(), default, overhead: None, classes, bps: None })
}

/// The kernel's priority for the lower three bits of a DSCP, which were the type of service (Linux
/// 6.1 net/ipv4/route.c, ip_tos2prio).
const PRIORITY_OF_DSCP: [u8; 8] = [0, 0, 2, 2, 6, 6, 4, 4];

/// The bands of the priorities 0 to 15.
pub(super) fn priomap(qdisc: &TcQdisc) -> Option<[u8; 16]> {
    let Some(option) = qdisc.option("priomap") else { return Some(USUAL_BANDS) };
    let TcValue::Text(text) = &option.value else { return None };
    let numbers: Vec<u8> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    numbers.try_into().ok()
}

/// The leaf to which filters lead packets without a DSCP.
pub(super) fn of_filters<'s>(setup: &'s TcSetup, qdisc: &'s TcQdisc) -> Option<&'s TcClass> {
    let leaf = |id: &str| setup.leaves_of(qdisc).find(|it| is_class(&it.id, id));
    let id = chosen(setup, qdisc, leaf)[0]?;
    setup.leaves_of(qdisc).find(|it| it.id == id)
}

/// The class that filters choose for each DSCP, by its own text.
fn chosen<'s, T: Named<'s>>(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    known: impl Fn(&str) -> Option<T>,
) -> [Option<&'s str>; 64] {
    let major = qdisc.handle.trim_end_matches(':');
    let mut filters: Vec<_> = setup
        .filters
        .iter()
        .filter(|it| it.device == qdisc.device && same_number(&it.major, major))
        .collect();
    filters.sort_by_key(|it| it.priority);
    std::array::from_fn(|dscp| {
        let takes = filters.iter().filter(|it| it.dscp & 1 << dscp != 0);
        takes.filter_map(|it| known(&it.class)).map(T::id).next()
    })
}

/// A class with its identifier.
trait Named<'s> {
    fn id(self) -> &'s str;
}

impl<'s> Named<'s> for &'s TcClass {
    fn id(self) -> &'s str {
        &self.id
    }
}

impl<'s> Named<'s> for &'s str {
    fn id(self) -> &'s str {
        self
    }
}

/// The AQM below a class.
fn queue_below(
    setup: &TcSetup,
    qdisc: &TcQdisc,
    id: &str,
    line: &mut ShapedLine,
) -> Option<AqmOfTc> {
    let is_below = |it: &&TcQdisc| matches!(&it.parent, TcParent::Class(at) if is_class(at, id));
    let below = setup.children(qdisc).find(is_below);
    let queue = below.cloned().unwrap_or_else(|| pfifo(qdisc));
    let aqm = aqm::of_qdisc(&queue, setup.source).ok()?;
    line.missing.extend(aqm.missing.iter().cloned());
    Some(aqm)
}

/// The name of a class: `1-10` of 1:10.
fn name(id: &str) -> String {
    id.replace(':', "-")
}

/// The name of a class's parent, if the parent is a class.
fn parent_of(class: &TcClass) -> Option<String> {
    match &class.parent {
        TcParent::Class(id) if minor(id).is_some_and(|minor| minor > 0) => Some(name(id)),
        _ => None,
    }
}

/// The keys of a class of htb or hfsc. Values that tc takes by default are left out.
fn keys(class: &TcClass) -> Vec<(&'static str, String)> {
    const USUAL_BURST: i64 = 1600;
    let quoted = |text: String| format!("\"{text}\"");
    let parent = parent_of(class);
    let bytes = |key: &'static str| {
        let found = class.bytes(key).filter(|it| *it != USUAL_BURST);
        found.map(|it| (key, quoted(format!("{it}B"))))
    };
    let count = |key: &str| {
        class.options.iter().rev().find(|it| it.name == key).and_then(|it| match it.value {
            TcValue::Count(count) => Some(count),
            TcValue::Bytes(bytes) => u64::try_from(bytes).ok(),
            _ => None,
        })
    };
    let mut keys = Vec::new();
    keys.extend(parent.map(|it| ("parent", quoted(it))));
    if class.kind == "hfsc" {
        keys.extend(curves::keys(class));
        return keys;
    }
    keys.extend(class.rate("rate").map(|bps| ("rate", quoted(show_rate(bps)))));
    keys.extend(class.rate("ceil").map(|bps| ("ceil", quoted(show_rate(bps)))));
    keys.extend(bytes("burst").into_iter().chain(bytes("cburst")));
    keys.extend(count("quantum").map(|it| ("quantum", quoted(format!("{it}B")))));
    keys.extend(count("prio").filter(|it| *it > 0).map(|it| ("prio", it.to_string())));
    keys
}

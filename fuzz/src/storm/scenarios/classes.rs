//! Schedulers of classes: trees of `htb` and `hfsc`, and bands of `prio` and `ets`.

use std::fmt::Write;

use super::packing::packing;
use crate::storm::choice::Choice;
use crate::storm::pools;

/// DSCPs to distribute among classes. Most of them are used by flows.
const CODE_POINTS: [&str; 10] =
    ["\"cs1\"", "\"le\"", "\"af41\"", "\"ef\"", "\"cs7\"", "\"nqb\"", "63", "0", "17", "\"cs6\""];
/// A class may have any AQM, a short queue, or the link's queue.
const QUEUES: [&str; 5] =
    ["codel", "pie:limit=50p", "taildrop:limit=20p", "fq_codel:flows=16", "red"];

/// The scheduler of a link of this rate, as an inline table.
pub(super) fn scheduler(bps: u64, choice: &mut Choice) -> String {
    match choice.below(10) {
        0..5 => tree("htb", bps, choice),
        5..8 => tree("hfsc", bps, choice),
        _ => bands(choice),
    }
}

fn bands(choice: &mut Choice) -> String {
    let count = 1 + choice.below(4);
    let is_ets = choice.chance(0.5);
    let strict = if is_ets { choice.below(count + 1) } else { count };
    let mut points = CODE_POINTS.to_vec();
    let classes: Vec<String> = (0..count)
        .map(|class| {
            let bytes = [60, 300, 1514, 9000][choice.below(4)];
            let quantum = format!(", quantum = \"{bytes}B\"");
            let quantum = if class < strict { "" } else { &quantum };
            format!("{{ name = \"c{class}\"{quantum}{} }}", packets(&mut points, choice))
        })
        .collect();
    let default = choice.below(count);
    let classes = classes.join(", ");
    let kind = if is_ets { "ets" } else { "prio" };
    format!("{{ kind = \"{kind}\", default = \"c{default}\", classes = [{classes}] }}")
}

fn tree(kind: &str, bps: u64, choice: &mut Choice) -> String {
    let count = 1 + choice.below(6);
    let parents: Vec<Option<usize>> = (0..count)
        .map(|class| (class > 0 && choice.chance(0.7)).then(|| choice.below(class)))
        .collect();
    let leaves: Vec<usize> = (0..count).filter(|&it| !parents.contains(&Some(it))).collect();
    let mut points = CODE_POINTS.to_vec();
    let mut classes: Vec<String> = Vec::new();
    for (class, parent) in parents.iter().enumerate() {
        let own = if kind == "htb" { rates(bps, choice) } else { curves(bps, choice) };
        let mut text = format!("{{ name = \"c{class}\"{own}");
        if let Some(parent) = parent {
            let _ = write!(text, ", parent = \"c{parent}\"");
        }
        if leaves.contains(&class) {
            text += &packets(&mut points, choice);
        }
        classes.push(text + " }");
    }
    if choice.chance(0.3) {
        classes.reverse(); // a parent may stand behind its children
    }
    let mut keys = vec![format!("kind = \"{kind}\"")];
    if kind == "hfsc" || choice.chance(0.7) {
        keys.push(format!("default = \"c{}\"", leaves[choice.below(leaves.len())]));
    }
    if kind == "htb" && choice.chance(0.3) {
        keys.push(format!("overhead = \"{}B\"", choice.below(40)));
        keys.extend(packing(choice));
    }
    format!("{{ {}, classes = [{}] }}", keys.join(", "), classes.join(", "))
}

/// The rates and buckets of a class.
fn rates(bps: u64, choice: &mut Choice) -> String {
    let rate = choice.whole(bps / 20, bps);
    let mut text = format!(", rate = \"{rate}bit\"");
    if choice.chance(0.7) {
        let _ = write!(text, ", ceil = \"{}bit\"", choice.whole(rate, 3 * bps));
    }
    for key in ["burst", "cburst", "quantum"] {
        if choice.chance(0.3) {
            let _ = write!(text, ", {key} = \"{}B\"", choice.whole(1, 60_000));
        }
    }
    if choice.chance(0.3) {
        let _ = write!(text, ", prio = {}", choice.below(8));
    }
    text
}

/// The curves of a class: real time, link share or both, and perhaps a limit.
fn curves(bps: u64, choice: &mut Choice) -> String {
    let of = choice.below(3);
    let mut text = String::new();
    for (key, is_there) in [("rt", of != 0), ("ls", of != 1), ("ul", choice.chance(0.3))] {
        if !is_there {
            continue;
        }
        let m2 = choice.whole(bps / 20, bps);
        let first = match choice.chance(0.5) {
            true => {
                let m1 = choice.whole(bps / 20, 2 * bps);
                format!("m1 = \"{m1}bit\", d = \"{}us\", ", choice.whole(1, 50_000))
            }
            false => String::new(),
        };
        let _ = write!(text, ", {key} = {{ {first}m2 = \"{m2}bit\" }}");
    }
    text
}

/// The DSCPs of a class with packets, which are removed from `points`, and its queue.
fn packets(points: &mut Vec<&str>, choice: &mut Choice) -> String {
    let count = choice.below(3);
    let own: Vec<&str> =
        (0..count).map(|_| points.swap_remove(choice.below(points.len()))).collect();
    let mut text = match own.is_empty() {
        true => String::new(),
        false => format!(", dscp = [{}]", own.join(", ")),
    };
    match choice.below(4) {
        0 => {
            let _ = write!(text, ", queue = \"{}\"", choice.of_these(&QUEUES));
        }
        1 => {
            let _ = write!(text, ", queue = {}", pools::aqm_value(choice));
        }
        _ => {}
    }
    text
}

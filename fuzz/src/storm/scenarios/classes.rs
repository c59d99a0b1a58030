//! Schedulers of classes: trees of `htb` and bands of `prio`.

use std::fmt::Write;

use super::packing::packing;
use crate::storm::choice::Choice;
use crate::storm::pools;

/// Code points that classes share out. Flows have most of them.
const CODE_POINTS: [&str; 10] =
    ["\"cs1\"", "\"le\"", "\"af41\"", "\"ef\"", "\"cs7\"", "\"nqb\"", "63", "0", "17", "\"cs6\""];
/// A class may have any AQM, a short queue, or that of the link.
const QUEUES: [&str; 5] =
    ["codel", "pie:limit=50p", "taildrop:limit=20p", "fq_codel:flows=16", "red"];

/// The scheduler of a link of this rate, as an inline table.
pub(super) fn scheduler(bps: u64, choice: &mut Choice) -> String {
    match choice.chance(0.7) {
        true => htb(bps, choice),
        false => prio(choice),
    }
}

fn prio(choice: &mut Choice) -> String {
    let count = 1 + choice.below(4);
    let mut points = CODE_POINTS.to_vec();
    let classes: Vec<String> = (0..count)
        .map(|class| format!("{{ name = \"c{class}\"{} }}", packets(&mut points, choice)))
        .collect();
    let default = choice.below(count);
    let classes = classes.join(", ");
    format!("{{ kind = \"prio\", default = \"c{default}\", classes = [{classes}] }}")
}

fn htb(bps: u64, choice: &mut Choice) -> String {
    let count = 1 + choice.below(6);
    let parents: Vec<Option<usize>> = (0..count)
        .map(|class| (class > 0 && choice.chance(0.7)).then(|| choice.below(class)))
        .collect();
    let leaves: Vec<usize> = (0..count).filter(|&it| !parents.contains(&Some(it))).collect();
    let mut points = CODE_POINTS.to_vec();
    let mut classes: Vec<String> = Vec::new();
    for (class, parent) in parents.iter().enumerate() {
        let mut text = format!("{{ name = \"c{class}\"{}", rates(bps, choice));
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
    let mut keys = vec!["kind = \"htb\"".to_owned()];
    if choice.chance(0.7) {
        keys.push(format!("default = \"c{}\"", leaves[choice.below(leaves.len())]));
    }
    if choice.chance(0.3) {
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

/// The code points of a class that has packets, which it takes, and its queue.
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

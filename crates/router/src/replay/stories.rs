//! What became of each packet: told by our router, or found by matching what came with what left.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sojourn_aqm::{Cause, Ecn, Stage, Time};
use sojourn_record::rows::Fate;

use super::Waiting;
use crate::plan::{Bottleneck, Direction, Plan};
use crate::record_files::{PASSAGES, RunResult, STORIES};
use crate::seen::{PASSAGE_BYTES, Passage, STORY_BYTES, Story};

/// The stories of all packets that came before the end, in the order of their coming.
pub fn read(folder: &Path, plan: &Plan, result: &RunResult) -> Result<Vec<Story>, String> {
    let end = Time::from_nanos(plan.duration_ns);
    let mut stories = match &plan.bottleneck {
        Bottleneck::Sojourn(_) => Vec::new(),
        Bottleneck::Kernel { .. } => {
            let passages = rows(folder, PASSAGES, Passage::read as fn(&[u8; PASSAGE_BYTES]) -> _)?;
            matched(&passages, plan, waiting_at_the_end(result, plan))
        }
    };
    if plan.streets().next().is_some() {
        stories.extend(rows(folder, STORIES, Story::read as fn(&[u8; STORY_BYTES]) -> _)?);
    }
    if stories.iter().any(|story| story.left.is_some_and(|left| left < story.arrived)) {
        return Err("the record has a packet that left before it came".to_owned());
    }
    stories.retain(|story| story.arrived < end);
    stories.sort_by_key(|story| story.arrived);
    for story in &mut stories {
        if story.left.is_some_and(|left| left >= end) {
            (story.left, story.fate) = (None, Fate::Waiting);
        }
    }
    Ok(stories)
}

pub fn rows<T, const BYTES: usize>(
    folder: &Path,
    name: &str,
    read: fn(&[u8; BYTES]) -> Option<T>,
) -> Result<Vec<T>, String> {
    let bytes = fs::read(folder.join(name)).map_err(|e| format!("{name}: {e}"))?;
    let (rows, rest) = bytes.as_chunks::<BYTES>();
    let rows: Option<Vec<T>> = rows.iter().map(read).collect();
    rows.filter(|_| rest.is_empty()).ok_or_else(|| format!("{name}: is not whole"))
}

/// The row of the bottleneck's discipline in what tc showed.
pub fn bottleneck_row<'a>(shown: &'a Value, plan: &Plan) -> Option<&'a Value> {
    let kind = &plan.expected.iter().find(|expected| expected.device == "out")?.kind;
    let rows = shown["router"].as_array()?;
    rows.iter().find(|row| row["dev"] == "out" && row["kind"] == kind.as_str())
}

fn waiting_at_the_end(result: &RunResult, plan: &Plan) -> usize {
    let row = bottleneck_row(&result.after, plan);
    row.and_then(|row| row["qlen"].as_u64()).unwrap_or(0) as usize
}

/// What names a packet: its flow, the numbers that its sender gave it, its kind.
type Name = (u32, u16, u32, u8);

/// Matches arrivals with departures; what did not leave was dropped, but for the last `waiting`.
fn matched(passages: &[Passage], plan: &Plan, waiting: usize) -> Vec<Story> {
    let mut stories: Vec<Story> = Vec::new();
    let mut open: BTreeMap<Name, Waiting> = BTreeMap::new();
    for passage in passages.iter().filter(|passage| passage.at_ns >= 0) {
        let name = (passage.flow, passage.ident, passage.seq, passage.kind as u8);
        let at = Time::from_nanos(passage.at_ns as u64);
        match passage.leaves {
            false => {
                open.entry(name).or_default().push_back(stories.len());
                stories.push(begun(passage, at));
            }
            true => {
                // A departure whose arrival was not seen is counted by the verdict, not here.
                let Some(place) = open.get_mut(&name).and_then(Waiting::pop_front) else {
                    continue;
                };
                end(&mut stories[place], passage, at, plan);
            }
        }
    }
    let lost: Vec<usize> =
        (0..stories.len()).filter(|&place| stories[place].fate == Fate::Waiting).collect();
    let dropped = &lost[..lost.len().saturating_sub(waiting)];
    drop_all(&mut stories, dropped, plan);
    stories
}

fn begun(passage: &Passage, at: Time) -> Story {
    Story {
        flow: passage.flow,
        way: Direction::Forward,
        seq: passage.seq,
        bytes: passage.bytes,
        kind: passage.kind,
        ecn_in: passage.ecn,
        arrived: at,
        left: None,
        fate: Fate::Waiting,
        marked: None,
    }
}

fn end(story: &mut Story, passage: &Passage, at: Time, plan: &Plan) {
    story.left = Some(at);
    story.fate = Fate::Sent;
    if passage.ecn == Ecn::Ce && story.ecn_in != Ecn::Ce {
        story.marked = Some(signal(plan));
    }
}

/// Where and why the kernel's discipline signals.
fn signal(plan: &Plan) -> (Stage, Cause) {
    let stage = if plan.drops_at_head { Stage::Dequeue } else { Stage::Enqueue };
    let cause = match (plan.is_random, plan.drops_at_head) {
        (true, _) => Cause::Random,
        (false, true) => Cause::Deterministic,
        (false, false) => Cause::Overflow,
    };
    (stage, cause)
}

/// A drop at the head happens when the packet behind is taken; any other happens on arrival.
fn drop_all(stories: &mut [Story], dropped: &[usize], plan: &Plan) {
    let (stage, cause) = signal(plan);
    let mut next_left: BTreeMap<u32, Time> = BTreeMap::new();
    let mut later = stories.len();
    for &place in dropped.iter().rev() {
        while later > place {
            later -= 1;
            if let Some(left) = stories[later].left {
                next_left.insert(stories[later].flow, left);
            }
        }
        let story = &mut stories[place];
        let at_head = next_left.get(&story.flow).copied().unwrap_or(story.arrived);
        story.left = Some(if plan.drops_at_head { at_head } else { story.arrived });
        story.fate = Fate::Dropped(stage, cause);
    }
}

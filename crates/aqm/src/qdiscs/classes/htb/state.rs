//! Which classes may send, and whose turn it is (Linux 6.1 sch_htb.c; our functions name their
//! counterparts in the kernel).

use alloc::vec::Vec;

use super::feed::Feed;
use super::tokens::{LONGEST_NS, Tokens};
use super::{Htb, MOST_DEPTH, PRIORITIES};
use crate::framing::Framing;
use crate::time::{Span, Time};

/// Whether a class has tokens in the buckets of its ceiling and its rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// It is at its ceiling.
    CannotSend,
    /// It is above its rate.
    MayBorrow,
    /// It is below its rate.
    CanSend,
}

/// A class with packets, or with descendants that borrow from it.
#[derive(Debug)]
struct Node {
    parent: Option<u8>,
    /// 0 for a leaf; classes without a parent have the highest level.
    level: usize,
    rate: Tokens,
    ceil: Tokens,
    /// The time up to which tokens have been counted.
    counted: Time,
    mode: Mode,
    /// The priorities in which it has packets, one bit each.
    active: u8,
    /// The children that borrow from it, by priority.
    feeds: [Feed; PRIORITIES],
    /// The unused bytes of a leaf's quantum, by the level at which it takes its turn.
    deficits: [i64; MOST_DEPTH],
    quantum: i64,
    priority: u8,
}

/// All classes.
#[derive(Debug)]
pub(super) struct Classes {
    nodes: Vec<Node>,
    framing: Framing,
    /// By level and priority: the classes below their rate, from which leaves borrow.
    rows: [[Feed; PRIORITIES]; MOST_DEPTH],
    /// By level: the classes that wait for tokens, each with the time when its mode changes.
    waiting: [Vec<(Time, u8)>; MOST_DEPTH],
}

impl Classes {
    pub(super) fn new(plan: &Htb) -> Classes {
        let depth = |class: usize| {
            let mut depth = 0;
            let mut at = plan.classes[class].parent;
            while let Some(parent) = at {
                (depth, at) = (depth + 1, plan.classes[parent].parent);
            }
            depth
        };
        let node = |(index, class): (usize, &super::HtbNode)| Node {
            parent: class.parent.map(|parent| parent as u8),
            level: if plan.is_leaf(index) { 0 } else { MOST_DEPTH - 1 - depth(index) },
            rate: Tokens::full(class.rate, class.burst_bytes),
            ceil: Tokens::full(class.ceil, class.cburst_bytes),
            counted: Time::ZERO,
            mode: Mode::CanSend,
            active: 0,
            feeds: [Feed::default(); PRIORITIES],
            deficits: [0; MOST_DEPTH],
            quantum: class.quantum_bytes as i64,
            priority: class.priority,
        };
        let count = plan.classes.len();
        Classes {
            nodes: plan.classes.iter().enumerate().map(node).collect(),
            framing: plan.framing,
            rows: [[Feed::default(); PRIORITIES]; MOST_DEPTH],
            waiting: core::array::from_fn(|_| Vec::with_capacity(count)),
        }
    }

    fn node(&mut self, class: u8) -> &mut Node {
        &mut self.nodes[usize::from(class)]
    }

    /// Activates a leaf that has packets (htb_activate).
    pub(super) fn activate(&mut self, leaf: u8) {
        let node = self.node(leaf);
        if node.active == 0 {
            node.active = 1 << node.priority;
            self.join(leaf);
        }
    }

    /// Deactivates a leaf without packets (htb_deactivate).
    pub(super) fn deactivate(&mut self, leaf: u8) {
        if self.node(leaf).active != 0 {
            self.leave(leaf);
            self.node(leaf).active = 0;
        }
    }

    /// Adds an active class where its mode lets it take turns: to its row, or to the classes that
    /// borrow from its parent (htb_activate_prios).
    fn join(&mut self, class: u8) {
        let (mut class, mut mask) = (class, self.node(class).active);
        while mask != 0 {
            let Node { mode, parent, level, .. } = *self.node(class);
            match (mode, parent) {
                (Mode::MayBorrow, Some(parent)) => {
                    for priority in bits(mask) {
                        let feed = &mut self.node(parent).feeds[priority];
                        if !feed.is_empty() {
                            mask &= !(1 << priority); // the parent has joined already
                        }
                        feed.insert(class);
                    }
                    self.node(parent).active |= mask;
                    class = parent;
                }
                (Mode::CanSend, _) => {
                    for priority in bits(mask) {
                        self.rows[level][priority].insert(class);
                    }
                    return;
                }
                (Mode::MayBorrow | Mode::CannotSend, _) => return,
            }
        }
    }

    /// Inverse of [`Classes::join`] (htb_deactivate_prios).
    fn leave(&mut self, class: u8) {
        let (mut class, mut mask) = (class, self.node(class).active);
        while mask != 0 {
            let Node { mode, parent, level, .. } = *self.node(class);
            match (mode, parent) {
                (Mode::MayBorrow, Some(parent)) => {
                    let mut emptied = 0;
                    for priority in bits(mask) {
                        let feed = &mut self.node(parent).feeds[priority];
                        feed.remove_from_parent(class);
                        if feed.is_empty() {
                            emptied |= 1 << priority;
                        }
                    }
                    mask = emptied;
                    self.node(parent).active &= !mask;
                    class = parent;
                }
                (Mode::CanSend, _) => {
                    for priority in bits(mask) {
                        self.rows[level][priority].remove_from_row(class);
                    }
                    return;
                }
                (Mode::MayBorrow | Mode::CannotSend, _) => return,
            }
        }
    }

    /// The priorities in which a class of this level may send, the most urgent first.
    pub(super) fn priorities(&self, level: usize) -> impl Iterator<Item = usize> + use<> {
        let has = |&priority: &usize| !self.rows[level][priority].is_empty();
        let mask = (0..PRIORITIES).filter(has).fold(0, |mask, priority| mask | 1 << priority);
        bits(mask)
    }

    /// The leaf whose turn it is at a level and priority (htb_lookup_leaf).
    pub(super) fn turn(&mut self, (level, priority): (usize, usize)) -> Option<u8> {
        if self.rows[level][priority].is_empty() {
            return None;
        }
        // The classes on the path from the row to the leaf.
        let mut path = [0; MOST_DEPTH];
        let mut depth = 0;
        loop {
            let feed = match depth {
                0 => &mut self.rows[level][priority],
                _ => &mut self.nodes[usize::from(path[depth - 1])].feeds[priority],
            };
            match feed.turn() {
                None if depth > 0 => {
                    // All children have had their turn: the turn passes to the next class above.
                    depth -= 1;
                    match depth {
                        0 => self.rows[level][priority].advance(),
                        _ => self.node(path[depth - 1]).feeds[priority].advance(),
                    }
                }
                None => {}
                Some(class) if self.node(class).level == 0 => return Some(class),
                Some(class) => {
                    path[depth] = class;
                    depth += 1;
                }
            }
        }
    }

    /// Gives the turn to the next leaf.
    pub(super) fn pass(&mut self, leaf: u8, (level, priority): (usize, usize)) {
        match self.node(leaf).parent {
            Some(parent) if level > 0 => self.node(parent).feeds[priority].advance(),
            _ => self.rows[0][priority].advance(),
        }
    }

    /// Records that a leaf has sent a packet with the tokens of a class at this level
    /// (htb_dequeue_tree, htb_charge_class).
    pub(super) fn sent(
        &mut self,
        now: Time,
        leaf: u8,
        turns: (usize, usize),
        bytes: u32,
        is_empty: bool,
    ) {
        let (level, _) = turns;
        let node = self.node(leaf);
        node.deficits[level] -= i64::from(bytes);
        if node.deficits[level] < 0 {
            node.deficits[level] += node.quantum;
            self.pass(leaf, turns);
        }
        if is_empty {
            self.deactivate(leaf);
        }
        let framing = self.framing;
        let mut at = Some(leaf);
        while let Some(class) = at {
            let node = self.node(class);
            let elapsed = node.elapsed_ns(now);
            match node.level >= level {
                true => node.rate.charge(elapsed, bytes, &framing),
                false => node.rate.ns += elapsed, // it borrows
            }
            node.ceil.charge(elapsed, bytes, &framing);
            node.counted = now;
            at = node.parent;
            let before = node.mode;
            let wait = self.change_mode(class, 0);
            let Node { mode, level, .. } = *self.node(class);
            if mode != before {
                self.waiting[level].retain(|&(_, other)| other != class);
                self.wait_for_tokens(now, class, wait);
            }
        }
    }

    /// Sets the mode, `elapsed_ns` after tokens were last counted; returns how long the mode will
    /// last (htb_class_mode, htb_change_class_mode).
    fn change_mode(&mut self, class: u8, elapsed_ns: i64) -> i64 {
        let node = self.node(class);
        let (ceil, rate) = (node.ceil.ns + elapsed_ns, node.rate.ns + elapsed_ns);
        let (mode, wait) = match (ceil < 0, rate < 0) {
            (true, _) => (Mode::CannotSend, -ceil),
            (false, true) => (Mode::MayBorrow, -rate),
            (false, false) => (Mode::CanSend, 0),
        };
        if mode != node.mode {
            self.leave(class);
            self.node(class).mode = mode;
            self.join(class);
        }
        wait
    }

    /// Makes a class that cannot send freely check its tokens later (htb_add_to_wait_tree).
    fn wait_for_tokens(&mut self, now: Time, class: u8, wait_ns: i64) {
        let Node { mode, level, .. } = *self.node(class);
        if mode != Mode::CanSend {
            let due = now + Span::from_nanos(wait_ns.max(1).unsigned_abs());
            let waiting = &mut self.waiting[level];
            let place = waiting.partition_point(|&(other, _)| other <= due);
            waiting.insert(place, (due, class));
        }
    }

    /// Changes the modes that are due at a level (htb_do_events).
    pub(super) fn run_events(&mut self, now: Time, level: usize) {
        while let Some(&(due, class)) = self.waiting[level].first() {
            if due > now {
                return;
            }
            self.waiting[level].remove(0);
            let elapsed = self.node(class).elapsed_ns(now);
            let wait = self.change_mode(class, elapsed);
            self.wait_for_tokens(now, class, wait);
        }
    }

    /// When the next mode changes.
    pub(super) fn next_event(&self) -> Option<Time> {
        self.waiting.iter().filter_map(|waiting| waiting.first()).map(|&(due, _)| due).min()
    }
}

impl Node {
    fn elapsed_ns(&self, now: Time) -> i64 {
        (now.since(self.counted).as_nanos() as i64).min(LONGEST_NS)
    }
}

/// The numbers of the bits that are set.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    (0..PRIORITIES).filter(move |priority| mask & 1 << priority != 0)
}

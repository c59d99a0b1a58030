//! Eligible times, deadlines, virtual times and fit times of classes (Linux 6.1 sch_hfsc.c; our
//! functions name their counterparts in the kernel). Times are ticks.

use alloc::vec;
use alloc::vec::Vec;

use super::Hfsc;
use super::curve::Curve;

/// A class; the first is the root.
#[derive(Debug)]
struct Node {
    parent: usize,
    is_leaf: bool,
    /// The curves as configured.
    real_time: Option<Curve>,
    link_share: Option<Curve>,
    upper_limit: Option<Curve>,
    /// The curves in use, starting at a point.
    deadlines: Option<Curve>,
    eligibles: Option<Curve>,
    virtuals: Option<Curve>,
    limits: Option<Curve>,
    /// Total bytes sent, and bytes sent by the real-time criterion.
    total: u64,
    cumul: u64,
    deadline: u64,
    eligible: u64,
    virtual_time: u64,
    /// When it may share the link: its own fit time or the earliest of its children's, whichever is
    /// later.
    fit: u64,
    own_fit: u64,
    least_fit: u64,
    /// Virtual times of its children: that of the last child chosen, and the latest.
    least_virtual: u64,
    latest_virtual: u64,
    virtual_adjustment: u64,
    period: u64,
    period_of_parent: u64,
    /// The number of active children; for a leaf, whether it is active.
    active: usize,
    /// Active children by virtual time, and by fit time.
    by_virtual: Vec<usize>,
    by_fit: Vec<usize>,
}

/// All classes, numbered from 1.
#[derive(Debug)]
pub(super) struct Classes {
    nodes: Vec<Node>,
    /// Leaves with packets and a real-time curve, by eligible time.
    by_eligible: Vec<usize>,
}

const ROOT: usize = 0;

impl Classes {
    pub(super) fn new(plan: &Hfsc) -> Classes {
        let count = plan.classes.len() + 1;
        let node =
            |parent, is_leaf, [real_time, link_share, upper_limit]: [Option<Curve>; 3]| Node {
                parent,
                is_leaf,
                real_time,
                link_share,
                upper_limit,
                deadlines: real_time,
                eligibles: real_time.map(|curve| curve.eligible()),
                virtuals: link_share,
                limits: upper_limit,
                total: 0,
                cumul: 0,
                deadline: 0,
                eligible: 0,
                virtual_time: 0,
                fit: 0,
                own_fit: 0,
                least_fit: 0,
                least_virtual: 0,
                latest_virtual: 0,
                virtual_adjustment: 0,
                period: 0,
                period_of_parent: 0,
                active: 0,
                by_virtual: Vec::with_capacity(count),
                by_fit: Vec::with_capacity(count),
            };
        let mut nodes = vec![node(ROOT, false, [None; 3])];
        nodes.extend(plan.classes.iter().enumerate().map(|(index, class)| {
            let curve = |curve: &Option<super::ServiceCurve>| curve.as_ref().map(Curve::new);
            let [real_time, link_share] = [curve(&class.rt), curve(&class.ls)];
            let is_leaf = plan.is_leaf(index);
            // hfsc_upgrade_rt: a class with children shares the link.
            let link_share = if is_leaf { link_share } else { link_share.or(real_time) };
            let parent = class.parent.map_or(ROOT, |parent| parent + 1);
            node(parent, is_leaf, [real_time, link_share, curve(&class.ul)])
        }));
        Classes { nodes, by_eligible: Vec::with_capacity(count) }
    }

    pub(super) fn has_real_time(&self, leaf: usize) -> bool {
        self.nodes[leaf].real_time.is_some()
    }

    /// Whether a leaf has packets and awaits its turn (cl_in_el_or_vttree).
    pub(super) fn is_active(&self, leaf: usize) -> bool {
        self.nodes[leaf].active > 0 || self.by_eligible.contains(&leaf)
    }

    /// A leaf gets its first packet, of `bytes` (hfsc_enqueue).
    pub(super) fn activate(&mut self, now: u64, leaf: usize, bytes: u32) {
        self.begin_deadlines(now, leaf, bytes);
        if self.nodes[leaf].link_share.is_some() {
            self.begin_virtual(now, leaf);
        }
    }

    /// init_ed.
    fn begin_deadlines(&mut self, now: u64, leaf: usize, bytes: u32) {
        let node = &mut self.nodes[leaf];
        let (Some(curve), Some(deadlines)) = (node.real_time, &mut node.deadlines) else { return };
        deadlines.lower_to(&curve, now, node.cumul);
        // Convexity is that of the configured curve, whose slopes the minimum keeps.
        node.eligibles = Some(deadlines.eligible());
        self.set_deadline(leaf, bytes);
        self.set_eligible(leaf);
    }

    /// update_d.
    fn set_deadline(&mut self, leaf: usize, bytes: u32) {
        let node = &mut self.nodes[leaf];
        let deadlines = node.deadlines.as_ref().expect("it has a real-time curve");
        node.deadline = deadlines.time(node.cumul + u64::from(bytes));
    }

    /// The other half of update_ed.
    fn set_eligible(&mut self, leaf: usize) {
        let node = &mut self.nodes[leaf];
        node.eligible = node.eligibles.as_ref().expect("it has a real-time curve").time(node.cumul);
        let Classes { nodes, by_eligible } = self;
        place(by_eligible, leaf, |it| nodes[it].eligible);
    }

    /// A leaf without packets is not eligible (eltree_remove).
    pub(super) fn end_deadlines(&mut self, leaf: usize) {
        remove(&mut self.by_eligible, leaf);
    }

    /// init_vf: the leaf and its ancestors share the link.
    fn begin_virtual(&mut self, now: u64, leaf: usize) {
        let (mut at, mut is_new) = (leaf, true);
        while at != ROOT {
            let parent = self.nodes[at].parent;
            if is_new {
                self.nodes[at].active += 1;
                is_new = self.nodes[at].active == 1;
            }
            if is_new {
                self.join(now, at, parent);
            }
            self.update_fit(at, parent);
            self.update_least_fit(parent);
            at = parent;
        }
    }

    /// A class that becomes active joins its siblings.
    fn join(&mut self, now: u64, at: usize, parent: usize) {
        let of_parent = &mut self.nodes[parent];
        let (least, period, is_idle) =
            (of_parent.least_virtual, of_parent.period, of_parent.active == 0);
        match of_parent.by_virtual.last().copied() {
            Some(last) => {
                // Between the smallest and the largest of its siblings, and never backwards within
                // a period.
                let most = self.nodes[last].virtual_time;
                let middle = if least == 0 { most } else { (least + most) / 2 };
                let node = &mut self.nodes[at];
                if period != node.period_of_parent || middle > node.virtual_time {
                    node.virtual_time = middle;
                }
            }
            None => {
                of_parent.least_virtual = 0;
                self.nodes[at].virtual_time = self.nodes[parent].latest_virtual;
            }
        }
        let node = &mut self.nodes[at];
        let (curve, virtuals) = node.link_share.zip(node.virtuals.as_mut()).expect("it shares");
        virtuals.lower_to(&curve, node.virtual_time, node.total);
        node.virtual_adjustment = 0;
        node.period += 1;
        node.period_of_parent = period + u64::from(is_idle);
        node.fit = 0;
        if let Some((curve, limits)) = node.upper_limit.zip(node.limits.as_mut()) {
            limits.lower_to(&curve, now, node.total);
            node.own_fit = limits.time(node.total);
        }
        self.place_virtual(at, parent);
        self.place_fit(at, parent);
    }

    /// update_vf: a leaf has sent `bytes`, or its last packets were dropped.
    pub(super) fn sent(&mut self, leaf: usize, bytes: u32, is_empty: bool) {
        let mut leaves = is_empty && self.nodes[leaf].link_share.is_some();
        leaves = leaves && self.nodes[leaf].active > 0;
        let mut at = leaf;
        while at != ROOT {
            let node = &mut self.nodes[at];
            let parent = node.parent;
            node.total += u64::from(bytes);
            if node.active > 0 && node.link_share.is_some() {
                if leaves {
                    node.active -= 1;
                    leaves = node.active == 0;
                }
                self.advance(at, parent, leaves);
            }
            at = parent;
        }
    }

    fn advance(&mut self, at: usize, parent: usize, leaves: bool) {
        let least = self.nodes[parent].least_virtual;
        let node = &mut self.nodes[at];
        let virtuals = node.virtuals.as_ref().expect("it shares");
        node.virtual_time = virtuals.time(node.total).wrapping_add(node.virtual_adjustment);
        if node.virtual_time < least {
            // The class was passed over while it did not fit.
            node.virtual_adjustment += least - node.virtual_time;
            node.virtual_time = least;
        }
        if leaves {
            let virtual_time = node.virtual_time;
            let of_parent = &mut self.nodes[parent];
            of_parent.latest_virtual = of_parent.latest_virtual.max(virtual_time);
            remove(&mut of_parent.by_virtual, at);
            remove(&mut of_parent.by_fit, at);
            return self.update_least_fit(parent);
        }
        if let Some(limits) = &node.limits {
            node.own_fit = limits.time(node.total);
        }
        self.place_virtual(at, parent);
        if self.update_fit(at, parent) {
            self.update_least_fit(parent);
        }
    }

    /// Whether the fit time of a class has changed.
    fn update_fit(&mut self, at: usize, parent: usize) -> bool {
        let node = &mut self.nodes[at];
        let fit = node.own_fit.max(node.least_fit);
        let changes = fit != node.fit;
        if changes {
            node.fit = fit;
            self.place_fit(at, parent);
        }
        changes
    }

    /// update_cfmin.
    fn update_least_fit(&mut self, parent: usize) {
        let first = self.nodes[parent].by_fit.first();
        self.nodes[parent].least_fit = first.map_or(0, |&first| self.nodes[first].fit);
    }

    /// vttree_update.
    fn place_virtual(&mut self, at: usize, parent: usize) {
        let mut list = core::mem::take(&mut self.nodes[parent].by_virtual);
        place(&mut list, at, |it| self.nodes[it].virtual_time);
        self.nodes[parent].by_virtual = list;
    }

    /// cftree_update.
    fn place_fit(&mut self, at: usize, parent: usize) {
        let mut list = core::mem::take(&mut self.nodes[parent].by_fit);
        place(&mut list, at, |it| self.nodes[it].fit);
        self.nodes[parent].by_fit = list;
    }

    /// The eligible leaf with the least deadline (eltree_get_mindl).
    pub(super) fn by_deadline(&self, now: u64) -> Option<usize> {
        let eligible = self.by_eligible.iter().copied();
        eligible
            .take_while(|&leaf| self.nodes[leaf].eligible <= now)
            .min_by_key(|&leaf| self.nodes[leaf].deadline)
    }

    /// The leaf reached by the smallest virtual times of the classes that fit (vttree_get_minvt).
    pub(super) fn by_virtual_time(&mut self, now: u64) -> Option<usize> {
        let mut at = ROOT;
        if self.nodes[ROOT].least_fit > now {
            return None;
        }
        while !self.nodes[at].is_leaf {
            let fits = |&&child: &&usize| self.nodes[child].fit <= now;
            let child = *self.nodes[at].by_virtual.iter().find(fits)?;
            let virtual_time = self.nodes[child].virtual_time;
            let node = &mut self.nodes[at];
            node.least_virtual = node.least_virtual.max(virtual_time);
            at = child;
        }
        Some(at)
    }

    /// A leaf has sent by the real-time criterion.
    pub(super) fn count_real_time(&mut self, leaf: usize, bytes: u32) {
        self.nodes[leaf].cumul += u64::from(bytes);
    }

    /// Called for the next packet of a leaf, of `bytes` (update_ed; without `was_real_time`
    /// update_d).
    pub(super) fn next(&mut self, leaf: usize, bytes: u32, was_real_time: bool) {
        self.set_deadline(leaf, bytes);
        if was_real_time {
            self.set_eligible(leaf);
        }
    }

    /// When the next class may send, if none may send now (hfsc_schedule_watchdog).
    pub(super) fn next_event(&self) -> Option<u64> {
        let eligible = self.by_eligible.first().map(|&leaf| self.nodes[leaf].eligible);
        let fit = Some(self.nodes[ROOT].least_fit).filter(|&fit| fit > 0);
        eligible.into_iter().chain(fit).min()
    }
}

/// Moves a class to its place in a list ordered by a key, behind classes with an equal key.
fn place(list: &mut Vec<usize>, class: usize, key: impl Fn(usize) -> u64) {
    remove(list, class);
    let own = key(class);
    list.insert(list.partition_point(|&it| key(it) <= own), class);
}

fn remove(list: &mut Vec<usize>, class: usize) {
    if let Some(at) = list.iter().position(|&it| it == class) {
        list.remove(at);
    }
}

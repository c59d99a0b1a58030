//! The rates of each class of `htb`: at most its ceiling, at least its rate.
//!
//! A class below its rate sends regardless of its ancestors' tokens (Linux 6.1 sch_htb.c,
//! htb_dequeue starts at level 0). So the ceiling of a class bounds the borrowing of its
//! descendants, and only the line bounds the sum of guaranteed rates.

use sojourn_aqm::qdiscs::classes::HtbNode;
use sojourn_aqm::{Framing, Rate, Time};
use sojourn_record::rows::{Fate, PacketRow};
use sojourn_scenario::resolved::{Capacity, Link, Scheduler, SchedulerKind};

use super::packet_rules::Classed;

/// A class counts its tokens in nanoseconds: a packet's time is truncated, and a bucket's depth is
/// a multiple of 64 ns.
const DEPTH_ROUNDING_NS: f64 = 64.0;

/// Checks the rows of packets at a link.
///
/// # Errors
/// The problem, in a sentence.
pub(super) fn judge(link: &Link, scheduler: &Scheduler, rows: &[Classed]) -> Result<(), String> {
    let SchedulerKind::Htb { classes, framing } = &scheduler.kind else { return Ok(()) };
    // Packets without a class leave first and unshaped, so no rate is guaranteed.
    let keeps_rates = rows.iter().all(|(class, _)| class.is_some());
    let mut by_class = vec![Vec::new(); classes.len()];
    for &(class, row) in rows {
        if let Some(class) = class {
            by_class[class].push(row);
        }
    }
    let tree = Tree { classes, framing, rows: by_class };
    for (class, named) in scheduler.classes.iter().enumerate() {
        tree.ceiling(class).map_err(|error| format!("{}: {error}", named.name))?;
    }
    for leaf in scheduler.leaves().filter(|_| keeps_rates) {
        if link.queue_of(&scheduler.classes[leaf]).0.law != "cake" {
            let name = &scheduler.classes[leaf].name;
            tree.rate(link, leaf).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

struct Tree<'a> {
    classes: &'a [HtbNode],
    framing: &'a Framing,
    /// By class, in order of arrival.
    rows: Vec<Vec<&'a PacketRow>>,
}

/// Bytes per second, in whole bytes as in the kernel.
fn speed(rate: Rate) -> f64 {
    (rate.as_bps() / 8).max(1) as f64
}

impl<'a> Tree<'a> {
    fn bytes(&self, row: &PacketRow) -> f64 {
        self.framing.bytes(row.bytes) as f64
    }

    /// The largest packet of these rows.
    fn largest<'b>(&self, rows: impl IntoIterator<Item = &'b &'a PacketRow>) -> f64
    where
        'a: 'b,
    {
        rows.into_iter().map(|row| self.bytes(row)).fold(0.0, f64::max)
    }

    fn children(&self, class: usize) -> impl Iterator<Item = usize> {
        (0..self.classes.len()).filter(move |&other| self.classes[other].parent == Some(class))
    }

    /// The rows of the leaves at or below a class.
    fn below(&self, class: usize) -> Vec<&'a PacketRow> {
        let mut found = self.rows[class].clone();
        self.children(class).for_each(|child| found.extend(self.below(child)));
        found
    }

    /// The traffic that the descendants of a class may send without borrowing from it: bytes per
    /// second, and bytes at once.
    fn unasked(&self, class: usize) -> (f64, f64) {
        let of_child = |child: usize| {
            let rows = self.below(child);
            if rows.is_empty() {
                return (0.0, 0.0);
            }
            let (own, (speed_below, bytes_below)) = (&self.classes[child], self.unasked(child));
            let rounding = DEPTH_ROUNDING_NS * 1e-9 * speed(own.rate);
            let bytes = own.burst_bytes as f64 + rounding + self.largest(&rows);
            (speed(own.rate).max(speed_below), bytes + bytes_below)
        };
        let sum = |(a, b): (f64, f64), (c, d): (f64, f64)| (a + c, b + d);
        self.children(class).map(of_child).fold((0.0, 0.0), sum)
    }

    /// A class lets its descendants borrow only while the bucket of its ceiling is not in debt; a
    /// leaf also sends only while its own is not.
    fn ceiling(&self, class: usize) -> Result<(), String> {
        let node = &self.classes[class];
        let (unasked_speed, unasked_bytes) = self.unasked(class);
        let speed = speed(node.ceil).max(unasked_speed);
        let ns_of = |bytes: f64| bytes * 1e9 / speed;
        let depth = ns_of(node.cburst_bytes as f64) + DEPTH_ROUNDING_NS;
        let most_debt = ns_of(unasked_bytes);
        let (mut tokens, mut counted, mut rounding) = (depth, Time::ZERO, 1.0);
        for (left, row) in in_order(&self.below(class)) {
            tokens = (tokens + left.since(counted).as_nanos() as f64).min(depth);
            if tokens < -most_debt - rounding {
                return Err(format!("above its ceiling by {} ns: {row:?}", -tokens - most_debt));
            }
            let cost = ns_of(self.bytes(row));
            tokens -= cost;
            // The multiplier of the kernel's arithmetic has 31 significant bits.
            rounding += 1.0 + cost * 1e-9;
            counted = left;
        }
        Ok(())
    }

    /// A leaf with packets gets its rate, if the line carries all rates. It waits while others use
    /// their buckets; a leaf whose bucket overflows meanwhile loses tokens and is not judged.
    fn rate(&self, link: &Link, leaf: usize) -> Result<(), String> {
        let (node, rows) = (&self.classes[leaf], &self.rows[leaf]);
        let Some(wait_s) = self.longest_wait_s(link, leaf) else { return Ok(()) };
        let speed = speed(node.rate.min(node.ceil));
        let waiting = speed * wait_s;
        if waiting > node.burst_bytes.min(node.cburst_bytes) as f64 {
            return Ok(());
        }
        // The buckets of rate and ceiling may each be in debt at the start and each wait once.
        let most = 4.0 * (self.largest(rows) + waiting);
        let (mut owed, mut counted, mut has_packets) = (0.0_f64, Time::ZERO, false);
        for (at, sent, is_waiting) in changes(rows, |row| self.bytes(row)) {
            if has_packets {
                owed += speed * at.since(counted).as_secs();
                if owed > most {
                    return Err(format!("below its rate by {owed} of {most} bytes at {at:?}"));
                }
            }
            owed = if is_waiting { (owed - sent).max(0.0) } else { 0.0 };
            (counted, has_packets) = (at, is_waiting);
        }
        Ok(())
    }

    /// The longest time for which classes below their rates, and the packet in service, keep a leaf
    /// from sending; `None` if the line does not carry all rates or changes its own.
    fn longest_wait_s(&self, link: &Link, leaf: usize) -> Option<f64> {
        let Capacity::Constant(line) = link.capacity else { return None };
        if link.device.is_some() {
            return None;
        }
        let all = || self.rows.iter().flatten();
        let counted = |row: &&PacketRow| self.bytes(row) / f64::from(row.bytes);
        let least = all().map(counted).fold(f64::INFINITY, f64::min);
        let (mut free, mut first) = (line.as_bps() as f64 / 8.0 * least, self.largest(all()));
        for (class, node) in self.classes.iter().enumerate() {
            if class != leaf && !self.rows[class].is_empty() {
                free -= speed(node.rate);
                first += node.burst_bytes as f64 + self.largest(&self.rows[class]);
            }
        }
        (free >= speed(self.classes[leaf].rate)).then_some(first / free)
    }
}

/// The packets that were sent, by departure time.
fn in_order<'a>(rows: &[&'a PacketRow]) -> Vec<(Time, &'a PacketRow)> {
    let sent = rows.iter().filter(|row| row.fate == Fate::Sent);
    let mut found: Vec<_> = sent.filter_map(|&row| Some((row.left?, row))).collect();
    found.sort_by_key(|&(left, _)| left);
    found
}

/// The times at which packets arrive or leave, with the bytes sent then, and whether some packet
/// has been queued since before that time and still is. A packet that leaves as it arrives was not
/// queued.
fn changes(rows: &[&PacketRow], bytes: impl Fn(&PacketRow) -> f64) -> Vec<(Time, f64, bool)> {
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| row.left != Some(row.arrived)) {
        found.push((row.arrived, 1, 0.0));
        let sent = if row.fate == Fate::Sent { bytes(row) } else { 0.0 };
        found.extend(row.left.map(|left| (left, -1, sent)));
    }
    // Departures come first: a queue that is empty for an instant begins again.
    found.sort_by_key(|&(at, change, _)| (at, change));
    let mut waiting = 0;
    let counted = found.into_iter().map(|(at, change, sent)| {
        waiting += change;
        (at, sent, waiting > 0)
    });
    counted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storm::class_rules::tests::{assert_bad, judged, scheduler_of};
    use sojourn_record::Run;
    use sojourn_scenario::resolved::Resolved;

    const GROUP: &str = r#"{ kind = "htb", default = "rest", classes = [
        { name = "all", rate = "10mbit" },
        { name = "group", rate = "4mbit", ceil = "6mbit", parent = "all" },
        { name = "urgent", rate = "1mbit", ceil = "9mbit", dscp = ["ef"], parent = "group" },
        { name = "rest", rate = "2mbit", ceil = "9mbit", parent = "group" }] }"#;

    fn node(plan: &mut Resolved, class: usize) -> &mut HtbNode {
        let SchedulerKind::Htb { classes, .. } = &mut scheduler_of(plan).kind else { panic!() };
        &mut classes[class]
    }

    #[test]
    fn a_tree_whose_group_is_at_its_ceiling_is_as_it_should_be() {
        assert_eq!(judged(GROUP, |_, _| {}), Ok(()));
    }

    #[test]
    fn a_group_above_its_ceiling_is_found() {
        let lower = |plan: &mut Resolved, _: &mut Run| {
            node(plan, 1).ceil = Rate::from_bps(5_800_000);
        };
        assert_bad(GROUP, lower, "group: above its ceiling");
    }

    #[test]
    fn what_leaves_send_below_their_rates_is_not_held_against_a_group() {
        let lower = |plan: &mut Resolved, _: &mut Run| {
            node(plan, 1).ceil = Rate::from_bps(1_000_000);
            (node(plan, 2).rate, node(plan, 3).rate) =
                (Rate::from_bps(2_000_000), Rate::from_bps(4_100_000));
        };
        let why = judged(GROUP, lower);
        assert!(!why.clone().is_err_and(|why| why.contains("group")), "{why:?}");
    }

    #[test]
    fn a_leaf_below_its_rate_is_found() {
        let more = |plan: &mut Resolved, _: &mut Run| {
            node(plan, 3).rate = Rate::from_bps(5_000_000);
        };
        assert_bad(GROUP, more, "rest: below its rate");
    }
}

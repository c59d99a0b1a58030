//! Rates and service curves of the kernel's classes.

use sojourn_aqm::Rate;
use sojourn_aqm::qdiscs::classes::ServiceCurve;

use super::refusal::{Planned, refuse};

/// Rates in a rate specification are 32-bit numbers of bytes per second.
const MOST_BPS: u64 = u32::MAX as u64 * 8;

/// A curve for tc, and its numbers in the kernel (Linux 6.1 pkt_sched.h, struct tc_service_curve:
/// bytes per second and microseconds). The kernel reports the numbers that it was given, as its own
/// units are finer (sch_hfsc.c, sm2m and dx2d).
pub(super) fn shown_curve(
    curve: ServiceCurve,
    place: impl Fn() -> String,
) -> Planned<(String, Vec<u32>)> {
    for rate in [curve.m1, curve.m2].into_iter().flatten() {
        check_rate(rate, &place)?;
    }
    let [m1, m2] = [curve.m1, curve.m2].map(|rate| rate.map_or(0, Rate::as_bps));
    let micros = curve.d.as_nanos() / 1000;
    let words = format!(" m1 {m1}bit d {micros}us m2 {m2}bit");
    Ok((words, vec![(m1 / 8) as u32, micros as u32, (m2 / 8) as u32]))
}

/// Refuses a rate that the kernel's classes cannot have.
pub(super) fn check_rate(rate: Rate, place: impl Fn() -> String) -> Planned<()> {
    if !rate.as_bps().is_multiple_of(8) || rate.as_bps() > MOST_BPS {
        let message = format!("{rate}: the kernel's classes take whole bytes per second");
        return refuse(place(), message);
    }
    Ok(())
}

/// The classes in the order in which tc may add them.
pub(super) fn parents_first(parents: &[Option<usize>]) -> Vec<usize> {
    let depth = |class: usize| std::iter::successors(Some(class), |&it| parents[it]).count();
    let mut order: Vec<usize> = (0..parents.len()).collect();
    order.sort_by_key(|&class| depth(class));
    order
}

#[cfg(test)]
mod tests {
    use crate::planning::classes::tests::{TREE, plan_of};

    #[test]
    fn curves_are_numbers_of_bytes_per_second_and_microseconds() {
        let tree = TREE.replace("htb", "hfsc").replace("overhead = \"4B\"\n", "");
        let call = "rt = { m1 = \"2mbit\", d = \"10ms\", m2 = \"1mbit\" }";
        let tree = tree.replace("rate = \"1mbit\", ceil = \"10mbit\", prio = 1", call);
        let all = "ls = { m2 = \"10mbit\" }, ul = { m2 = \"10mbit\" }";
        let tree = tree.replace("rate = \"10mbit\"", all);
        let tree = tree.replace("rate = \"8mbit\", ceil = \"10mbit\"", "ls = { m2 = \"8mbit\" }");
        let plan = plan_of(&tree);
        let lines = plan.commands.iter().map(|command| command.arguments.join(" "));
        let lines: Vec<_> = lines.filter(|line| line.contains("hfsc")).collect();
        assert_eq!(lines[0], "qdisc add dev out parent 1:1 handle 10: hfsc default 3");
        let ends = ["10: classid 10:2", "10:2 classid 10:1", "10:2 classid 10:3"];
        for (line, end) in lines[1..].iter().zip(ends) {
            assert!(line.starts_with(&format!("class add dev out parent {end} hfsc ")), "{line}");
        }
        assert!(lines[2].ends_with("hfsc rt m1 2000000bit d 10000us m2 1000000bit"), "{lines:?}");
        let (number, parent, call) = &plan.classes.unwrap().classes[1];
        assert_eq!((*number, *parent), (0x10_0001, 0x10_0002));
        assert_eq!(call.options[0].shown, [250_000, 10_000, 125_000]);
    }
}

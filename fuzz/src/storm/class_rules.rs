//! Invariants of the rows of packets at a link with a scheduler, for each class.

use sojourn_aqm::contract::host::most_waiting;
use sojourn_aqm::{Limit, Time};
use sojourn_record::Run;
use sojourn_record::rows::PacketRow;
use sojourn_scenario::resolved::{Link, Resolved, Scheduler, SchedulerKind};

use super::htb_rules;
use super::packet_rules::{Classed, backlog, order, sent};

/// Maximum number of packets without a class of `htb` (Linux 6.1 sch_htb.c, htb_init: txqueuelen of
/// Ethernet).
const DIRECT: Limit = Limit::Packets(1000);

/// Checks the rows of packets, if all are recorded and their classes are known: a CAKE that washes
/// clears DSCPs.
///
/// # Errors
/// The problem, in a sentence.
pub(super) fn judge(plan: &Resolved, run: &Run) -> Result<(), String> {
    if !plan.record.packets || plan.links.iter().any(washes) {
        return Ok(());
    }
    let groups = plan.flows.iter().flat_map(|g| std::iter::repeat_n(g, g.count as usize));
    let dscps: Vec<u8> = groups.map(|group| group.dscp).collect();
    for (queue, link) in plan.links.iter().enumerate() {
        let Some(scheduler) = &link.scheduler else { continue };
        let class_of = |row: &PacketRow| {
            scheduler.class_of(usize::from(dscps[row.flow as usize])).map(usize::from)
        };
        let rows = run.packets.iter().filter(|row| row.queue as usize == queue);
        let rows: Vec<Classed> = rows.map(|row| (class_of(row), row)).collect();
        for class in std::iter::once(None).chain(scheduler.leaves().map(Some)) {
            of_class(link, scheduler, class, &of(&rows, class)).map_err(|error| {
                let name = class.map_or("no class", |class| &scheduler.classes[class].name);
                format!("{name}: {error}")
            })?;
        }
        match scheduler.kind {
            SchedulerKind::Prio => priority(link, scheduler, &rows)?,
            SchedulerKind::Htb { .. } => htb_rules::judge(link, scheduler, &rows)?,
            SchedulerKind::Hfsc(_) | SchedulerKind::Ets(_) => {}
        }
    }
    Ok(())
}

/// The rows of a class.
fn of<'a>(rows: &[Classed<'a>], class: Option<usize>) -> Vec<&'a PacketRow> {
    rows.iter().filter(|(own, _)| *own == class).map(|&(_, row)| row).collect()
}

fn of_class(
    link: &Link,
    scheduler: &Scheduler,
    class: Option<usize>,
    rows: &[&PacketRow],
) -> Result<(), String> {
    let Some(class) = class else { return backlog(link, DIRECT, rows) };
    let (queue, limit) = link.queue_of(&scheduler.classes[class]);
    order(link, queue, rows)?;
    backlog(link, with_next(scheduler, most_waiting(queue, limit), link), rows)
}

/// The limit of a class. A class of `hfsc` may hold one more packet, the next one, which its AQM
/// has already judged.
fn with_next(scheduler: &Scheduler, limit: Limit, link: &Link) -> Limit {
    match (&scheduler.kind, limit) {
        (SchedulerKind::Hfsc(_), Limit::Packets(packets)) => Limit::Packets(packets + 1),
        (SchedulerKind::Hfsc(_), Limit::Bytes(bytes)) => {
            Limit::Bytes(bytes + u64::from(link.largest_bytes()))
        }
        (_, limit) => limit,
    }
}

fn washes(link: &Link) -> bool {
    let classes = link.scheduler.iter().flat_map(|it| &it.classes);
    let own = classes.filter_map(|class| class.queue.as_ref()).map(|(spec, _)| spec);
    let mut specs = std::iter::once(&link.queue).chain(own);
    specs.any(|spec| spec.settings.iter().any(|(name, _)| name == "wash"))
}

/// No band sends while a more urgent band has a packet, unless that band holds it back.
fn priority(link: &Link, scheduler: &Scheduler, rows: &[Classed]) -> Result<(), String> {
    let mut urgent: Vec<(Time, Option<Time>)> = Vec::new();
    for (band, class) in scheduler.classes.iter().enumerate() {
        let own = of(rows, Some(band));
        for (left, row) in sent(&own) {
            let waits = |&(arrived, until): &(Time, Option<Time>)| {
                arrived < left && until.is_none_or(|until| until > left)
            };
            if urgent.iter().any(waits) {
                return Err(format!("{} sends before a more urgent band: {row:?}", class.name));
            }
        }
        if link.queue_of(class).0.law != "cake" {
            urgent.extend(own.iter().map(|row| (row.arrived, row.left)));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::storm::{judge, load, run};

    const TWO_CLASSES: &str = r#"
name = "two"
duration = "2s"
[record]
packets = true
sample = "50ms"
[links.b]
rate = "10mbit"
queue = "taildrop:limit=30p"
scheduler = SCHEDULER
[[flows]]
path = ["b"]
rtt = "20ms"
dscp = "ef"
app = { kind = "cbr", rate = "4mbit", packet = "500B" }
[[flows]]
path = ["b"]
rtt = "20ms"
app = { kind = "cbr", rate = "9mbit", packet = "700B" }
"#;
    const PRIO: &str = r#"{ kind = "prio", default = "rest", classes = [
        { name = "urgent", dscp = ["ef"] }, { name = "rest" }] }"#;
    const HTB: &str = r#"{ kind = "htb", default = "rest", classes = [
        { name = "urgent", rate = "1mbit", ceil = "3mbit", dscp = ["ef"], parent = "all" },
        { name = "rest", rate = "2mbit", ceil = "5mbit", parent = "all" },
        { name = "all", rate = "10mbit" }] }"#;

    /// A run, and its plan with a change unknown to the run.
    pub(in crate::storm) fn judged(
        scheduler: &str,
        change: fn(&mut Resolved, &mut Run),
    ) -> Result<(), String> {
        let text = TWO_CLASSES.replace("SCHEDULER", &scheduler.replace('\n', ""));
        let scenario = load(&text).expect("it is legal");
        let mut made = run(scenario.resolved(), u32::MAX).expect("it runs");
        let mut plan = scenario.resolved().clone();
        change(&mut plan, &mut made);
        judge::judge(&plan, &made, false)
    }

    pub(in crate::storm) fn scheduler_of(plan: &mut Resolved) -> &mut Scheduler {
        plan.links[0].scheduler.as_mut().expect("it has one")
    }

    #[test]
    fn runs_of_both_schedulers_are_as_they_should_be() {
        assert_eq!(judged(PRIO, |_, _| {}), Ok(()));
        assert_eq!(judged(HTB, |_, _| {}), Ok(()));
    }

    #[track_caller]
    pub(in crate::storm) fn assert_bad(
        scheduler: &str,
        change: fn(&mut Resolved, &mut Run),
        expected: &str,
    ) {
        let why = judged(scheduler, change).expect_err("the change is against a rule");
        assert!(why.contains(expected), "{why}");
    }

    #[test]
    fn a_band_that_sends_before_a_more_urgent_one_is_found() {
        let swapped = |plan: &mut Resolved, _: &mut Run| {
            scheduler_of(plan).classes.reverse();
            scheduler_of(plan).default = Some(0);
        };
        assert_bad(PRIO, swapped, "urgent sends before a more urgent band");
    }

    #[test]
    fn a_class_above_its_ceiling_or_its_limit_is_found() {
        let lower = |plan: &mut Resolved, _: &mut Run| {
            let SchedulerKind::Htb { classes, .. } = &mut scheduler_of(plan).kind else { panic!() };
            classes[1].ceil = sojourn_aqm::Rate::from_bps(4_900_000);
        };
        assert_bad(HTB, lower, "rest: above its ceiling");
        let shorter = |plan: &mut Resolved, _: &mut Run| plan.links[0].limit = Limit::Packets(29);
        assert_bad(HTB, shorter, "30 of 29p wait");
    }

    #[test]
    fn a_sample_that_miscounts_the_backlog_is_found() {
        let more = |_: &mut Resolved, run: &mut Run| {
            run.states.iter_mut().filter(|row| row.var == 0).for_each(|row| row.value += 3.0);
        };
        assert_bad(HTB, more, "packets wait");
        assert_bad(PRIO, more, "packets wait");
    }
}

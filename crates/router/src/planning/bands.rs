//! Schedulers of bands in the kernel: prio and ets.

use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::Scheduler;

use super::refusal::{Planned, refuse};
use crate::plan::{KernelQdisc, QdiscOption, Width};

/// The most bands (Linux 6.1 pkt_sched.h, TCQ_PRIO_BANDS, TCQ_ETS_MAX_BANDS).
const MOST_BANDS: usize = 16;
/// The least bands of prio (Linux 6.1 pkt_sched.h, TCQ_MIN_PRIO_BANDS).
const LEAST_BANDS: usize = 2;
/// The quanta that ets does not change (Linux 6.1 sch_ets.c, ets_quantum_parse).
const ETS_QUANTA: std::ops::RangeInclusive<u32> = 256..=1 << 20;
/// Entries of a map of priorities (Linux 6.1 pkt_sched.h, TC_PRIO_MAX).
const PRIORITIES: usize = 16;

/// Bands, of which one gets all priorities unless a filter selects another.
pub(super) fn prio(place: &str, scheduler: &Scheduler) -> Planned<(String, KernelQdisc)> {
    let count = scheduler.classes.len();
    if !(LEAST_BANDS..=MOST_BANDS).contains(&count) {
        let message = format!("the kernel's prio has 2 to 16 bands, not {count}");
        return refuse(format!("{place}.classes"), message);
    }
    let default = scheduler.default.unwrap_or(0);
    let map = vec![default.to_string(); PRIORITIES].join(" ");
    let head = format!("prio bands {count} priomap {map}");
    // Linux 6.1 pkt_sched.h, struct tc_prio_qopt.
    let options = vec![
        option(None, 0, Width::U32, "bands", vec![count as u32]),
        option(None, 4, Width::U8, "priomap", vec![default as u32; PRIORITIES]),
    ];
    Ok((head, KernelQdisc { kind: "prio".to_owned(), options }))
}

/// Strict bands and bands that take turns; as in prio, one gets all priorities.
pub(super) fn ets(
    place: &str,
    scheduler: &Scheduler,
    quanta: &[Option<u64>],
) -> Planned<(String, KernelQdisc)> {
    let count = quanta.len();
    if count > MOST_BANDS {
        let message = format!("the kernel's ets has at most {MOST_BANDS} bands, not {count}");
        return refuse(format!("{place}.classes"), message);
    }
    let strict = quanta.iter().take_while(|quantum| quantum.is_none()).count();
    let mut turns = Vec::new();
    for (class, quantum) in quanta.iter().enumerate().skip(strict) {
        let bytes = quantum.and_then(|bytes| u32::try_from(bytes).ok());
        turns.push(bytes.filter(|bytes| ETS_QUANTA.contains(bytes)).ok_or_else(|| {
            let (least, most) = (ETS_QUANTA.start(), ETS_QUANTA.end());
            let message = format!("the kernel's ets takes quanta of {least}B to {most}B");
            ScenarioError::new(format!("{place}.classes[{class}].quantum"), message)
        })?);
    }
    let default = scheduler.default.unwrap_or(0);
    let words = |numbers: &[u32]| numbers.iter().map(|it| format!(" {it}")).collect::<String>();
    let list = if turns.is_empty() { String::new() } else { format!(" quanta{}", words(&turns)) };
    let map = words(&[default as u32; PRIORITIES]);
    let head = format!("ets bands {count} strict {strict}{list} priomap{map}");
    // Linux 6.1 pkt_sched.h, TCA_ETS_NBANDS to TCA_ETS_PRIOMAP; a nested attribute has eight bytes
    // of which four are its header (sch_ets.c, ets_qdisc_dump).
    let mut options = vec![option(Some(1), 0, Width::U8, "bands", vec![count as u32])];
    if strict > 0 {
        options.push(option(Some(2), 0, Width::U8, "strict", vec![strict as u32]));
    }
    let nested = |attribute, place: usize, width, name: &str, value| {
        option(Some(attribute), 4 + 8 * place as u16, width, name, vec![value])
    };
    let quanta = turns.iter().enumerate();
    options.extend(quanta.map(|(place, &it)| nested(3, place, Width::U32, "quantum, bytes", it)));
    let of_priority = |place| nested(5, place, Width::U8, "priomap", default as u32);
    options.extend((0..PRIORITIES).map(of_priority));
    Ok((head, KernelQdisc { kind: "ets".to_owned(), options }))
}

/// Numbers of a discipline that the kernel shows as they were given.
pub(super) fn option(
    attribute: Option<u16>,
    offset: u16,
    width: Width,
    name: &str,
    values: Vec<u32>,
) -> QdiscOption {
    let (name, shown) = (name.to_owned(), values.clone());
    QdiscOption { name, attribute, offset, width, values, shown }
}

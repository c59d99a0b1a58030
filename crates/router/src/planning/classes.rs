//! A scheduler of classes in the kernel: commands of tc, and what netlink must report.

use sojourn_aqm::qdiscs::classes::{CODE_POINTS, HfscNode, HtbNode};
use sojourn_aqm::{Cells, Framing};
use sojourn_scenario::ScenarioError;
use sojourn_scenario::resolved::{Link, LinuxBottleneck, Resolved, Scheduler, SchedulerKind};

use super::bands::{self, option};
use super::class_rates::{check_rate, parents_first, shown_curve};
use super::refusal::{Planned, refuse};
use crate::plan::{HANDLE, KernelClasses, KernelLeaf, KernelQdisc, Width};
use crate::tc::{self, TcContext};

/// The handle of the first leaf's queue.
const FIRST_QUEUE: u32 = 0x20;
/// The reported parent of a class without one (Linux 6.1 sch_htb.c, htb_dump_class).
const TC_H_ROOT: u32 = u32::MAX;
/// tc's default of `r2q`, and the kernel's `direct_qlen` on Ethernet.
const R2Q: u32 = 10;
const DIRECT_PACKETS: u32 = 1000;

/// The classes of a link in the kernel.
#[derive(Debug)]
pub(super) struct TcClasses {
    /// Arguments of tc.
    pub(super) lines: Vec<String>,
    /// Values rounded by the kernel, one sentence each.
    pub(super) warnings: Vec<String>,
    /// Whether a queue is created at a whole second of a guest's clock.
    pub(super) at_whole_second: bool,
    pub(super) plan: KernelClasses,
}

/// The scheduler of a link; `context` is that of its queue.
pub(super) fn classes(
    scenario: &Resolved,
    link: &Link,
    scheduler: &Scheduler,
    context: TcContext,
) -> Planned<TcClasses> {
    let place = format!("links.{}.scheduler", link.name);
    if scenario.linux.bottleneck() != LinuxBottleneck::Kernel {
        let message = "our module has one queue; take engine.linux.bottleneck = \"kernel\", or use \
                       engine sim";
        return refuse(place, message);
    }
    let mut out = match &scheduler.kind {
        SchedulerKind::Htb { classes, framing } => htb(&place, scheduler, classes, *framing)?,
        SchedulerKind::Hfsc(classes) => hfsc(&place, scheduler, classes)?,
        SchedulerKind::Prio => TcClasses::new(bands::prio(&place, scheduler)?),
        SchedulerKind::Ets(quanta) => TcClasses::new(bands::ets(&place, scheduler, quanta)?),
    };
    for (leaf, class) in scheduler.leaves().enumerate() {
        let place = format!("{place}.classes[{class}].queue");
        out.queue(&place, link, (leaf, class), context)?;
    }
    for (index, class) in scheduler.classes.iter().enumerate() {
        class.dscp.iter().for_each(|&dscp| out.filter(dscp, number(index)));
    }
    let leaves: Vec<usize> = scheduler.leaves().collect();
    let leaf_of = |dscp| {
        let class = scheduler.class_of(dscp).map(usize::from)?;
        leaves.iter().position(|&leaf| leaf == class)
    };
    out.plan.leaf_of = (0..CODE_POINTS).map(leaf_of).collect();
    Ok(out)
}

/// The number of a class; they count from 1.
fn number(index: usize) -> u32 {
    HANDLE | (index as u32 + 1)
}

/// A number as tc writes it.
fn shown(number: u32) -> String {
    format!("{:x}:{:x}", number >> 16, number & 0xffff)
}

impl TcClasses {
    fn new((head, scheduler): (String, KernelQdisc)) -> TcClasses {
        TcClasses {
            lines: vec![format!("qdisc add dev out parent 1:1 handle {} {head}", shown_handle())],
            warnings: Vec::new(),
            at_whole_second: false,
            plan: KernelClasses {
                scheduler,
                classes: Vec::new(),
                filters: Vec::new(),
                leaves: Vec::new(),
                leaf_of: Vec::new(),
            },
        }
    }

    /// The queue of a leaf.
    fn queue(
        &mut self,
        place: &str,
        link: &Link,
        (leaf, class): (usize, usize),
        context: TcContext,
    ) -> Planned<()> {
        let scheduler = link.scheduler.as_ref().expect("it has one");
        let (spec, limit) = link.queue_of(&scheduler.classes[class]);
        let mut spec = spec.clone();
        spec.set_default("limit", &limit.to_string());
        let context = TcContext { mtu_bytes: link.mtu_bytes_of(&spec), ..context };
        let discipline = tc::translate(&spec, &context);
        let discipline = discipline.map_err(|message| ScenarioError::new(place, message))?;
        self.warnings.extend(discipline.warnings.iter().map(|it| format!("{place}: {it}")));
        if discipline.adaptation.is_some() {
            let message = "engine linux adapts RED in the only queue of a link; take `red@linux`, \
                           or use engine sim";
            return refuse(place, message);
        }
        let handle = (FIRST_QUEUE + leaf as u32) << 16;
        let by_netlink = discipline.netlink.is_some();
        if !by_netlink {
            let words = discipline.arguments.join(" ");
            let (parent, major) = (shown(number(class)), handle >> 16);
            self.lines.push(format!("qdisc add dev out parent {parent} handle {major:x}: {words}"));
        }
        let Some(qdisc) = discipline.netlink.or(discipline.read_back) else {
            return refuse(place, "engine linux cannot read it back; use engine sim");
        };
        self.at_whole_second |= discipline.at_whole_second;
        self.plan.leaves.push(KernelLeaf {
            class: number(class),
            handle,
            qdisc,
            by_netlink,
            drops_at_head: discipline.drops_at_head,
            is_random: discipline.is_random,
        });
        Ok(())
    }

    /// A filter that assigns a DSCP to a class.
    fn filter(&mut self, dscp: u8, class: u32) {
        self.lines.push(format!(
            "filter add dev out parent {} protocol ip prio 1 u32 match ip dsfield {:#04x} 0xfc \
             flowid {}",
            shown_handle(),
            dscp << 2,
            shown(class)
        ));
        self.plan.filters.push((dscp, class));
    }
}

fn shown_handle() -> String {
    format!("{:x}:", HANDLE >> 16)
}

/// HTB with its classes, parents first.
fn htb(
    place: &str,
    scheduler: &Scheduler,
    nodes: &[HtbNode],
    framing: Framing,
) -> Planned<TcClasses> {
    let default = scheduler.default.map_or(0, |class| number(class) & 0xffff);
    let head = format!("htb r2q {R2Q} default {default:x} direct_qlen {DIRECT_PACKETS}");
    // Linux 6.1 pkt_sched.h, TCA_HTB_INIT: struct tc_htb_glob; TCA_HTB_DIRECT_QLEN.
    let options = vec![
        option(Some(2), 4, Width::U32, "r2q, default", vec![R2Q, default]),
        option(Some(5), 0, Width::U32, "direct_qlen, packets", vec![DIRECT_PACKETS]),
    ];
    let mut out = TcClasses::new((head, KernelQdisc { kind: "htb".to_owned(), options }));
    let layer = layer(place, framing)?;
    for class in parents_first(&nodes.iter().map(|node| node.parent).collect::<Vec<_>>()) {
        let node = &nodes[class];
        for (key, rate) in [("rate", node.rate), ("ceil", node.ceil)] {
            check_rate(rate, || format!("{place}.classes[{class}].{key}"))?;
        }
        let parent = node.parent.map_or(TC_H_ROOT, number);
        let above = node.parent.map_or_else(shown_handle, |parent| shown(number(parent)));
        let HtbNode { rate, ceil, burst_bytes, cburst_bytes, quantum_bytes, priority, .. } = node;
        out.lines.push(format!(
            "class add dev out parent {above} classid {} htb rate {}bit ceil {}bit burst \
             {burst_bytes}b cburst {cburst_bytes}b quantum {quantum_bytes} prio {priority}{layer}",
            shown(number(class)),
            rate.as_bps(),
            ceil.as_bps()
        ));
        out.plan.classes.push((number(class), parent, shown_class(node, framing)));
    }
    Ok(out)
}

/// HFSC with its classes, parents first.
fn hfsc(place: &str, scheduler: &Scheduler, nodes: &[HfscNode]) -> Planned<TcClasses> {
    let default = scheduler.default.map_or(0, |class| number(class) & 0xffff);
    // Linux 6.1 pkt_sched.h, struct tc_hfsc_qopt.
    let bytes = default.to_le_bytes()[..2].iter().map(|&byte| u32::from(byte)).collect();
    let options = vec![option(None, 0, Width::U8, "default", bytes)];
    let head = format!("hfsc default {default:x}");
    let mut out = TcClasses::new((head, KernelQdisc { kind: "hfsc".to_owned(), options }));
    for class in parents_first(&nodes.iter().map(|node| node.parent).collect::<Vec<_>>()) {
        let node = &nodes[class];
        let mut words = String::new();
        let mut options = Vec::new();
        // Linux 6.1 pkt_sched.h, TCA_HFSC_RSC, TCA_HFSC_FSC and TCA_HFSC_USC.
        for (attribute, key, curve) in [(1, "rt", node.rt), (2, "ls", node.ls), (3, "ul", node.ul)]
        {
            let Some(curve) = curve else { continue };
            let place = || format!("{place}.classes[{class}].{key}");
            let (words_of_curve, values) = shown_curve(curve, place)?;
            words.push_str(&format!(" {key}{words_of_curve}"));
            options.push(option(Some(attribute), 0, Width::U32, key, values));
        }
        // A class without a parent is below the root class, which has the handle's number.
        let parent = node.parent.map_or(HANDLE, number);
        let above = node.parent.map_or_else(shown_handle, |parent| shown(number(parent)));
        let id = shown(number(class));
        out.lines.push(format!("class add dev out parent {above} classid {id} hfsc{words}"));
        let kind = "hfsc".to_owned();
        out.plan.classes.push((number(class), parent, KernelQdisc { kind, options }));
    }
    Ok(out)
}

/// The bytes that classes count in addition to a packet's size.
fn layer(place: &str, framing: Framing) -> Planned<String> {
    let Framing { overhead, packing } = framing;
    if !(0..=i64::from(u16::MAX)).contains(&overhead) || packing.mpu > u64::from(u16::MAX) {
        return refuse(place, "the kernel's classes take an `overhead` and `mpu` of 0B to 65535B");
    }
    let cells = match packing.cells {
        Cells::None => "",
        Cells::Atm => " linklayer atm",
        Cells::Ptm => {
            return refuse(format!("{place}.cells"), "the kernel's classes have no PTM cells");
        }
    };
    Ok(format!(" overhead {overhead} mpu {}{cells}", packing.mpu))
}

/// A class as the kernel reports it (Linux 6.1 pkt_sched.h, TCA_HTB_PARMS: struct tc_htb_opt, which
/// begins with two struct tc_ratespec).
fn shown_class(node: &HtbNode, Framing { overhead, packing }: Framing) -> KernelQdisc {
    let u32s = |offset, name: &str, values| option(Some(1), offset, Width::U32, name, values);
    let bytes = |offset, name: &str, value: u64| {
        let [low, high, ..] = value.to_le_bytes().map(u32::from);
        option(Some(1), offset, Width::U8, name, vec![low, high])
    };
    let of_rate = |bps: u64| (bps / 8) as u32;
    let (rate, ceil) = (node.rate.as_bps(), node.ceil.as_bps());
    let buffers = vec![ticks(node.burst_bytes, rate), ticks(node.cburst_bytes, ceil)];
    let layer = 1 + u32::from(packing.cells == Cells::Atm);
    let options = vec![
        option(Some(1), 1, Width::U8, "link layer", vec![layer]),
        bytes(2, "overhead, bytes", overhead as u64),
        bytes(6, "mpu, bytes", packing.mpu),
        u32s(8, "rate, bytes/s", vec![of_rate(rate)]),
        u32s(20, "ceil, bytes/s", vec![of_rate(ceil)]),
        u32s(24, "burst and cburst, ticks of 64 ns", buffers),
        u32s(32, "quantum, bytes", vec![node.quantum_bytes as u32]),
        u32s(40, "prio", vec![u32::from(node.priority)]),
    ];
    KernelQdisc { kind: "htb".to_owned(), options }
}

/// The time to send `bytes` at a rate, in ticks of 64 ns. The kernel reports the number that tc
/// gave it, so this computes in floating point and drops fractions of microseconds and of ticks as
/// tc does (iproute2 6.1 tc_core.c, tc_calc_xmittime, tc_core_time2tick).
fn ticks(bytes: u64, bps: u64) -> u32 {
    const TICKS_PER_MICROSECOND: f64 = 15.625;
    let seconds = bytes as f64 / (bps / 8) as f64;
    ((1e6 * seconds).trunc() * TICKS_PER_MICROSECOND) as u32
}

#[cfg(test)]
pub(crate) mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::ticks;
    use crate::plan::Plan;
    use crate::planning::{Kernel, plan};

    /// Two classes, of which the second is the default one, under one with their rate.
    pub(crate) const TREE: &str = r#"
name = "tree"
duration = "2s"
[links.up]
rate = "12mbit"
queue = "codel@linux:limit=500p"
[links.up.scheduler]
kind = "htb"
default = "rest"
overhead = "4B"
classes = [
    { name = "call", parent = "all", rate = "1mbit", ceil = "10mbit", prio = 1, dscp = ["ef"] },
    { name = "all", rate = "10mbit" },
    { name = "rest", parent = "all", rate = "8mbit", ceil = "10mbit", queue = "sfq" },
]
[[flows]]
path = ["up"]
rtt = "20ms"
dscp = "ef"
app = { kind = "bulk" }
[[flows]]
path = ["up"]
rtt = "20ms"
app = { kind = "bulk" }
"#;

    pub(crate) fn planned() -> Plan {
        plan_of(TREE)
    }

    pub(crate) fn plan_of(text: &str) -> Plan {
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(text, &Source::default(), &none).unwrap();
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        plan(scenario.resolved(), kernel).unwrap()
    }

    #[test]
    fn parents_are_added_before_children_and_queues_without_tc_are_left_to_the_host() {
        let plan = planned();
        let lines = plan.commands.iter().map(|command| command.arguments.join(" "));
        let lines: Vec<_> = lines.filter(|line| line.contains(" 10:")).collect();
        let class = |parent: &str, minor: u8, rest: &str| {
            format!("class add dev out parent {parent} classid 10:{minor} htb {rest}")
        };
        let call = "rate 1000000bit ceil 10000000bit burst 1600b cburst 1600b quantum 12500 prio 1";
        let expected = [
            "qdisc add dev out parent 1:1 handle 10: htb r2q 10 default 3 direct_qlen 1000"
                .to_owned(),
            class("10:", 2, "rate 10000000bit ceil 10000000bit burst 1600b"),
            class("10:2", 1, &format!("{call} overhead 4 mpu 0")),
            class("10:2", 3, "rate 8000000bit ceil 10000000bit burst 1600b"),
            "qdisc add dev out parent 10:1 handle 20: codel limit 500".to_owned(),
            "filter add dev out parent 10: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc \
             flowid 10:1"
                .to_owned(),
        ];
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        for (line, expected) in lines.iter().zip(&expected) {
            assert!(line.starts_with(expected.as_str()), "{line}\n{expected}");
        }
        let classes = plan.classes.unwrap();
        assert_eq!(
            classes.leaves.iter().map(|leaf| leaf.by_netlink).collect::<Vec<_>>(),
            [false, true]
        );
        // 1600 B at 1 and 10 Mbit/s, in ticks of 64 ns.
        let (_, _, call) = &classes.classes[1];
        let buffers = call.options.iter().find(|option| option.name.starts_with("burst")).unwrap();
        assert_eq!(buffers.shown, [200_000, 20_000]);
    }

    /// Linux 6.1 sch_ets.c, ets_qdisc_dump.
    #[test]
    fn ets_has_strict_bands_and_quanta() {
        let start = TREE.find("[links.up.scheduler]").unwrap();
        let end = TREE.find("[[flows]]").unwrap();
        let scheduler = r#"[links.up.scheduler]
            kind = "ets"
            default = "rest"
            classes = [
                { name = "call", dscp = ["ef"] },
                { name = "bulk", quantum = "3000B", dscp = ["cs1"] },
                { name = "rest", quantum = "9000B" },
            ]
        "#;
        let plan = plan_of(&format!("{}{scheduler}{}", &TREE[..start], &TREE[end..]));
        let classes = plan.classes.unwrap();
        assert_eq!(
            classes.leaves.iter().map(|leaf| leaf.class & 0xf).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        let lines = plan.commands.iter().map(|command| command.arguments.join(" "));
        let head = lines.into_iter().find(|line| line.contains(" ets ")).unwrap();
        let map = " 2".repeat(16);
        let words = format!("handle 10: ets bands 3 strict 1 quanta 3000 9000 priomap{map}");
        assert!(head.ends_with(&words), "{head}");
        let of = |it: &crate::plan::QdiscOption| (it.attribute, it.offset, it.shown[0]);
        let shown: Vec<_> = classes.scheduler.options.iter().map(of).collect();
        assert_eq!(
            shown[..4],
            [(Some(1), 0, 3), (Some(2), 0, 1), (Some(3), 4, 3000), (Some(3), 12, 9000)]
        );
        assert_eq!(shown[19], (Some(5), 4 + 8 * 15, 2));
    }

    #[test]
    fn a_burst_has_the_ticks_of_whole_microseconds_as_from_tc() {
        // As tc of iproute2 6.1 sets it: 2133 of 2133.3 us.
        assert_eq!(ticks(1600, 6_000_000), 33_328);
    }

    #[test]
    fn a_packet_has_the_leaf_of_its_dscp() {
        let plan = planned();
        assert_eq!([46, 0].map(|dscp| plan.leaf_of(dscp)), [Some(0), Some(1)]);
        assert_eq!([46, 0].map(|dscp| plan.signals_of(dscp).0), [true, false]);
    }
}

//! Trees of HTB.

use sojourn_aqm::qdiscs::classes::{Htb, HtbNode};
use sojourn_aqm::{Cells, Env, Framing, Packing, Qdisc, Rate};

use super::{Class, Tree};
use crate::arrivals::TestPacket;

/// Rate and ceiling in kbit/s, depth of both buckets in bytes, quantum, priority.
type Share = (u64, u64, u64, u64, u8);

/// The three classes of `simple.qos` of sqm-scripts at 60 Mbit/s.
const SIMPLE: &[Class<Share>] = &[
    (0x1, 0, (60_000, 60_000, 7_500, 7_500, 0)),
    (0x11, 0x1, (128, 20_000, 7_500, 300, 1)),
    (0x12, 0x1, (10_000, 59_984, 7_500, 300, 2)),
    (0x13, 0x1, (10_000, 59_984, 7_500, 300, 3)),
];

/// Four levels, two roots, several priorities, ceilings that bind.
const DEEP: &[Class<Share>] = &[
    (0x1, 0, (70_000, 70_000, 3_000, 10_000, 0)),
    (0x2, 0x1, (40_000, 70_000, 1_600, 2_000, 0)),
    (0x3, 0x2, (10_000, 70_000, 1_600, 1_500, 0)),
    (0x4, 0x2, (10_000, 12_000, 1_600, 1_000, 0)),
    (0x5, 0x1, (20_000, 65_000, 20_000, 5_000, 0)),
    (0x6, 0x5, (5_000, 60_000, 1_600, 3_000, 1)),
    (0x7, 0x5, (15_000, 60_000, 1_600, 20_000, 0)),
    (0x8, 0, (5_000, 10_000, 1_600, 1_000, 2)),
    (0x9, 0x2, (15_000, 20_000, 1_600, 1_000, 0)),
    (0xa, 0x9, (3_000, 20_000, 1_600, 700, 0)),
    (0xb, 0x9, (3_000, 20_000, 1_600, 1_400, 0)),
];

/// The trees, and whether classes count 40 bytes more and ATM cells.
const TREES: [(Tree<Share>, bool); 3] = [
    (Tree { name: "htb, simple.qos", classes: SIMPLE, leaves: &[0x11, 0x12, 0x13] }, false),
    (Tree { name: "htb, four levels", classes: DEEP, leaves: DEEP_LEAVES }, false),
    (Tree { name: "htb, ATM cells", classes: SIMPLE, leaves: &[0x13, 0x12] }, true),
];

const DEEP_LEAVES: &[u32] = &[0x3, 0x4, 0x6, 0x7, 0x8, 0xa, 0xb, 0x3, 0x7, 0, 0xb];

/// The names of the trees with the options of the kernel.
pub(super) fn all() -> impl Iterator<Item = (&'static str, String)> {
    TREES.iter().map(|(tree, is_atm)| {
        let atm = if *is_atm { " atm=1 overhead=40" } else { "" };
        (tree.name, tree.options(argument) + atm)
    })
}

/// Our discipline with that name; `None` if it is not a tree of HTB.
pub(super) fn build(name: &str, env: &Env) -> Option<Box<dyn Qdisc<TestPacket>>> {
    let (tree, is_atm) = TREES.iter().find(|(tree, _)| tree.name == name)?;
    Some(ours(tree, *is_atm).build(tree.queues(env)))
}

fn ours(tree: &Tree<Share>, is_atm: bool) -> Htb {
    let class = |&(_, parent, (rate, ceil, burst, quantum, priority)): &Class<Share>| HtbNode {
        parent: tree.place(parent),
        rate: Rate::from_bps(rate * 1000),
        ceil: Rate::from_bps(ceil * 1000),
        burst_bytes: burst,
        cburst_bytes: burst,
        quantum_bytes: quantum,
        priority,
    };
    let cells = if is_atm { Cells::Atm } else { Cells::None };
    let overhead = if is_atm { 40 } else { 0 };
    Htb {
        classes: tree.classes.iter().map(class).collect(),
        class_of: tree.class_of(),
        framing: Framing { overhead, packing: Packing { mpu: 0, cells } },
    }
}

/// The rates in a class's argument of shim/laws/htb.c. tc gives the kernel buckets in ticks of 64
/// ns, rounded up.
fn argument(&(rate, ceil, burst, quantum, priority): &Share) -> String {
    let [rate, ceil] = [rate * 125, ceil * 125];
    let ticks = |rate: u64| (burst * 1_000_000_000).div_ceil(rate * 64);
    format!("{rate},{ceil},{},{},{quantum},{priority}", ticks(rate), ticks(ceil))
}

//! Trees of HTB: ours, and the same as arguments of the kernel's program.

use sojourn_aqm::qdiscs::classes::{CODE_POINTS, Htb, HtbNode};
use sojourn_aqm::{Cells, Env, Framing, Packing, Qdisc, QdiscSpec, Rate, registry};

use crate::arrivals::TestPacket;

/// A class: its number, that of its parent or 0, rate and ceiling in kbit/s, depth of both buckets
/// in bytes, quantum, priority.
type Row = (u32, u32, u64, u64, u64, u64, u8);

/// A tree. Each leaf is a queue of 1000 packets.
struct Tree {
    name: &'static str,
    rows: &'static [Row],
    /// The leaves that DSCPs choose in turn; 0 for none.
    leaves: &'static [u32],
    /// Whether classes count 40 bytes more and ATM cells.
    is_atm: bool,
}

/// The three classes of `simple.qos` of sqm-scripts at 60 Mbit/s.
const SIMPLE: &[Row] = &[
    (0x1, 0, 60_000, 60_000, 7_500, 7_500, 0),
    (0x11, 0x1, 128, 20_000, 7_500, 300, 1),
    (0x12, 0x1, 10_000, 59_984, 7_500, 300, 2),
    (0x13, 0x1, 10_000, 59_984, 7_500, 300, 3),
];

/// Four levels, two roots, several priorities, ceilings that bind.
const DEEP: &[Row] = &[
    (0x1, 0, 70_000, 70_000, 3_000, 10_000, 0),
    (0x2, 0x1, 40_000, 70_000, 1_600, 2_000, 0),
    (0x3, 0x2, 10_000, 70_000, 1_600, 1_500, 0),
    (0x4, 0x2, 10_000, 12_000, 1_600, 1_000, 0),
    (0x5, 0x1, 20_000, 65_000, 20_000, 5_000, 0),
    (0x6, 0x5, 5_000, 60_000, 1_600, 3_000, 1),
    (0x7, 0x5, 15_000, 60_000, 1_600, 20_000, 0),
    (0x8, 0, 5_000, 10_000, 1_600, 1_000, 2),
    (0x9, 0x2, 15_000, 20_000, 1_600, 1_000, 0),
    (0xa, 0x9, 3_000, 20_000, 1_600, 700, 0),
    (0xb, 0x9, 3_000, 20_000, 1_600, 1_400, 0),
];

const TREES: [Tree; 3] = [
    Tree { name: "htb, simple.qos", rows: SIMPLE, leaves: &[0x11, 0x12, 0x13], is_atm: false },
    Tree {
        name: "htb, four levels",
        rows: DEEP,
        leaves: &[0x3, 0x4, 0x6, 0x7, 0x8, 0xa, 0xb, 0x3, 0x7, 0, 0xb],
        is_atm: false,
    },
    Tree { name: "htb, ATM cells", rows: SIMPLE, leaves: &[0x13, 0x12], is_atm: true },
];

/// The names of the trees with the options of the kernel.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, String)> {
    TREES.iter().map(|tree| (tree.name, tree.options()))
}

/// Whether the cases of a law are trees.
pub(crate) fn is_tree(law: &str) -> bool {
    matches!(law, "htb" | "hfsc")
}

/// Our discipline of that name; none if it is not a tree.
pub(crate) fn build(name: &str, env: &Env) -> Option<Box<dyn Qdisc<TestPacket>>> {
    let tree = TREES.iter().find(|tree| tree.name == name)?.ours();
    let leaves = (0..tree.classes.len()).filter(|&class| tree.is_leaf(class)).count();
    let queue = QdiscSpec::parse("taildrop:limit=1000p").expect("a known AQM");
    let queue = |_| registry::build(&queue, env).expect("a legal AQM");
    Some(tree.build((0..leaves).map(queue).collect()))
}

impl Tree {
    fn leaf_of(&self, dscp: usize) -> u32 {
        self.leaves[dscp % self.leaves.len()]
    }

    fn ours(&self) -> Htb {
        let place = |number: u32| self.rows.iter().position(|row| row.0 == number);
        let class = |&(_, parent, rate, ceil, burst, quantum, priority): &Row| HtbNode {
            parent: place(parent),
            rate: Rate::from_bps(rate * 1000),
            ceil: Rate::from_bps(ceil * 1000),
            burst_bytes: burst,
            cburst_bytes: burst,
            quantum_bytes: quantum,
            priority,
        };
        let class_of = |dscp| place(self.leaf_of(dscp)).map(|class| class as u8);
        let cells = if self.is_atm { Cells::Atm } else { Cells::None };
        let overhead = if self.is_atm { 40 } else { 0 };
        Htb {
            classes: self.rows.iter().map(class).collect(),
            class_of: std::array::from_fn(class_of),
            framing: Framing { overhead, packing: Packing { mpu: 0, cells } },
        }
    }

    /// The arguments of shim/laws/htb.c. tc gives the kernel buckets in ticks of 64 ns, rounded up.
    fn options(&self) -> String {
        let class = |&(number, parent, rate, ceil, burst, quantum, priority): &Row| {
            let [rate, ceil] = [rate * 125, ceil * 125];
            let ticks = |rate: u64| (burst * 1_000_000_000).div_ceil(rate * 64);
            let [buffer, cbuffer] = [ticks(rate), ticks(ceil)];
            format!("{number},{parent},{rate},{ceil},{buffer},{cbuffer},{quantum},{priority};")
        };
        let classes: String = self.rows.iter().map(class).collect();
        let filters = (0..CODE_POINTS).map(|dscp| format!("{},", self.leaf_of(dscp)));
        let filters: String = filters.collect();
        let atm = if self.is_atm { " atm=1 overhead=40" } else { "" };
        format!("classes={classes} filters={filters}{atm}")
    }
}

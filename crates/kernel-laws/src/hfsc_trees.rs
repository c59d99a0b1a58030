//! Trees of HFSC: ours, and the same as arguments of the kernel's program.

use sojourn_aqm::qdiscs::classes::{CODE_POINTS, Hfsc, HfscNode, ServiceCurve};
use sojourn_aqm::{Env, Qdisc, QdiscSpec, Rate, Span, registry};

use crate::arrivals::TestPacket;

/// `m1` in kbit/s, `d` in microseconds, `m2` in kbit/s.
type Curve = (u64, u64, u64);
/// A class: its number, that of its parent or 0, and its curves rt, ls, ul; zeros for none.
type Row = (u32, u32, Curve, Curve, Curve);

/// A tree. Each leaf is a queue of 1000 packets.
struct Tree {
    name: &'static str,
    rows: &'static [Row],
    /// The leaves that DSCPs choose in turn; 0 for none.
    leaves: &'static [u32],
}

const NONE: Curve = (0, 0, 0);

/// A shaped line whose classes have the curves of qosmate: real time for games, shares for others.
const SHAPED: &[Row] = &[
    (0x1, 0, NONE, (0, 0, 60_000), (0, 0, 60_000)),
    (0x11, 0x1, (30_000, 5_000, 8_000), (0, 0, 10_000), NONE),
    (0x12, 0x1, NONE, (40_000, 25_000, 20_000), NONE),
    (0x13, 0x1, NONE, (10_000, 25_000, 30_000), NONE),
    (0x14, 0x1, NONE, (0, 0, 5_000), (0, 0, 9_000)),
];

/// Three levels, convex and concave curves, limits on the way, and a leaf with real time alone.
const DEEP: &[Row] = &[
    (0x1, 0, NONE, (0, 0, 50_000), (0, 0, 70_000)),
    (0x2, 0x1, (0, 0, 30_000), NONE, (0, 0, 40_000)),
    (0x3, 0x2, (2_000, 20_000, 9_000), (3_000, 10_000, 10_000), NONE),
    (0x4, 0x2, NONE, (20_000, 10_000, 5_000), (30_000, 30_000, 12_000)),
    (0x5, 0x1, NONE, (0, 0, 20_000), NONE),
    (0x6, 0x5, (0, 10_000, 6_000), (0, 0, 6_000), NONE),
    (0x7, 0x5, NONE, (0, 0, 14_000), NONE),
    (0x8, 0, (4_000, 8_000, 3_000), NONE, NONE),
    (0x9, 0, NONE, (0, 0, 10_000), (0, 0, 25_000)),
];

const TREES: [Tree; 3] = [
    Tree { name: "hfsc, shaped", rows: SHAPED, leaves: &[0x13, 0x11, 0x12, 0x14] },
    Tree { name: "hfsc, three levels", rows: DEEP, leaves: &[0x3, 0x4, 0x6, 0x7, 0x8, 0x9, 0x7] },
    Tree { name: "hfsc, packets of no class", rows: SHAPED, leaves: &[0x12, 0x11, 0, 0x13] },
];

/// The names of the trees with the options of the kernel.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, String)> {
    TREES.iter().map(|tree| (tree.name, tree.options()))
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

    fn ours(&self) -> Hfsc {
        let place = |number: u32| self.rows.iter().position(|row| row.0 == number);
        let rate = |kbit: u64| (kbit > 0).then(|| Rate::from_bps(kbit * 1000));
        let curve = |(m1, d, m2): Curve| {
            let curve = ServiceCurve { m1: rate(m1), d: Span::from_micros(d), m2: rate(m2) };
            (m1 + m2 > 0).then_some(curve)
        };
        let class = |&(_, parent, rt, ls, ul): &Row| HfscNode {
            parent: place(parent),
            rt: curve(rt),
            ls: curve(ls),
            ul: curve(ul),
        };
        let class_of = |dscp| place(self.leaf_of(dscp)).map(|class| class as u8);
        Hfsc {
            classes: self.rows.iter().map(class).collect(),
            class_of: std::array::from_fn(class_of),
        }
    }

    /// The arguments of shim/laws/hfsc.c.
    fn options(&self) -> String {
        let curve = |(m1, d, m2): Curve| format!("{},{d},{}", m1 * 125, m2 * 125);
        let class = |&(number, parent, rt, ls, ul): &Row| {
            format!("{number},{parent},{},{},{};", curve(rt), curve(ls), curve(ul))
        };
        let classes: String = self.rows.iter().map(class).collect();
        let filters: String = (0..CODE_POINTS).map(|it| format!("{},", self.leaf_of(it))).collect();
        format!("classes={classes} filters={filters}")
    }
}

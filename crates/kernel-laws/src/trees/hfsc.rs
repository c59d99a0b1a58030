//! Trees of HFSC.

use sojourn_aqm::qdiscs::classes::{Hfsc, HfscNode, ServiceCurve};
use sojourn_aqm::{Env, Qdisc, Rate, Span};

use super::{Class, Tree};
use crate::arrivals::TestPacket;

/// Curves are `m1` in kbit/s, `d` in microseconds, and `m2` in kbit/s.
type Curve = (u64, u64, u64);
/// The curves rt, ls and ul; zeros for a missing curve.
type Share = [Curve; 3];

const NONE: Curve = (0, 0, 0);

/// A shaped line whose classes have the curves of qosmate: real time for games, shares for others.
const SHAPED: &[Class<Share>] = &[
    (0x1, 0, [NONE, (0, 0, 60_000), (0, 0, 60_000)]),
    (0x11, 0x1, [(30_000, 5_000, 8_000), (0, 0, 10_000), NONE]),
    (0x12, 0x1, [NONE, (40_000, 25_000, 20_000), NONE]),
    (0x13, 0x1, [NONE, (10_000, 25_000, 30_000), NONE]),
    (0x14, 0x1, [NONE, (0, 0, 5_000), (0, 0, 9_000)]),
];

/// Three levels, convex and concave curves, limits at inner classes, and a leaf with a real-time
/// curve only.
const DEEP: &[Class<Share>] = &[
    (0x1, 0, [NONE, (0, 0, 50_000), (0, 0, 70_000)]),
    (0x2, 0x1, [(0, 0, 30_000), NONE, (0, 0, 40_000)]),
    (0x3, 0x2, [(2_000, 20_000, 9_000), (3_000, 10_000, 10_000), NONE]),
    (0x4, 0x2, [NONE, (20_000, 10_000, 5_000), (30_000, 30_000, 12_000)]),
    (0x5, 0x1, [NONE, (0, 0, 20_000), NONE]),
    (0x6, 0x5, [(0, 10_000, 6_000), (0, 0, 6_000), NONE]),
    (0x7, 0x5, [NONE, (0, 0, 14_000), NONE]),
    (0x8, 0, [(4_000, 8_000, 3_000), NONE, NONE]),
    (0x9, 0, [NONE, (0, 0, 10_000), (0, 0, 25_000)]),
];

const TREES: [Tree<Share>; 3] = [
    Tree { name: "hfsc, shaped", classes: SHAPED, leaves: &[0x13, 0x11, 0x12, 0x14] },
    Tree {
        name: "hfsc, three levels",
        classes: DEEP,
        leaves: &[0x3, 0x4, 0x6, 0x7, 0x8, 0x9, 0x7],
    },
    Tree { name: "hfsc, packets of no class", classes: SHAPED, leaves: &[0x12, 0x11, 0, 0x13] },
];

/// The names of the trees with the options of the kernel.
pub(super) fn all() -> impl Iterator<Item = (&'static str, String)> {
    TREES.iter().map(|tree| (tree.name, tree.options(argument)))
}

/// Our discipline with that name; `None` if it is not a tree of HFSC.
pub(super) fn build(name: &str, env: &Env) -> Option<Box<dyn Qdisc<TestPacket>>> {
    let tree = TREES.iter().find(|tree| tree.name == name)?;
    Some(ours(tree).build(tree.queues(env)))
}

fn ours(tree: &Tree<Share>) -> Hfsc {
    let rate = |kbit: u64| (kbit > 0).then(|| Rate::from_bps(kbit * 1000));
    let curve = |(m1, d, m2): Curve| {
        let curve = ServiceCurve { m1: rate(m1), d: Span::from_micros(d), m2: rate(m2) };
        (m1 + m2 > 0).then_some(curve)
    };
    let class = |&(_, parent, [rt, ls, ul]): &Class<Share>| HfscNode {
        parent: tree.place(parent),
        rt: curve(rt),
        ls: curve(ls),
        ul: curve(ul),
    };
    Hfsc { classes: tree.classes.iter().map(class).collect(), class_of: tree.class_of() }
}

/// The curves in a class's argument of shim/laws/hfsc.c.
fn argument(curves: &Share) -> String {
    curves.map(|(m1, d, m2)| format!("{},{d},{}", m1 * 125, m2 * 125)).join(",")
}

//! Bands of ETS.

use sojourn_aqm::qdiscs::classes::Ets;
use sojourn_aqm::{Env, Qdisc};

use super::{Class, Tree};
use crate::arrivals::TestPacket;

/// A strict band and four that take turns, of which one has less than a packet per turn.
const MIXED: &[Class<u64>] =
    &[(0x1, 0, 0), (0x2, 0, 3000), (0x3, 0, 1514), (0x4, 0, 300), (0x5, 0, 9000)];
/// Turns only, as in drr.
const TURNS: &[Class<u64>] = &[(0x1, 0, 1514), (0x2, 0, 4000), (0x3, 0, 700)];
/// Strict bands before one that has all turns.
const STRICT: &[Class<u64>] = &[(0x1, 0, 0), (0x2, 0, 0), (0x3, 0, 1514)];

const TREES: [Tree<u64>; 3] = [
    Tree {
        name: "ets, a strict band",
        classes: MIXED,
        leaves: &[0x5, 0x2, 0x3, 0x4, 0x2, 0x1, 0x3],
    },
    Tree { name: "ets, turns", classes: TURNS, leaves: &[0x3, 0x1, 0x2] },
    Tree { name: "ets, two strict bands", classes: STRICT, leaves: &[0x3, 0x2, 0x3, 0x3, 0x1] },
];

/// The names of the disciplines with the options of the kernel.
pub(super) fn all() -> impl Iterator<Item = (&'static str, String)> {
    TREES.iter().map(|tree| (tree.name, tree.options(u64::to_string)))
}

/// Our discipline with that name; `None` if it is not ETS.
pub(super) fn build(name: &str, env: &Env) -> Option<Box<dyn Qdisc<TestPacket>>> {
    let tree = TREES.iter().find(|tree| tree.name == name)?;
    let class_of = tree.class_of().map(|class| class.expect("each DSCP has a band"));
    let quanta = tree.classes.iter().map(|class| (class.2 > 0).then_some(class.2));
    Some(Ets { quanta: quanta.collect(), class_of }.build(tree.queues(env)))
}

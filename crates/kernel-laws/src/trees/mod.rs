//! Trees of classes: ours, and the same trees as arguments of the kernel's program.

mod ets;
mod hfsc;
mod htb;

use sojourn_aqm::qdiscs::classes::CODE_POINTS;
use sojourn_aqm::{Env, Qdisc, QdiscSpec, registry};

use crate::arrivals::TestPacket;

/// A class: its number, its parent's number or 0, and its rates or curves.
type Class<S> = (u32, u32, S);

/// A tree. Each leaf is a queue of 1000 packets.
struct Tree<S: 'static> {
    name: &'static str,
    classes: &'static [Class<S>],
    /// The leaves to which DSCPs map in turn; 0 for no leaf.
    leaves: &'static [u32],
}

/// The law, name and kernel options of each tree.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let htb = htb::all().map(|(name, options)| ("htb", name, options));
    let hfsc = hfsc::all().map(|(name, options)| ("hfsc", name, options));
    htb.chain(hfsc).chain(ets::all().map(|(name, options)| ("ets", name, options)))
}

/// Whether the cases of a law are trees.
pub(crate) fn is_tree(law: &str) -> bool {
    matches!(law, "htb" | "hfsc" | "ets")
}

/// Our discipline with that name; `None` if it is not a tree.
pub(crate) fn build(name: &str, env: &Env) -> Option<Box<dyn Qdisc<TestPacket>>> {
    htb::build(name, env).or_else(|| hfsc::build(name, env)).or_else(|| ets::build(name, env))
}

impl<S> Tree<S> {
    fn leaf_of(&self, dscp: usize) -> u32 {
        self.leaves[dscp % self.leaves.len()]
    }

    /// The index of the class with that number.
    fn place(&self, number: u32) -> Option<usize> {
        self.classes.iter().position(|class| class.0 == number)
    }

    fn class_of(&self) -> [Option<u8>; CODE_POINTS] {
        std::array::from_fn(|dscp| self.place(self.leaf_of(dscp)).map(|class| class as u8))
    }

    /// The queues of its leaves.
    fn queues(&self, env: &Env) -> Vec<Box<dyn Qdisc<TestPacket>>> {
        let is_leaf = |class: &&Class<S>| self.classes.iter().all(|other| other.1 != class.0);
        let queue = QdiscSpec::parse("taildrop:limit=1000p").expect("a known AQM");
        let queue = |_| registry::build(&queue, env).expect("a legal AQM");
        self.classes.iter().filter(is_leaf).map(queue).collect()
    }

    /// The arguments of shim/laws/tree.h, with the text of each class's rates or curves.
    fn options(&self, share: impl Fn(&S) -> String) -> String {
        let class = |(number, parent, it): &Class<S>| format!("{number},{parent},{};", share(it));
        let classes: String = self.classes.iter().map(class).collect();
        let filters: String = (0..CODE_POINTS).map(|it| format!("{},", self.leaf_of(it))).collect();
        format!("classes={classes} filters={filters}")
    }
}

//! Schedulers of classes, resolved.

use sojourn_aqm::qdiscs::classes::{CODE_POINTS, Htb, HtbNode, Prio};
#[cfg(not(target_arch = "wasm32"))]
use sojourn_aqm::qdiscs::classes::{Ets, Hfsc, HfscNode};
use sojourn_aqm::{Framing, Limit, QdiscSpec};

/// The scheduler of a link's classes.
#[derive(Clone, PartialEq, Debug)]
pub struct Scheduler {
    /// How it chooses among its classes.
    pub kind: SchedulerKind,
    /// The class of packets whose DSCP no class has, by index.
    pub default: Option<usize>,
    /// Its classes.
    pub classes: Vec<Class>,
}

/// How a scheduler chooses among its classes.
#[derive(Clone, PartialEq, Debug)]
pub enum SchedulerKind {
    /// By rates and ceilings.
    Htb {
        /// The rates of each class.
        classes: Vec<HtbNode>,
        /// The framing that the classes count for each packet.
        framing: Framing,
    },
    /// By service curves, by class.
    #[cfg(not(target_arch = "wasm32"))]
    Hfsc(Vec<HfscNode>),
    /// By strict priority.
    Prio,
    /// By strict priority, then by turns of this many bytes, by class.
    #[cfg(not(target_arch = "wasm32"))]
    Ets(Vec<Option<u64>>),
}

/// A class.
#[derive(Clone, PartialEq, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The DSCPs of its packets.
    pub dscp: Vec<u8>,
    /// Its own queue with its limit; the link's if it has none.
    pub queue: Option<(QdiscSpec, Limit)>,
}

impl Scheduler {
    /// The word for its kind.
    pub fn word(&self) -> &'static str {
        match self.kind {
            SchedulerKind::Htb { .. } => "htb",
            #[cfg(not(target_arch = "wasm32"))]
            SchedulerKind::Hfsc(_) => "hfsc",
            SchedulerKind::Prio => "prio",
            #[cfg(not(target_arch = "wasm32"))]
            SchedulerKind::Ets(_) => "ets",
        }
    }

    /// The classes that have a queue, by index.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        (0..self.classes.len()).filter(|&class| match &self.kind {
            SchedulerKind::Htb { classes, .. } => {
                classes.iter().all(|other| other.parent != Some(class))
            }
            #[cfg(not(target_arch = "wasm32"))]
            SchedulerKind::Hfsc(classes) => classes.iter().all(|it| it.parent != Some(class)),
            SchedulerKind::Prio => true,
            #[cfg(not(target_arch = "wasm32"))]
            SchedulerKind::Ets(_) => true,
        })
    }

    /// The class of a DSCP, by index.
    pub fn class_of(&self, dscp: usize) -> Option<u8> {
        let has = |class: &Class| class.dscp.iter().any(|&own| usize::from(own) == dscp);
        self.classes.iter().position(has).or(self.default).map(|class| class as u8)
    }

    /// The tree that it builds, if it is an HTB.
    pub fn htb(&self) -> Option<Htb> {
        let SchedulerKind::Htb { classes, framing } = &self.kind else { return None };
        let class_of = std::array::from_fn(|dscp| self.class_of(dscp));
        Some(Htb { classes: classes.clone(), class_of, framing: *framing })
    }

    /// The tree that it builds, if it is an HFSC.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn hfsc(&self) -> Option<Hfsc> {
        let SchedulerKind::Hfsc(classes) = &self.kind else { return None };
        let class_of = std::array::from_fn(|dscp| self.class_of(dscp));
        Some(Hfsc { classes: classes.clone(), class_of })
    }

    /// The bands, if it is an ETS.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn ets(&self) -> Option<Ets> {
        let SchedulerKind::Ets(quanta) = &self.kind else { return None };
        let of = |dscp| self.class_of(dscp).expect("ets has a default class");
        Some(Ets { quanta: quanta.clone(), class_of: std::array::from_fn(of) })
    }

    /// The bands, if its classes have strict priority.
    pub fn prio(&self) -> Option<Prio> {
        let SchedulerKind::Prio = self.kind else { return None };
        let of = |dscp| self.class_of(dscp).expect("prio has a default class");
        const { assert!(CODE_POINTS == 64) };
        Some(Prio { class_of: std::array::from_fn(of) })
    }
}

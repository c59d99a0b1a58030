//! The packets of each leaf class of a link's scheduler.
//!
//! A packet's DSCP names its leaf. A leaf counts a packet when the packet's fate is known; arrivals
//! are the sum of all fates.

use sojourn_aqm::qdiscs::classes::CODE_POINTS;
use sojourn_aqm::{CauseClass, QdiscSpec, Time, registry};
use sojourn_record::Histogram;
use sojourn_record::rows::{HistogramOf, Scope, SummaryRow};
use sojourn_scenario::resolved::Link;

use crate::metrics::{self, Metric};
use crate::queue_rows::{push_delays, push_histogram, summarise_fates};
use crate::{Fates, PacketView};

/// The name for packets without a class.
const UNCLASSIFIED: &str = "(unclassified)";

/// The leaves of a link.
#[derive(Clone, Debug)]
pub struct Leaves {
    /// The index of each DSCP's leaf.
    leaf_of: [u8; CODE_POINTS],
    /// The leaves in the order of the scenario, packets without a class last.
    leaves: Vec<Leaf>,
    /// When the warm-up ends.
    from: Time,
}

/// The counters of a leaf after the warm-up.
#[derive(Clone, Debug, Default)]
pub struct Leaf {
    /// The link's name and the class's name.
    pub name: String,
    /// Fates of the packets that arrived.
    pub fates: Fates,
    /// Packets that left.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets in its queue when the run ended.
    pub waiting: u64,
    /// Sojourn times of the packets that left.
    pub delays: Histogram,
}

impl Leaves {
    /// The leaves of a link; `None` without a scheduler, or if a queue clears the DSCP that
    /// identifies the leaf of a departing packet.
    pub(crate) fn of(link: &Link, from: Time) -> Option<Box<Leaves>> {
        let scheduler = link.scheduler.as_ref()?;
        let own: Vec<usize> = scheduler.leaves().collect();
        if own.iter().any(|&class| washes(link.queue_of(&scheduler.classes[class]).0)) {
            return None;
        }
        let names = own.iter().map(|&class| scheduler.classes[class].name.as_str());
        let leaf = |name| Leaf { name: format!("{}.{name}", link.name), ..Leaf::default() };
        let leaf_of = |dscp| {
            let class = scheduler.class_of(dscp).map(usize::from);
            own.iter().position(|&own| Some(own) == class).unwrap_or(own.len()) as u8
        };
        let leaf_of = std::array::from_fn(leaf_of);
        let leaves = names.chain([UNCLASSIFIED]).map(leaf).collect();
        Some(Box::new(Leaves { leaf_of, leaves, from }))
    }

    /// The leaves; includes packets without a class only if there were any.
    fn into_leaves(mut self) -> Vec<Leaf> {
        self.leaves.pop_if(|last| last.fates.arrived == 0 && last.sent == 0);
        self.leaves
    }

    fn leaf(&mut self, packet: &PacketView, arrived: Time) -> &mut Leaf {
        let leaf = &mut self.leaves[usize::from(self.leaf_of[usize::from(packet.dscp)])];
        leaf.fates.arrived += u64::from(arrived >= self.from);
        leaf
    }

    #[inline(never)]
    pub(crate) fn departed(&mut self, now: Time, packet: &PacketView, arrived: Time) {
        let counts = now >= self.from;
        let leaf = self.leaf(packet, arrived);
        if counts {
            leaf.sent += 1;
            leaf.bytes += u64::from(packet.bytes);
            leaf.delays.add(now.since(arrived).as_nanos());
        }
    }

    #[inline(never)]
    pub(crate) fn dropped(&mut self, packet: &PacketView, arrived: Time, cause: CauseClass) {
        let counts = arrived >= self.from;
        self.leaf(packet, arrived).fates.dropped[cause as usize] += u64::from(counts);
    }

    #[inline(never)]
    pub(crate) fn marked(&mut self, packet: &PacketView, arrived: Time, cause: CauseClass) {
        let leaf = &mut self.leaves[usize::from(self.leaf_of[usize::from(packet.dscp)])];
        leaf.fates.marked[cause as usize] += u64::from(arrived >= self.from);
    }

    pub(crate) fn waiting(&mut self, packet: &PacketView, arrived: Time) {
        self.leaf(packet, arrived).waiting += 1;
    }
}

/// Adds the rows and distributions of the leaves of a link.
pub(crate) fn summarise(
    leaves: Option<Box<Leaves>>,
    seconds: f64,
    rows: &mut Vec<SummaryRow>,
    histograms: &mut Vec<HistogramOf>,
) {
    for mut leaf in leaves.into_iter().flat_map(|leaves| leaves.into_leaves()) {
        summarise_leaf(rows, &leaf, seconds);
        push_histogram(histograms, Scope::Leaf, &leaf.name, "delay", &mut leaf.delays);
    }
}

/// A leaf class has the metrics of a queue that do not depend on the link's capacity.
fn summarise_leaf(rows: &mut Vec<SummaryRow>, leaf: &Leaf, seconds: f64) {
    let mut row = |metric: &Metric, value| {
        rows.push(metric.row_of(Scope::Leaf, &leaf.name, value));
    };
    push_delays(&mut row, &leaf.delays, &metrics::DELAY);
    row(&metrics::THROUGHPUT, leaf.bytes as f64 * 8.0 / seconds);
    row(&metrics::ARRIVED, leaf.fates.arrived as f64);
    row(&metrics::SENT, leaf.sent as f64);
    row(&metrics::WAITING, leaf.waiting as f64);
    summarise_fates(&mut row, &leaf.fates);
}

/// Whether a queue clears the DSCP of packets that leave (`wash` of CAKE).
fn washes(queue: &QdiscSpec) -> bool {
    let settings = registry::settings(queue).unwrap_or_default();
    settings.iter().any(|(name, value)| *name == "wash" && value == "true")
}

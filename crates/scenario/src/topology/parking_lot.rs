//! Links one behind the other.

use super::{Shape, ShapePath};

/// See [`crate::document::topology::ParkingLot`].
pub(super) struct ParkingLotShape {
    pub(super) hops: u32,
    pub(super) is_two_way: bool,
}

impl Shape for ParkingLotShape {
    fn links(&self) -> Vec<String> {
        let back = if self.is_two_way { self.hops } else { 0 };
        (1..=self.hops).map(hop).chain((1..=back).map(back_hop)).collect()
    }

    fn places(&self) -> u32 {
        self.hops + 1
    }

    fn paths(&self, from: u32, to: u32) -> Vec<ShapePath> {
        let (first, last) = (from.min(to), from.max(to));
        let forth = (first..last).map(hop).collect();
        let back = (first..last).rev().map(back_hop).collect();
        match (from < to, self.is_two_way) {
            (true, true) => vec![ShapePath { path: forth, reverse: back }],
            (true, false) => vec![ShapePath { path: forth, reverse: Vec::new() }],
            (false, true) => vec![ShapePath { path: back, reverse: forth }],
            (false, false) => Vec::new(),
        }
    }

    /// Over every single link.
    fn each(&self) -> Vec<(u32, u32)> {
        (1..=self.hops).map(|node| (node, node + 1)).collect()
    }
}

fn hop(number: u32) -> String {
    format!("hop-{number}")
}

fn back_hop(number: u32) -> String {
    format!("back-{number}")
}

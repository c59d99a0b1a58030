//! Links in a chain.

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

    fn path_count(&self, from: u32, to: u32) -> u32 {
        u32::from(from < to || self.is_two_way)
    }

    fn path(&self, from: u32, to: u32, _number: u32) -> ShapePath {
        let (first, last) = (from.min(to), from.max(to));
        let forth = (first..last).map(hop).collect();
        let back = (first..last).rev().map(back_hop).collect();
        match (from < to, self.is_two_way) {
            (true, true) => ShapePath { path: forth, reverse: back },
            (true, false) => ShapePath { path: forth, reverse: Vec::new() },
            (false, _) => ShapePath { path: back, reverse: forth },
        }
    }

    /// One pair for every single link.
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

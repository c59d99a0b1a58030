//! Hosts connected to one switch.

use super::{Shape, ShapePath};

/// See [`crate::document::topology::Star`].
pub(super) struct StarShape {
    pub(super) hosts: u32,
}

impl Shape for StarShape {
    fn links(&self) -> Vec<String> {
        (1..=self.hosts).flat_map(|host| [up(host), down(host)]).collect()
    }

    fn places(&self) -> u32 {
        self.hosts
    }

    fn path_count(&self, _from: u32, _to: u32) -> u32 {
        1
    }

    fn path(&self, from: u32, to: u32, _number: u32) -> ShapePath {
        ShapePath { path: vec![up(from), down(to)], reverse: vec![up(to), down(from)] }
    }

    /// Pairs every host with the next one, and the last with the first.
    fn each(&self) -> Vec<(u32, u32)> {
        (1..=self.hosts).map(|host| (host, host % self.hosts + 1)).collect()
    }
}

fn up(host: u32) -> String {
    format!("up-{host}")
}

fn down(host: u32) -> String {
    format!("down-{host}")
}

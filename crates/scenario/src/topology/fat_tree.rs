//! A data centre's tree of three layers of switches (Al-Fares, Loukissas and Vahdat 2008, §3).

use super::{Shape, ShapePath};

/// See [`crate::document::topology::FatTree`].
pub(super) struct FatTreeShape {
    pub(super) ports: u32,
}

/// Where a host is: its pod and its edge switch, from 1.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Edge {
    pod: u32,
    edge: u32,
}

impl FatTreeShape {
    fn half(&self) -> u32 {
        self.ports / 2
    }

    fn edge_of(&self, host: u32) -> Edge {
        let edges = (host - 1) / self.half();
        Edge { pod: edges / self.half() + 1, edge: edges % self.half() + 1 }
    }

    /// The links between two hosts in one direction, over a given aggregation and core switch.
    fn over(&self, from: u32, to: u32, aggregation: u32, core: u32) -> Vec<String> {
        let (first, last) = (self.edge_of(from), self.edge_of(to));
        let mut links = vec![format!("host-up-{from}")];
        if first != last {
            links.push(format!("edge-up-{}-{}-{aggregation}", first.pod, first.edge));
            if first.pod != last.pod {
                links.push(format!("core-up-{}-{aggregation}-{core}", first.pod));
                links.push(format!("core-down-{}-{aggregation}-{core}", last.pod));
            }
            links.push(format!("edge-down-{}-{}-{aggregation}", last.pod, last.edge));
        }
        links.push(format!("host-down-{to}"));
        links
    }
}

impl Shape for FatTreeShape {
    fn links(&self) -> Vec<String> {
        let mut names = Vec::new();
        for way in ["up", "down"] {
            names.extend((1..=self.places()).map(|host| format!("host-{way}-{host}")));
            for pod in 1..=self.ports {
                for first in 1..=self.half() {
                    for second in 1..=self.half() {
                        names.push(format!("edge-{way}-{pod}-{first}-{second}"));
                        names.push(format!("core-{way}-{pod}-{first}-{second}"));
                    }
                }
            }
        }
        names
    }

    fn places(&self) -> u32 {
        self.ports * self.half() * self.half()
    }

    fn path_count(&self, from: u32, to: u32) -> u32 {
        let (first, last) = (self.edge_of(from), self.edge_of(to));
        match (first == last, first.pod == last.pod) {
            (true, _) => 1,
            (false, true) => self.half(),
            (false, false) => self.half() * self.half(),
        }
    }

    /// Paths over the same aggregation switch have consecutive numbers.
    fn path(&self, from: u32, to: u32, number: u32) -> ShapePath {
        let cores = if self.edge_of(from).pod == self.edge_of(to).pod { 1 } else { self.half() };
        let (aggregation, core) = (number / cores + 1, number % cores + 1);
        ShapePath {
            path: self.over(from, to, aggregation, core),
            reverse: self.over(to, from, aggregation, core),
        }
    }

    /// Pairs every host with the host half of the tree away, in another pod.
    fn each(&self) -> Vec<(u32, u32)> {
        let hosts = self.places();
        (1..=hosts).map(|host| (host, (host - 1 + hosts / 2) % hosts + 1)).collect()
    }
}

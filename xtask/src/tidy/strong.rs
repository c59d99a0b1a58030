//! Cycles of a directed graph: its strongly connected components (Tarjan 1972).

/// The components of more than one node, each in ascending order; `edges[a]` lists the successors
/// of `a`.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        number: vec![None; edges.len()],
        low: vec![0; edges.len()],
        open: Vec::new(),
        count: 0,
        found: Vec::new(),
    };
    for node in 0..edges.len() {
        if search.number[node].is_none() {
            search.visit(node);
        }
    }
    search.found
}

struct Search<'a> {
    edges: &'a [Vec<usize>],
    /// The order in which nodes were visited.
    number: Vec<Option<usize>>,
    /// The earliest open node that is reachable from a node.
    low: Vec<usize>,
    open: Vec<usize>,
    count: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, node: usize) {
        let own = self.count;
        self.count += 1;
        self.number[node] = Some(own);
        self.low[node] = own;
        self.open.push(node);
        let edges = self.edges;
        for &next in &edges[node] {
            match self.number[next] {
                None => {
                    self.visit(next);
                    self.low[node] = self.low[node].min(self.low[next]);
                }
                Some(number) if self.open.contains(&next) => {
                    self.low[node] = self.low[node].min(number);
                }
                Some(_) => {}
            }
        }
        if self.low[node] == own {
            let start =
                self.open.iter().position(|&n| n == node).expect("a node in search is open");
            let mut component = self.open.split_off(start);
            component.sort_unstable();
            if component.len() > 1 {
                self.found.push(component);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_chains_are_not() {
        assert!(components(&[vec![1], vec![2], vec![]]).is_empty());
        let two = components(&[vec![1], vec![2, 3], vec![0], vec![4], vec![3], vec![0]]);
        assert_eq!(two, [vec![3, 4], vec![0, 1, 2]]);
    }

    #[test]
    fn a_node_that_leads_to_itself_is_not_a_circle() {
        assert!(components(&[vec![0]]).is_empty());
    }
}

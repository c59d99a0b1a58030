//! How many connections obtained the ECN that they requested.

use sojourn_measure::EcnConnections;
use sojourn_scenario::resolved::Resolved;

use super::{FlowEnds, World};

impl World {
    /// The connections of each class that requested ECN, in the order of [`Resolved::classes`].
    pub(crate) fn ecn_connections(&self, plan: &Resolved) -> Vec<EcnConnections> {
        let mut of_class = vec![EcnConnections::default(); plan.classes().len()];
        let names = plan.classes();
        let classes = plan.flows.iter().flat_map(|group| {
            let class = names.iter().position(|name| *name == group.class);
            std::iter::repeat_n(class.expect("a group has a class"), group.count as usize)
        });
        for (flow, class) in self.flows.iter().zip(classes) {
            let mut add = |ecn: EcnConnections| of_class[class].add(ecn);
            match &flow.ends {
                FlowEnds::Stream(stream) => add(stream.ecn_connections()),
                FlowEnds::Page(page) => page.streams().for_each(|each| add(each.ecn_connections())),
                FlowEnds::Datagrams(_) => {}
            }
        }
        of_class
    }
}

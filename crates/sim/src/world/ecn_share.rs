//! How many connections got the ECN that they requested.

use sojourn_record::Run;
use sojourn_record::rows::{Scope, SummaryRow};
use sojourn_scenario::resolved::Resolved;

use super::{FlowEnds, World};
use crate::app::setup::EcnConnections;

/// Name of the metric: connections whose data is ECN-capable, per connection that requested ECN
/// and was established.
const ECN_SHARE: &str = "ecn_share";

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
            let mut add = |ecn: EcnConnections| {
                of_class[class].established += ecn.established;
                of_class[class].capable += ecn.capable;
            };
            match flow {
                FlowEnds::Stream(stream) => add(stream.ecn_connections()),
                FlowEnds::Page(page) => page.streams().for_each(|each| add(each.ecn_connections())),
                FlowEnds::Datagrams(_) => {}
            }
        }
        of_class
    }
}

/// Adds the share of each class to the summary, behind the class's other metrics, and a warning
/// where it is below one.
pub(crate) fn add(run: &mut Run, connections: &[EcnConnections]) {
    let names = run.class_names.clone();
    for (name, ecn) in names.iter().zip(connections).filter(|(_, ecn)| ecn.established > 0) {
        let value = f64::from(ecn.capable) / f64::from(ecn.established);
        let is_of_class = |row: &SummaryRow| row.scope == Scope::Class && row.name == *name;
        let at = run.summary.iter().rposition(is_of_class).map_or(0, |last| last + 1);
        let row = SummaryRow {
            scope: Scope::Class,
            name: name.clone(),
            metric: ECN_SHARE,
            value,
            unit: "1",
        };
        run.summary.insert(at, row);
        if ecn.capable < ecn.established {
            run.warnings.push(format!(
                "class {name}: {} of {} connections use ECN, though all requested it; a lost SYN, \
                 the receiver or the path withheld it (`ecn_fallback = false` repeats the request \
                 in every SYN)",
                ecn.capable, ecn.established
            ));
        }
    }
}

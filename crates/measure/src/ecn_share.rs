//! How many connections obtained the ECN that they requested.

use sojourn_record::Run;
use sojourn_record::rows::{Scope, SummaryRow};

use crate::metrics;

/// Connections that requested ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnConnections {
    /// Connections that were established.
    pub established: u32,
    /// Established connections whose data is ECN-capable.
    pub capable: u32,
}

impl EcnConnections {
    /// Adds other connections.
    pub fn add(&mut self, others: EcnConnections) {
        self.established += others.established;
        self.capable += others.capable;
    }
}

/// Adds the share of each class to the summary, after the class's other metrics, and a warning if
/// it is below one.
pub fn add_to_summary(run: &mut Run, connections: &[EcnConnections]) {
    let names = run.class_names.clone();
    for (name, ecn) in names.iter().zip(connections).filter(|(_, ecn)| ecn.established > 0) {
        let value = f64::from(ecn.capable) / f64::from(ecn.established);
        let is_of_class = |row: &SummaryRow| row.scope == Scope::Class && row.name == *name;
        let at = run.summary.iter().rposition(is_of_class).map_or(0, |last| last + 1);
        run.summary.insert(at, metrics::ECN_SHARE.row(name, value));
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

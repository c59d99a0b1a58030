//! The wire behind a link, as planned.

use serde::{Deserialize, Serialize};
use sojourn_scenario::resolved::{Corrupt, DelayChanges, Jitter, Loss, Reorder};

/// The wire behind a link that loses packets or delays them unevenly.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WirePlan {
    /// The name of the link, which names its random streams.
    pub link: String,
    /// Random loss.
    pub loss: Option<Loss>,
    /// Extra delay.
    pub jitter: Option<Jitter>,
    /// Changes of the propagation delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<DelayChanges>,
    /// Packets that skip the delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Packets that receivers drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Corrupt>,
}

#[cfg(test)]
impl WirePlan {
    /// A wire that does nothing to packets.
    pub(crate) fn of(link: &str) -> WirePlan {
        let link = link.to_owned();
        WirePlan { link, loss: None, jitter: None, changes: None, reorder: None, corrupt: None }
    }
}

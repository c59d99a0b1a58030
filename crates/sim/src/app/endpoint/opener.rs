//! Opens the ends of a flow's connections.

use std::sync::Arc;

use sojourn_aqm::{Rng, Time};
use sojourn_endpoint::{HostSettings, Peer, Stack};

use super::guard::{FirstFailure, Guarded};

/// Opens ends with the settings of a flow.
pub(super) struct Opener {
    stack: Arc<dyn Stack>,
    mtu: u32,
    /// The names of the transport and of the flow.
    names: (String, String),
    failure: FirstFailure,
    /// The seeds of client and server.
    seeds: [[u8; 32]; 2],
    /// The number of the current connection.
    connection: u64,
}

impl Opener {
    pub(super) fn new(
        stack: Arc<dyn Stack>,
        mtu: u32,
        names: (String, String),
        failure: FirstFailure,
        seeds: [[u8; 32]; 2],
    ) -> Opener {
        Opener { stack, mtu, names, failure, seeds, connection: 0 }
    }

    /// One end of the current connection.
    ///
    /// # Errors
    /// The library refuses the path.
    pub(super) fn open(&self, role: Peer, now: Time) -> Result<Guarded, String> {
        let seed = self.seeds[usize::from(role == Peer::Server)];
        let end = self.stack.open(HostSettings { role, seed, mtu: self.mtu }, now)?;
        Ok(Guarded::new(end, self.names.clone(), role, self.failure.clone()))
    }

    /// Moves on to the next connection, which has other seeds.
    pub(super) fn next_connection(&mut self) {
        self.connection += 1;
        for seed in &mut self.seeds {
            let word = u64::from_le_bytes(seed[..8].try_into().expect("a seed has 32 bytes"));
            *seed = draw_seed(&mut Rng::stream(word, "connection", self.connection));
        }
    }
}

/// A seed for one end.
pub(crate) fn draw_seed(rng: &mut Rng) -> [u8; 32] {
    let mut seed = [0; 32];
    for word in seed.chunks_exact_mut(8) {
        word.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
    seed
}

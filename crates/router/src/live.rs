//! The router as a product of its own: packets of any program pass it in real time, between two network
//! name spaces, each with one TUN device. What passes from the near end to the far end goes the way
//! `forward`, what comes back the way `reverse`; each way has a queue and a rate, or neither, and a delay.
//!
//! Read [`words`] for what can be asked for, [`way`] for what happens to a packet, [`turn`] for the loop.

mod account;
mod devices;
mod space;
mod turn;
pub mod way;
pub mod words;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sojourn_record::Run;

pub use space::enter_private;
pub use turn::Failure;

use crate::plan::Street;

/// Addresses of the near and the far end, of the block that no site uses itself (RFC 6598).
pub const ADDRESSES: [&str; 2] = ["100.64.0.1", "100.64.0.2"];
/// Names of the interfaces there.
pub const INTERFACES: [&str; 2] = ["sojourn-near", "sojourn-far"];

/// One way through the router.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WayPlan {
    /// `forward` or `reverse`.
    pub name: String,
    /// Its queue and rate; none: packets are only delayed.
    pub street: Option<Street>,
    /// Its delay, nanoseconds.
    pub delay_ns: u64,
}

/// Where an end of the router is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In a name space made for it.
    New,
    /// In the name space of whoever runs the router.
    Host,
    /// In one that is there: its file.
    Join(String),
}

/// What the router is to do.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Live {
    /// Seed of every random stream.
    pub seed: u64,
    /// How long, nanoseconds; none: until the command or the user ends it.
    pub duration_ns: Option<u64>,
    /// Forward and reverse.
    pub ways: [WayPlan; 2],
    /// Near and far end.
    pub places: [Place; 2],
    /// What is run at the near and the far end: a program and its arguments, or nothing.
    pub commands: [Vec<String>; 2],
    /// The last so many nanoseconds before a packet is due are spent awake.
    pub spin_ns: u64,
    /// A packet that leaves later than this makes the run invalid, nanoseconds.
    pub stall_ns: u64,
    /// Largest IP packet, bytes.
    pub mtu_bytes: u32,
    /// Whether every packet is written down.
    pub packets: bool,
    /// Whether every drop and mark is, with the AQM's state before it.
    pub signals: bool,
}

/// What became of it.
pub struct Finished {
    /// The tables.
    pub run: Arc<Run>,
    /// What was configured, read back and measured beside them.
    pub facts: Value,
    /// Why it is no valid experiment, one sentence each.
    pub invalid: Vec<String>,
    /// How long it ran, seconds.
    pub wall_s: f64,
}

/// Routes packets until the time is over, the near command has ended, or the other end of the pipe
/// `control` is closed; the pipe `told` gets a line of JSON twice a second, and the end or the failure as
/// its last. `keep` stores the results, if that is wanted.
///
/// # Errors
/// A pipe cannot be opened.
pub fn run(
    live: &Live,
    told: &Path,
    control: &Path,
    keep: impl FnOnce(&Finished) -> Result<(), Failure>,
) -> io::Result<()> {
    let told = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(told)?;
    let control = File::open(control)?;
    let mut told = account::Told::new(told);
    let ended = turn::run(live, &mut told, &control).and_then(|(finished, command)| {
        keep(&finished)?;
        Ok((finished, command))
    });
    told.last(&match ended {
        Ok((finished, command)) => json!({
            "end": {
                "wall_s": finished.wall_s,
                "summary": account::summary(&finished.run),
                "facts": finished.facts,
                "invalid": finished.invalid,
                "command": command,
            }
        }),
        Err(failure) => json!({ "failure": failure }),
    });
    Ok(())
}

//! The router in real time: packets of any program pass it between two network namespaces, each
//! with one TUN device. From the near end to the far end they take the path `forward`, in the other
//! direction the path `reverse`. Each path has a delay and, optionally, a queue with a rate; paths
//! from a scenario's links may also lose packets and delay them unevenly.
//!
//! The router's code is the same as in the guest; it gets packets of this machine and reports them
//! to the same probe. A timer is handled with the time at which it was due, and the lateness is
//! recorded separately: a slow machine adds visible delay but never changes a rate.
//!
//! Read [`options`] for what a user can request, [`path`] for what happens to a packet, and
//! `event_loop` for the loop.

mod devices;
mod ends;
mod event_loop;
mod flows;
pub mod options;
pub mod path;
pub mod plan;
mod planned_paths;
mod results;
mod scenario;
mod state;
mod status;
mod validity;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::json;

use crate::laws::LoadedLaws;
use crate::linux::Failure;
use plan::LivePlan;
pub use results::LiveResult;
use status::StatusWriter;

/// Routes packets until the time is over, the near command has ended, or the other end of the pipe
/// `control` is closed. Queues may use laws from `laws`. The pipe `status` receives a line of JSON
/// twice a second; its last line reports the end or the failure. `keep` stores the results, if
/// requested.
///
/// # Errors
///
/// A pipe cannot be opened.
pub fn run(
    plan: &LivePlan,
    laws: &LoadedLaws,
    status: &Path,
    control: &Path,
    keep: impl FnOnce(&LiveResult) -> Result<(), Failure>,
) -> io::Result<()> {
    let status = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(status)?;
    let control = File::open(control)?;
    let mut status = StatusWriter::new(status);
    let ended = event_loop::run(plan, laws, &mut status, &control).and_then(|(result, command)| {
        keep(&result)?;
        Ok((result, command))
    });
    status.last(&match ended {
        Ok((result, command)) => json!({
            "end": {
                "wall_s": result.wall_s,
                "summary": results::summary(&result.run),
                "facts": result.facts,
                "invalid": result.invalid,
                "command": command,
            }
        }),
        Err(failure) => json!({ "failure": failure }),
    });
    Ok(())
}

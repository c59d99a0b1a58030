//! Transport libraries that read a clock or draw random numbers themselves: each end of a
//! connection is a process, in which `process/sojourn_process.c` replaces the functions for both.
//!
//! # Decisions
//!
//! **In turns.** The host sends one request and waits for the answer, so the process never runs
//! while simulated time passes. The answer contains everything that the host would request next, up
//! to the first event, to which the host reacts before the library is called again. A library
//! therefore gets the same calls as within the simulator, and both give the same packets.
//!
//! **One process for each end**, since a library may hold its state in global variables.
//!
//! **An empty environment**, fixed addresses and the host's seed, as far as the system allows.

mod channel;
mod end;
mod wire;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sojourn_aqm::Time;
use sojourn_endpoint::{Carries, ConfiguredStack, Endpoint, HostSettings, Stack};
use sojourn_law::elf;

use self::channel::Channel;
use self::end::ProcessEnd;
use self::wire::{Item, Request};
use crate::described::Described;

/// The longest time without an answer, the same as for a library within the simulator.
const LIMIT: Duration = Duration::from_secs(30);

/// A program to start.
#[derive(Clone, Debug)]
pub struct ProcessCommand {
    /// The program.
    pub program: PathBuf,
    /// Its library; `None` if the library is linked into the program.
    pub library: Option<PathBuf>,
}

/// Describes a transport library, each end of which will run in a process. `name` is the file's
/// name in messages, `source` the name of its code in manifests.
///
/// # Errors
/// A sentence, if the program or the library cannot be used, or the library refuses the settings.
pub fn load(
    command: ProcessCommand,
    name: &str,
    source: &str,
    settings: &[(String, String)],
) -> Result<ConfiguredStack, String> {
    let stack = InProcesses::new(command, settings.to_vec(), LIMIT);
    let stack = stack.map_err(|why| format!("{name}: {why}"))?;
    let in_full = format!("{source}: {}", stack.describe());
    Ok(ConfiguredStack { in_full, stack: Arc::new(stack) })
}

/// A library whose endpoints run as processes.
struct InProcesses {
    command: ProcessCommand,
    settings: Vec<(String, String)>,
    limit: Duration,
    described: Described,
}

impl fmt::Debug for InProcesses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.described.in_full)
    }
}

impl InProcesses {
    fn new(
        command: ProcessCommand,
        settings: Vec<(String, String)>,
        limit: Duration,
    ) -> Result<InProcesses, String> {
        elf::check_whole(command.library.as_deref().unwrap_or(&command.program))?;
        let (_, described) = started(&command, &settings, limit)?;
        Ok(InProcesses { command, settings, limit, described })
    }
}

/// A process that has loaded the library.
fn started(
    command: &ProcessCommand,
    settings: &[(String, String)],
    limit: Duration,
) -> Result<(Channel, Described), String> {
    let mut channel = Channel::start(command, limit)?;
    let mut answer = channel.ask(Time::ZERO, &Request::Describe(settings))?;
    match answer.pop_front() {
        Some(Item::Described { texts, carries, flags }) => {
            Ok((channel, Described::new(texts, carries, flags)?))
        }
        Some(Item::Refused(why)) => Err(why),
        _ => Err(channel::MALFORMED.to_owned()),
    }
}

impl Stack for InProcesses {
    fn describe(&self) -> String {
        self.described.in_full.clone()
    }

    fn carries(&self) -> Carries {
        self.described.carries
    }

    fn has_ecn(&self) -> bool {
        self.described.has_ecn
    }

    fn has_streams(&self) -> bool {
        self.described.has_streams
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        self.described.unrepeatable
    }

    fn open(&self, host: HostSettings, now: Time) -> Result<Box<dyn Endpoint>, String> {
        let (mut channel, _) = started(&self.command, &self.settings, self.limit)?;
        let datagram_bytes = host.mtu - self.described.carries.header_bytes();
        let mut answer = channel.ask(now, &Request::Open(host, datagram_bytes))?;
        match answer.pop_front() {
            Some(Item::Opened) => Ok(Box::new(ProcessEnd::new(channel, datagram_bytes))),
            Some(Item::Refused(why) | Item::Failed(why)) => Err(why),
            _ => Err(channel::MALFORMED.to_owned()),
        }
    }
}

/// The path by which the process can open the file of its library or program.
#[must_use]
pub fn for_other_processes(file: &str) -> PathBuf {
    // A file in memory belongs to this process.
    match file.strip_prefix("/proc/self/") {
        Some(rest) => Path::new("/proc").join(std::process::id().to_string()).join(rest),
        None => file.into(),
    }
}

#[cfg(test)]
mod tests;

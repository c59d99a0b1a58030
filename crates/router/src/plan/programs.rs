//! The user's programs in a run: the hosts on which they run, and the commands started there.
//!
//! Programs replace one group of flows: their packets take that group's path. Each host has a
//! separate network namespace, behind that of the senders (servers) or behind that of the receivers
//! (clients).

use serde::{Deserialize, Serialize};

use super::Plan;

/// The side of the link on which a host is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostSide {
    /// In front of the link: its packets to a client cross the link.
    Server,
    /// Behind the link.
    Client,
}

/// The user's request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramsWish {
    /// The name of the group of flows that the programs replace.
    pub group: String,
    /// The hosts.
    pub hosts: Vec<HostWish>,
    /// The commands to start.
    pub commands: Vec<ProgramCommand>,
    /// Files and folders of the machine that programs may read; those of the system may be absent.
    pub visible: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// The capacity of a host's folder in bytes, including output.
    pub folder_bytes: u64,
    /// The most processes and threads in the guest.
    pub most_processes: u32,
    /// Whether commands behind the link may be stopped by the end of the run.
    pub may_be_stopped: bool,
}

/// A host requested by the user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostWish {
    /// Its name.
    pub name: String,
    /// Its side of the link.
    pub side: HostSide,
    /// A folder of the machine in which its programs start; a private, empty one if `None`.
    pub folder: Option<String>,
}

/// A command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramCommand {
    /// The index of its host.
    pub host: usize,
    /// The text that the shell executes.
    pub text: String,
    /// When it starts, nanoseconds.
    pub start_ns: u64,
}

/// The programs of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramsPlan {
    /// The user's request.
    pub wish: ProgramsWish,
    /// The index of the group of flows that they replace: the last one.
    pub group: usize,
    /// The hosts, in the order of the request.
    pub hosts: Vec<ProgramHost>,
}

/// A host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramHost {
    /// Its name.
    pub name: String,
    /// Its side of the link.
    pub side: HostSide,
    /// Its address.
    pub address: [u8; 4],
    /// Lines for `ip -batch` in its namespace.
    pub lines: Vec<String>,
    /// Settings below `/proc/sys` in its namespace.
    pub settings: Vec<(String, String)>,
}

/// Where programs start, unless their host has a folder of the machine.
pub const WORKING_FOLDER: &str = "/tmp/own";
/// The search path of programs: where most distributions install them.
pub const PROGRAM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// The last byte of the first host's address; lower numbers belong to the flows of the scenario.
const FIRST_HOST: u8 = 10;
/// The most hosts of a run.
pub const MOST_HOSTS: usize = 200;

/// The address of the host with this index.
pub fn host_address(group: usize, index: usize, side: HostSide) -> [u8; 4] {
    [10, side as u8 + 1, group as u8, FIRST_HOST + index as u8]
}

/// The side of the host with an address; `None` if it is not a host of programs.
pub fn side_of(group: usize, address: [u8; 4]) -> Option<HostSide> {
    let [10, side, of_group, host] = address else { return None };
    match side {
        _ if usize::from(of_group) != group || host < FIRST_HOST => None,
        1 => Some(HostSide::Server),
        2 => Some(HostSide::Client),
        _ => None,
    }
}

/// The interface of a host in the namespace in front of it.
pub fn host_interface(index: usize) -> String {
    format!("h{index}")
}

/// The name of a host's namespace for `ip netns`.
pub fn host_netns(name: &str) -> String {
    format!("host-{name}")
}

impl Plan {
    /// The first flow of the user's programs, which are numbered after those of the scenario's
    /// groups; `u32::MAX` without programs.
    pub fn first_of_programs(&self) -> u32 {
        let Some(programs) = &self.programs else { return u32::MAX };
        self.flows.iter().filter(|flow| flow.group < programs.group).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_says_on_which_side_its_host_is() {
        for side in [HostSide::Server, HostSide::Client] {
            for index in [0, MOST_HOSTS - 1] {
                assert_eq!(side_of(3, host_address(3, index, side)), Some(side));
            }
            assert_eq!(side_of(2, host_address(3, 0, side)), None, "another group");
        }
        assert_eq!(side_of(0, [10, 1, 0, 1]), None, "the group's own senders");
        assert_eq!(side_of(0, [10, 2, 255, 254]), None);
    }
}

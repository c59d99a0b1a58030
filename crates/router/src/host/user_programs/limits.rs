//! Limits on the resources of the user's programs: processes, files and memory.

use std::fs;
use std::io;

use nix::sys::sysinfo::sysinfo;

use super::host_place::HostPlace;
use crate::linux::{Failure, sys};
use crate::plan::{ProgramsPlan, ProgramsWish};

/// Threads reserved for the kernel and the first process, more than they need.
const OWN_THREADS: u32 = 50;

/// Sets the limit enforced by the kernel.
pub(super) fn set(wish: &ProgramsWish) -> io::Result<()> {
    let most = wish.most_processes + OWN_THREADS;
    fs::write("/proc/sys/kernel/threads-max", most.to_string())
}

/// Reports an exhausted resource, if any.
pub(super) fn check(plan: &ProgramsPlan, places: &[HostPlace]) -> Result<(), Failure> {
    let failure = |error: io::Error| format!("limits of programs: {error}");
    if oom_kills().map_err(failure)? > 0 {
        return Err("the programs used up the memory of the guest, and its kernel ended one of \
                    them: let them use less, or start fewer"
            .to_owned());
    }
    let most = plan.wish.most_processes;
    let processes = sysinfo().map_err(|e| failure(e.into()))?.process_count();
    if u32::from(processes) >= most {
        return Err(format!(
            "the programs have {processes} processes and threads, and a run has room for {most}: \
             does one of them start others without end?"
        ));
    }
    for (place, host) in places.iter().zip(&plan.hosts) {
        if place.is_full().map_err(failure)? {
            let mb = plan.wish.folder_bytes / 1_000_000;
            return Err(format!(
                "host {}: its programs wrote more than the {mb} MB that a host's folder holds, \
                 output included: let them write less",
                host.name
            ));
        }
    }
    Ok(())
}

/// What the kernel logs when its machine refuses it a mapping for pages of a process, which it then
/// kills (fact linux-45).
const NO_MAPPING: &str = "UML ran out of memory on the host side";

/// Fails if the machine refused the guest a mapping, according to the kernel's log.
pub(super) fn check_log() -> Result<(), Failure> {
    let log = sys::kernel_log().map_err(|error| format!("the kernel's log: {error}"))?;
    if !log.contains(NO_MAPPING) {
        return Ok(());
    }
    Err("the kernel killed a program whose memory took more mappings than this machine allows a \
         process: let it use less, or run `sysctl -w vm.max_map_count=1000000` as root"
        .to_owned())
}

/// How often the kernel killed a process because memory ran out (Linux 6.1 vmstat.c, `oom_kill`).
fn oom_kills() -> io::Result<u64> {
    let text = fs::read_to_string("/proc/vmstat")?;
    let counts = text.lines().filter_map(|line| line.strip_prefix("oom_kill "));
    Ok(counts.filter_map(|count| count.parse::<u64>().ok()).sum())
}

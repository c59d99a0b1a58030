//! Carries out a plan: namespaces, interfaces, queues, programs and captures, in one process with
//! one event loop. In a guest, this process is the first and only one; in virtual time, its work
//! takes no time.

mod aqm_module;
mod bottleneck_qdisc;
mod clock;
mod counters;
mod header_capture;
mod kernel_classes;
mod kernel_qdisc;
mod packet_capture;
mod program_flows;
mod red_adaptation;
mod result;
mod run_loop;
mod schedule;
mod setup;
mod tun_router;
mod user_programs;

use std::fs;
use std::io;
use std::path::Path;

use crate::laws::{LoadedLaws, PlannedLaw};
use crate::linux::hosts::Hosts;
use crate::linux::netns::enter_private;
use crate::linux::{Failure, sys};
use crate::plan::Plan;
use crate::run_files::{PLAN, RunResult, STATUS, Status};
use crate::traffic;
use clock::Clock;
use program_flows::FlowIds;
use run_loop::RunLoop;
use tun_router::TunRouter;
use user_programs::UserPrograms;

/// Time between set-up and time zero, nanoseconds.
const SETTLE_NS: u64 = 100_000_000;
/// In a guest, time zero is a whole second of its clock, however long the set-up took. Timer
/// interrupts, and everything that they trigger, then come at the same times of the scenario (fact
/// linux-8).
const GUEST_STEP_NS: u64 = 1_000_000_000;
/// In virtual time, all set-up starts at a multiple of this on the guest's clock. The clock starts
/// at such a multiple, and earlier programs take far less, so set-up always starts at the same
/// second. The kernel's random draws and timer expiries then do not depend on these programs (fact
/// linux-35).
const BEGIN_STEP_NS: u64 = 10_000_000_000;
/// Where the folder of a run is mounted.
const MOUNTED: &str = "/run";

/// The place where a plan is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In a guest in virtual time.
    Guest,
    /// In a guest in real time.
    Uml,
    /// On a host.
    Host,
}

impl Place {
    /// The place with this name: `guest`, `uml` or `host`.
    pub fn of(word: &str) -> Option<Place> {
        match word {
            "guest" => Some(Place::Guest),
            "uml" => Some(Place::Uml),
            "host" => Some(Place::Host),
            _ => None,
        }
    }

    /// Time zero of a run is a multiple of this many nanoseconds on the clock.
    const fn step_ns(self) -> u64 {
        match self {
            Place::Guest | Place::Uml => GUEST_STEP_NS,
            Place::Host => 1,
        }
    }
}

/// Carries out the plan in `folder` and writes results there, the status last. A guest has the
/// folder at `/run` and is powered off afterwards; on a host, the folder is mounted there only for
/// this process and its children. `load` loads the laws that the plan names and the registry lacks.
pub fn run(
    folder: &Path,
    place: Place,
    load: impl FnOnce(&[PlannedLaw]) -> Result<LoadedLaws, String>,
) {
    let entered = if place == Place::Host { enter_private(folder) } else { Ok(()) };
    let ended = entered.and_then(|()| carry_out(Path::new(MOUNTED), place, load));
    let status = match ended {
        Ok(()) => Status { ok: true, failure: String::new() },
        Err(failure) => Status { ok: false, failure },
    };
    let text = serde_json::to_string(&status).expect("a status is plain");
    // If even the status cannot be written, its missing file shows the failure.
    let _ = fs::write(folder.join(STATUS), text);
    if place != Place::Host {
        // Returns only if this is not a guest; the caller then ends.
        let _ = nix::sys::reboot::reboot(nix::sys::reboot::RebootMode::RB_POWER_OFF);
    }
}

fn carry_out(
    folder: &Path,
    place: Place,
    load: impl FnOnce(&[PlannedLaw]) -> Result<LoadedLaws, String>,
) -> Result<(), Failure> {
    let text = fs::read_to_string(folder.join(PLAN)).map_err(|e| format!("{PLAN}: {e}"))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|e| format!("{PLAN}: {e}"))?;
    let laws = load(&plan.laws)?;
    if place == Place::Guest {
        begin_alike().map_err(|e| format!("clock: {e}"))?;
    }
    let hosts = Hosts::open(folder, plan.namespaces())?;
    let ids = FlowIds::new(&plan);
    let router = TunRouter::open(&plan, &laws, &hosts, &ids)?;
    let user = UserPrograms::open(&plan, &hosts, &ids)?;
    setup::set_up(&plan, &hosts)?;
    if let Some(user) = &user {
        user.set_up(&hosts)?;
    }
    // Must precede RED's adaptation, which changes the probability.
    if let Some(qdisc) = &plan.read_back {
        kernel_qdisc::verify(qdisc, &hosts)?;
    }
    if let Some(adaptation) = &plan.adaptation {
        red_adaptation::start(adaptation, &hosts)?;
    }
    if plan.module.is_some() {
        aqm_module::load(folder)?;
    }
    if plan.at_whole_second {
        clock::wait_for_step(place.step_ns()).map_err(|e| format!("clock: {e}"))?;
    }
    if let Some(module) = &plan.module {
        aqm_module::install(module, &hosts)?;
    }
    if let Some(qdisc) = &plan.kernel_qdisc {
        kernel_qdisc::install(qdisc, &hosts)?;
    }
    if let Some(classes) = &plan.classes {
        kernel_classes::install(classes, &hosts)?;
    }
    let mut offloads = setup::switch_off_offloads(&plan, &hosts)?;
    if let Some(user) = &user {
        offloads.extend(user.switch_off_offloads(&hosts)?);
    }
    let before = setup::read_back(&plan, &hosts)?;
    let mut captures = packet_capture::open_all(&plan, &hosts, &ids, folder)
        .map_err(|e| format!("recorder: {e}"))?;
    let of_headers = header_capture::open_all(&plan, &hosts, &ids, folder);
    captures.extend(of_headers.map_err(|e| format!("captures: {e}"))?);
    let mut programs = Vec::new();
    for (index, flow) in plan.flows.iter().enumerate() {
        let program = traffic::program(&plan, index, &hosts);
        programs.push(program.map_err(|e| format!("flow {index} of `{}`: {e}", flow.name))?);
    }
    let clock = Clock::start(SETTLE_NS, place.step_ns()).map_err(|e| format!("clock: {e}"))?;
    let result = RunResult::new(&plan, offloads, before);
    let run = RunLoop::new(&plan, folder, hosts, clock, (result, ids))?;
    run.run(programs, user, captures, router)?;
    laws.failure().map_or(Ok(()), Err)
}

/// Waits until earlier programs of the guest no longer affect the clock or the scheduler's state
/// (fact linux-35).
fn begin_alike() -> io::Result<()> {
    sys::schedule_first()?;
    clock::sleep_until_step(BEGIN_STEP_NS)
}

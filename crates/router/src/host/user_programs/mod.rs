//! The user's programs: started on separate hosts, watched, and ended with the run.

mod host_place;
mod limits;
mod polling;
mod tcp_states;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use sojourn_aqm::Time;

use super::program_flows::FlowIds;
use crate::linux::hosts::Hosts;
use crate::linux::{Failure, sys};
use crate::plan::{HostSide, PROGRAM_PATH, Plan, ProgramsPlan};
use crate::run_files::{CommandReport, FlowSample, OUTPUTS, ProgramsReport};
use host_place::{HomePlace, HostPlace};
use polling::Polling;
use tcp_states::TcpStates;

/// The epoll token of ended children; the tokens of sockets are smaller.
pub(super) const CHILD_TOKEN: u64 = u64::MAX - 1;
/// How long programs may take to exit at the end of a run before they are killed, and how often
/// their exit is checked.
const GRACE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);
/// Maximum number of bytes kept of an output; a folder can hold more.
const MOST_OUTPUT_BYTES: u64 = 16 << 20;
/// The file with a process's OOM score adjustment (proc(5)), its value for programs, and its value
/// for the first process.
const OOM: (&str, &str, &str) = ("/proc/self/oom_score_adj", "0", "-1000");

/// The default congestion control of most distributions. Namespaces created later inherit it from
/// the first one, the only one in which it may be set (Linux 6.1 tcp_cong.c,
/// `tcp_set_default_congestion_control`).
const CONTROL: (&str, &str) = ("/proc/sys/net/ipv4/tcp_congestion_control", "cubic");

/// The programs of a run.
pub(super) struct UserPrograms<'a> {
    plan: &'a ProgramsPlan,
    places: Vec<HostPlace>,
    home: HomePlace,
    children: SignalFd,
    /// The process of each running command.
    running: Vec<Option<Pid>>,
    reports: Vec<CommandReport>,
    ids: FlowIds,
    polling: Polling,
    /// The sockets' states, if flows are sampled.
    tcp_states: Option<TcpStates>,
}

impl<'a> UserPrograms<'a> {
    /// Creates the namespaces and folders of the hosts, if the plan has programs.
    pub(super) fn open(
        plan: &'a Plan,
        hosts: &Hosts,
        ids: &FlowIds,
    ) -> Result<Option<UserPrograms<'a>>, Failure> {
        let Some(programs) = &plan.programs else { return Ok(None) };
        let failure = |error: io::Error| format!("hosts of programs: {error}");
        sys::schedule_first_alone().map_err(failure)?;
        let children = watch_children(hosts).map_err(failure)?;
        limits::set(&programs.wish).map_err(failure)?;
        sys::forbid_programs_the_machine().map_err(failure)?;
        let (setting, cubic) = CONTROL;
        fs::write(setting, cubic).map_err(failure)?;
        let home = HomePlace::open().map_err(failure)?;
        let place = |index: usize| {
            HostPlace::open(programs, index, hosts, &home)
                .map_err(|e| format!("host {}: {e}", programs.hosts[index].name))
        };
        let places: Vec<_> = (0..programs.hosts.len()).map(place).collect::<Result<_, _>>()?;
        let tcp_states = plan.sample_flows.then(|| TcpStates::open(programs, &places, hosts));
        let commands = programs.wish.commands.len();
        Ok(Some(UserPrograms {
            plan: programs,
            places,
            home,
            children,
            running: vec![None; commands],
            reports: vec![CommandReport::default(); commands],
            ids: ids.clone(),
            polling: Polling::default(),
            tcp_states: tcp_states.transpose().map_err(failure)?,
        }))
    }

    /// Sets up the interfaces of the hosts; those in front of them must exist.
    pub(super) fn set_up(&self, hosts: &Hosts) -> Result<(), Failure> {
        self.places.iter().zip(&self.plan.hosts).try_for_each(|(place, host)| {
            place.set_up(host, hosts).map_err(|e| format!("host {}: {e}", host.name))
        })
    }

    /// Switches off the offloads of all their interfaces; returns those that stayed on.
    pub(super) fn switch_off_offloads(&self, hosts: &Hosts) -> Result<Vec<String>, Failure> {
        let mut on = Vec::new();
        for (index, (place, host)) in self.places.iter().zip(&self.plan.hosts).enumerate() {
            let found = place.switch_off_offloads(index, host.side, hosts);
            let found = found.map_err(|e| format!("offloads of host {}: {e}", host.name))?;
            on.extend(found.into_iter().map(|name| format!("host {}: {name}", host.name)));
        }
        Ok(on)
    }

    /// When the next command starts.
    pub(super) fn next_timer(&self) -> Time {
        let waiting = self.plan.wish.commands.iter().zip(&self.reports);
        let waiting = waiting.filter(|(_, report)| report.start_ns.is_none());
        let starts = waiting.map(|(command, _)| Time::from_nanos(command.start_ns));
        starts.min().unwrap_or(Time::NEVER)
    }

    /// Starts the commands that are due.
    pub(super) fn on_timer(&mut self, now: Time, hosts: &Hosts) -> io::Result<()> {
        for index in 0..self.reports.len() {
            let is_due = self.plan.wish.commands[index].start_ns <= now.as_nanos();
            if is_due && self.reports[index].start_ns.is_none() {
                self.reports[index].start_ns = Some(now.as_nanos());
                self.running[index] = Some(self.start(index, hosts)?);
            }
        }
        Ok(())
    }

    fn start(&self, index: usize, hosts: &Hosts) -> io::Result<Pid> {
        let command = &self.plan.wish.commands[index];
        let place = &self.places[command.host];
        let output = |kind| File::create(place.output(index, kind));
        let (out, err) = (output("out")?, output("err")?);
        let (own, any, never) = OOM;
        fs::write(own, any)?;
        let child = place.within(hosts, &self.home, || {
            Command::new("/bin/sh")
                .args(["-c", &command.text])
                .env_clear()
                .envs(place.environment())
                .env("PATH", PROGRAM_PATH)
                .envs(self.plan.wish.environment.iter().cloned())
                .current_dir(&place.working_folder)
                .stdin(Stdio::null())
                .stdout(out)
                .stderr(err)
                .process_group(0)
                .spawn()
        });
        fs::write(own, never)?;
        Ok(Pid::from_raw(child?.id() as i32))
    }

    /// Records which commands have ended.
    pub(super) fn on_ended(&mut self, now: Time) -> io::Result<()> {
        while self.children.read_signal()?.is_some() {}
        loop {
            let (pid, exit_code, signal) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
                Ok(WaitStatus::Exited(pid, code)) => (pid, Some(code), None),
                Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, None, Some(signal as i32)),
                Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(()),
                Ok(_) => continue,
                Err(error) => return Err(error.into()),
            };
            // Other ended children are orphans of programs.
            let Some(index) = self.running.iter().position(|&running| running == Some(pid)) else {
                continue;
            };
            self.running[index] = None;
            let report = &mut self.reports[index];
            (report.end_ns, report.exit_code, report.signal) =
                (Some(now.as_nanos()), exit_code, signal);
        }
    }

    /// The state of their connections, if flows are sampled.
    pub(super) fn samples(&mut self, now: Time) -> io::Result<Vec<FlowSample>> {
        let Some(states) = &mut self.tcp_states else { return Ok(Vec::new()) };
        Ok(self.ids.samples(now, states.read()?))
    }

    /// Whether all commands behind the link have ended; without such commands, whether all in front
    /// of it have ended.
    pub(super) fn is_over(&self) -> bool {
        let side = |index: usize| self.plan.hosts[self.plan.wish.commands[index].host].side;
        let all = 0..self.reports.len();
        let has_clients = all.clone().any(|index| side(index) == HostSide::Client);
        let counts = |&index: &usize| !has_clients || side(index) == HostSide::Client;
        all.filter(counts).all(|index| self.reports[index].end_ns.is_some())
    }

    /// Fails if programs have exhausted their resources, or poll without end; returns the command
    /// of the program that polls, if any.
    pub(super) fn look(&mut self, now: Time) -> Result<Option<String>, Failure> {
        self.check()?;
        self.polling.look(now, self.ids.packets(), polling::cpu_times);
        if !self.plan.wish.may_be_stopped {
            self.polling.check()?;
        }
        Ok(self.polling.process().map(polling::command_of))
    }

    fn check(&self) -> Result<(), Failure> {
        limits::check(self.plan, &self.places)
    }

    /// Fails if programs have exhausted their resources by the end of the run.
    pub(super) fn check_at_end(&self) -> Result<(), Failure> {
        self.check()?;
        limits::check_log()
    }

    /// Stops the running commands and keeps their output.
    pub(super) fn finish(&mut self, folder: &Path, end: Time) -> io::Result<ProgramsReport> {
        let mut commands = self.reports.clone();
        self.stop(end)?;
        let kept = folder.join(OUTPUTS);
        fs::create_dir_all(&kept)?;
        for (index, report) in commands.iter_mut().enumerate() {
            let place = &self.places[self.plan.wish.commands[index].host];
            for (way, kind) in ["out", "err"].into_iter().enumerate() {
                let to = kept.join(format!("{index}.{kind}"));
                report.written_bytes[way] = keep(&place.output(index, kind), &to)?;
            }
        }
        let (flows, has_more_flows) = self.ids.report();
        Ok(ProgramsReport { ended_ns: end.as_nanos(), commands, flows, has_more_flows })
    }

    /// Asks the running commands to exit, so that they can flush their output, then kills them.
    fn stop(&mut self, end: Time) -> io::Result<()> {
        self.send(Signal::SIGTERM);
        let mut waited = Duration::ZERO;
        while waited < GRACE && self.running.iter().any(Option::is_some) {
            std::thread::sleep(LOOK);
            waited += LOOK;
            self.on_ended(end)?;
        }
        self.send(Signal::SIGKILL);
        Ok(())
    }

    fn send(&self, signal: Signal) {
        for pid in self.running.iter().flatten() {
            // A command that has just ended needs no signal.
            let _ = killpg(*pid, signal);
        }
    }
}

/// Makes the exit of a child wake the event loop.
fn watch_children(hosts: &Hosts) -> io::Result<SignalFd> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    let children = SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
    hosts.watch_token(&children, CHILD_TOKEN)?;
    Ok(children)
}

/// Copies the beginning of an output; returns its full length.
fn keep(from: &Path, to: &Path) -> io::Result<u64> {
    let mut copy = File::create(to)?;
    // A command that was never started has no output.
    let Ok(file) = File::open(from) else { return Ok(0) };
    let bytes = file.metadata()?.len();
    io::copy(&mut file.take(MOST_OUTPUT_BYTES), &mut copy)?;
    Ok(bytes)
}

//! The event loop of a run: programs, router and captures, driven by one clock and one epoll
//! instance.

use std::fs;
use std::io;
use std::path::Path;

use nix::sys::epoll::EpollEvent;
use sojourn_aqm::{Span, Time};

use super::clock::Clock;
use super::packet_capture::PacketCapture;
use super::program_flows::FlowIds;
use super::schedule::Schedule;
use super::tun_router::{TUN_TOKEN, TunRouter};
use super::user_programs::{CHILD_TOKEN, UserPrograms};
use super::{aqm_module, counters, setup};
use crate::linux::Failure;
use crate::linux::hosts::{Hosts, SocketKey};
use crate::plan::{Bottleneck, Plan};
use crate::run_files::{PROGRESS, ProgramCounts, ProgramLog, RunResult, Unfinished};
use crate::traffic::Program;

/// Ready files handled before timers are checked again.
const BATCH: usize = 64;
/// The epoll token of the clock's timer; the tokens of sockets are smaller.
const TIMER_TOKEN: u64 = u64::MAX;

/// The state of a run.
pub(super) struct RunLoop<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    hosts: Hosts,
    clock: Clock,
    programs: Vec<Box<dyn Program>>,
    user: Option<UserPrograms<'a>>,
    captures: Vec<PacketCapture>,
    router: Option<TunRouter>,
    schedule: Schedule,
    log: ProgramLog,
    result: RunResult,
    ids: FlowIds,
}

impl<'a> RunLoop<'a> {
    /// A loop without programs, captures or a router.
    pub(super) fn new(
        plan: &'a Plan,
        folder: &'a Path,
        hosts: Hosts,
        clock: Clock,
        (result, ids): (RunResult, FlowIds),
    ) -> Result<RunLoop<'a>, Failure> {
        hosts.watch_token(&clock, TIMER_TOKEN).map_err(|e| format!("timer: {e}"))?;
        Ok(RunLoop {
            plan,
            folder,
            hosts,
            clock,
            programs: Vec::new(),
            user: None,
            captures: Vec::new(),
            router: None,
            schedule: Schedule::new(plan),
            log: ProgramLog::default(),
            result,
            ids,
        })
    }

    /// Runs to the end of the plan and writes the results.
    pub(super) fn run(
        mut self,
        programs: Vec<Box<dyn Program>>,
        user: Option<UserPrograms<'a>>,
        captures: Vec<PacketCapture>,
        router: Option<TunRouter>,
    ) -> Result<(), Failure> {
        (self.programs, self.captures, self.router) = (programs, captures, router);
        self.user = user;
        self.run_to_end().map_err(|error| format!("while running: {error}"))?;
        self.finish()
    }

    fn run_to_end(&mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); BATCH];
        loop {
            let now = self.clock.now()?;
            self.result.late(self.clock.lateness(now));
            if self.on_timers(now)? {
                return Ok(());
            }
            self.clock.set_alarm(self.next_timer(), now)?;
            let ready = self.hosts.wait(&mut events)?;
            for event in &events[..ready] {
                self.on_ready(event.data())?;
            }
        }
    }

    fn next_timer(&self) -> Time {
        let programs = self.programs.iter().map(|program| program.next_timer());
        let router = self.router.as_ref().map_or(Time::NEVER, TunRouter::next_timer);
        let user = self.user.as_ref().map_or(Time::NEVER, UserPrograms::next_timer);
        programs.chain([self.schedule.next(), router, user]).min().expect("at least three")
    }

    /// Handles everything due; returns whether the run is over.
    fn on_timers(&mut self, now: Time) -> io::Result<bool> {
        // Events at the end of the warm-up count, as in the simulator.
        if self.schedule.warmup.take(now) {
            self.result.at_warmup = self.own_counts().collect();
        }
        for program in &mut self.programs {
            if program.next_timer() <= now {
                program.on_timer(now, &self.hosts)?;
            }
        }
        if let Some(user) = &mut self.user {
            user.on_timer(now, &self.hosts)?;
            if user.is_over() {
                self.schedule.end = self.schedule.end.min(now);
            }
        }
        if let Some(router) = self.router.as_mut().filter(|router| router.next_timer() <= now) {
            router.on_timer(now)?;
        }
        if self.schedule.drain.take(now) {
            self.captures.iter_mut().try_for_each(|capture| capture.drain(&self.clock))?;
        }
        if self.schedule.sample.take(now) {
            self.sample(now)?;
        }
        while self.schedule.bin.take(now) {
            let delivered = self.own_counts().map(|counts| counts.delivered_bytes);
            self.result.bins.push(delivered.collect());
        }
        if let Bottleneck::Kernel { changes } = &self.plan.bottleneck {
            while let Some(command) = self.schedule.take_change(changes, now) {
                setup::run(command, &self.hosts).map_err(io::Error::other)?;
            }
        }
        if self.schedule.progress.take(now) {
            self.report_progress(now)?;
        }
        Ok(now >= self.schedule.end)
    }

    fn report_progress(&mut self, now: Time) -> io::Result<()> {
        let polling = self.user.as_mut().map(|user| user.look(now)).transpose();
        let polling = polling.map_err(io::Error::other)?.flatten().unwrap_or_default();
        fs::write(self.folder.join(PROGRESS), format!("{} {polling}", now.as_nanos()))
    }

    fn on_ready(&mut self, token: u64) -> io::Result<()> {
        match token {
            TIMER_TOKEN => Ok(()),
            CHILD_TOKEN => match &mut self.user {
                Some(user) => user.on_ended(self.clock.now()?),
                None => Ok(()),
            },
            TUN_TOKEN.. => match &mut self.router {
                Some(router) => router.on_ready(&self.clock),
                None => Ok(()),
            },
            _ => {
                let key = SocketKey::of(token);
                let now = self.clock.now()?;
                let program = &mut self.programs[key.flow as usize];
                match program.on_ready(now, key, &self.hosts, &mut self.log) {
                    Err(error) if is_of_connection(&error) => {
                        self.result.broken.push(format!("flow {}: {error}", key.flow));
                        Ok(())
                    }
                    other => other,
                }
            }
        }
    }

    fn sample(&mut self, now: Time) -> io::Result<()> {
        if self.plan.sample_flows {
            self.result.sample(now, &self.programs);
            if let Some(user) = &mut self.user {
                self.result.samples.extend(user.samples(now)?);
            }
        }
        if let (true, Some(router)) = (self.plan.sample_law, &self.router) {
            self.result.law_samples.push(router.law_state());
        }
        Ok(())
    }

    /// The counts of the scenario's flows.
    fn own_counts(&self) -> impl Iterator<Item = ProgramCounts> {
        self.programs.iter().map(|program| program.counts())
    }

    /// The counts of all flows at the end.
    fn counts(&self) -> Vec<ProgramCounts> {
        let of_user = self.ids.delivered().into_iter();
        let of_user = of_user
            .map(|delivered_bytes| ProgramCounts { delivered_bytes, ..ProgramCounts::default() });
        self.own_counts().chain(of_user).collect()
    }

    /// Transfers unfinished at the end of the run, or cut off.
    fn unfinished(&self) -> Vec<Unfinished> {
        let end = self.schedule.end;
        let of_flow = self.programs.iter().map(|program| program.under_way(end));
        let row = |(flow, seen): (usize, Option<(Time, Span)>)| {
            let (start, seen) = seen?;
            let (start_ns, seen_ns) = (start.as_nanos(), seen.as_nanos());
            Some(Unfinished { flow: flow as u32, start_ns, seen_ns })
        };
        of_flow.enumerate().filter_map(row).collect()
    }

    fn finish(mut self) -> Result<(), Failure> {
        let failure = |error: io::Error| format!("results: {error}");
        self.user.as_ref().map_or(Ok(()), UserPrograms::check_at_end)?;
        if matches!(self.plan.bottleneck, Bottleneck::Kernel { .. }) {
            let counters = counters::read(self.plan, &self.hosts, &self.clock)?;
            self.result.kernel_counters = Some(counters);
            let report = self.plan.module.as_ref().map(|_| aqm_module::report(&self.hosts));
            self.result.module = report.transpose()?;
        }
        for capture in &mut self.captures {
            capture.drain(&self.clock).map_err(failure)?;
            self.result.capture_lost += capture.finish().map_err(failure)?;
        }
        if let Some(router) = &mut self.router {
            self.result.link_counts = router.finish(self.folder).map_err(failure)?;
            self.result.wire_counts = router.wire_counts(self.schedule.end);
        }
        self.result.counts = self.counts();
        self.ids.add_counts(&mut self.result.at_warmup, &mut self.result.bins);
        self.result.after = setup::read_back(self.plan, &self.hosts)?;
        self.log.unfinished = self.unfinished();
        let ecn = self.programs.iter().map(|program| program.ecn_connections());
        self.result.ecn = ecn.map(|ecn| (ecn.established, ecn.capable)).collect();
        self.result.log = std::mem::take(&mut self.log);
        if let Some(user) = &mut self.user {
            let report = user.finish(self.folder, self.schedule.end).map_err(failure)?;
            self.result.programs = Some(report);
        }
        self.result.write(self.folder).map_err(failure)
    }
}

/// Whether an error ends only a connection, not the run.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotConnected, TimedOut};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionRefused | ConnectionReset | NotConnected | TimedOut
    )
}

//! Carrying out a plan: name spaces, interfaces, queues, programs, recorder, in one process with one
//! loop. In a guest this is the first process and the only one; in virtual time all it does takes none.

mod adaptation;
mod check;
mod clock;
mod event;
mod recorder;
mod result;
mod space;
mod street;

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use sojourn_aqm::Time;

use crate::live::enter_private;
use crate::plan::{Bottleneck, Plan, Space};
use crate::record_files::{Count, Diary, PLAN, PROGRESS, RunResult, STATUS, Status};
use crate::traffic::{self, End, Program};
use clock::Clock;
use event::Due;
use recorder::Recorder;
use space::Spaces;
use street::StreetHost;

/// Set-up is given this long to settle before time zero, nanoseconds.
const SETTLE_NS: u64 = 100_000_000;
/// The recorder's socket is emptied this often, nanoseconds.
const DRAIN_NS: u64 = 20_000_000;
/// Progress is told this many times in a run.
const TELLINGS: u64 = 100;
/// Ready sockets handled in one turn.
const BATCH: usize = 64;

/// Why a run did not come to an end: a sentence.
pub type Failure = String;

/// A socket of a flow, as the loop names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    /// The flow.
    pub flow: u32,
    /// Which of its connections.
    pub lane: u8,
    /// Which of its sockets.
    pub end: End,
}

const TIMER: u64 = u64::MAX;
const STREET: u64 = u64::MAX - 2;

impl Key {
    fn number(self) -> u64 {
        u64::from(self.flow) << 16 | u64::from(self.lane) << 8 | self.end as u64
    }

    fn of(number: u64) -> Key {
        let end = End::ALL[(number & 3) as usize];
        Key { flow: (number >> 16) as u32, lane: (number >> 8) as u8, end }
    }
}

/// The name spaces and the loop's list of sockets, as programs see them.
pub struct Hosts {
    spaces: Spaces,
    epoll: Epoll,
}

impl Hosts {
    /// Does something in a name space: sockets opened there stay there.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn within<T>(&self, space: Space, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.spaces.within(space, act)
    }

    /// Tells the program of `key` when a socket becomes ready.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn watch(&self, socket: &impl AsFd, key: Key) -> io::Result<()> {
        self.watch_number(socket, key.number())
    }

    fn watch_number(&self, socket: &impl AsFd, number: u64) -> io::Result<()> {
        let flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        self.epoll.add(socket, EpollEvent::new(flags, number))?;
        Ok(())
    }
}

/// Where the folder of a run is mounted.
const MOUNTED: &str = "/run";

/// Carries out the plan in `folder` and writes results there, the status last. A guest has it at `/run`,
/// and is powered off then; on a host it is mounted there, for this process and its children alone
/// (`private`).
pub fn run(folder: &Path, private: bool) {
    let entered = if private { enter_private(folder) } else { Ok(()) };
    let ended = entered.and_then(|()| carry_out(Path::new(MOUNTED)));
    let status = match ended {
        Ok(()) => Status { ok: true, failure: String::new() },
        Err(failure) => Status { ok: false, failure },
    };
    let text = serde_json::to_string(&status).expect("a status is plain");
    // Where not even this can be written, the missing file says it.
    let _ = fs::write(folder.join(STATUS), text);
    if !private {
        // It does not return unless this is no guest; then the caller ends.
        let _ = nix::sys::reboot::reboot(nix::sys::reboot::RebootMode::RB_POWER_OFF);
    }
}

fn carry_out(folder: &Path) -> Result<(), Failure> {
    let text = fs::read_to_string(folder.join(PLAN)).map_err(|e| format!("{PLAN}: {e}"))?;
    let plan: Plan = serde_json::from_str(&text).map_err(|e| format!("{PLAN}: {e}"))?;
    let spaces = Spaces::open(folder, plan.spaces()).map_err(|e| format!("name spaces: {e}"))?;
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|e| format!("epoll: {e}"))?;
    let hosts = Hosts { spaces, epoll };
    let street = StreetHost::open(&plan, &hosts)?;
    check::set_up(&plan, &hosts.spaces)?;
    if let Some(adaptation) = &plan.adaptation {
        adaptation::start(adaptation, &hosts.spaces)?;
    }
    let offloads = check::switch_off_offloads(&plan, &hosts.spaces)?;
    let before = check::read_back(&plan, &hosts.spaces)?;
    let recorders =
        recorder::open_all(&plan, &hosts, folder).map_err(|e| format!("recorder: {e}"))?;
    let mut programs = Vec::new();
    for (index, flow) in plan.flows.iter().enumerate() {
        let program = traffic::program(&plan, index, &hosts);
        programs.push(program.map_err(|e| format!("flow {index} of `{}`: {e}", flow.name))?);
    }
    let clock = Clock::start(SETTLE_NS).map_err(|e| format!("clock: {e}"))?;
    hosts.watch_number(&clock, TIMER).map_err(|e| format!("timer: {e}"))?;
    let mut turn = Turn {
        due: Due::new(&plan),
        result: RunResult::new(&plan, offloads, before),
        diary: Diary::default(),
        folder,
        plan: &plan,
        hosts,
        clock,
        programs,
        recorders,
        street,
    };
    turn.go().map_err(|error| format!("while running: {error}"))?;
    turn.finish()
}

/// Everything that the loop turns.
struct Turn<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    hosts: Hosts,
    clock: Clock,
    programs: Vec<Box<dyn Program>>,
    recorders: Vec<Recorder>,
    street: Option<StreetHost>,
    due: Due,
    diary: Diary,
    result: RunResult,
}

impl Turn<'_> {
    fn go(&mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); BATCH];
        loop {
            let now = self.clock.now()?;
            self.result.late(self.clock.lateness(now));
            if self.on_timers(now)? {
                return Ok(());
            }
            self.clock.set_alarm(self.next_timer())?;
            let ready = self.hosts.epoll.wait(&mut events, None::<u16>)?;
            for event in &events[..ready] {
                self.on_ready(event.data())?;
            }
        }
    }

    fn next_timer(&self) -> Time {
        let programs = self.programs.iter().map(|program| program.next_timer());
        let street = self.street.as_ref().map_or(Time::NEVER, StreetHost::next_timer);
        programs.chain([self.due.next(), street]).min().expect("at least two")
    }

    /// Does what is due; returns whether the run is over.
    fn on_timers(&mut self, now: Time) -> io::Result<bool> {
        // What happens when the warm-up ends counts, as in the simulator.
        if self.due.warmup.take(now) {
            self.result.at_warmup = self.counts();
        }
        for program in &mut self.programs {
            if program.next_timer() <= now {
                program.on_timer(now, &self.hosts)?;
            }
        }
        if let Some(street) = self.street.as_mut().filter(|street| street.next_timer() <= now) {
            street.on_timer(now)?;
        }
        if self.due.drain.take(now) {
            self.recorders.iter_mut().try_for_each(|recorder| recorder.drain(&self.clock))?;
        }
        if self.due.sample.take(now) {
            self.sample(now);
        }
        while self.due.bin.take(now) {
            let delivered = self.programs.iter().map(|program| program.count().delivered_bytes);
            self.result.bins.push(delivered.collect());
        }
        if let Bottleneck::Kernel { changes } = &self.plan.bottleneck {
            while let Some((_, command)) =
                changes.get(self.due.change).filter(|c| c.0 <= now.as_nanos())
            {
                self.due.change(changes);
                check::run(command, &self.hosts.spaces).map_err(io::Error::other)?;
            }
        }
        if self.due.telling.take(now) {
            fs::write(self.folder.join(PROGRESS), now.as_nanos().to_string())?;
        }
        Ok(now >= self.due.end)
    }

    fn on_ready(&mut self, number: u64) -> io::Result<()> {
        match number {
            TIMER => Ok(()),
            STREET.. => match &mut self.street {
                Some(street) => street.on_ready(&self.clock),
                None => Ok(()),
            },
            _ => {
                let key = Key::of(number);
                let now = self.clock.now()?;
                let program = &mut self.programs[key.flow as usize];
                match program.on_ready(now, key, &self.hosts, &mut self.diary) {
                    Err(error) if is_of_connection(&error) => {
                        self.result.broken.push(format!("flow {}: {error}", key.flow));
                        Ok(())
                    }
                    other => other,
                }
            }
        }
    }

    fn sample(&mut self, now: Time) {
        if self.plan.sample_flows {
            self.result.sample(now, &self.programs);
        }
        if let (true, Some(street)) = (self.plan.sample_law, &self.street) {
            self.result.law.push(street.law());
        }
    }

    fn counts(&self) -> Vec<Count> {
        self.programs.iter().map(|program| program.count()).collect()
    }

    fn finish(mut self) -> Result<(), Failure> {
        let said = |error: io::Error| format!("results: {error}");
        for recorder in &mut self.recorders {
            recorder.drain(&self.clock).map_err(said)?;
            self.result.recorder_lost += recorder.finish().map_err(said)?;
        }
        if let Some(street) = &mut self.street {
            self.result.streets = street.finish(self.folder).map_err(said)?;
            self.result.wires = street.wires(self.due.end);
        }
        self.result.counts = self.counts();
        self.result.after = check::read_back(self.plan, &self.hosts.spaces)?;
        self.result.diary = std::mem::take(&mut self.diary);
        self.result.write(self.folder).map_err(said)
    }
}

/// An error that ends a connection, not the run.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotConnected, TimedOut};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionRefused | ConnectionReset | NotConnected | TimedOut
    )
}

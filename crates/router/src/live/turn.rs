//! The loop: takes packets from both devices, lets the ways hold them, sends what is due. One thread; it
//! sleeps until the next packet is due or comes, but for the last moment, which it may spend awake.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll, ppoll};
use nix::sched::CloneFlags;
use nix::sys::time::TimeSpec;
use nix::unistd::Uid;
use sojourn_aqm::{Span, Time};
use sojourn_measure::Probe;
use sojourn_record::Histogram;

use super::account::{self, Flows, Told};
use super::space::{Ends, become_root};
use super::way::Way;
use super::{ADDRESSES, Finished, Live, Place, devices};
use crate::chronicle::Memory;
use crate::tun;

/// Why it did not work: a sentence.
pub type Failure = String;

/// Packets taken from one device before anything else is looked at.
const BATCH: usize = 64;
/// Queues are sampled, commands and the user looked after this often.
pub const BEAT: Span = Span::from_millis(100);
/// So many beats make a line for the user.
const BEATS_TOLD: u64 = 5;

/// Routes until the end; returns the results and how the near command ended.
pub fn run(
    live: &Live,
    told: &mut Told,
    control: &File,
) -> Result<(Finished, Option<i32>), Failure> {
    if live.places.contains(&Place::Host) && !Uid::effective().is_root() {
        return Err("host: only root may put an end into the machine's own name space".to_owned());
    }
    become_root(CloneFlags::empty())?;
    let ends = Ends::open(&live.places)?;
    let devices = [devices::open(live, &ends, 0)?, devices::open(live, &ends, 1)?];
    let offloads = devices::offloads(&ends)?;
    let before = [devices::read_back(live, &ends, 0)?, devices::read_back(live, &ends, 1)?];
    // The kernel may else join the wake-ups of 50 us (PR_SET_TIMERSLACK).
    nix::sys::prctl::set_timerslack(1).map_err(|e| format!("timer slack: {e}"))?;
    let memory = |link| Memory::Probe(Box::new(probe(live)), link);
    let [forward, reverse] = &live.ways;
    let mut turn = Turn {
        ways: [
            Way::new(forward, live.seed, memory(0))?,
            Way::new(reverse, live.seed.wrapping_add(1), memory(1))?,
        ],
        devices,
        lateness: Histogram::default(),
        refused: 0,
        foreign: 0,
        flows: Flows::new(live.packets || live.signals),
        buffer: vec![0; tun::LARGEST],
        zero: Instant::now(),
        live,
    };
    told.begun(&before);
    let far = start(&ends, 1, &live.commands[1])?;
    let near = start(&ends, 0, &live.commands[0])?;
    let mut commands = [near, far];
    turn.zero = Instant::now();
    let ended = turn.go(&mut commands, control, told);
    for command in commands.iter_mut().flatten() {
        // It may have ended by itself; its descendants end with the group.
        let _ = command.kill();
        let _ = command.wait();
    }
    let code = ended.map_err(|e| format!("while running: {e}"))?;
    let after = [devices::shown(&ends, 0)?, devices::shown(&ends, 1)?];
    Ok((account::finish(turn, offloads, before, after), code))
}

fn probe(live: &Live) -> Probe {
    let mut probe = Probe::new(live.ways.len(), 0, (Time::ZERO, Time::NEVER));
    probe.notes.wants_packets = live.packets;
    probe.notes.wants_signals = live.signals;
    probe.end_warmup();
    probe
}

/// Starts a command at an end, its arguments as they are.
fn start(ends: &Ends, end: usize, command: &[String]) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = command.split_first() else { return Ok(None) };
    let child = ends.within(end, || {
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .env("SOJOURN_NEAR", ADDRESSES[0])
            .env("SOJOURN_FAR", ADDRESSES[1])
            .spawn()
    });
    child.map(Some).map_err(|e| format!("{program}: {e}"))
}

/// Everything that the loop turns.
pub struct Turn<'a> {
    pub live: &'a Live,
    pub ways: [Way; 2],
    devices: [File; 2],
    zero: Instant,
    /// How much later than due each packet left.
    pub lateness: Histogram,
    /// Packets that a device did not take.
    pub refused: u64,
    /// Packets that are not IPv4 and are let go.
    pub foreign: u64,
    pub flows: Flows,
    buffer: Vec<u8>,
}

impl Turn<'_> {
    /// The time since the start.
    pub fn now(&self) -> Time {
        Time::from_nanos(self.zero.elapsed().as_nanos() as u64)
    }

    fn go(
        &mut self,
        commands: &mut [Option<Child>; 2],
        control: &File,
        told: &mut Told,
    ) -> io::Result<Option<i32>> {
        let end = self.live.duration_ns.map_or(Time::NEVER, Time::from_nanos);
        let mut beat = Time::ZERO + BEAT;
        let mut beats = 0;
        loop {
            let now = self.now();
            self.send(now)?;
            let took = self.take(0)? | self.take(1)?;
            if now >= beat {
                self.lateness.add(now.since(beat).as_nanos());
                beats += 1;
                let intervals = self.sample(beat);
                told.beat(beat, &intervals, self, beats % BEATS_TOLD == 0);
                beat += BEAT;
                if let Some(over) = is_over(commands, control)? {
                    return Ok(over);
                }
            }
            if now >= end {
                return Ok(None);
            }
            if !took {
                self.sleep(beat.min(end))?;
            }
        }
    }

    /// Sends what is due.
    fn send(&mut self, now: Time) -> io::Result<()> {
        for way in 0..self.ways.len() {
            while let Some(packet) = self.ways[way].leave(now) {
                let late = self.now().since(packet.due);
                match self.devices[1 - way].write(&packet.bytes) {
                    Ok(_) => self.lateness.add(late.as_nanos()),
                    Err(error) if is_refusal(&error) => self.refused += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Takes what has come at one end; returns whether anything has.
    fn take(&mut self, end: usize) -> io::Result<bool> {
        for count in 0..BATCH {
            let Some(length) = tun::read(&mut self.devices[end], &mut self.buffer)? else {
                return Ok(count > 0);
            };
            let bytes = self.buffer[..length].to_vec();
            match self.flows.number(&bytes) {
                Some(flow) => {
                    let now = self.now();
                    self.ways[end].arrive(now, bytes, flow);
                }
                None => self.foreign += 1,
            }
        }
        Ok(true)
    }

    /// Sleeps until a packet comes, or until a moment before the next one is due.
    fn sleep(&self, latest: Time) -> io::Result<()> {
        let timers = self.ways.iter().map(Way::next_timer);
        let next = timers.chain([latest]).min().expect("there is a latest");
        let left = next.since(self.now()).as_nanos();
        if left <= self.live.spin_ns {
            return Ok(());
        }
        let left = (left - self.live.spin_ns) as i64;
        let span = TimeSpec::new(left / 1_000_000_000, left % 1_000_000_000);
        let mut watched =
            self.devices.each_ref().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut watched, Some(span), None) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn sample(&mut self, now: Time) -> account::Intervals {
        self.ways.each_mut().map(|way| way.sample(now, BEAT))
    }
}

/// The device is down or has no memory: the packet is lost, and that is counted.
fn is_refusal(error: &io::Error) -> bool {
    let refusals = [libc::EIO, libc::ENOMEM, libc::ENOBUFS, libc::EAGAIN, libc::EINVAL];
    error.raw_os_error().is_some_and(|code| refusals.contains(&code))
}

/// Whether the user or the near command has ended the run, and the command's exit code then.
fn is_over(commands: &mut [Option<Child>; 2], control: &File) -> io::Result<Option<Option<i32>>> {
    if let Some(status) = commands[0].as_mut().map(Child::try_wait).transpose()?.flatten() {
        use std::os::unix::process::ExitStatusExt;
        // As a shell tells it: 128 and the signal.
        return Ok(Some(status.code().or_else(|| status.signal().map(|signal| 128 + signal))));
    }
    let mut watched = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
    let ready = poll(&mut watched, PollTimeout::ZERO)?;
    Ok((ready > 0).then_some(None))
}

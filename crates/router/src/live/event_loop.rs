//! The event loop: takes packets from both devices, passes them to their paths, and sends packets
//! when they are due. It has one thread, which sleeps until a packet arrives or is due; it may spin
//! just before a packet is due.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll, ppoll};
use nix::sched::CloneFlags;
use nix::sys::time::TimeSpec;
use nix::unistd::Uid;
use sojourn_aqm::Time;

use super::devices;
use super::ends::Ends;
use super::path::RouterPath;
use super::plan::{ADDRESSES, EndNetns, IPV6_ADDRESSES, LivePlan};
use super::results::{self, DeviceReport, LiveResult};
use super::state::{RouterState, SAMPLE_INTERVAL};
use super::status::StatusWriter;
use crate::laws::LoadedLaws;
use crate::linux::netns::become_root;
use crate::linux::{Failure, tun};

/// The most packets taken from one device in a row.
const BATCH: usize = 64;
/// Status is reported after this many samples.
const SAMPLES_PER_REPORT: u64 = 5;

/// Runs the router to the end; returns the results and the exit code of the near command.
pub(super) fn run(
    plan: &LivePlan,
    laws: &LoadedLaws,
    status: &mut StatusWriter,
    control: &File,
) -> Result<(LiveResult, Option<i32>), Failure> {
    if plan.ends.contains(&EndNetns::Host) && !Uid::effective().is_root() {
        return Err("host: only root may put an end into the machine's own namespace".to_owned());
    }
    become_root(CloneFlags::empty())?;
    let ends = Ends::open(&plan.ends)?;
    let files = [devices::open(plan, &ends, 0)?, devices::open(plan, &ends, 1)?];
    let ipv6 = devices::add_ipv6(plan, &ends);
    let offloads = devices::switch_off_offloads(&ends)?;
    let before = [devices::read_back(plan, &ends, 0)?, devices::read_back(plan, &ends, 1)?];
    // By default the kernel may delay a wake-up by 50 us to combine it with others
    // (PR_SET_TIMERSLACK).
    nix::sys::prctl::set_timerslack(1).map_err(|e| format!("timer slack: {e}"))?;
    let router = RouterState::new(plan, laws)?;
    status.begun(&before, &ipv6, &plan.remarks);
    let far = start(&ends, 1, &plan.commands[1], ipv6.is_ok())?;
    let near = start(&ends, 0, &plan.commands[0], ipv6.is_ok())?;
    let mut commands = [near, far];
    let buffer = vec![0; tun::LARGEST];
    let mut event_loop = EventLoop { router, devices: files, buffer, zero: Instant::now() };
    let ended = event_loop.run(&mut commands, control, status);
    for command in commands.iter_mut().flatten() {
        // The command may have ended by itself; its descendants end with the process group.
        let _ = command.kill();
        let _ = command.wait();
    }
    if let Some(failure) = laws.failure() {
        return Err(failure);
    }
    let code = ended.map_err(|e| format!("while running: {e}"))?;
    let after = [devices::shown(&ends, 0)?, devices::shown(&ends, 1)?];
    let end = event_loop.now();
    let devices = DeviceReport { before, after, offloads, no_ipv6: ipv6.err() };
    Ok((results::finish(event_loop.router, &devices, end), code))
}

/// Starts a command at an end; its arguments are passed unchanged.
fn start(
    ends: &Ends,
    end: usize,
    command: &[String],
    has_ipv6: bool,
) -> Result<Option<Child>, Failure> {
    let Some((program, arguments)) = command.split_first() else { return Ok(None) };
    let names = ["SOJOURN_NEAR", "SOJOURN_FAR"].into_iter().zip(ADDRESSES);
    let ipv6 = ["SOJOURN_NEAR_IPV6", "SOJOURN_FAR_IPV6"].into_iter().zip(IPV6_ADDRESSES);
    let child = ends.within(end, || {
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .envs(names.chain(ipv6.filter(|_| has_ipv6)))
            .spawn()
    });
    child.map(Some).map_err(|e| format!("{program}: {e}"))
}

/// The router with its devices and its clock.
struct EventLoop<'a> {
    router: RouterState<'a>,
    devices: [File; 2],
    buffer: Vec<u8>,
    zero: Instant,
}

impl EventLoop<'_> {
    /// The time since the start.
    fn now(&self) -> Time {
        Time::from_nanos(self.zero.elapsed().as_nanos() as u64)
    }

    /// Runs to the end; returns the exit code of the near command if it has ended.
    fn run(
        &mut self,
        commands: &mut [Option<Child>; 2],
        control: &File,
        status: &mut StatusWriter,
    ) -> io::Result<Option<i32>> {
        let end = self.router.plan.duration_ns.map_or(Time::NEVER, Time::from_nanos);
        let mut next_sample = Time::ZERO + SAMPLE_INTERVAL;
        let mut samples = 0;
        loop {
            let now = self.now();
            self.send(now)?;
            let received = self.receive(0)? | self.receive(1)?;
            if now >= next_sample {
                self.router.lateness.add(now.since(next_sample).as_nanos());
                samples += 1;
                status.add(&self.router.sample(next_sample));
                if samples % SAMPLES_PER_REPORT == 0 {
                    status.report(next_sample, &self.router);
                }
                next_sample += SAMPLE_INTERVAL;
                if self.router.laws.failure().is_some() {
                    return Ok(None);
                }
                if let Some(code) = is_over(commands, control)? {
                    return Ok(code);
                }
            }
            if now >= end {
                return Ok(None);
            }
            if !received {
                self.sleep(next_sample.min(end))?;
            }
        }
    }

    /// Sends the packets that are due.
    fn send(&mut self, now: Time) -> io::Result<()> {
        for path in 0..self.router.paths.len() {
            while let Some((due, packet)) = self.router.paths[path].leave(now) {
                let late = self.now().since(due);
                match self.devices[1 - path].write(&packet.bytes) {
                    Ok(_) => self.router.lateness.add(late.as_nanos()),
                    Err(error) if is_refusal(&error) => self.router.refused += 1,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Takes the packets that have arrived at one end; returns whether there were any.
    fn receive(&mut self, end: usize) -> io::Result<bool> {
        for count in 0..BATCH {
            let Some(length) = tun::read(&mut self.devices[end], &mut self.buffer)? else {
                return Ok(count > 0);
            };
            let bytes = self.buffer[..length].to_vec();
            match self.router.flows.number(&bytes) {
                Some(flow) => {
                    let now = self.now();
                    self.router.paths[end].arrive(now, bytes, flow);
                }
                None => self.router.foreign += 1,
            }
        }
        Ok(true)
    }

    /// Sleeps until a packet arrives, or until `spin_ns` before the next one is due.
    fn sleep(&self, latest: Time) -> io::Result<()> {
        let timers = self.router.paths.iter().map(RouterPath::next_timer);
        let next = timers.chain([latest]).min().expect("there is a latest");
        let left = next.since(self.now()).as_nanos();
        let spin_ns = self.router.plan.spin_ns;
        if left <= spin_ns {
            return Ok(());
        }
        let left = (left - spin_ns) as i64;
        let span = TimeSpec::new(left / 1_000_000_000, left % 1_000_000_000);
        let mut polled =
            self.devices.each_ref().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut polled, Some(span), None) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the device is down or out of memory. The packet is then lost, and counted as refused.
fn is_refusal(error: &io::Error) -> bool {
    let refusals = [libc::EIO, libc::ENOMEM, libc::ENOBUFS, libc::EAGAIN, libc::EINVAL];
    error.raw_os_error().is_some_and(|code| refusals.contains(&code))
}

/// Whether the user or the near command has ended the run; in the latter case, with the command's
/// exit code.
fn is_over(commands: &mut [Option<Child>; 2], control: &File) -> io::Result<Option<Option<i32>>> {
    if let Some(status) = commands[0].as_mut().map(Child::try_wait).transpose()?.flatten() {
        use std::os::unix::process::ExitStatusExt;
        // As in a shell, the code is 128 plus the signal's number.
        return Ok(Some(status.code().or_else(|| status.signal().map(|signal| 128 + signal))));
    }
    let mut polled = [PollFd::new(control.as_fd(), PollFlags::POLLIN)];
    let ready = poll(&mut polled, PollTimeout::ZERO)?;
    Ok((ready > 0).then_some(None))
}

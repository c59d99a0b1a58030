//! Finds programs that read a clock or poll in a loop. Computing takes no time in a guest: a
//! process has used CPU time if it read clocks, failed calls or polled (facts linux-1, linux-43).

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use sojourn_aqm::{Span, Time};

use crate::linux::Failure;

/// The shortest time after which CPU times are compared again: several ticks of the kernel.
const WINDOW: Span = Span::from_millis(100);
/// The share of a window that processes must use.
const BUSY_SHARE: f64 = 0.85;
/// How long programs may poll without sending a packet.
const MOST: Span = Span::from_secs(1);
/// The unit of times in `/proc/PID/stat` (proc(5), `sysconf(_SC_CLK_TCK)`).
const TICK: Duration = Duration::from_millis(10);
/// The longest command that messages show, in characters.
const SHOWN: usize = 60;

/// The CPU time of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CpuTime {
    pub(super) pid: u32,
    pub(super) ticks: u64,
}

/// The processes' CPU times over a run.
#[derive(Default)]
pub(super) struct Polling {
    before: BTreeMap<u32, u64>,
    looked_at: Time,
    packets: u64,
    /// When the programs began to poll, without a pause since, and the process that does it most.
    since: Option<(Time, u32)>,
}

impl Polling {
    /// Compares the CPU times of all processes, if the last comparison was long ago. `packets` have
    /// passed the path so far.
    pub(super) fn look(&mut self, now: Time, packets: u64, times: impl Fn() -> Vec<CpuTime>) {
        let elapsed = now.since(self.looked_at);
        if elapsed < WINDOW {
            return;
        }
        let times = times();
        let used = |time: &CpuTime| {
            let before = self.before.get(&time.pid).copied().unwrap_or(0);
            (time.ticks.saturating_sub(before), time.pid)
        };
        let ticks: u64 = times.iter().map(|time| used(time).0).sum();
        let is_busy = ticks as f64 * TICK.as_secs_f64() >= BUSY_SHARE * elapsed.as_secs();
        let most = times.iter().map(used).max().filter(|_| is_busy && packets == self.packets);
        let began = self.since.map_or(self.looked_at, |(began, _)| began);
        self.since = most.map(|(_, pid)| (began, pid));
        self.before = times.iter().map(|time| (time.pid, time.ticks)).collect();
        (self.looked_at, self.packets) = (now, packets);
    }

    /// The process that polls, if any.
    pub(super) fn process(&self) -> Option<u32> {
        self.since.map(|(_, pid)| pid)
    }

    /// Fails if a process has polled for too long.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let Some((began, pid)) = self.since else { return Ok(()) };
        if self.looked_at.since(began) < MOST {
            return Ok(());
        }
        Err(format!(
            "`{}` read a clock or polled in a loop for {:.1} s, from {:.1} s of the scenario, and \
             no program sent a packet: each reading takes 256 ns of simulated time, so a second \
             takes minutes; let the loop sleep, or say with --for how long the run may last",
            command_of(pid),
            self.looked_at.since(began).as_secs(),
            began.as_secs(),
        ))
    }
}

/// The CPU times of all processes, without those of the kernel and the first one.
pub(super) fn cpu_times() -> Vec<CpuTime> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| pid != std::process::id()).filter_map(cpu_time).collect()
}

fn cpu_time(pid: u32) -> Option<CpuTime> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // proc(5): state follows the name; fields 14 to 17 are user and system time, and those of
    // children that have ended.
    let (_, rest) = text.rsplit_once(')')?;
    let fields = rest.split_whitespace().skip(11).take(4).map(str::parse::<u64>);
    Some(CpuTime { pid, ticks: fields.sum::<Result<u64, _>>().ok()? })
}

/// The beginning of a process's command, for messages.
pub(super) fn command_of(pid: u32) -> String {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).replace('\0', " ");
    let words: Vec<_> = text.split_whitespace().collect();
    let mut shown: String = words.join(" ").chars().take(SHOWN).collect();
    if shown.is_empty() {
        shown = format!("process {pid}");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ticks: &[(u32, u64)]) -> Vec<CpuTime> {
        ticks.iter().map(|&(pid, ticks)| CpuTime { pid, ticks }).collect()
    }

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Looks every 100 ms while process 7 uses `ticks` of each 10; returns the outcome.
    fn after(looks: u64, ticks: u64, packets: impl Fn(u64) -> u64) -> Polling {
        let mut polling = Polling::default();
        for n in 1..=looks {
            polling.look(at(100 * n), packets(n), || times(&[(3, 0), (7, ticks * n)]));
        }
        polling
    }

    #[test]
    fn a_process_that_polls_for_a_second_without_a_packet_fails_the_run() {
        assert_eq!(after(9, 10, |_| 5).process(), Some(7));
        assert!(after(9, 10, |_| 5).check().is_ok());
        let failure = after(11, 10, |_| 0).check().unwrap_err();
        assert!(failure.contains("polled in a loop for 1.1 s, from 0.0 s"), "{failure}");
    }

    #[test]
    fn packets_and_pauses_begin_the_second_again() {
        assert!(after(100, 10, |n| n / 5).check().is_ok());
        assert_eq!(after(100, 8, |_| 0).process(), None);
    }

    #[test]
    fn looks_within_a_window_change_nothing() {
        let mut polling = after(5, 10, |_| 0);
        polling.look(at(550), 0, || times(&[]));
        assert_eq!(polling.process(), Some(7));
    }

    #[test]
    fn the_cpu_time_and_the_command_of_a_process_are_read() {
        let own = std::process::id();
        assert!(cpu_time(own).is_some());
        assert!(cpu_times().iter().all(|time| time.pid != own));
        assert!(!command_of(own).is_empty());
        assert_eq!(command_of(u32::MAX), format!("process {}", u32::MAX));
    }
}

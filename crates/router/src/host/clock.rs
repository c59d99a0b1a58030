//! The clock of a run and its only alarm. Time zero is shortly after set-up.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId as Reading, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use sojourn_aqm::Time;

/// The clock of the kernel's packet time stamps.
const CLOCK: Reading = Reading::CLOCK_REALTIME;

/// The clock.
pub(super) struct Clock {
    timer: TimerFd,
    zero_ns: i64,
    alarm: Time,
}

impl Clock {
    /// A clock whose time zero is at least `settle_ns` from now, at a multiple of `step_ns`.
    pub(super) fn start(settle_ns: u64, step_ns: u64) -> io::Result<Clock> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_REALTIME, flags)?;
        let now_ns = reading()?;
        let zero_ns = (now_ns as u64 + settle_ns).next_multiple_of(step_ns) as i64;
        std::thread::sleep(Duration::from_nanos((zero_ns - now_ns) as u64));
        Ok(Clock { timer, zero_ns, alarm: Time::NEVER })
    }

    /// Now; zero before time zero.
    pub(super) fn now(&self) -> io::Result<Time> {
        Ok(Time::from_nanos(u64::try_from(self.of_stamp(reading()?)).unwrap_or(0)))
    }

    /// Converts a packet's time stamp to the scenario's time, in nanoseconds.
    pub(super) fn of_stamp(&self, stamp_ns: i64) -> i64 {
        stamp_ns - self.zero_ns
    }

    /// The time since the alarm, in nanoseconds.
    pub(super) fn lateness(&self, now: Time) -> u64 {
        now.since(self.alarm.min(now)).as_nanos()
    }

    /// Sets the time at which the loop wakes. An alarm that rang by `now` is set again, although
    /// its time is the same: more is due then, such as the next datagram of a frame of video.
    pub(super) fn set_alarm(&mut self, at: Time, now: Time) -> io::Result<()> {
        if at == self.alarm && at > now {
            return Ok(());
        }
        self.alarm = at;
        let at_ns = self.zero_ns.saturating_add(at.as_nanos().min(i64::MAX as u64) as i64).max(1);
        let spec = TimeSpec::new(at_ns / 1_000_000_000, at_ns % 1_000_000_000);
        self.timer.set(Expiration::OneShot(spec), TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
        Ok(())
    }
}

impl AsFd for Clock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

/// Sleeps until the clock is at a multiple of `step_ns`. The kernel then wakes this thread and its
/// children exactly when the timer expires, independently of other pending timers (fact linux-14).
pub(super) fn sleep_until_step(step_ns: u64) -> io::Result<()> {
    const SLACK_NS: u64 = 1;
    prctl::set_timerslack(SLACK_NS)?;
    let until_ns = (reading()? as u64 + 1).next_multiple_of(step_ns) as i64;
    let until = TimeSpec::new(until_ns / 1_000_000_000, until_ns % 1_000_000_000);
    clock_nanosleep(CLOCK, ClockNanosleepFlags::TIMER_ABSTIME, &until)?;
    Ok(())
}

/// Waits until the clock is at a multiple of `step_ns`, so that a discipline whose timer counts
/// from its creation gets the same times in every run, however long the set-up took. The kernel may
/// wake a sleeper late, so the last part is spent spinning. In a guest, each reading advances the
/// clock by the same amount (fact linux-1), of which a second is a multiple.
pub(super) fn wait_for_step(step_ns: u64) -> io::Result<()> {
    const AWAKE_NS: u64 = 200_000;
    let now_ns = reading()? as u64;
    let until_ns = (now_ns + AWAKE_NS.min(step_ns)).next_multiple_of(step_ns);
    std::thread::sleep(Duration::from_nanos((until_ns - now_ns).saturating_sub(AWAKE_NS)));
    while (reading()? as u64) < until_ns {}
    Ok(())
}

fn reading() -> io::Result<i64> {
    let now = clock_gettime(CLOCK)?;
    Ok(now.tv_sec() * 1_000_000_000 + now.tv_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_that_rang_rings_again_if_more_is_due_at_its_time() {
        let mut clock = Clock::start(0, 1).unwrap();
        let due = clock.now().unwrap();
        for _ in 0..2 {
            clock.set_alarm(due, due).unwrap();
            let rang = (0..1_000).any(|_| {
                std::thread::sleep(Duration::from_millis(1));
                clock.timer.wait().is_ok() // TFD_NONBLOCK: an error until it rings
            });
            assert!(rang);
        }
    }
}

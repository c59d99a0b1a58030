//! Ends the process if a library's call does not return, or if all calls sleep. Nothing else helps:
//! the call occupies its thread, and a thread cannot be stopped from outside.

use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use crate::marks::Mark;

/// How often the watchdog looks.
const LOOK: Duration = Duration::from_secs(1);
/// Number of looks at one call after which it counts as hanging. Looks are counted instead of time,
/// so a suspended machine is not mistaken for a hanging library. A call takes microseconds.
const MOST_LOOKS: u32 = 30;
/// Calls that use less CPU time than this during these looks sleep: 1 % of the time.
const LEAST_CPU: Duration = Duration::from_millis(300);

/// A thread that calls libraries.
struct Caller {
    thread: ThreadId,
    cpu_clock: Option<libc::clockid_t>,
    /// A counter that is odd during a call.
    calls: AtomicU64,
    /// The fault that the watchdog has found, as its place in `FAULTS` plus 1.
    fault: AtomicU8,
}

/// The identifier of a thread, which is a pointer in musl.
struct ThreadId(libc::pthread_t);

// SAFETY: nothing dereferences it.
unsafe impl Send for ThreadId {}
// SAFETY: as above.
unsafe impl Sync for ThreadId {}

/// Why the watchdog ends the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// One call does not return.
    Stuck,
    /// Calls return, but sleep.
    Sleeps,
}

const FAULTS: [Fault; 2] = [Fault::Stuck, Fault::Sleeps];

thread_local! {
    static CALLER: Arc<Caller> = watched();
}

/// All threads that have called a library.
static CALLERS: Mutex<Vec<(Weak<Caller>, Seen)>> = Mutex::new(Vec::new());
/// The marks of laws' hooks, and how the process ends for each.
static MARKS: Mutex<Vec<(Weak<Mark>, u32, EndOfHook)>> = Mutex::new(Vec::new());
static WATCHDOG: OnceLock<()> = OnceLock::new();

/// Ends the process because of a hook, given the library's file and the name of the hook.
pub(crate) type EndOfHook = fn(&'static str, &'static str) -> !;

/// Watches the hooks named by this mark.
pub(crate) fn watch_hooks(mark: &Arc<Mark>, end: EndOfHook) {
    MARKS.lock().expect("nobody panics while holding it").push((Arc::downgrade(mark), 0, end));
    start();
}

/// Starts the watchdog, once.
fn start() {
    WATCHDOG.get_or_init(|| {
        std::thread::spawn(watch);
    });
}

/// Registers this thread.
fn watched() -> Arc<Caller> {
    give_signal_stack();
    // SAFETY: it has no preconditions.
    let thread = unsafe { libc::pthread_self() };
    let (calls, fault) = (AtomicU64::new(0), AtomicU8::new(0));
    let cpu_clock = cpu_clock(thread);
    let caller = Arc::new(Caller { thread: ThreadId(thread), cpu_clock, calls, fault });
    let mut callers = CALLERS.lock().expect("nobody panics while holding it");
    callers.push((Arc::downgrade(&caller), Seen::default()));
    start();
    caller
}

/// Bytes of a stack for a signal's handler, which is needed if a library has used up the thread's.
const STACK_BYTES: usize = 64 << 10;

/// Gives this thread a stack for signals. Threads that Rust starts have one already.
fn give_signal_stack() {
    let mut stack = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: it writes to `stack`.
    let is_known = unsafe { libc::sigaltstack(ptr::null(), &raw mut stack) } == 0;
    if is_known && stack.ss_flags & libc::SS_DISABLE != 0 {
        let memory = Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice());
        stack =
            libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
        // SAFETY: the memory is never freed.
        unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
    }
}

/// Calls a library, watched.
pub(crate) fn within<T>(work: impl FnOnce() -> T) -> T {
    CALLER.with(|caller| {
        caller.calls.fetch_add(1, Ordering::Relaxed);
        let result = work();
        caller.calls.fetch_add(1, Ordering::Relaxed);
        result
    })
}

/// The fault that the watchdog has found in this thread's calls; for a signal's handler.
pub(crate) fn found_of_this_thread() -> Option<Fault> {
    let found = CALLER.with(|caller| caller.fault.load(Ordering::Relaxed));
    FAULTS.get(usize::from(found).wrapping_sub(1)).copied()
}

/// The watchdog's record of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    calls: u64,
    /// Looks at this call.
    looks: u32,
    /// Looks in a row at which the thread was in any call, and its CPU time before them.
    in_calls: u32,
    cpu: Duration,
}

impl Seen {
    /// Takes a look at a thread, given its counter and its CPU time, if known.
    fn look(&mut self, calls: u64, cpu: Option<Duration>) -> Option<Fault> {
        let is_in_call = calls % 2 == 1;
        self.looks = if is_in_call && calls == self.calls { self.looks + 1 } else { 0 };
        self.calls = calls;
        if self.looks >= MOST_LOOKS {
            return Some(Fault::Stuck);
        }
        let Some(cpu) = cpu.filter(|_| is_in_call) else {
            self.in_calls = 0;
            return None;
        };
        if self.in_calls == 0 {
            self.cpu = cpu;
        }
        self.in_calls += 1;
        if self.in_calls <= MOST_LOOKS {
            return None;
        }
        self.in_calls = 0;
        (cpu - self.cpu < LEAST_CPU).then_some(Fault::Sleeps)
    }
}

/// The clock of this thread's CPU time; `None` where the system has none.
#[cfg(target_os = "linux")]
fn cpu_clock(this_thread: libc::pthread_t) -> Option<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the thread exists, because it is this one.
    let result = unsafe { libc::pthread_getcpuclockid(this_thread, &raw mut clock) };
    (result == 0).then_some(clock)
}

#[cfg(not(target_os = "linux"))]
fn cpu_clock(_: libc::pthread_t) -> Option<libc::clockid_t> {
    None
}

fn read(clock: libc::clockid_t) -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to `time`; the clock of a thread that has ended is an error.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

fn watch() {
    loop {
        std::thread::sleep(LOOK);
        look_at_hooks();
        let mut callers = CALLERS.lock().expect("nobody panics while holding it");
        callers.retain_mut(|(caller, seen)| {
            let Some(caller) = caller.upgrade() else { return false };
            let calls = caller.calls.load(Ordering::Relaxed);
            if let Some(fault) = seen.look(calls, caller.cpu_clock.and_then(read)) {
                caller.fault.store(fault as u8 + 1, Ordering::Relaxed);
                // SAFETY: the thread is in a call, so it exists. Its signal handler names the call
                // and ends the process.
                unsafe { libc::pthread_kill(caller.thread.0, libc::SIGABRT) };
            }
            true
        });
    }
}

fn look_at_hooks() {
    let mut marks = MARKS.lock().expect("nobody panics while holding it");
    marks.retain_mut(|(mark, looks, end)| {
        let Some(mark) = mark.upgrade() else { return false };
        let found = mark.look();
        *looks = if found.is_some() { *looks + 1 } else { 0 };
        if let Some(hook) = found.filter(|_| *looks >= MOST_LOOKS) {
            end(mark.file, hook.part());
        }
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_call_that_is_the_same_at_many_looks_is_stuck() {
        let mut seen = Seen::default();
        let looks = |seen: &mut Seen, calls| {
            (0..MOST_LOOKS).map(|_| seen.look(calls, None)).last().unwrap()
        };
        assert_eq!(looks(&mut seen, 4), None, "between two calls");
        assert_eq!(seen.look(5, None), None);
        assert_eq!((1..MOST_LOOKS).find_map(|_| seen.look(5, None)), None);
        assert_eq!(seen.look(5, None), Some(Fault::Stuck));
        assert_eq!(seen.look(7, None), None, "another call");
    }

    #[test]
    fn calls_that_use_no_cpu_time_sleep() {
        let found = |cpu_ms: u64, pause: u64| {
            let mut seen = Seen::default();
            (0..2 * u64::from(MOST_LOOKS)).find_map(|look| {
                let calls = if look % pause == 0 { 2 * look } else { 2 * look + 1 };
                seen.look(calls, Some(Duration::from_millis(cpu_ms * look)))
            })
        };
        assert_eq!(found(5, 1000), Some(Fault::Sleeps));
        assert_eq!(found(50, 1000), None, "a busy machine leaves it some CPU time");
        assert_eq!(found(5, 20), None, "the simulator waits too");
    }
}

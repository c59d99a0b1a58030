//! Ends the process if a library's call does not return. Nothing else helps: the call occupies its
//! thread, and a thread cannot be stopped from outside.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use crate::marks::Mark;

/// How often the watchdog looks.
const LOOK: Duration = Duration::from_secs(1);
/// Number of looks at one call after which it counts as hanging. Looks are counted instead of time,
/// so a suspended machine is not mistaken for a hanging library. A call takes microseconds.
const MOST_LOOKS: u32 = 30;

/// A thread that calls libraries.
struct Caller {
    thread: libc::pthread_t,
    /// A counter that is odd during a call.
    calls: AtomicU64,
    is_stuck: AtomicBool,
}

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
    // SAFETY: it has no preconditions.
    let thread = unsafe { libc::pthread_self() };
    let caller =
        Arc::new(Caller { thread, calls: AtomicU64::new(0), is_stuck: AtomicBool::new(false) });
    let mut callers = CALLERS.lock().expect("nobody panics while holding it");
    callers.push((Arc::downgrade(&caller), Seen::default()));
    start();
    caller
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

/// Whether the watchdog has found this thread's call; for a signal's handler.
pub(crate) fn has_found_this_thread() -> bool {
    CALLER.with(|caller| caller.is_stuck.load(Ordering::Relaxed))
}

/// The watchdog's record of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    calls: u64,
    looks: u32,
}

impl Seen {
    /// Whether one call has lasted for too many looks of the watchdog.
    fn look(&mut self, calls: u64) -> bool {
        let is_the_same_call = calls == self.calls && calls % 2 == 1;
        self.looks = if is_the_same_call { self.looks + 1 } else { 0 };
        self.calls = calls;
        self.looks >= MOST_LOOKS
    }
}

fn watch() {
    loop {
        std::thread::sleep(LOOK);
        look_at_hooks();
        let mut callers = CALLERS.lock().expect("nobody panics while holding it");
        callers.retain_mut(|(caller, seen)| {
            let Some(caller) = caller.upgrade() else { return false };
            if seen.look(caller.calls.load(Ordering::Relaxed)) {
                caller.is_stuck.store(true, Ordering::Relaxed);
                // SAFETY: the thread is in a call, so it exists. Its signal handler names the call
                // and ends the process.
                unsafe { libc::pthread_kill(caller.thread, libc::SIGABRT) };
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
        let looks = |seen: &mut Seen, calls| (0..MOST_LOOKS).map(|_| seen.look(calls)).last();
        assert_eq!(looks(&mut seen, 4), Some(false), "between two calls");
        assert!(!seen.look(5));
        assert_eq!((1..MOST_LOOKS).map(|_| seen.look(5)).last(), Some(false));
        assert!(seen.look(5));
        assert!(!seen.look(7), "another call");
    }
}

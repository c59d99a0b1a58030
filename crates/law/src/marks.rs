//! Records which hook of a library's law is being called, for the watchdog. Recording costs two
//! stores per call.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A function in a law's table, except `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Hook {
    Start = 1,
    Stop,
    OnEnqueue,
    OnOverflow,
    OnEviction,
    OnDequeue,
    OnEmpty,
    NextTimer,
    OnHead,
    OnTimer,
    OnIdleTimers,
    OnRate,
    Observe,
}

/// All hooks, and how messages name them.
#[cfg(unix)]
const HOOKS: [(Hook, &str); 13] = [
    (Hook::Start, "its law's start"),
    (Hook::Stop, "its law's stop"),
    (Hook::OnEnqueue, "its law's on_enqueue"),
    (Hook::OnOverflow, "its law's on_overflow"),
    (Hook::OnEviction, "its law's on_eviction"),
    (Hook::OnDequeue, "its law's on_dequeue"),
    (Hook::OnEmpty, "its law's on_empty"),
    (Hook::NextTimer, "its law's next_timer"),
    (Hook::OnHead, "its law's on_head"),
    (Hook::OnTimer, "its law's on_timer"),
    (Hook::OnIdleTimers, "its law's on_idle_timers"),
    (Hook::OnRate, "its law's on_rate"),
    (Hook::Observe, "its law's observe"),
];

/// A flag that the watchdog sets when it looks, and that the next call clears.
#[cfg(unix)]
const SEEN: u8 = 0x80;

/// Names the hook in progress, for one library's laws created by one thread. If another thread
/// calls them at the same time, a call that hangs may go unnoticed.
#[derive(Debug)]
pub(crate) struct Mark {
    #[cfg_attr(not(unix), expect(dead_code, reason = "the watchdog reads it"))]
    pub(crate) file: &'static str,
    /// The hook, or 0 between calls.
    hook: AtomicU8,
}

thread_local! {
    static OF_THREAD: RefCell<Vec<Arc<Mark>>> = const { RefCell::new(Vec::new()) };
}

impl Hook {
    #[cfg(unix)]
    pub(crate) fn part(self) -> &'static str {
        HOOKS[self as usize - 1].1
    }
}

impl Mark {
    fn new(file: &'static str) -> Mark {
        Mark { file, hook: AtomicU8::new(0) }
    }

    /// The mark of this thread and library; `watch` receives a new mark.
    pub(crate) fn of(file: &'static str, watch: impl FnOnce(&Arc<Mark>)) -> Arc<Mark> {
        OF_THREAD.with_borrow_mut(|marks| {
            if let Some(mark) = marks.iter().find(|mark| mark.file == file) {
                return Arc::clone(mark);
            }
            let mark = Arc::new(Mark::new(file));
            watch(&mark);
            marks.push(Arc::clone(&mark));
            mark
        })
    }

    /// Calls a hook.
    #[inline]
    pub(crate) fn within<T>(&self, hook: Hook, work: impl FnOnce() -> T) -> T {
        self.hook.store(hook as u8, Ordering::Relaxed);
        let result = work();
        self.hook.store(0, Ordering::Relaxed);
        result
    }

    /// The hook, if its call has lasted since the last look of the watchdog.
    #[cfg(unix)]
    pub(crate) fn look(&self) -> Option<Hook> {
        let current = self.hook.load(Ordering::Relaxed);
        if current == 0 {
            return None;
        }
        // If this fails, the call has ended.
        let seen = current | SEEN;
        let _ = self.hook.compare_exchange(current, seen, Ordering::Relaxed, Ordering::Relaxed);
        (current & SEEN != 0).then(|| HOOKS[usize::from(current & !SEEN) - 1].0)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_call_that_lasts_from_look_to_look_is_found() {
        let mark = Mark::new("libmine.so");
        assert_eq!(mark.look(), None);
        mark.within(Hook::OnTimer, || {
            assert_eq!(mark.look(), None, "the first look");
            assert_eq!(mark.look(), Some(Hook::OnTimer));
            assert_eq!(mark.look(), Some(Hook::OnTimer));
        });
        assert_eq!(mark.look(), None, "between two calls");
        for _ in 0..3 {
            mark.within(Hook::OnTimer, || assert_eq!(mark.look(), None, "another call"));
        }
    }

    #[test]
    fn every_hook_is_named_at_its_place() {
        for (place, (hook, part)) in HOOKS.iter().enumerate() {
            assert_eq!(*hook as usize, place + 1);
            assert_eq!(hook.part(), *part);
        }
    }
}

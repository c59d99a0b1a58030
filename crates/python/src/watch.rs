//! Ends a call of Python code that does not return: a custom law, congestion control or
//! application.
//!
//! An exception is raised in the call first, which ends the run like any other. If the call
//! continues, because it catches everything or is stuck in a library, the process ends with a
//! message. Only CPU time counts, because a debugger may stop a call; a call that waits for
//! [`LONG_LOOKS`] gets a warning. CPU time is known on Linux only; elsewhere nothing is watched.

use std::ffi::c_long;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;
use std::{fmt, fs, thread};

use pyo3::create_exception;
use pyo3::exceptions::{PyBaseException, PyTimeoutError};
use pyo3::prelude::*;
use sojourn_aqm::Time;
use sojourn_law::signals::end_with;

/// How often the watch looks.
const LOOK: Duration = Duration::from_secs(1);
/// CPU time of one call after which it is interrupted, and again after which the process ends. A
/// call takes microseconds.
const MOST_S: u64 = 10;
/// Number of looks at one call before a warning.
const LONG_LOOKS: u32 = 20;
/// Units of CPU time in `/proc` (proc(5): `sysconf(_SC_CLK_TCK)`, 100 on every architecture that
/// Rust's standard library supports).
const TICKS_PER_S: u64 = 100;

create_exception!(
    sojourn._core,
    NotReturned,
    PyBaseException,
    "Raised in a call that does not return; `except Exception` does not catch it."
);

/// The call: a method of custom code, at a simulated time.
#[derive(Clone)]
pub(crate) struct Call {
    /// `mine.py:6: Mine`.
    pub(crate) what: Arc<str>,
    pub(crate) method: &'static str,
    pub(crate) at: Time,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} at {:.9} s", self.what, self.method, self.at.as_secs())
    }
}

/// A thread that calls Python code.
struct Caller {
    /// Python's number of the thread.
    number: c_long,
    /// Its file in `/proc`.
    stat: PathBuf,
    /// Odd during a call.
    calls: AtomicU64,
    last: Mutex<Option<Call>>,
    is_interrupted: AtomicBool,
}

thread_local! {
    static CALLER: Option<Arc<Caller>> = watched();
}

/// All threads that have called Python code.
static CALLERS: Mutex<Vec<(Weak<Caller>, Seen)>> = Mutex::new(Vec::new());
static WATCH: OnceLock<()> = OnceLock::new();

/// Registers this thread; starts the watch with the first.
fn watched() -> Option<Arc<Caller>> {
    let number = |py: Python<'_>| -> PyResult<c_long> {
        py.import("sojourn.loading.exits")?.call_method0("guard")?;
        py.import("threading")?.call_method0("get_ident")?.extract()
    };
    let number = Python::attach(number).ok()?;
    let stat = fs::read_link("/proc/thread-self").ok()?;
    let caller = Arc::new(Caller {
        number,
        stat: PathBuf::from("/proc").join(stat).join("stat"),
        calls: AtomicU64::new(0),
        last: Mutex::new(None),
        is_interrupted: AtomicBool::new(false),
    });
    let mut callers = CALLERS.lock().expect("nobody panics while holding it");
    callers.push((Arc::downgrade(&caller), Seen::default()));
    WATCH.get_or_init(|| {
        thread::spawn(watch);
    });
    Some(caller)
}

/// Calls Python code, watched.
///
/// # Errors
/// What the code raises; `TimeoutError` if it was interrupted.
pub(crate) fn within<T>(call: Call, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    CALLER.with(|caller| {
        // A call within another one belongs to it.
        let Some(caller) = caller.as_ref().filter(|_| !is_in_own_code()) else {
            return Python::attach(work);
        };
        *caller.last.lock().expect("nobody panics while holding it") = Some(call);
        caller.calls.fetch_add(1, Ordering::Release);
        Python::attach(|py| {
            let result = work(py);
            caller.calls.fetch_add(1, Ordering::Release);
            if !caller.is_interrupted.swap(false, Ordering::AcqRel) {
                return result;
            }
            // It may have returned just before the exception was raised.
            caller.raise(None);
            let error = PyTimeoutError::new_err(format!("no return after {MOST_S} s of CPU time"));
            error.set_traceback(py, result.err().and_then(|raised| raised.traceback(py)));
            Err(error)
        })
    })
}

/// Whether this thread is within a call, whose code must not end the process.
#[pyfunction]
pub(crate) fn is_in_own_code() -> bool {
    CALLER.with(|caller| {
        caller.as_ref().is_some_and(|caller| caller.calls.load(Ordering::Relaxed) % 2 == 1)
    })
}

impl Caller {
    /// Makes the thread raise `NotReturned` soon, or cancels that. The caller holds the GIL.
    #[allow(unsafe_code, reason = "PyO3 does not wrap it")]
    fn raise(&self, exception: Option<Bound<'_, PyAny>>) {
        let exception = exception.map_or(std::ptr::null_mut(), |it| it.as_ptr());
        // SAFETY: the caller holds the GIL; the exception is a class, or null.
        unsafe { pyo3::ffi::PyThreadState_SetAsyncExc(self.number, exception) };
    }

    /// Interrupts a call, if it still lasts once this thread has the GIL.
    fn interrupt(&self, calls: u64) {
        Python::attach(|py| {
            if self.calls.load(Ordering::Acquire) == calls {
                self.is_interrupted.store(true, Ordering::Release);
                self.raise(Some(py.get_type::<NotReturned>().into_any()));
            }
        });
    }

    fn call(&self) -> String {
        let last = self.last.lock().expect("nobody panics while holding it");
        last.as_ref().map_or_else(String::new, Call::to_string)
    }

    fn warn(&self) {
        let (call, seconds) = (self.call(), u64::from(LONG_LOOKS) * LOOK.as_secs());
        eprintln!("sojourn: warning: {call}: no return for {seconds} s; Ctrl-C ends the run");
    }

    fn end_process(&self) -> ! {
        let call = self.call();
        let most = 2 * MOST_S;
        end_with(&format!("{call}: no return after {most} s of CPU time, which ends the run"))
    }

    /// CPU time of the thread in ticks: the fields utime and stime (proc(5)).
    fn ticks(&self) -> Option<u64> {
        let text = fs::read_to_string(&self.stat).ok()?;
        // The name in brackets may contain anything.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok();
        Some(next()? + next()?)
    }
}

/// The watch's record of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    calls: u64,
    /// CPU time of the thread when this call was first seen.
    ticks: u64,
    is_interrupted: bool,
    looks: u32,
}

/// The action to take on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Warn,
    Interrupt,
    End,
}

impl Seen {
    fn look(&mut self, calls: u64, ticks: u64) -> Step {
        if calls != self.calls || calls.is_multiple_of(2) {
            *self = Seen { calls, ticks, ..Seen::default() };
        } else {
            self.looks += 1;
        }
        let most = MOST_S * TICKS_PER_S;
        match ticks - self.ticks {
            used if used >= 2 * most && self.is_interrupted => Step::End,
            used if used >= most && !self.is_interrupted => {
                self.is_interrupted = true;
                Step::Interrupt
            }
            _ if self.looks == LONG_LOOKS => Step::Warn,
            _ => Step::Nothing,
        }
    }
}

fn watch() {
    loop {
        thread::sleep(LOOK);
        let mut callers = CALLERS.lock().expect("nobody panics while holding it");
        callers.retain_mut(|(caller, seen)| {
            let Some(caller) = caller.upgrade() else { return false };
            let calls = caller.calls.load(Ordering::Acquire);
            // A thread that has just ended has no file.
            let Some(ticks) = caller.ticks() else { return true };
            match seen.look(calls, ticks) {
                Step::Nothing => {}
                Step::Warn => caller.warn(),
                // In a separate thread, because the call may hold the GIL.
                Step::Interrupt => drop(thread::spawn(move || caller.interrupt(calls))),
                Step::End => caller.end_process(),
            }
            true
        });
    }
}

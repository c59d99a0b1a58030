//! Handles libraries that end the process (for example by `abort()` or `exit(0)`) or that hang: one
//! sentence names the library and, if known, the end, the time and the function. Nothing can be
//! saved, because memory may be damaged. `SIGKILL` goes unnoticed, and `_exit` except on Linux.

use std::cell::Cell;

/// A call of a library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryCall {
    /// The library's file.
    pub file: &'static str,
    /// The called part: an end, the settings, a law.
    pub part: &'static str,
    /// The function in the table, and the time of the call in nanoseconds, if both are known.
    pub at: Option<(&'static str, u64)>,
}

thread_local! {
    static CALL: Cell<Option<LibraryCall>> = const { Cell::new(None) };
    /// Whether this is a copy of the process that a library made with `fork`, during a call.
    static IS_COPY: Cell<bool> = const { Cell::new(false) };
    /// The number of existing laws, and their file if all have the same file.
    static LAWS: Cell<(u32, Option<&'static str>)> = const { Cell::new((0, None)) };
}

/// Calls the library.
pub fn within<T>(call: LibraryCall, work: impl FnOnce() -> T) -> T {
    let outer = CALL.replace(Some(call));
    let result = watched(work);
    #[cfg(unix)]
    if IS_COPY.get() {
        unix::end_copy();
    }
    CALL.set(outer);
    result
}

#[cfg(unix)]
use crate::watchdog::within as watched;

#[cfg(not(unix))]
fn watched<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// A law that this thread may call at any time.
#[derive(Debug)]
pub(crate) struct LawExists;

impl LawExists {
    pub(crate) fn of(file: &'static str) -> LawExists {
        let (count, other) = LAWS.get();
        LAWS.set((count + 1, if count == 0 { Some(file) } else { other.filter(|it| *it == file) }));
        LawExists
    }
}

impl Drop for LawExists {
    fn drop(&mut self) {
        let (count, file) = LAWS.get();
        LAWS.set((count.saturating_sub(1), file));
    }
}

#[cfg(unix)]
pub(crate) use unix::end_of_hook;
#[cfg(unix)]
pub use unix::{catch, cause, end_with};

/// Other systems have no such signals.
#[cfg(not(unix))]
pub fn catch() {}

/// Notices that a library calls `_exit`, given an address within it.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub fn catch_silent_exit(address: *const std::ffi::c_void) {
    crate::exits::replace(address, unix::on_silent_exit);
}

/// Goes unnoticed elsewhere.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn catch_silent_exit(_: *const std::ffi::c_void) {}

/// Prints the reason, and ends the process with the exit status of a refused input.
#[cfg(not(unix))]
pub fn end_with(why: &str) -> ! {
    eprintln!("sojourn: error: {why}");
    std::process::exit(2)
}

#[cfg(unix)]
mod unix {
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::sync::OnceLock;

    use super::{CALL, IS_COPY, LAWS, LibraryCall};
    use crate::watchdog::{self, Fault};

    const STUCK: &str = "it has not returned for 30 s";
    const SLEEPS: &str = "it sleeps or waits, in every call of 30 s; times are arguments, so let \
                          it return at once";
    /// The exit status for errors that a user has caused.
    const REFUSED: i32 = 2;
    /// Signals caused by a program's own errors.
    const SIGNALS: [(libc::c_int, &str); 5] = [
        (libc::SIGABRT, "it called abort()"),
        (libc::SIGSEGV, "it used memory that it does not have (SIGSEGV)"),
        (libc::SIGBUS, "it used memory that does not exist (SIGBUS)"),
        (libc::SIGFPE, "it divided by zero (SIGFPE)"),
        (libc::SIGILL, "it ran an illegal instruction (SIGILL)"),
    ];

    /// The meaning of a signal for a program that got it because of its own error.
    #[must_use]
    pub fn cause(signal: i32) -> Option<&'static str> {
        SIGNALS.iter().find(|(known, _)| *known == signal).map(|(_, cause)| *cause)
    }

    static EARLIER: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

    /// Handles those signals from now on.
    pub fn catch() {
        EARLIER.get_or_init(|| {
            // SAFETY: the handlers call nothing that must not be called while a process ends, or
            // after a fork.
            unsafe {
                libc::atexit(on_exit);
                libc::pthread_atfork(None, None, Some(after_fork));
            }
            SIGNALS.map(|(signal, _)| handle(signal))
        });
    }

    extern "C" fn on_exit() {
        if let Some(call) = call().filter(|_| !IS_COPY.get()) {
            end(sentence(call, "it called exit()"));
        }
    }

    /// Runs in the copy of a process, in the thread that made it.
    unsafe extern "C" fn after_fork() {
        IS_COPY.set(CALL.get().is_some());
    }

    /// Ends a copy that returns to us: without the other threads it would wait for ever.
    pub(super) fn end_copy() -> ! {
        // SAFETY: it has no preconditions.
        unsafe { libc::_exit(0) }
    }

    /// What a library calls in place of `_exit`.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(super) extern "C" fn on_silent_exit(status: libc::c_int) -> ! {
        if let Some(call) = call().filter(|_| !IS_COPY.get()) {
            end(sentence(call, "it called _exit()"));
        }
        // SAFETY: it has no preconditions.
        unsafe { libc::_exit(status) }
    }

    /// Prints the reason, and ends the process like one that was refused, without its exit
    /// handlers, which may wait for a thread.
    pub fn end_with(why: &str) -> ! {
        eprintln!("sojourn: error: {why}");
        // SAFETY: it has no preconditions.
        unsafe { libc::_exit(REFUSED) }
    }

    /// Ends the process because of a law's hook that does not return.
    pub(crate) fn end_of_hook(file: &'static str, part: &'static str) -> ! {
        end(sentence(LibraryCall { file, part, at: None }, STUCK))
    }

    fn end((text, length): ([u8; 512], usize)) -> ! {
        // SAFETY: both may be called in a handler (POSIX.1-2017 §2.4.3).
        unsafe {
            libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length);
            libc::_exit(REFUSED);
        }
    }

    /// Installs the handler; returns the previous action.
    fn handle(signal: libc::c_int) -> libc::sigaction {
        // SAFETY: all fields may be zero; the handler calls async-signal-safe functions only.
        unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let mut before: libc::sigaction = MaybeUninit::zeroed().assume_init();
            let handler: extern "C" fn(libc::c_int) = on_signal;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(signal, &raw const action, &raw mut before);
            before
        }
    }

    extern "C" fn on_signal(signal: libc::c_int) {
        let place = SIGNALS.iter().position(|(known, _)| *known == signal);
        match (call(), place) {
            (Some(call), Some(place)) => {
                let why = match CALL.get().and_then(|_| watchdog::found_of_this_thread()) {
                    Some(Fault::Stuck) => STUCK,
                    Some(Fault::Sleeps) => SLEEPS,
                    None => SIGNALS[place].1,
                };
                end(sentence(call, why))
            }
            (_, place) => {
                let earlier = place.and_then(|place| EARLIER.get().map(|all| &all[place]));
                // SAFETY: both may be called in a handler. The signal is raised again when this one
                // returns.
                unsafe {
                    match earlier {
                        Some(earlier) => libc::sigaction(signal, earlier, std::ptr::null_mut()),
                        None => return,
                    };
                    libc::raise(signal);
                }
            }
        }
    }

    /// The call during which the process is ending, if a library is being called.
    fn call() -> Option<LibraryCall> {
        let of_laws = || match LAWS.get() {
            (0, _) => None,
            (_, file) => {
                let file = file.unwrap_or("one of several libraries");
                Some(LibraryCall { file, part: "its law", at: None })
            }
        };
        CALL.get().or_else(of_laws)
    }

    /// Must not allocate, because the heap may be damaged.
    fn sentence(call: LibraryCall, why: &str) -> ([u8; 512], usize) {
        let mut text = [0; 512];
        let mut rest = &mut text[..];
        let LibraryCall { file, part, at } = call;
        // A text that is too long is truncated.
        let _ = write!(rest, "sojourn: error: {file}: {part}");
        if let Some((method, now_ns)) = at {
            let (seconds, ns) = (now_ns / 1_000_000_000, now_ns % 1_000_000_000);
            let _ = write!(rest, " at {seconds}.{ns:09} s: {method}");
        }
        let _ = writeln!(rest, ": {why}, which ends the run");
        let length = 512 - rest.len();
        (text, length)
    }
}

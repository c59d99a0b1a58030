//! Signals of a library that ends the process, such as `abort()` in C, and of the watchdog: one
//! sentence says which library, at which end, when and in which function. Nothing can be saved, as
//! the library's memory may be damaged.

use std::cell::Cell;
use std::io::Write;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

use sojourn_endpoint::Peer;

use crate::watchdog;

/// A call of a library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LibraryCall {
    /// The library's file.
    pub(crate) file: &'static str,
    /// Which end; none if it is about the library.
    pub(crate) role: Option<Peer>,
    /// The function in the table.
    pub(crate) method: &'static str,
    /// The time of the call.
    pub(crate) now_ns: u64,
}

thread_local! {
    static CALL: Cell<Option<LibraryCall>> = const { Cell::new(None) };
}

/// Calls the library.
pub(crate) fn within<T>(call: LibraryCall, work: impl FnOnce() -> T) -> T {
    CALL.set(Some(call));
    let result = watchdog::within(work);
    CALL.set(None);
    result
}

/// The exit status for what a user has caused.
const REFUSED: i32 = 2;
/// Signals that a program gets for its own mistakes.
const SIGNALS: [(libc::c_int, &str); 5] = [
    (libc::SIGABRT, "it called abort()"),
    (libc::SIGSEGV, "it used memory that it does not have (SIGSEGV)"),
    (libc::SIGBUS, "it used memory that does not exist (SIGBUS)"),
    (libc::SIGFPE, "it divided by zero (SIGFPE)"),
    (libc::SIGILL, "it ran an illegal instruction (SIGILL)"),
];

static EARLIER: OnceLock<[libc::sigaction; SIGNALS.len()]> = OnceLock::new();

/// Handles those signals from now on.
pub(crate) fn catch() {
    EARLIER.get_or_init(|| SIGNALS.map(|(signal, _)| handle(signal)));
}

/// Returns what was done with the signal before.
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
    match (CALL.get(), place) {
        (Some(call), Some(place)) => {
            let why = match watchdog::has_found_this_thread() {
                true => "it has not returned for 30 s",
                false => SIGNALS[place].1,
            };
            let (text, length) = sentence(call, why);
            // SAFETY: both may be called in a handler (POSIX.1-2017 §2.4.3).
            unsafe {
                libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), length);
                libc::_exit(REFUSED);
            }
        }
        (_, place) => {
            let earlier = place.and_then(|place| EARLIER.get().map(|all| &all[place]));
            // SAFETY: as above. The signal comes again when this handler returns.
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

/// Without an allocation, as the heap may be damaged.
fn sentence(call: LibraryCall, why: &str) -> ([u8; 512], usize) {
    let mut text = [0; 512];
    let mut rest = &mut text[..];
    let end = match call.role {
        Some(Peer::Client) => "client",
        Some(Peer::Server) => "server",
        None => "settings",
    };
    let LibraryCall { file, method, now_ns, .. } = call;
    let (seconds, ns) = (now_ns / 1_000_000_000, now_ns % 1_000_000_000);
    // A text that is too long is cut off.
    let _ = writeln!(
        rest,
        "sojourn: error: {file}: {end} at {seconds}.{ns:09} s: {method}: {why}, which ends the run"
    );
    let length = 512 - rest.len();
    (text, length)
}

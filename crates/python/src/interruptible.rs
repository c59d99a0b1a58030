//! Runs work that takes seconds so that Ctrl-C can interrupt it.

use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// Interval at which Python is asked whether a signal has arrived.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Texts may be nested, so the thread gets as much stack as the main thread.
const STACK_BYTES: usize = 8 << 20;

/// Returns the result of `work`, which runs in a separate thread: only the main thread receives
/// signals, and it must be able to abandon the work. Abandoned work continues, without Python, and
/// its result is ignored.
///
/// # Errors
/// The exception of a signal handler, such as `KeyboardInterrupt`, or the failure to start the
/// thread.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // After an interrupt nothing receives the result.
        let _ = sender.send(work());
    })?;
    // A receiver cannot be shared between threads, so it is moved into the closure and back.
    let mut receiver = receiver;
    loop {
        let (found, back) = py.detach(move || (receiver.recv_timeout(LOOK_EVERY), receiver));
        receiver = back;
        match found {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                let panic = thread.join().expect_err("a thread that ends well has sent its value");
                panic::resume_unwind(panic)
            }
        }
    }
}

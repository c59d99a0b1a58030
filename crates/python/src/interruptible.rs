//! Work of seconds that Ctrl-C does not have to wait for.

use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

/// How often Python is asked whether a signal has come.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Texts may be nested: as much as the main thread has.
const STACK_BYTES: usize = 8 << 20;

/// What `work` returns. It runs in a thread of its own, as only the main thread hears signals, and
/// what waits for it there must be able to give it up: then it goes on unheard, without Python.
///
/// # Errors
/// What a signal handler raises, such as `KeyboardInterrupt`; the thread cannot be started.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // Nobody listens after an interrupt.
        let _ = sender.send(work());
    })?;
    // A receiver is not shared between threads, so that it moves out and back.
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

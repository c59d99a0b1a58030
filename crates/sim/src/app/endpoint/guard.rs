//! Guards calls to a library: a panic or a breach of the contract ends the run with an error.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, Once};

use sojourn_aqm::Time;
use sojourn_endpoint::{Endpoint, Peer, Stats};

/// The first failure of a library in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstFailure {
    failure: Arc<Mutex<Option<LibraryFailure>>>,
}

/// Where and why a library failed.
#[derive(Clone, Debug)]
pub(crate) struct LibraryFailure {
    /// The transport's name in the scenario.
    pub(crate) transport: String,
    /// The flow, the end, the time, the method, and the problem.
    pub(crate) sentence: String,
}

impl FirstFailure {
    /// Whether a library has failed.
    pub(crate) fn has_happened(&self) -> bool {
        self.failure.lock().expect("nobody panics while holding it").is_some()
    }

    /// The failure, if there was one.
    pub(crate) fn get(&self) -> Option<LibraryFailure> {
        self.failure.lock().expect("nobody panics while holding it").clone()
    }

    fn note(&self, failure: LibraryFailure) {
        self.failure.lock().expect("nobody panics while holding it").get_or_insert(failure);
    }
}

thread_local! {
    /// Whether this thread is running library code, whose panics the run reports itself.
    static IS_CALLING: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics of libraries off standard error; other panics are printed as usual.
fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_CALLING.get() {
                usual(info);
            }
        }));
    });
}

/// One end of a connection. Its library is not called after a failure or after the flow has
/// stopped.
pub(super) struct Guarded {
    end: Option<Box<dyn Endpoint>>,
    /// The names of the transport and of the flow, such as `quic` and "flows `download`, flow 0".
    names: (String, String),
    role: Peer,
    failure: FirstFailure,
}

impl Guarded {
    pub(super) fn new(
        end: Box<dyn Endpoint>,
        names: (String, String),
        role: Peer,
        failure: FirstFailure,
    ) -> Guarded {
        silence_panics();
        Guarded { end: Some(end), names, role, failure }
    }

    /// Calls the library; returns `None` if it failed or the end has been dropped.
    pub(super) fn call<T>(
        &mut self,
        now: Time,
        method: &str,
        call: impl FnOnce(&mut dyn Endpoint) -> T,
    ) -> Option<T> {
        let end = self.end.as_mut()?;
        IS_CALLING.set(true);
        let result = panic::catch_unwind(AssertUnwindSafe(|| {
            let value = call(end.as_mut());
            (value, end.failure())
        }));
        IS_CALLING.set(false);
        match result {
            Ok((value, None)) => Some(value),
            Ok((_, Some(why))) => {
                self.fail(now, method, &why);
                None
            }
            Err(panic) => {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                let text = text.unwrap_or_else(|| "without a message".to_owned());
                self.fail(now, method, &format!("it panicked: {text}"));
                None
            }
        }
    }

    /// Records a failure; the library is not called again.
    #[cold]
    pub(super) fn fail(&mut self, now: Time, method: &str, why: &str) {
        if self.end.take().is_none() {
            return;
        }
        let (transport, flow) = self.names.clone();
        let role = match self.role {
            Peer::Client => "client",
            Peer::Server => "server",
        };
        let sentence = format!("{flow}, {role} at {:.9} s: {method}: {why}", now.as_secs());
        self.failure.note(LibraryFailure { transport, sentence });
    }

    /// The library's statistics of its connection.
    pub(super) fn stats(&self) -> Stats {
        self.end.as_ref().map(|end| end.stats()).unwrap_or_default()
    }

    /// Drops the library's end of the connection; the library is not called again.
    pub(super) fn drop_end(&mut self) {
        self.end = None;
    }
}

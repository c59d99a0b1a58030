//! A switch that ends runs in other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use sojourn_aqm::Time;

use crate::control::Failure;
use crate::heap;

/// A cancellation flag shared with runs in other threads, which also measures their progress.
#[pyclass(frozen, module = "sojourn._core")]
#[derive(Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

impl Cancel {
    /// Records the simulated time of a single run, and returns whether the run may continue.
    pub(crate) fn goes_on(&self, now: Time, failure: &Failure) -> bool {
        self.shared.simulated_ns.store(now.as_nanos(), Ordering::Relaxed);
        self.may_continue(now, failure)
    }

    /// Whether a run may continue; records it as failed if the runs take too much memory.
    pub(crate) fn may_continue(&self, now: Time, failure: &Failure) -> bool {
        let taken = heap::held_bytes().saturating_sub(self.shared.held_before);
        if let Some(bound) = self.shared.memory_bytes.filter(|bound| taken > *bound) {
            let what = match now {
                Time::ZERO => "the simulation before its start takes".to_owned(),
                now => format!("the first {:.3} s of simulated time take", now.as_secs()),
            };
            failure.note(PyMemoryError::new_err(format!(
                "{what} {:.1}MB of memory, and {:.1}MB are allowed: simulate less, or allow more \
                 with `--memory`",
                taken as f64 * 1e-6,
                bound as f64 * 1e-6
            )));
        }
        !self.is_cancelled() && !failure.has_happened()
    }

    /// Adds to the simulated time of all runs.
    pub(crate) fn add_ns(&self, simulated_ns: u64) {
        self.shared.simulated_ns.fetch_add(simulated_ns, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    simulated_ns: AtomicU64,
    /// Bytes that the runs may take, if they are bounded.
    memory_bytes: Option<u64>,
    /// Bytes that the core held before: the results of earlier runs.
    held_before: u64,
}

#[pymethods]
impl Cancel {
    #[new]
    #[pyo3(signature = (memory_bytes=None))]
    fn new(memory_bytes: Option<u64>) -> Cancel {
        let held_before = heap::held_bytes();
        Cancel { shared: Arc::new(Shared { memory_bytes, held_before, ..Shared::default() }) }
    }

    /// Makes every run that holds this flag stop soon.
    fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was used.
    #[getter]
    fn cancelled(&self) -> bool {
        self.is_cancelled()
    }

    /// Adds simulated seconds of another engine.
    fn advance(&self, seconds: f64) {
        self.add_ns((seconds.max(0.0) * 1e9) as u64);
    }

    /// Simulated seconds so far, summed over all runs that hold this flag.
    fn simulated_s(&self) -> f64 {
        self.shared.simulated_ns.load(Ordering::Relaxed) as f64 * 1e-9
    }
}

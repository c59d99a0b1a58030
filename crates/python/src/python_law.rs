//! A law of one queue whose hooks belong to a Python object. Each call takes the GIL.

use std::cell::Cell;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use sojourn_aqm::custom::{Failures, LawFailure};
use sojourn_aqm::{Aqm, Backlog, Head, Rate, Rng, Time, Verdict};

use crate::law_objects::{PyBacklog, PyHead, PyRandom};
use crate::watch::{self, Call};

/// Takes the place of a law that could not be created.
pub(crate) struct PassAll;

impl Aqm for PassAll {
    fn observe(&self, out: &mut [f64]) {
        out.fill(f64::NAN);
    }
}

/// The exception of a Python call, with the line of the law's file where it was raised.
pub(crate) fn failure(
    (place, law): (&str, &str),
    (hook, at, enqueued): (&'static str, Time, Option<Time>),
    error: PyErr,
) -> LawFailure {
    let (place, why) = Python::attach(|py| (line(py, &error, place), error.to_string()));
    let law = Box::leak(law.to_owned().into_boxed_str());
    LawFailure { place, law, hook, at, enqueued, why, cause: Some(Box::new(error)) }
}

/// File and line of the last call within the law's own file; `place` if no call is in it.
fn line(py: Python<'_>, error: &PyErr, place: &str) -> String {
    let own = place.rsplit_once(':').map_or(place, |(file, _)| file);
    let mut found = place.to_owned();
    let mut next = error.traceback(py).map(Bound::into_any);
    while let Some(traceback) = next {
        let read = || -> PyResult<(String, u32)> {
            let code = traceback.getattr("tb_frame")?.getattr("f_code")?;
            Ok((
                code.getattr("co_filename")?.extract()?,
                traceback.getattr("tb_lineno")?.extract()?,
            ))
        };
        if let Ok((file, line)) = read()
            && (file == own || file.ends_with(&format!("/{own}")))
        {
            found = format!("{own}:{line}");
        }
        next = traceback.getattr("tb_next").ok().filter(|next| !next.is_none());
    }
    found
}

/// A hook: the bound method, if the class defines it.
pub(crate) struct Hook {
    pub(crate) name: &'static str,
    pub(crate) method: Option<Py<PyAny>>,
}

/// One law of one queue.
pub(crate) struct PythonLaw {
    pub(crate) name: String,
    pub(crate) place: String,
    /// Place and name.
    pub(crate) what: Arc<str>,
    pub(crate) object: Py<PyAny>,
    pub(crate) on_enqueue: Hook,
    pub(crate) on_overflow: Hook,
    pub(crate) on_eviction: Hook,
    pub(crate) on_dequeue: Hook,
    pub(crate) on_empty: Hook,
    pub(crate) next_timer: Hook,
    pub(crate) on_head: Hook,
    pub(crate) on_timer: Hook,
    pub(crate) on_idle_timers: Hook,
    pub(crate) on_rate: Hook,
    pub(crate) is_limit_first: bool,
    pub(crate) var_names: Vec<String>,
    pub(crate) head: Py<PyHead>,
    pub(crate) queue: Py<PyBacklog>,
    pub(crate) random: Py<PyRandom>,
    pub(crate) failures: Arc<dyn Failures>,
    pub(crate) has_failed: Cell<bool>,
    /// The time of the last call.
    pub(crate) now: Cell<Time>,
    /// The last result of `next_timer`; kept after a failure.
    pub(crate) timer: Cell<Option<Time>>,
}

impl PythonLaw {
    /// Calls a hook, if the class defines it and no call has failed before.
    fn call<T>(
        &self,
        hook: &Hook,
        now: Time,
        enqueued: Option<Time>,
        work: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let method = hook.method.as_ref().filter(|_| !self.has_failed.get())?;
        self.now.set(now);
        let watched = Call { what: Arc::clone(&self.what), method: hook.name, at: now };
        match watch::within(watched, |py| work(py, method.bind(py))) {
            Ok(value) => Some(value),
            Err(error) => {
                self.has_failed.set(true);
                let call = (hook.name, now, enqueued);
                self.failures.report(failure((&self.place, &self.name), call, error));
                None
            }
        }
    }

    fn queue_of<'py>(&self, py: Python<'py>, queue: Backlog) -> &Bound<'py, PyBacklog> {
        let Backlog { packets, bytes, link_bytes } = queue;
        let object = self.queue.bind(py);
        *object.borrow_mut() = PyBacklog { packets, bytes, link_bytes };
        object
    }

    /// `on_enqueue` or `on_dequeue`.
    fn judge(&self, hook: &Hook, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        let verdict = self.call(hook, now, Some(head.enqueued), |py, method| {
            *self.head.bind(py).borrow_mut() = PyHead {
                bytes: head.bytes,
                enqueued_ns: head.enqueued.as_nanos(),
                sojourn_ns: head.sojourn(now).as_nanos(),
                ecn: head.ecn,
            };
            let random = self.random.bind(py);
            random.borrow_mut().rng = rng.clone();
            let args = (now.as_nanos(), self.head.bind(py), self.queue_of(py, queue), random);
            let said = method.call1(args)?;
            *rng = random.borrow().rng.clone();
            verdict(&said)
        });
        verdict.unwrap_or(Verdict::Pass)
    }

    /// Calls a hook that takes a time and a backlog and returns nothing.
    fn tell(&self, hook: &Hook, now: Time, queue: Backlog) {
        self.call(hook, now, None, |py, method| {
            method.call1((now.as_nanos(), self.queue_of(py, queue))).map(drop)
        });
    }
}

/// Converts a hook's return value to a verdict; None passes.
fn verdict(said: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if said.is_none() {
        return Ok(Verdict::Pass);
    }
    let code = if said.is_instance_of::<PyBool>() { None } else { said.extract().ok() };
    code.and_then(Verdict::of_code).ok_or_else(|| {
        let said = said.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
        let why = format!("it returned {said}; return nothing, or a member of sojourn.law.Verdict");
        PyTypeError::new_err(why)
    })
}

impl Aqm for PythonLaw {
    fn is_limit_first(&self) -> bool {
        self.is_limit_first
    }

    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.judge(&self.on_enqueue, now, head, queue, rng)
    }

    fn on_overflow(&mut self, now: Time, queue: Backlog) {
        self.tell(&self.on_overflow, now, queue);
    }

    fn on_eviction(&mut self, now: Time, queue: Backlog) {
        let own =
            if self.on_eviction.method.is_some() { &self.on_eviction } else { &self.on_overflow };
        self.tell(own, now, queue);
    }

    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog, rng: &mut Rng) -> Verdict {
        self.judge(&self.on_dequeue, now, head, queue, rng)
    }

    fn on_empty(&mut self, now: Time) {
        self.call(&self.on_empty, now, None, |_, method| method.call1((now.as_nanos(),)).map(drop));
    }

    fn next_timer(&self) -> Option<Time> {
        let due = self.call(&self.next_timer, self.now.get(), None, |_, method| {
            method.call0()?.extract::<Option<u64>>().map_err(|_| {
                PyTypeError::new_err("it returns a whole number of nanoseconds, or None")
            })
        });
        if let Some(due) = due {
            self.timer.set(due.map(Time::from_nanos));
        }
        self.timer.get()
    }

    fn on_head(&mut self, enqueued: Option<Time>) {
        self.call(&self.on_head, self.now.get(), None, |_, method| {
            method.call1((enqueued.map(Time::as_nanos),)).map(drop)
        });
    }

    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.tell(&self.on_timer, now, queue);
    }

    fn on_idle_timers(&mut self, now: Time) {
        self.call(&self.on_idle_timers, now, None, |_, method| {
            method.call1((now.as_nanos(),)).map(drop)
        });
    }

    fn on_rate(&mut self, now: Time, rate: Rate) {
        self.call(&self.on_rate, now, None, |py, method| {
            let args = PyTuple::new(py, [now.as_nanos(), rate.as_bps()])?;
            method.call1(args).map(drop)
        });
    }

    fn observe(&self, out: &mut [f64]) {
        out.fill(f64::NAN);
        if self.has_failed.get() || out.is_empty() {
            return;
        }
        let at = self.now.get();
        let call = Call { what: Arc::clone(&self.what), method: "observe", at };
        let read = watch::within(call, |py| {
            for (value, name) in out.iter_mut().zip(&self.var_names) {
                *value = self.object.bind(py).getattr(name.as_str())?.extract().map_err(|_| {
                    PyTypeError::new_err(format!("state variable `{name}` is not a number"))
                })?;
            }
            Ok(())
        });
        if let Err(error) = read {
            self.has_failed.set(true);
            let call = ("observe", at, None);
            self.failures.report(failure((&self.place, &self.name), call, error));
        }
    }
}

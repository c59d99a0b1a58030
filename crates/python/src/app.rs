//! Applications written in Python that replace those of a scenario. Each call takes the GIL.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::{Rng, Time};
use sojourn_traffic::{ConfiguredApp, CustomApp, CustomApps, FinishedTransfer, UDP_HEADER_BYTES};

use crate::control::Failure;
use crate::errors::AppError;
use crate::law_objects::PyRandom;
use crate::watch::{self, Call};

/// The most datagrams at one instant; an application that sends more would never let time pass.
const MOST_AT_ONCE: u32 = 100_000;

/// Name of the flows, class, and its name in manifests.
pub type AppClass = (String, Py<PyAny>, String);

/// Applications by the name of the flows that have them.
pub fn custom_apps(apps: &[AppClass], py: Python<'_>, failure: &Failure) -> CustomApps {
    let one = |(flows, class, source): &AppClass| {
        let (name, class, failure) = (flows.clone(), class.clone_ref(py), failure.clone());
        let class = Arc::new(class);
        let factory = Box::new(move |place: u32, largest: u32| -> Box<dyn CustomApp> {
            Box::new(PythonApp::new(&class, (&name, place), largest, &failure))
        });
        (flows.clone(), Arc::new(ConfiguredApp { source: source.clone(), factory }))
    };
    apps.iter().map(one).collect()
}

/// The application of one flow.
struct PythonApp {
    object: Option<Py<PyAny>>,
    flows: String,
    /// The flows, for the watch.
    what: Arc<str>,
    place: u32,
    largest: u32,
    failure: Failure,
    /// The time of the last datagram, and the number sent at that time.
    last: (Time, u32),
}

impl std::fmt::Debug for PythonApp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PythonApp({}, {})", self.flows, self.place)
    }
}

impl PythonApp {
    fn new(
        class: &Arc<Py<PyAny>>,
        (flows, place): (&str, u32),
        largest: u32,
        failure: &Failure,
    ) -> PythonApp {
        let (flows, failure, last) = (flows.to_owned(), failure.clone(), (Time::ZERO, 0));
        let what = format!("app of flows `{flows}`").into();
        let mut made = PythonApp { object: None, flows, what, place, largest, failure, last };
        match watch::within(made.watched("__init__", Time::ZERO), |py| class.call0(py)) {
            Ok(object) => made.object = Some(object),
            Err(error) => made.fail("__init__", Time::ZERO, error),
        }
        made
    }

    /// Calls a method with the flow's random numbers as the last argument; does nothing after a
    /// failure.
    fn call<T>(
        &self,
        method: &'static str,
        now: Time,
        rng: &mut Rng,
        work: impl FnOnce(&Bound<'_, PyAny>, &Bound<'_, PyRandom>) -> PyResult<T>,
    ) -> Option<T> {
        let object = self.object.as_ref().filter(|_| !self.failure.has_happened())?;
        let said = watch::within(self.watched(method, now), |py| {
            let random = Bound::new(py, PyRandom { rng: rng.clone() })?;
            let said = work(object.bind(py), &random);
            *rng = random.borrow().rng.clone();
            said
        });
        said.map_err(|error| self.fail(method, now, error)).ok()
    }

    fn watched(&self, method: &'static str, at: Time) -> Call {
        Call { what: Arc::clone(&self.what), method, at }
    }

    fn fail(&self, method: &str, now: Time, cause: PyErr) {
        let error = Python::attach(|py| {
            let error = AppError::new_err(format!(
                "app of flows `{}`, flow {} at {:.9} s: {method}: {cause}",
                self.flows,
                self.place,
                now.as_secs(),
            ));
            error.set_cause(py, Some(cause));
            error
        });
        self.failure.note(error);
    }

    /// The sending time and size of a datagram, as the application returned them.
    fn datagram(&mut self, now: Time, at_ns: u64, bytes: u32) -> PyResult<(Time, u32)> {
        if at_ns < now.as_nanos() {
            let why = format!("the next datagram is at {at_ns} ns, which is over");
            return Err(PyValueError::new_err(why));
        }
        let largest = self.largest;
        if !(UDP_HEADER_BYTES + 1..=largest).contains(&bytes) {
            let why = format!(
                "a datagram has {bytes} bytes; with its headers it has from {} to {largest} here, \
                 the `packet` of these flows in the scenario",
                UDP_HEADER_BYTES + 1
            );
            return Err(PyValueError::new_err(why));
        }
        let at = Time::from_nanos(at_ns);
        self.last = if at == self.last.0 { (at, self.last.1 + 1) } else { (at, 1) };
        if self.last.1 > MOST_AT_ONCE {
            let why = format!("it sends more than {MOST_AT_ONCE} datagrams at one instant");
            return Err(PyValueError::new_err(why));
        }
        Ok((at, bytes))
    }
}

impl CustomApp for PythonApp {
    fn next_bytes(&mut self, now: Time, rng: &mut Rng) -> Option<u64> {
        let bytes = self.call("next_bytes", now, rng, |object, random| {
            match object.call_method1("next_bytes", (now.as_nanos(), random))?.extract()? {
                Some(0) => Err(PyValueError::new_err("a transfer has at least one byte")),
                bytes => Ok(bytes),
            }
        });
        // After a failure the run ends; until then one byte is in transit.
        bytes.unwrap_or(Some(1))
    }

    fn next_start(&mut self, finished: &FinishedTransfer, now: Time, rng: &mut Rng) -> Time {
        let next = self.call("next_start", now, rng, |object, random| {
            let args = (now.as_nanos(), finished.start.as_nanos(), finished.bytes, random);
            let at: Option<u64> = object.call_method1("next_start", args)?.extract()?;
            match at {
                Some(at) if at < now.as_nanos() => {
                    let why = format!("the next transfer begins at {at} ns, which is over");
                    Err(PyValueError::new_err(why))
                }
                at => Ok(at),
            }
        });
        next.flatten().map_or(Time::NEVER, Time::from_nanos)
    }

    fn next_datagram(&mut self, now: Time, rng: &mut Rng) -> Option<(Time, u32)> {
        let said = self.call("next_datagram", now, rng, |object, random| {
            let said = object.call_method1("next_datagram", (now.as_nanos(), random))?;
            said.extract::<Option<(u64, u32)>>()
        });
        let (at_ns, bytes) = said??;
        self.datagram(now, at_ns, bytes)
            .map_err(|error| self.fail("next_datagram", now, error))
            .ok()
    }
}

//! Congestion controls written in Python: a slow path for experiments. Each call takes the GIL.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use sojourn_aqm::custom::{self, Failures};
use sojourn_aqm::{Span, Time};
use sojourn_sim::cc::{
    ConfiguredControl, CongestionControl, CustomControls, Feedback, Needs, Progress, RateSample,
    Start, Window, WindowControl,
};

use crate::errors::{ControlError, LawError};
use crate::watch::{self, Call};

/// The first failure of a run; after it no control or law is called.
#[derive(Clone, Default)]
pub struct Failure {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    happened: AtomicBool,
    error: Mutex<Option<PyErr>>,
}

impl Failure {
    /// Whether a control or a law has failed.
    pub fn has_happened(&self) -> bool {
        self.shared.happened.load(Ordering::Relaxed)
    }

    /// The failure, if there was one.
    pub fn check(&self) -> PyResult<()> {
        let mut error = self.shared.error.lock().expect("nobody panics while holding it");
        error.take().map_or(Ok(()), Err)
    }

    pub(crate) fn note(&self, error: PyErr) {
        self.shared.happened.store(true, Ordering::Relaxed);
        self.shared.error.lock().expect("nobody panics while holding it").get_or_insert(error);
    }
}

impl Failures for Failure {
    fn report(&self, failure: custom::LawFailure) {
        let text = failure.to_string();
        let cause = failure.cause.and_then(|cause| cause.downcast::<PyErr>().ok());
        let error = LawError::new_err(text);
        if let Some(cause) = cause {
            Python::attach(|py| error.set_cause(py, Some(*cause)));
        }
        self.note(error);
    }
}

/// The contents of an acknowledgement, as the stub describes.
#[pyclass(frozen, get_all, module = "sojourn._core")]
pub struct Ack {
    now_s: f64,
    delivered: u32,
    rtt_s: Option<f64>,
    srtt_s: f64,
    in_flight: u32,
    lost: u32,
    marks: u32,
    limited: bool,
    round_start: bool,
    delivery_rate: Option<f64>,
}

/// Controls for flows by name, from (name of the flows, class, its name in the manifest).
pub fn custom_controls(
    py: Python<'_>,
    controls: Vec<(String, Py<PyAny>, String)>,
    failure: &Failure,
) -> PyResult<CustomControls> {
    let mut custom = CustomControls::new();
    for (flows, class, in_full) in controls {
        let paced = class.bind(py).hasattr("pacing_rate")?;
        let what: Arc<str> = format!("flows `{flows}`: {}", class_name(class.bind(py))).into();
        let (name, failure) = (flows.clone(), failure.clone());
        let class = Arc::new(class);
        let factory = Box::new(move || -> Box<dyn CongestionControl> {
            Box::new(Control {
                class: Arc::clone(&class),
                object: None,
                flows: name.clone(),
                what: Arc::clone(&what),
                paced,
                failure: failure.clone(),
                flow: 0,
                now: Time::ZERO,
                cwnd: 1.0,
                pace: None,
                round_end: 0,
                marked_until: 0,
            })
        });
        custom.insert(flows, Arc::new(ConfiguredControl { in_full, factory }));
    }
    Ok(custom)
}

/// One connection's control.
struct Control {
    class: Arc<Py<PyAny>>,
    object: Option<Py<PyAny>>,
    flows: String,
    /// Flows and class, for the watch.
    what: Arc<str>,
    paced: bool,
    failure: Failure,
    flow: u32,
    now: Time,
    cwnd: f64,
    pace: Option<f64>,
    /// The round ends when this segment is acknowledged; later marks are then reported again.
    round_end: u32,
    marked_until: u32,
}

impl Control {
    /// Calls a method and reads the window back; does nothing after a failure.
    fn call(&mut self, method: &'static str, ack: Option<Ack>) {
        if self.failure.has_happened() {
            return;
        }
        let Some(object) = &self.object else { return };
        let read = watch::within(self.watched(method), |py| {
            let object = object.bind(py);
            match ack {
                Some(ack) => object.call_method1(method, (ack,))?,
                None => object.call_method1(method, (self.now.as_secs(),))?,
            };
            read(object, self.paced)
        });
        match read {
            Ok((cwnd, pace)) => (self.cwnd, self.pace) = (cwnd, pace),
            Err(error) => self.fail(method, error),
        }
    }

    fn watched(&self, method: &'static str) -> Call {
        Call { what: Arc::clone(&self.what), method, at: self.now }
    }

    fn fail(&self, method: &str, cause: PyErr) {
        let error = Python::attach(|py| {
            let name = class_name(self.class.bind(py));
            let error = ControlError::new_err(format!(
                "flows `{}`, flow {} at {:.6} s: {name}.{method}: {cause}",
                self.flows,
                self.flow,
                self.now.as_secs(),
            ));
            error.set_cause(py, Some(cause));
            error
        });
        self.failure.note(error);
    }

    fn window(&self) -> u32 {
        self.cwnd as u32
    }
}

fn class_name(class: &Bound<'_, PyAny>) -> String {
    class.getattr("__name__").map_or_else(|_| "control".to_owned(), |name| name.to_string())
}

/// A control's window and pacing rate, checked.
fn read(object: &Bound<'_, PyAny>, paced: bool) -> PyResult<(f64, Option<f64>)> {
    let cwnd: f64 = object.getattr("cwnd")?.extract()?;
    if !(1.0..=1e9).contains(&cwnd) {
        let message = format!("cwnd is {cwnd}; it must be a number of packets from 1 to 1e9");
        return Err(PyValueError::new_err(message));
    }
    let pace: Option<f64> = if paced { object.getattr("pacing_rate")?.extract()? } else { None };
    if pace.is_some_and(|pace| !(pace > 0.0 && pace.is_finite())) {
        let message = "pacing_rate must be None or a positive number of packets per second";
        return Err(PyValueError::new_err(message));
    }
    Ok((cwnd, pace))
}

impl CongestionControl for Control {
    fn needs(&self) -> Needs {
        Needs {
            window_control: WindowControl::Window,
            feedback: Feedback::Accurate,
            low_latency: false,
            needs_ecn: false,
            rtt_samples: false,
            rate_samples: true,
            pacing: self.paced.then_some(Span::ZERO),
            fq: false,
        }
    }

    fn on_start(&mut self, start: &Start) {
        (self.flow, self.now) = (start.flow, start.now);
        self.cwnd = f64::from(start.initial_window);
        if self.failure.has_happened() {
            return;
        }
        let made = watch::within(self.watched("__init__"), |py| {
            let object = self.class.bind(py).call0()?;
            object.setattr("cwnd", self.cwnd)?;
            for method in ["on_ack", "on_loss", "on_ecn", "on_timeout"] {
                if !object.hasattr(method)? {
                    return Err(PyAttributeError::new_err(format!("unknown method `{method}`")));
                }
            }
            read(&object, self.paced)?;
            Ok(object.unbind())
        });
        match made {
            Ok(object) => self.object = Some(object),
            Err(error) => self.fail("__init__", error),
        }
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        self.now = p.ack.now;
        let round_start = p.ack.una >= self.round_end;
        if round_start {
            self.round_end = p.ack.nxt;
        }
        if p.marks > 0 && p.ack.una > self.marked_until {
            self.marked_until = p.ack.nxt;
            self.call("on_ecn", None);
        }
        let ack = Ack {
            now_s: p.ack.now.as_secs(),
            delivered: p.ack.delivered,
            rtt_s: p.ack.rtt.map(Span::as_secs),
            srtt_s: p.srtt.as_secs(),
            in_flight: p.in_flight,
            lost: p.lost,
            marks: p.marks,
            limited: p.limited,
            round_start,
            delivery_rate: p.rate.map(|sample| sample.rate()),
        };
        self.call("on_ack", Some(ack));
        window.cwnd = self.window();
    }

    fn on_lost(&mut self, now: Time, _lost: &RateSample, _window: &mut Window) {
        self.now = now;
    }

    fn reduce(&mut self, _window: &Window) -> u32 {
        self.call("on_loss", None);
        self.window()
    }

    fn reduce_on_timeout(&mut self, _window: &Window) -> u32 {
        self.call("on_timeout", None);
        self.window()
    }

    fn undo(&mut self, window: &mut Window) {
        window.cwnd = self.window();
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pace
    }
}

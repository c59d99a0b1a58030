//! AQM laws written in Python: a slow path for experiments. Each call takes the GIL.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use sojourn_aqm::custom::{
    self, Declaration, Failures, LawFailure, Maker, ParamDeclaration, Value, VarDeclaration,
};
use sojourn_aqm::params::ValueKind;
use sojourn_aqm::{Aqm, Backlog, Ecn, Env, Head, Limit, Rate, Rng, SpecError, Time, Verdict};

use crate::errors::Refusal;

/// A law that is not in the registry, as the stub describes.
#[pyclass(frozen, from_py_object, module = "sojourn._core")]
#[derive(Clone)]
pub struct CustomLaw {
    pub(crate) law: custom::CustomLaw,
}

/// Name, meaning, kind, word for no value, words, rule, default, source.
type Param = (String, String, String, Option<String>, Vec<String>, String, String, String);

#[pymethods]
impl CustomLaw {
    /// A law that a Python class decides.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "they are what a law declares")]
    fn python(
        class: Py<PyAny>,
        name: String,
        doc: String,
        source: String,
        place: String,
        params: Vec<Param>,
        vars: Vec<(String, String, String)>,
        hooks: Vec<String>,
    ) -> Result<CustomLaw, Refusal> {
        let param_names = params.iter().map(|param| param.0.clone()).collect();
        let var_names = vars.iter().map(|var| var.0.clone()).collect();
        let words = params.iter().map(|param| param.4.clone()).collect();
        let maker = PythonMaker {
            class,
            place: place.clone(),
            name: name.clone(),
            param_names,
            words,
            var_names,
            hooks,
        };
        let params: Result<Vec<_>, Refusal> = params.into_iter().map(declared).collect();
        let var = |(name, unit, doc)| VarDeclaration { name, unit, doc };
        let vars = vars.into_iter().map(var).collect();
        let declaration = Declaration { name, doc, source, place, params: params?, vars };
        let law = sojourn_aqm::registry::declare(declaration, Arc::new(maker));
        Ok(CustomLaw { law: law.map_err(refused)? })
    }

    /// A law in a library.
    #[staticmethod]
    fn library(path: &str, name: &str, source: &str) -> Result<CustomLaw, Refusal> {
        let law = sojourn_law::host::load(Path::new(path), name, source);
        law.map(|law| CustomLaw { law }).map_err(|error| Refusal::new("", error.to_string()))
    }

    /// Its name in text forms and tables.
    #[getter]
    fn name(&self) -> &str {
        self.law.name()
    }

    /// Its code, as manifests name it.
    #[getter]
    fn source(&self) -> &str {
        self.law.source()
    }
}

fn refused(error: SpecError) -> Refusal {
    Refusal::new("", error.message)
}

fn declared(param: Param) -> Result<ParamDeclaration, Refusal> {
    let (name, doc, kind, absent, words, rule, default, source) = param;
    let kind = ValueKind::of_word(&kind).map_err(|why| Refusal::new(name.as_str(), why))?;
    Ok(ParamDeclaration { name, doc, kind, absent, words, rule, default, source })
}

/// The packet in hand, as the stub describes. One object serves all calls of a law.
#[pyclass(name = "Head", module = "sojourn._core")]
#[derive(Default)]
pub struct PyHead {
    #[pyo3(get)]
    bytes: u32,
    #[pyo3(get)]
    enqueued_ns: u64,
    #[pyo3(get)]
    sojourn_ns: u64,
    ecn: Ecn,
}

#[pymethods]
impl PyHead {
    #[getter]
    fn can_mark(&self) -> bool {
        self.ecn.can_mark()
    }

    #[getter]
    fn ecn(&self) -> &'static str {
        match self.ecn {
            Ecn::NotEct => "not-ect",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ce => "ce",
        }
    }
}

/// What waits beside the packet in hand.
#[pyclass(name = "Backlog", get_all, module = "sojourn._core")]
#[derive(Default)]
pub struct PyBacklog {
    packets: u32,
    bytes: u64,
    link_bytes: u64,
}

/// The random numbers of a law's queue.
#[pyclass(name = "Random", module = "sojourn._core")]
pub struct PyRandom {
    rng: Rng,
}

#[pymethods]
impl PyRandom {
    fn uniform(&mut self) -> f64 {
        self.rng.uniform()
    }

    fn below(&mut self, bound: u64) -> PyResult<u64> {
        match bound {
            0 => Err(PyValueError::new_err("below(0): an empty range has no number")),
            _ => Ok(self.rng.below(bound)),
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        self.rng.exponential(mean)
    }
}

/// The environment of a law when it is made.
#[pyclass(name = "Env", frozen, get_all, module = "sojourn._core")]
pub struct PyEnv {
    limit_packets: Option<u64>,
    limit_bytes: Option<u64>,
    mtu_bytes: u32,
    rate_bps: Option<u64>,
}

impl PyEnv {
    fn of(env: &Env) -> PyEnv {
        let (limit_packets, limit_bytes) = match env.limit {
            Limit::Packets(n) => (Some(n), None),
            Limit::Bytes(n) => (None, Some(n)),
        };
        let rate_bps = env.rate.map(Rate::as_bps);
        PyEnv { limit_packets, limit_bytes, mtu_bytes: env.mtu_bytes, rate_bps }
    }
}

/// Makes objects of a class.
struct PythonMaker {
    class: Py<PyAny>,
    name: String,
    place: String,
    param_names: Vec<String>,
    words: Vec<Vec<String>>,
    var_names: Vec<String>,
    hooks: Vec<String>,
}

impl PythonMaker {
    fn object(&self, py: Python<'_>, values: &[Value], env: &Env) -> PyResult<Py<PyAny>> {
        let class = self.class.bind(py);
        let object = class.call_method1("__new__", (class,))?;
        for (place, value) in values.iter().enumerate() {
            let value = as_python(py, value, &self.words[place])?;
            object.setattr(self.param_names[place].as_str(), value)?;
        }
        for name in &self.var_names {
            object.setattr(name.as_str(), 0.0)?;
        }
        object.call_method0("__init__")?;
        if self.has("start") {
            object.call_method1("start", (PyEnv::of(env),))?;
        }
        Ok(object.unbind())
    }

    fn has(&self, hook: &str) -> bool {
        self.hooks.iter().any(|own| own == hook)
    }

    fn law(
        &self,
        values: &[Value],
        env: &Env,
        failures: &Arc<dyn Failures>,
    ) -> PyResult<PythonLaw> {
        Python::attach(|py| {
            let object = self.object(py, values, env)?;
            let hook = |name: &'static str| -> PyResult<Hook> {
                let method = self.has(name).then(|| object.getattr(py, name)).transpose()?;
                Ok(Hook { name, method })
            };
            Ok(PythonLaw {
                name: self.name.clone(),
                place: self.place.clone(),
                on_enqueue: hook("on_enqueue")?,
                on_overflow: hook("on_overflow")?,
                on_eviction: hook("on_eviction")?,
                on_dequeue: hook("on_dequeue")?,
                on_empty: hook("on_empty")?,
                next_timer: hook("next_timer")?,
                on_head: hook("on_head")?,
                on_timer: hook("on_timer")?,
                on_idle_timers: hook("on_idle_timers")?,
                on_rate: hook("on_rate")?,
                is_limit_first: object
                    .getattr(py, "is_limit_first")
                    .map_or(Ok(true), |flag| flag.extract::<bool>(py))?,
                var_names: self.var_names.clone(),
                head: Py::new(py, PyHead::default())?,
                queue: Py::new(py, PyBacklog::default())?,
                random: Py::new(py, PyRandom { rng: Rng::stream(0, "unused", 0) })?,
                object,
                failures: Arc::clone(failures),
                has_failed: Cell::new(false),
                now: Cell::new(Time::ZERO),
                timer: Cell::new(None),
                timer_is_known: Cell::new(false),
            })
        })
    }
}

/// A value as laws in Python get it: times in nanoseconds, rates in bit/s, words as text.
fn as_python<'py>(py: Python<'py>, value: &Value, words: &[String]) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Span(span) => span.as_nanos().into_pyobject(py)?.into_any(),
        Value::Hertz(x) | Value::Number(x) => x.into_pyobject(py)?.into_any(),
        Value::Whole(n) | Value::Bytes(n) => n.into_pyobject(py)?.into_any(),
        Value::Limit(Limit::Packets(n)) => (*n, "packets").into_pyobject(py)?.into_any(),
        Value::Limit(Limit::Bytes(n)) => (*n, "bytes").into_pyobject(py)?.into_any(),
        Value::Rate(rate) => rate.as_bps().into_pyobject(py)?.into_any(),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Word(place) => words[*place].as_str().into_pyobject(py)?.into_any(),
        Value::Absent => py.None().into_bound(py),
    })
}

impl Maker for PythonMaker {
    fn catches_up(&self) -> bool {
        self.has("on_idle_timers")
    }

    fn make(&self, values: &[Value], env: &Env, failures: &Arc<dyn Failures>) -> Box<dyn Aqm> {
        match self.law(values, env, failures) {
            Ok(law) => Box::new(law),
            Err(error) => {
                let place = (self.place.as_str(), self.name.as_str());
                failures.report(failure(place, ("__init__", Time::ZERO, None), error));
                Box::new(PassAll)
            }
        }
    }
}

/// In the place of a law that could not be made.
struct PassAll;

impl Aqm for PassAll {
    fn observe(&self, out: &mut [f64]) {
        out.fill(f64::NAN);
    }
}

/// What a call of Python raised, with the line of the law's file where it happened.
fn failure(
    (place, law): (&str, &str),
    (hook, at, enqueued): (&'static str, Time, Option<Time>),
    error: PyErr,
) -> LawFailure {
    let (place, why) = Python::attach(|py| (line(py, &error, place), error.to_string()));
    let law = Box::leak(law.to_owned().into_boxed_str());
    LawFailure { place, law, hook, at, enqueued, why, cause: Some(Box::new(error)) }
}

/// File and line of the last call within the law's own file; `place` if there was none.
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

/// One hook: the bound method, if the class has it.
struct Hook {
    name: &'static str,
    method: Option<Py<PyAny>>,
}

/// One law of one queue.
struct PythonLaw {
    name: String,
    place: String,
    object: Py<PyAny>,
    on_enqueue: Hook,
    on_overflow: Hook,
    on_eviction: Hook,
    on_dequeue: Hook,
    on_empty: Hook,
    next_timer: Hook,
    on_head: Hook,
    on_timer: Hook,
    on_idle_timers: Hook,
    on_rate: Hook,
    is_limit_first: bool,
    var_names: Vec<String>,
    head: Py<PyHead>,
    queue: Py<PyBacklog>,
    random: Py<PyRandom>,
    failures: Arc<dyn Failures>,
    has_failed: Cell<bool>,
    /// The time of the last call.
    now: Cell<Time>,
    /// What `next_timer` said, until the next call of another hook.
    timer: Cell<Option<Time>>,
    timer_is_known: Cell<bool>,
}

impl PythonLaw {
    /// Calls a hook, if the class has it and no call has failed before.
    fn call<T>(
        &self,
        hook: &Hook,
        now: Time,
        enqueued: Option<Time>,
        work: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let method = hook.method.as_ref().filter(|_| !self.has_failed.get())?;
        self.now.set(now);
        self.timer_is_known.set(hook.name == "next_timer");
        match Python::attach(|py| work(py, method.bind(py))) {
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

    /// A hook of a time and a backlog that returns nothing.
    fn tell(&self, hook: &Hook, now: Time, queue: Backlog) {
        self.call(hook, now, None, |py, method| {
            method.call1((now.as_nanos(), self.queue_of(py, queue))).map(drop)
        });
    }
}

/// What a hook returned, as a verdict: None passes.
fn verdict(said: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if said.is_none() {
        return Ok(Verdict::Pass);
    }
    let code = if said.is_instance_of::<PyBool>() { None } else { said.extract().ok() };
    code.and_then(custom::verdict_of_code).ok_or_else(|| {
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
        if !self.timer_is_known.get() {
            let due = self.call(&self.next_timer, self.now.get(), None, |_, method| {
                method.call0()?.extract::<Option<u64>>().map_err(|_| {
                    PyTypeError::new_err("it returns a whole number of nanoseconds, or None")
                })
            });
            self.timer.set(due.flatten().map(Time::from_nanos));
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
        let read = Python::attach(|py| -> PyResult<()> {
            for (value, name) in out.iter_mut().zip(&self.var_names) {
                *value = self.object.bind(py).getattr(name.as_str())?.extract().map_err(|_| {
                    PyTypeError::new_err(format!("state variable `{name}` is not a number"))
                })?;
            }
            Ok(())
        });
        if let Err(error) = read {
            self.has_failed.set(true);
            let call = ("observe", self.now.get(), None);
            self.failures.report(failure((&self.place, &self.name), call, error));
        }
    }
}

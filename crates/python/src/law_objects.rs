//! The arguments of the hooks of a law in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use sojourn_aqm::custom::Value;
use sojourn_aqm::{Ecn, Env, Limit, Rate, Rng};

/// The packet being handled, as the stub describes. One object serves all calls of a law.
#[pyclass(name = "Head", module = "sojourn._core")]
#[derive(Default)]
pub struct PyHead {
    #[pyo3(get)]
    pub(crate) bytes: u32,
    #[pyo3(get)]
    pub(crate) enqueued_ns: u64,
    #[pyo3(get)]
    pub(crate) sojourn_ns: u64,
    pub(crate) ecn: Ecn,
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

/// The backlog without the packet being handled.
#[pyclass(name = "Backlog", get_all, module = "sojourn._core")]
#[derive(Default)]
pub struct PyBacklog {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
    pub(crate) link_bytes: u64,
}

/// The random numbers of a law's queue.
#[pyclass(name = "Random", module = "sojourn._core")]
pub struct PyRandom {
    pub(crate) rng: Rng,
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

/// The environment of a law at its creation.
#[pyclass(name = "Env", frozen, get_all, module = "sojourn._core")]
pub struct PyEnv {
    limit_packets: Option<u64>,
    limit_bytes: Option<u64>,
    mtu_bytes: u32,
    rate_bps: Option<u64>,
}

impl PyEnv {
    pub(crate) fn of(env: &Env) -> PyEnv {
        let (limit_packets, limit_bytes) = match env.limit {
            Limit::Packets(n) => (Some(n), None),
            Limit::Bytes(n) => (None, Some(n)),
        };
        let rate_bps = env.rate.map(Rate::as_bps);
        PyEnv { limit_packets, limit_bytes, mtu_bytes: env.mtu_bytes, rate_bps }
    }
}

/// A value in the form that laws in Python get: times in nanoseconds, rates in bit/s, words as
/// text.
pub(crate) fn as_python<'py>(
    py: Python<'py>,
    value: &Value,
    words: &[String],
) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Span(span) => span.as_nanos().into_pyobject(py)?.into_any(),
        Value::Hertz(x) | Value::Number(x) => x.into_pyobject(py)?.into_any(),
        Value::Whole(n) | Value::Bytes(n) => n.into_pyobject(py)?.into_any(),
        Value::SignedBytes(n) => n.into_pyobject(py)?.into_any(),
        Value::Limit(Limit::Packets(n)) => (*n, "packets").into_pyobject(py)?.into_any(),
        Value::Limit(Limit::Bytes(n)) => (*n, "bytes").into_pyobject(py)?.into_any(),
        Value::Rate(rate) => rate.as_bps().into_pyobject(py)?.into_any(),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Word(place) => words[*place].as_str().into_pyobject(py)?.into_any(),
        Value::Absent => py.None().into_bound(py),
    })
}

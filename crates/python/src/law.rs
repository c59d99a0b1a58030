//! AQM laws written in Python: a slow path for experiments. Each call takes the GIL.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;

#[cfg(target_os = "linux")]
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_aqm::custom::{
    self, Declaration, Failures, Hooks, Maker, ParamDeclaration, Value, VarDeclaration,
};
use sojourn_aqm::params::ValueKind;
use sojourn_aqm::{Aqm, Env, Rng, Time};
#[cfg(target_os = "linux")]
use sojourn_router::laws::{LoadedLaws, PlannedLaw};

use crate::errors::Refusal;
use crate::law_objects::{PyBacklog, PyEnv, PyHead, PyRandom, as_python};
use crate::python_law::{Hook, PassAll, PythonLaw, failure};
use crate::watch::{self, Call};

/// A law that is not in the registry, as the stub describes.
#[pyclass(frozen, from_py_object, module = "sojourn._core")]
#[derive(Clone)]
pub struct CustomLaw {
    pub(crate) law: custom::CustomLaw,
}

/// Name, meaning, kind, word for "no value", words, rule, default, source.
type Param = (String, String, String, Option<String>, Vec<String>, String, String, String);

#[pymethods]
impl CustomLaw {
    /// A law whose decisions a Python class makes.
    #[staticmethod]
    #[allow(clippy::too_many_arguments, reason = "they are what a law declares")]
    fn python(
        class: Py<PyAny>,
        name: String,
        doc: String,
        source: String,
        place: String,
        file: Option<String>,
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
        let at = place.clone();
        let declaration = Declaration { name, doc, source, place, file, params: params?, vars };
        sojourn_aqm::registry::declare(declaration, Arc::new(maker))
            .map(|law| CustomLaw { law })
            .map_err(|error| Refusal::new("", format!("{at}: {}", error.message)))
    }

    /// A law in a library.
    #[staticmethod]
    fn library(path: &str, opened: &str, name: &str, source: &str) -> Result<CustomLaw, Refusal> {
        let law = sojourn_law::host::load(Path::new(path), Path::new(opened), name, source);
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

/// The libraries that a library needs, and its search path.
#[pyfunction]
pub fn library_dependencies(content: &[u8]) -> Option<(Vec<String>, String)> {
    sojourn_law::elf::dependencies(content).map(|found| (found.needed, found.folders))
}

/// The laws that a plan names, loaded from their files.
#[cfg(target_os = "linux")]
pub fn load(py: Python<'_>, planned: &[PlannedLaw]) -> PyResult<LoadedLaws> {
    if planned.is_empty() {
        return Ok(LoadedLaws::default());
    }
    let load = py.import("sojourn.loading.bring")?.getattr("load")?;
    let one = |law: &PlannedLaw| -> PyResult<custom::CustomLaw> {
        let args = (law.file.as_str(), law.name.as_str(), law.source.as_str());
        Ok(load.call1(args)?.extract::<CustomLaw>()?.law)
    };
    let laws: PyResult<Vec<_>> = planned.iter().map(one).collect();
    LoadedLaws::new(laws?).map_err(PyValueError::new_err)
}

fn declared(param: Param) -> Result<ParamDeclaration, Refusal> {
    let (name, doc, kind, absent, words, rule, default, source) = param;
    let kind = ValueKind::of_word(&kind).map_err(|why| Refusal::new(name.as_str(), why))?;
    Ok(ParamDeclaration { name, doc, kind, absent, words, rule, default, source })
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
        let what: Arc<str> = format!("{}: {}", self.place, self.name).into();
        let call = Call { what: Arc::clone(&what), method: "__init__", at: Time::ZERO };
        watch::within(call, |py| {
            let object = self.object(py, values, env)?;
            let hook = |name: &'static str| -> PyResult<Hook> {
                let method = self.has(name).then(|| object.getattr(py, name)).transpose()?;
                Ok(Hook { name, method })
            };
            Ok(PythonLaw {
                name: self.name.clone(),
                place: self.place.clone(),
                what,
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
            })
        })
    }
}

impl Maker for PythonMaker {
    fn hooks(&self) -> Hooks {
        Hooks {
            on_enqueue: self.has("on_enqueue"),
            on_dequeue: self.has("on_dequeue"),
            on_empty: self.has("on_empty"),
            timers: self.has("next_timer"),
            on_idle_timers: self.has("on_idle_timers"),
        }
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

//! A result table as an Arrow stream.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sojourn_record::{Run, tables};

/// A result table; any Arrow library reads it through `__arrow_c_stream__` without a copy.
#[pyclass(frozen, module = "sojourn._core")]
pub struct Table {
    pub(crate) run: Arc<Run>,
    pub(crate) table: tables::Table,
}

/// The table of that name.
///
/// # Errors
/// `KeyError` that lists the existing names.
pub(crate) fn named(name: &str) -> PyResult<tables::Table> {
    tables::Table::named(name).ok_or_else(|| {
        let known: Vec<&str> = tables::Table::ALL.iter().map(|t| t.name()).collect();
        PyKeyError::new_err(format!("there is no table `{name}`; known: {}", known.join(", ")))
    })
}

#[pymethods]
impl Table {
    /// The table with this name as in a run that does not record it: its columns, no rows.
    #[staticmethod]
    fn empty(name: &str) -> PyResult<Table> {
        Ok(Table { run: Arc::new(Run::default()), table: named(name)? })
    }

    /// The rows as a capsule of the Arrow C stream interface. A requested schema is not honoured,
    /// as the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let reader = self.table.read(Arc::clone(&self.run));
        // A consumer that moves the stream out clears its release callback; otherwise dropping the
        // capsule releases it.
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.table.rows(&self.run)
    }

    fn __repr__(&self) -> String {
        format!("<sojourn table {} with {} rows>", self.table.name(), self.table.rows(&self.run))
    }
}

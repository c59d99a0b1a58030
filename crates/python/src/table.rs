//! A result table: an Arrow stream, lists of Python, and Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use sojourn_record::stored::{self, Label};
use sojourn_record::{Run, tables};

use crate::cancel::Cancel;
use crate::columns::{append, kind};
use crate::errors::Cancelled;

/// A result table; any Arrow library reads it through `__arrow_c_stream__` without a copy.
#[pyclass(frozen, module = "sojourn._core")]
pub struct Table {
    table: tables::Table,
    rows: Rows,
}

enum Rows {
    /// Of a run.
    Run(Arc<Run>),
    /// Read from a file.
    Stored(Vec<RecordBatch>),
}

/// The table of that name.
///
/// # Errors
/// `KeyError` that lists the existing names.
pub(crate) fn named(name: &str) -> PyResult<tables::Table> {
    tables::Table::named(name).ok_or_else(|| {
        let known: Vec<&str> = tables::Table::ALL.iter().map(|t| t.name()).collect();
        PyKeyError::new_err(format!("unknown table `{name}`; known: {}", known.join(", ")))
    })
}

impl Table {
    /// The table of a run.
    pub(crate) fn of_run(run: Arc<Run>, table: tables::Table) -> Table {
        Table { table, rows: Rows::Run(run) }
    }

    fn reader(&self) -> Box<dyn RecordBatchReader + Send> {
        match &self.rows {
            Rows::Run(run) => Box::new(self.table.read(Arc::clone(run))),
            Rows::Stored(batches) => {
                let schema = batches.first().map_or_else(|| self.table.schema(), |b| b.schema());
                Box::new(RecordBatchIterator::new(batches.clone().into_iter().map(Ok), schema))
            }
        }
    }
}

#[pymethods]
impl Table {
    /// The table with this name as in a run that does not record it: its columns, no rows.
    #[staticmethod]
    fn empty(name: &str) -> PyResult<Table> {
        Ok(Table::of_run(Arc::new(Run::default()), named(name)?))
    }

    /// The table with this name from the content of a Parquet file.
    #[staticmethod]
    fn stored(py: Python<'_>, name: &str, content: &[u8]) -> PyResult<Table> {
        let table = named(name)?;
        let content = content.to_vec();
        let read = py.detach(|| stored::read(table, content));
        Ok(Table { table, rows: Rows::Stored(read.map_err(PyValueError::new_err)?) })
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
        // A consumer that moves the stream out clears its release callback; otherwise dropping the
        // capsule releases it.
        let stream = FFI_ArrowArrayStream::new(self.reader());
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Lists of the values of every column, from row `first` on, `count` of them at most.
    #[pyo3(signature = (first=0, count=None))]
    fn columns<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        count: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let reader = self.reader();
        let schema = reader.schema();
        let lists: Vec<_> = schema.fields().iter().map(|_| PyList::empty(py)).collect();
        let (mut skipped, mut wanted) = (first, count.unwrap_or(usize::MAX));
        for batch in reader {
            let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
            let from = skipped.min(batch.num_rows());
            let rows = wanted.min(batch.num_rows() - from);
            for (list, column) in lists.iter().zip(batch.slice(from, rows).columns()) {
                append(list, column)?;
            }
            (skipped, wanted) = (skipped - from, wanted - rows);
        }
        let found = PyDict::new(py);
        for (field, list) in schema.fields().iter().zip(lists) {
            found.set_item(field.name(), list)?;
        }
        Ok(found)
    }

    /// Name and kind of every column, and whether its values may be missing: the same with rows as
    /// without.
    fn fields(&self) -> Vec<(String, &'static str, bool)> {
        let schema = self.reader().schema();
        let fields = schema.fields().iter();
        fields.map(|field| (field.name().clone(), kind(field), field.is_nullable())).collect()
    }

    /// Writes the rows with their labels as Parquet to a file of Python; returns how many.
    #[pyo3(signature = (file, labels, cancel=None))]
    fn write(
        &self,
        py: Python<'_>,
        file: Py<PyAny>,
        labels: Vec<(String, LabelValue)>,
        cancel: Option<&Cancel>,
    ) -> PyResult<usize> {
        let labels: Vec<_> = labels.into_iter().map(|(name, value)| (name, value.into())).collect();
        let keep_going = || cancel.is_none_or(|cancel| !cancel.is_cancelled());
        let mut to = io::BufWriter::with_capacity(1 << 20, PyFile { file, failure: None });
        let written = py.detach(|| {
            let rows = stored::write_labelled(self.reader(), &labels, &mut to, &keep_going)?;
            to.flush().map(|()| rows)
        });
        let failure = to.into_parts().0.failure;
        match (written, failure) {
            (Ok(rows), _) => Ok(rows),
            (Err(_), Some(failure)) => Err(failure),
            (Err(error), None) if error.kind() == io::ErrorKind::Interrupted && !keep_going() => {
                Err(Cancelled::new_err("the run was cancelled while it was saved"))
            }
            (Err(error), None) => Err(error.into()),
        }
    }

    fn __len__(&self) -> usize {
        match &self.rows {
            Rows::Run(run) => self.table.rows(run),
            Rows::Stored(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<sojourn table {} with {} rows>", self.table.name(), self.__len__())
    }
}

/// The value of a label.
#[derive(FromPyObject)]
enum LabelValue {
    Number(u64),
    Word(Option<String>),
}

impl From<LabelValue> for Label {
    fn from(value: LabelValue) -> Label {
        match value {
            LabelValue::Number(number) => Label::Number(number),
            LabelValue::Word(word) => Label::Word(word),
        }
    }
}

/// A file of Python, and what its `write` raised.
struct PyFile {
    file: Py<PyAny>,
    failure: Option<PyErr>,
}

impl Write for PyFile {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        Python::attach(|py| {
            match self.file.call_method1(py, "write", (PyBytes::new(py, content),)) {
                Ok(_) => Ok(content.len()),
                Err(failure) => {
                    self.failure = Some(failure);
                    Err(io::Error::other("the file of Python failed"))
                }
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Columns of Arrow as lists of Python.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Float64Type, Int8Type, Int32Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, DictionaryArray};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// The kind of a column's values in Python: `text`, `boolean`, `integer`, `number` or `pairs`.
pub(crate) fn kind(field: &Field) -> &'static str {
    match field.data_type() {
        DataType::Utf8 | DataType::Dictionary(..) => "text",
        DataType::Boolean => "boolean",
        DataType::Float64 => "number",
        DataType::Map(..) => "pairs",
        _ => "integer",
    }
}

/// Appends the values of a column to a list: numbers, booleans, texts, None, and for a map a list
/// of its pairs.
pub(crate) fn append(list: &Bound<'_, PyList>, column: &ArrayRef) -> PyResult<()> {
    match column.data_type() {
        DataType::UInt32 => numbers::<UInt32Type>(list, column),
        DataType::UInt64 => numbers::<UInt64Type>(list, column),
        DataType::Int32 => numbers::<Int32Type>(list, column),
        DataType::Float64 => numbers::<Float64Type>(list, column),
        DataType::Boolean => column.as_boolean().iter().try_for_each(|value| list.append(value)),
        DataType::Utf8 => column.as_string::<i32>().iter().try_for_each(|value| list.append(value)),
        DataType::Dictionary(key, _) if **key == DataType::Int8 => {
            words(list, column.as_dictionary::<Int8Type>())
        }
        DataType::Dictionary(..) => words(list, column.as_dictionary::<Int32Type>()),
        DataType::Map(..) => maps(list, column),
        other => Err(PyTypeError::new_err(format!("no table has columns of type {other}"))),
    }
}

fn numbers<'py, T>(list: &Bound<'py, PyList>, column: &ArrayRef) -> PyResult<()>
where
    T: ArrowPrimitiveType,
    T::Native: IntoPyObject<'py>,
{
    column.as_primitive::<T>().iter().try_for_each(|value| list.append(value))
}

/// Equal texts share one Python object.
fn words<K: ArrowDictionaryKeyType>(
    list: &Bound<'_, PyList>,
    column: &DictionaryArray<K>,
) -> PyResult<()> {
    let words = column.values().as_string::<i32>();
    let words: Vec<_> =
        words.iter().map(|word| word.map(|word| PyString::new(list.py(), word))).collect();
    for row in 0..column.len() {
        list.append(column.key(row).and_then(|key| words[key].as_ref()))?;
    }
    Ok(())
}

fn maps(list: &Bound<'_, PyList>, column: &ArrayRef) -> PyResult<()> {
    for entries in column.as_map().iter() {
        let Some(entries) = entries else {
            list.append(list.py().None())?;
            continue;
        };
        let keys = PyList::empty(list.py());
        append(&keys, entries.column(0))?;
        let values = PyList::empty(list.py());
        append(&values, entries.column(1))?;
        let pairs = PyList::empty(list.py());
        keys.iter().zip(values.iter()).try_for_each(|pair| pairs.append(pair))?;
        list.append(pairs)?;
    }
    Ok(())
}

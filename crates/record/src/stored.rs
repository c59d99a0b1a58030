//! Writes tables as Parquet with columns that identify their run, and reads tables back.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchReader, StringArray, UInt64Array,
};
use arrow_schema::{Field, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::files::as_io;
use crate::tables::{ROWS_PER_BATCH, Table};

/// The value of a column that is the same in every row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Label {
    /// A word, or null.
    Word(Option<String>),
    /// A number.
    Number(u64),
}

impl Label {
    fn column(&self, rows: usize) -> ArrayRef {
        match self {
            Label::Number(number) => Arc::new(UInt64Array::from_value(*number, rows)),
            Label::Word(word) => {
                let key = word.as_ref().map(|_| 0);
                let keys = Int32Array::from_iter(std::iter::repeat_n(key, rows));
                let words = Arc::new(StringArray::from_iter_values(word));
                let column = DictionaryArray::<Int32Type>::try_new(keys, words);
                Arc::new(column.expect("the key is that of the word"))
            }
        }
    }
}

/// Writes rows as Parquet, with the labels as further columns; returns the number of rows.
///
/// The bytes depend only on the rows and labels, not on the batches of the rows or unused words in
/// their dictionaries.
///
/// # Errors
/// [`io::Error`]: `to` or the rows fail; of the kind [`io::ErrorKind::Interrupted`] if
/// `keep_going`, which is called for every 65,536 rows, returned false.
pub fn write_labelled(
    rows: impl RecordBatchReader,
    labels: &[(String, Label)],
    to: &mut (impl Write + Send),
    keep_going: &dyn Fn() -> bool,
) -> io::Result<usize> {
    write_in_groups(ROWS_PER_BATCH, rows, labels, to, keep_going)
}

fn write_in_groups(
    rows_per_group: usize,
    rows: impl RecordBatchReader,
    labels: &[(String, Label)],
    to: &mut (impl Write + Send),
    keep_going: &dyn Fn() -> bool,
) -> io::Result<usize> {
    let own = rows.schema();
    let schema = labelled_schema(&own, labels);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(rows_per_group))
        .build();
    let mut writer =
        ArrowWriter::try_new(to, Arc::clone(&schema), Some(properties)).map_err(as_io)?;
    let mut write = |group: &mut Vec<RecordBatch>| {
        if !keep_going() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let rows = concat_batches(&own, &*group).map_err(io::Error::other)?;
        group.clear();
        let labels = labels.iter().map(|(_, label)| label.column(rows.num_rows()));
        let columns = rows.columns().iter().cloned().chain(labels).collect();
        let labelled = RecordBatch::try_new(Arc::clone(&schema), columns);
        writer.write(&labelled.map_err(io::Error::other)?).map_err(as_io)
    };
    let (mut group, mut waiting, mut written) = (Vec::new(), 0, 0);
    for batch in rows {
        let mut rest = batch.map_err(io::Error::other)?;
        written += rest.num_rows();
        while waiting + rest.num_rows() >= rows_per_group {
            let count = rows_per_group - waiting;
            group.push(rest.slice(0, count));
            write(&mut group)?;
            rest = rest.slice(count, rest.num_rows() - count);
            waiting = 0;
        }
        waiting += rest.num_rows();
        group.push(rest);
    }
    if waiting > 0 {
        write(&mut group)?;
    }
    writer.close().map_err(as_io)?;
    Ok(written)
}

fn labelled_schema(own: &Schema, labels: &[(String, Label)]) -> SchemaRef {
    let added = labels
        .iter()
        .map(|(name, label)| Arc::new(Field::new(name, label.column(0).data_type().clone(), true)));
    Arc::new(Schema::new(own.fields().iter().cloned().chain(added).collect::<Vec<_>>()))
}

/// The rows of a table from the content of a Parquet file, without its labels.
///
/// # Errors
/// Returns a sentence: this is not a Parquet file, or its columns are not those of the table.
pub fn read(table: Table, content: Vec<u8>) -> Result<Vec<RecordBatch>, String> {
    let wanted = table.schema();
    let names: HashSet<&str> = wanted.fields().iter().map(|field| field.name().as_str()).collect();
    let file = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(content)).map_err(text)?;
    let there = file.schema().fields().iter().enumerate();
    let places: Vec<usize> =
        there.filter(|(_, f)| names.contains(f.name().as_str())).map(|(place, _)| place).collect();
    let mask = ProjectionMask::roots(file.parquet_schema(), places);
    let file = file.with_projection(mask).with_batch_size(ROWS_PER_BATCH).build().map_err(text)?;
    let order = places_of(&wanted, &file.schema())?;
    file.map(|batch| batch.and_then(|batch| batch.project(&order)).map_err(text)).collect()
}

/// The positions of one schema's columns in another schema.
fn places_of(wanted: &Schema, there: &Schema) -> Result<Vec<usize>, String> {
    let place_of = |field: &Arc<Field>| {
        let place = there.index_of(field.name()).map_err(text)?;
        if there.field(place).data_type().equals_datatype(field.data_type()) {
            Ok(place)
        } else {
            Err(format!("its column {} has another type", field.name()))
        }
    };
    wanted.fields().iter().map(place_of).collect()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{RecordBatch, RecordBatchIterator};
use sojourn_aqm::{Ecn, Time};

use super::*;
use crate::rows::{Fate, PacketRow, Run};

fn run(packets: u32) -> Arc<Run> {
    let packet = |seq: u32| PacketRow {
        queue: seq % 2,
        flow: 0,
        seq,
        bytes: 1500,
        arrived: Time::from_nanos(u64::from(seq)),
        left: None,
        fate: Fate::Waiting,
        marked: None,
        ecn_in: Ecn::Ect0,
    };
    Arc::new(Run {
        queues: vec!["a".into(), "b".into()],
        flows: vec!["bulk".into()],
        classes: vec!["bulk".into()],
        packets: (0..packets).map(packet).collect(),
        ..Run::default()
    })
}

fn labels() -> Vec<(String, Label)> {
    vec![
        ("scenario".into(), Label::Word(Some("small".into()))),
        ("aqm".into(), Label::Word(None)),
        ("seed".into(), Label::Number(7)),
    ]
}

fn written(rows: impl RecordBatchReader) -> Vec<u8> {
    let mut to = Vec::new();
    write_labelled(rows, &labels(), &mut to, &|| true).expect("memory");
    to
}

fn reader_of(batches: Vec<RecordBatch>) -> impl RecordBatchReader {
    let schema = batches[0].schema();
    RecordBatchIterator::new(batches.into_iter().map(Ok), schema)
}

#[test]
fn a_labelled_table_is_read_back_without_its_labels() {
    let content = written(Table::Packets.read(run(200_000)));
    let found = read(Table::Packets, content).expect("a table of packets");
    let expected: Vec<_> = Table::Packets.read(run(200_000)).map(Result::unwrap).collect();
    assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 200_000);
    assert_eq!(found[0].schema().fields(), expected[0].schema().fields());
    assert_eq!(found[3].column(2), expected[3].column(2));
}

#[test]
fn labels_are_columns_of_one_value_behind_the_others() {
    let content = written(Table::Packets.read(run(3)));
    let file = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(content)).expect("a file");
    let batch = file.build().expect("a reader").next().expect("a batch").expect("rows");
    let expected = labelled_schema(&Table::Packets.schema(), &labels());
    assert_eq!(batch.schema().fields(), expected.fields());
    let place = batch.schema().index_of("seed").expect("a label");
    assert_eq!(batch.column(place).as_ref(), &UInt64Array::from_value(7, 3));
    assert_eq!(batch.column(place - 1).null_count(), 3);
}

#[test]
fn the_bytes_are_those_of_the_same_rows_read_back() {
    let first = written(Table::Packets.read(run(150_000)));
    let again = read(Table::Packets, first.clone()).expect("a table of packets");
    assert!(first == written(reader_of(again)));
}

#[test]
fn a_table_with_more_rows_in_a_batch_is_cut_into_the_same_groups() {
    let batches: Vec<_> = Table::Packets.read(run(131_072)).map(Result::unwrap).collect();
    let parts = [batches[0].slice(0, 65_536), batches[1].slice(0, 65_536)];
    assert!(written(reader_of(batches)) == written(reader_of(parts.to_vec())));
}

/// A column of words as an engine or a file provides it: one dictionary per batch.
fn words_in(batches: &[&[&str]], unused: &str) -> Vec<RecordBatch> {
    let one = |words: &&[&str]| {
        let mut known = [*words, &[unused]].concat();
        known.sort_unstable();
        known.dedup();
        let keys = words.iter().map(|w| known.binary_search(w).expect("known") as i32);
        let words = Arc::new(StringArray::from_iter_values(&known));
        let column =
            DictionaryArray::<Int32Type>::try_new(Int32Array::from_iter_values(keys), words);
        let column: ArrayRef = Arc::new(column.expect("keys of words"));
        RecordBatch::try_from_iter([("word", column)]).expect("one column")
    };
    batches.iter().map(one).collect()
}

#[test]
fn the_bytes_of_a_table_depend_on_its_rows_alone() {
    let in_fours = |batches| {
        let mut to = Vec::new();
        let rows = write_in_groups(4, reader_of(batches), &labels(), &mut to, &|| true);
        assert_eq!(rows.expect("memory"), 7);
        to
    };
    let whole = in_fours(words_in(&[&["b", "a", "b", "c", "a", "a", "d"]], "z"));
    let cut = in_fours(words_in(&[&["b", "a", "b"], &["c"], &["a", "a", "d"]], "0"));
    assert!(whole == cut);
    let file = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(whole)).expect("a file");
    assert_eq!(file.metadata().num_row_groups(), 2);
    let batch = file.build().expect("a reader").next().expect("a batch").expect("rows");
    let column = batch.column(0).as_dictionary::<Int32Type>();
    let words: Vec<_> = column.downcast_dict::<StringArray>().expect("words").into_iter().collect();
    assert_eq!(words, ["b", "a", "b", "c", "a", "a", "d"].map(Some));
}

#[test]
fn a_file_that_is_not_a_table_of_that_name_is_refused() {
    let content = written(Table::Packets.read(run(10)));
    assert!(read(Table::Flows, content.clone()).is_err());
    assert!(read(Table::Packets, content[..content.len() / 2].to_vec()).is_err());
    assert!(read(Table::Packets, b"PAR1".to_vec()).is_err());
}

#[test]
fn writing_ends_when_it_may_not_go_on() {
    let rows = Table::Packets.read(run(10));
    let ended = write_labelled(rows, &labels(), &mut Vec::new(), &|| false);
    assert_eq!(ended.unwrap_err().kind(), io::ErrorKind::Interrupted);
}

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use sojourn_aqm::{Cause, Ecn, Span, Stage, Time, Var};

use super::*;
use crate::rows::{Fate, HistogramOf, PacketRow, Scope, SignalRow, StateRow, SummaryRow};

const VAR: Var = Var { name: "drop_prob", unit: "1", doc: "" };

fn packet(seq: u32, fate: Fate) -> PacketRow {
    PacketRow {
        queue: 0,
        flow: 1,
        seq,
        bytes: 1500,
        arrived: Time::from_nanos(u64::from(seq)),
        left: (fate != Fate::Waiting).then(|| Time::from_nanos(u64::from(seq) + 5)),
        fate,
        marked: None,
        ecn_in: Ecn::Ect0,
    }
}

fn signal(place: usize) -> SignalRow {
    SignalRow {
        queue: 0,
        t: Time::from_nanos(7),
        flow: 1,
        seq: place as u32,
        bytes: 1500,
        sojourn: Span::from_micros(3),
        is_mark: true,
        is_copy: false,
        stage: Stage::Queued,
        cause: Cause::Random,
        evidence: place,
    }
}

fn run() -> Run {
    let mut histogram = crate::Histogram::default();
    (0..100).for_each(|i| histogram.add(i * 1_000_000));
    let fates = [Fate::Sent, Fate::Dropped(Stage::Dequeue, Cause::Deterministic), Fate::Waiting];
    Run {
        queues: vec!["bottleneck".into()],
        vars: vec![vec![VAR]],
        flows: vec!["bulk.0".into(), "bulk.1".into()],
        classes: vec!["bulk".into(), "bulk".into()],
        signals: vec![signal(0), signal(1)],
        evidence: vec![0.25, 0.75],
        evidence_vars: vec![&[VAR]],
        packets: (0..200_000).map(|i| packet(i, fates[i as usize % 3])).collect(),
        states: vec![StateRow { queue: 0, t: Time::ZERO, var: 0, value: 0.5 }],
        summary: vec![SummaryRow {
            scope: Scope::Queue,
            name: "bottleneck".into(),
            metric: "delay_p95",
            value: 0.02,
            unit: "s",
        }],
        histograms: vec![HistogramOf {
            scope: Scope::Queue,
            name: "bottleneck".into(),
            metric: "delay",
            histogram,
        }],
        digest: 0xabc,
        ..Run::default()
    }
}

/// A new folder, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("sojourn-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_table_reads_back_as_it_was() {
    let folder = Folder::new("reads-back");
    let run = Arc::new(run());
    write(&run, &serde_json::json!({}), &folder.0).unwrap();
    let file = File::open(folder.0.join("packets.parquet")).unwrap();
    let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<_> = batches.map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|b| b.num_rows()).sum::<usize>(), 200_000);
    let first = &batches[0];
    let seq = first.column_by_name("arrived_ns").unwrap().as_primitive::<UInt64Type>();
    assert_eq!(seq.values()[..3], [0, 1, 2]);
    let left = first.column_by_name("left_ns").unwrap();
    assert_eq!((left.is_null(1), left.is_null(2)), (false, true));
    let flow = first.column_by_name("flow").unwrap().as_dictionary::<Int32Type>();
    assert_eq!(flow.values().as_string::<i32>().value(flow.key(0).unwrap()), "bulk.1");
}

#[test]
fn every_signal_has_its_own_state() {
    let batch = Table::Signals.read(Arc::new(run())).next().unwrap().unwrap();
    let states = batch.column_by_name("state").unwrap().as_map();
    assert_eq!(states.keys().as_string::<i32>().value(0), "drop_prob");
    assert_eq!(states.values().as_primitive::<Float64Type>().values()[..], [0.25, 0.75]);
    assert_eq!(states.value_offsets(), [0, 1, 2]);
    let sojourns = batch.column_by_name("sojourn_ns").unwrap().as_primitive::<UInt64Type>();
    assert_eq!(sojourns.values()[..], [3000, 3000]);
}

#[test]
fn only_tables_with_rows_and_no_temporary_files_remain() {
    let folder = Folder::new("tables-with-rows");
    let names = write(&Arc::new(run()), &serde_json::json!({}), &folder.0).unwrap();
    assert_eq!(names.last().unwrap(), MANIFEST);
    let expected = [
        "histograms.parquet",
        "manifest.json",
        "packets.parquet",
        "signals.parquet",
        "states.parquet",
        "summary.parquet",
    ];
    assert_eq!(folder.names(), expected);
}

#[test]
fn a_second_run_leaves_no_table_of_the_first() {
    let folder = Folder::new("second-run");
    write(&Arc::new(run()), &serde_json::json!({}), &folder.0).unwrap();
    fs::write(folder.0.join("notes.txt"), "mine").unwrap();
    let smaller = Run { packets: Vec::new(), ..run() };
    write(&Arc::new(smaller), &serde_json::json!({}), &folder.0).unwrap();
    assert!(!folder.0.join("packets.parquet").exists());
    assert!(folder.0.join("notes.txt").exists());
}

#[test]
fn a_folder_that_is_a_file_is_an_error_with_its_name() {
    let folder = Folder::new("is-a-file");
    fs::write(&folder.0, "").unwrap();
    let error = write(&Arc::new(run()), &serde_json::json!({}), &folder.0).unwrap_err();
    assert!(error.to_string().contains("is-a-file"), "{error}");
    fs::remove_file(&folder.0).unwrap();
}

#[test]
fn cancelled_writing_leaves_nothing() {
    let folder = Folder::new("told-to-stop");
    let asked = std::cell::Cell::new(0);
    let keep_going = || asked.replace(asked.get() + 1) < 2;
    let error = write_while(&Arc::new(run()), &serde_json::json!({}), &folder.0, &keep_going);
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::Interrupted);
    assert_eq!(asked.get(), 3, "two batches were written");
    assert!(folder.names().is_empty());
}

#[test]
fn an_empty_run_has_the_columns_of_every_other() {
    for table in Table::ALL {
        let full = table.read(Arc::new(run())).next();
        if let Some(batch) = full {
            assert_eq!(batch.unwrap().schema(), table.schema(), "{}", table.name());
        }
    }
}

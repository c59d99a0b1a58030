//! Rows as Arrow record batches: column names carry the unit, repeated words are
//! dictionary-encoded.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, MapBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};

use sojourn_aqm::{Cause, Stage};

use crate::columns::{
    CAUSES, Column, ECNS, STAGES, bools, f64s, names, some_u64s, strings, u32s, u64s, words,
};
use crate::distributions::{drop_delays, histograms};
use crate::programs::{program_flows, programs};
use crate::rows::{BinRow, Fate, Run, Scope, SignalRow, StreamRow};

/// Rows per record batch, so that a large table is never in memory twice.
pub(crate) const ROWS_PER_BATCH: usize = 1 << 16;

/// The words for [`Fate`] and signals, in the order of their keys.
const FATES: [&str; 3] = [
    Fate::Sent.word(),
    Fate::Dropped(Stage::Enqueue, Cause::Overflow).word(),
    Fate::Waiting.word(),
];
const SIGNALS: [&str; 2] = ["dropped", "marked"];

/// A result table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// One packet at one queue.
    Packets,
    /// One drop or mark, with the state of the AQM just before it.
    Signals,
    /// One flow at one sample.
    Flows,
    /// One variable of one queue at one sample.
    States,
    /// One variable of one flow's congestion control at one sample.
    FlowStates,
    /// One value of one bin of time.
    Bins,
    /// One finished short transfer.
    Transfers,
    /// One stream of a flow over a transport library.
    Streams,
    /// One command of the user.
    Programs,
    /// One flow of the user's programs.
    ProgramFlows,
    /// One number of the run.
    Summary,
    /// One bin of a distribution.
    Histograms,
    /// One bin of a distribution of the sojourn times of dropped packets.
    DropDelays,
}

impl Table {
    /// Every table.
    pub const ALL: [Table; 13] = [
        Table::Packets,
        Table::Signals,
        Table::Flows,
        Table::States,
        Table::FlowStates,
        Table::Bins,
        Table::Transfers,
        Table::Streams,
        Table::Programs,
        Table::ProgramFlows,
        Table::Summary,
        Table::Histograms,
        Table::DropDelays,
    ];

    /// Its name, which is also the name of its file.
    pub const fn name(self) -> &'static str {
        match self {
            Table::Packets => "packets",
            Table::Signals => "signals",
            Table::Flows => "flows",
            Table::States => "states",
            Table::FlowStates => "flow_states",
            Table::Bins => "bins",
            Table::Transfers => "transfers",
            Table::Streams => "streams",
            Table::Programs => "programs",
            Table::ProgramFlows => "program_flows",
            Table::Summary => "summary",
            Table::Histograms => "histograms",
            Table::DropDelays => "drop_delays",
        }
    }

    /// The table with this name.
    pub fn named(name: &str) -> Option<Table> {
        Table::ALL.into_iter().find(|table| table.name() == name)
    }

    /// The number of its rows in a run.
    pub fn rows(self, run: &Run) -> usize {
        match self {
            Table::Packets => run.packets.len(),
            Table::Signals => run.signals.len(),
            Table::Flows => run.flow_samples.len(),
            Table::States => run.states.len(),
            Table::FlowStates => run.flow_states.len(),
            Table::Bins => run.bins.len(),
            Table::Transfers => run.transfers.len(),
            Table::Streams => run.streams.len(),
            Table::Programs => run.programs.len(),
            Table::ProgramFlows => run.program_flows.len(),
            Table::Summary => run.summary.len(),
            Table::Histograms => run.histograms.iter().map(|h| h.histogram.bins().count()).sum(),
            Table::DropDelays => run.drop_delays.iter().map(|d| d.histogram.bins().count()).sum(),
        }
    }

    /// Its columns, the same for every run.
    pub fn schema(self) -> SchemaRef {
        self.batch(&Run::default(), 0..0).schema()
    }

    /// The rows of a run as record batches.
    pub fn read(self, run: Arc<Run>) -> Reader {
        let rows = self.rows(&run);
        Reader { table: self, schema: self.schema(), run, rows, next: 0 }
    }

    /// A range of rows as one batch. Summary and distributions are small and always complete.
    fn batch(self, run: &Run, rows: Range<usize>) -> RecordBatch {
        let columns = match self {
            Table::Packets => packets(run, rows),
            Table::Signals => signals(run, rows),
            Table::Flows => flows(run, rows),
            Table::States => states(run, rows),
            Table::FlowStates => flow_states(run, rows),
            Table::Bins => bins(run, rows),
            Table::Transfers => transfers(run, rows),
            Table::Streams => streams(run, rows),
            Table::Programs => programs(run, rows),
            Table::ProgramFlows => program_flows(run, rows),
            Table::Summary => summary(run),
            Table::Histograms => histograms(run),
            Table::DropDelays => drop_delays(run),
        };
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array, nullable)| Field::new(*name, array.data_type().clone(), *nullable))
            .collect();
        let arrays = columns.into_iter().map(|(_, array, _)| array).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .expect("columns are equally long and fields are made from them")
    }
}

/// The rows of one table, batch by batch, created on demand.
pub struct Reader {
    table: Table,
    schema: SchemaRef,
    run: Arc<Run>,
    rows: usize,
    next: usize,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.rows {
            return None;
        }
        let whole = matches!(self.table, Table::Summary | Table::Histograms | Table::DropDelays);
        let step = if whole { self.rows } else { ROWS_PER_BATCH };
        let end = (self.next + step).min(self.rows);
        let batch = self.table.batch(&self.run, self.next..end);
        self.next = end;
        Some(Ok(batch))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn packets(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.packets[range];
    let dropped = |fate: Fate| match fate {
        Fate::Dropped(stage, cause) => Some((stage, cause)),
        Fate::Sent | Fate::Waiting => None,
    };
    vec![
        ("queue", names(rows.iter().map(|r| r.queue as usize), &run.queues), false),
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("seq", u32s(rows.iter().map(|r| r.seq)), false),
        ("bytes", u32s(rows.iter().map(|r| r.bytes)), false),
        ("arrived_ns", u64s(rows.iter().map(|r| r.arrived.as_nanos())), false),
        ("left_ns", some_u64s(rows.iter().map(|r| r.left.map(|t| t.as_nanos()))), true),
        ("fate", words(rows.iter().map(|r| Some(fate_key(r.fate))), &FATES), false),
        ("stage", words(rows.iter().map(|r| dropped(r.fate).map(|d| d.0 as i8)), &STAGES), true),
        (
            "cause",
            words(rows.iter().map(|r| dropped(r.fate).map(|d| d.1.class() as i8)), &CAUSES),
            true,
        ),
        ("marked", bools(rows.iter().map(|r| r.marked.is_some())), false),
        ("mark_stage", words(rows.iter().map(|r| r.marked.map(|m| m.0 as i8)), &STAGES), true),
        (
            "mark_cause",
            words(rows.iter().map(|r| r.marked.map(|m| m.1.class() as i8)), &CAUSES),
            true,
        ),
        ("ecn_in", words(rows.iter().map(|r| Some(r.ecn_in as i8)), &ECNS), false),
    ]
}

fn signals(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.signals[range];
    vec![
        ("queue", names(rows.iter().map(|r| r.queue as usize), &run.queues), false),
        ("t_ns", u64s(rows.iter().map(|r| r.t.as_nanos())), false),
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("seq", u32s(rows.iter().map(|r| r.seq)), false),
        ("bytes", u32s(rows.iter().map(|r| r.bytes)), false),
        ("sojourn_ns", u64s(rows.iter().map(|r| r.sojourn.as_nanos())), false),
        ("signal", words(rows.iter().map(|r| Some(r.is_mark as i8)), &SIGNALS), false),
        ("stage", words(rows.iter().map(|r| Some(r.stage as i8)), &STAGES), false),
        ("cause", words(rows.iter().map(|r| Some(r.cause.class() as i8)), &CAUSES), false),
        ("state", evidence(run, rows), false),
    ]
}

/// The state before each signal, as a map from variable to value, so that the columns are the same
/// for every AQM.
fn evidence(run: &Run, rows: &[SignalRow]) -> ArrayRef {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Float64Builder::new());
    for row in rows {
        let vars = run.evidence_vars[row.queue as usize];
        for (var, &value) in vars.iter().zip(&run.evidence[row.evidence..]) {
            maps.keys().append_value(var.name);
            maps.values().append_value(value);
        }
        maps.append(true).expect("as many keys as values");
    }
    Arc::new(maps.finish())
}

fn flows(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.flow_samples[range];
    vec![
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("class", names(rows.iter().map(|r| r.flow as usize), &run.classes), false),
        ("t_ns", u64s(rows.iter().map(|r| r.t.as_nanos())), false),
        ("sent_bytes", u64s(rows.iter().map(|r| r.sent_bytes)), false),
        ("delivered_bytes", u64s(rows.iter().map(|r| r.delivered_bytes)), false),
        ("retransmitted_bytes", u64s(rows.iter().map(|r| r.retransmitted_bytes)), false),
        ("inflight_bytes", u64s(rows.iter().map(|r| r.inflight_bytes)), false),
        ("cwnd_bytes", u64s(rows.iter().map(|r| r.cwnd_bytes)), false),
        ("srtt_ns", u64s(rows.iter().map(|r| r.srtt.as_nanos())), false),
        ("ce_bytes", u64s(rows.iter().map(|r| r.ce_bytes)), false),
    ]
}

fn states(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.states[range];
    // Every queue has its own list of variables; the dictionary is the concatenation of all lists.
    let starts: Vec<usize> = run
        .vars
        .iter()
        .scan(0, |sum, vars| Some(std::mem::replace(sum, *sum + vars.len())))
        .collect();
    let vars: Vec<&str> = run.vars.iter().flatten().map(|var| var.name).collect();
    let var = |queue: u32, var: u16| starts[queue as usize] + usize::from(var);
    vec![
        ("queue", names(rows.iter().map(|r| r.queue as usize), &run.queues), false),
        ("t_ns", u64s(rows.iter().map(|r| r.t.as_nanos())), false),
        ("var", names(rows.iter().map(|r| var(r.queue, r.var)), &vars), false),
        ("value", f64s(rows.iter().map(|r| r.value)), false),
    ]
}

fn flow_states(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.flow_states[range];
    let vars: Vec<&str> = rows.iter().map(|r| r.var).collect();
    vec![
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("t_ns", u64s(rows.iter().map(|r| r.t.as_nanos())), false),
        ("var", names(0..rows.len(), &vars), false),
        ("value", f64s(rows.iter().map(|r| r.value)), false),
    ]
}

fn bins(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.bins[range];
    let name = |row: &BinRow| match row.scope {
        Scope::Queue => run.queues[row.index as usize].as_str(),
        Scope::Class => run.class_names[row.index as usize].as_str(),
        Scope::Flow => run.flows[row.index as usize].as_str(),
        Scope::Run | Scope::Leaf => "",
    };
    vec![
        ("scope", strings(rows.iter().map(|r| r.scope.word())), false),
        ("name", strings(rows.iter().map(name)), false),
        ("metric", strings(rows.iter().map(|r| r.metric)), false),
        ("t_ns", u64s(rows.iter().map(|r| r.t.as_nanos())), false),
        ("value", f64s(rows.iter().map(|r| r.value)), false),
        ("unit", strings(rows.iter().map(|r| r.unit)), false),
    ]
}

fn transfers(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.transfers[range];
    vec![
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("class", names(rows.iter().map(|r| r.flow as usize), &run.classes), false),
        ("start_ns", u64s(rows.iter().map(|r| r.start.as_nanos())), false),
        ("bytes", u64s(rows.iter().map(|r| r.bytes)), false),
        ("completion_ns", u64s(rows.iter().map(|r| r.completion.as_nanos())), false),
    ]
}

fn streams(run: &Run, range: Range<usize>) -> Vec<Column> {
    let rows = &run.streams[range];
    let goodput = |row: &StreamRow| match row.duration.as_secs() {
        0.0 => 0.0,
        seconds => row.bytes as f64 * 8.0 / seconds,
    };
    vec![
        ("flow", names(rows.iter().map(|r| r.flow as usize), &run.flows), false),
        ("class", names(rows.iter().map(|r| r.flow as usize), &run.classes), false),
        ("stream", u64s(rows.iter().map(|r| r.stream)), false),
        ("start_ns", u64s(rows.iter().map(|r| r.start.as_nanos())), false),
        ("bytes", u64s(rows.iter().map(|r| r.bytes)), false),
        ("duration_ns", u64s(rows.iter().map(|r| r.duration.as_nanos())), false),
        ("complete", bools(rows.iter().map(|r| r.is_complete)), false),
        ("goodput_bps", f64s(rows.iter().map(goodput)), false),
    ]
}

fn summary(run: &Run) -> Vec<Column> {
    let rows = &run.summary;
    vec![
        ("scope", strings(rows.iter().map(|r| r.scope.word())), false),
        ("name", strings(rows.iter().map(|r| r.name.as_str())), false),
        ("metric", strings(rows.iter().map(|r| r.metric)), false),
        ("value", f64s(rows.iter().map(|r| r.value)), false),
        ("unit", strings(rows.iter().map(|r| r.unit)), false),
    ]
}

const fn fate_key(fate: Fate) -> i8 {
    match fate {
        Fate::Sent => 0,
        Fate::Dropped(..) => 1,
        Fate::Waiting => 2,
    }
}

//! The tables of distributions, with one row per bin.

use crate::Bin;
use crate::columns::{CAUSES, Column, STAGES, names, u64s, words};
use crate::rows::{DropDelaysOf, Run, Scope};

pub(crate) fn histograms(run: &Run) -> Vec<Column> {
    let scopes: Vec<&str> = run.histograms.iter().map(|h| Scope::word(h.scope)).collect();
    let of: Vec<&str> = run.histograms.iter().map(|h| h.name.as_str()).collect();
    let metrics: Vec<&str> = run.histograms.iter().map(|h| h.metric).collect();
    let bins: Vec<(usize, Bin)> = run
        .histograms
        .iter()
        .enumerate()
        .flat_map(|(i, h)| h.histogram.bins().map(move |bin| (i, bin)))
        .collect();
    vec![
        ("scope", names(bins.iter().map(|b| b.0), &scopes), false),
        ("name", names(bins.iter().map(|b| b.0), &of), false),
        ("metric", names(bins.iter().map(|b| b.0), &metrics), false),
        ("lower_ns", u64s(bins.iter().map(|b| b.1.lower_ns)), false),
        ("upper_ns", u64s(bins.iter().map(|b| b.1.upper_ns)), false),
        ("count", u64s(bins.iter().map(|b| b.1.count)), false),
    ]
}

pub(crate) fn drop_delays(run: &Run) -> Vec<Column> {
    let bins: Vec<(&DropDelaysOf, Bin)> = run
        .drop_delays
        .iter()
        .flat_map(|of| of.histogram.bins().map(move |bin| (of, bin)))
        .collect();
    vec![
        ("queue", names(bins.iter().map(|b| b.0.queue as usize), &run.queues), false),
        ("stage", words(bins.iter().map(|b| Some(b.0.stage as i8)), &STAGES), false),
        ("cause", words(bins.iter().map(|b| Some(b.0.cause as i8)), &CAUSES), false),
        ("lower_ns", u64s(bins.iter().map(|b| b.1.lower_ns)), false),
        ("upper_ns", u64s(bins.iter().map(|b| b.1.upper_ns)), false),
        ("count", u64s(bins.iter().map(|b| b.1.count)), false),
    ]
}

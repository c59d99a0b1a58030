//! Playback of video in chunks, computed from the times at which they arrived.
//!
//! A chunk plays once it and all earlier chunks have arrived. A stall lasts from the end of the
//! last chunk that could play until the next chunk arrives.

use std::collections::BTreeMap;

use sojourn_aqm::{Span, Time};
use sojourn_record::rows::TransferRow;
use sojourn_scenario::resolved::Resolved;

use crate::FlowCount;
use crate::metrics::{self, Metric};

/// Playback statistics of a class's players after the warm-up.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Playback {
    /// Players.
    players: u32,
    /// Number of players that requested their first chunk after the warm-up, and the sum and
    /// maximum of their start-up times (of their waiting times, if they never started).
    started: (u32, Span, Span),
    /// Number of chunks that were requested after the warm-up and arrived, and the sum of their
    /// rates.
    chunks: (u64, f64),
    /// Changes of rate between consecutive ones of these chunks.
    switches: u64,
    /// Stalls that began after the warm-up.
    stalls: u64,
    /// How long playback stalled, and how long it either played or stalled.
    stalled: (Span, Span),
}

impl Playback {
    /// Adds a player that was active in this interval after the warm-up; `chunks` are its
    /// transfers, in order.
    fn add(&mut self, every: Span, chunks: &[&TransferRow], (from, to): (Time, Time)) {
        self.players += 1;
        let first = chunks.first();
        if first.is_none_or(|first| first.start >= from) {
            let took = first.map_or(to.since(from), |first| first.completion);
            let (players, sum, most) = self.started;
            self.started = (players + 1, sum + took, most.max(took));
        }
        for (place, chunk) in chunks.iter().enumerate().filter(|(_, chunk)| chunk.start >= from) {
            self.chunks.0 += 1;
            self.chunks.1 += chunk.bytes as f64 * 8.0 / every.as_secs();
            let before = place.checked_sub(1).map_or(chunk.bytes, |before| chunks[before].bytes);
            self.switches += u64::from(before != chunk.bytes);
        }
        let Some(first) = first else { return };
        let begin = first.start + first.completion;
        self.stalled.1 = self.stalled.1 + to.since(begin.max(from).min(to));
        let mut dry = begin + every;
        for chunk in &chunks[1..] {
            let arrived = chunk.start + chunk.completion;
            self.stall((dry, arrived), (from, to));
            dry = dry.max(arrived) + every;
        }
        self.stall((dry, to), (from, to));
    }

    /// Counts a stall, unless it is empty.
    fn stall(&mut self, (begin, end): (Time, Time), (from, to): (Time, Time)) {
        let end = end.min(to);
        if begin >= end || end <= from {
            return;
        }
        self.stalls += u64::from(begin >= from);
        self.stalled.0 = self.stalled.0 + end.since(begin.max(from));
    }

    /// Writes its rows; writes nothing without players.
    pub(crate) fn summarise(&self, row: &mut impl FnMut(&Metric, f64)) {
        if self.players == 0 {
            return;
        }
        let (started, sum, most) = self.started;
        if started > 0 {
            let [mean, max] = &metrics::STARTUP;
            row(mean, sum.as_secs() / f64::from(started));
            row(max, most.as_secs());
        }
        let (stalled, shown) = self.stalled;
        if shown > Span::ZERO {
            let per_player = |amount: f64| amount / f64::from(self.players);
            row(&metrics::STALLS, per_player(self.stalls as f64));
            row(&metrics::STALL_TIME, per_player(stalled.as_secs()));
            row(&metrics::STALLED_SHARE, stalled.as_secs() / shown.as_secs());
        }
        let (chunks, rates) = self.chunks;
        if chunks > 0 {
            row(&metrics::VIDEO_RATE, rates / chunks as f64);
            row(&metrics::RATE_SWITCHES, self.switches as f64 / f64::from(self.players));
        }
    }
}

/// The playback of each class with players, by name. Flows are those of the plan, in order.
pub(crate) fn of_classes<'a>(
    plan: &'a Resolved,
    transfers: &[TransferRow],
    counts: &[FlowCount],
) -> BTreeMap<&'a str, Playback> {
    let mut playback: BTreeMap<&str, Playback> = BTreeMap::new();
    let of_flow = plan.flows.iter().flat_map(|group| {
        let player = group.app.chunks().map(|chunks| (group.class.as_str(), chunks.every));
        std::iter::repeat_n(player, group.count as usize)
    });
    let players: BTreeMap<u32, (&str, Span)> =
        (0..).zip(of_flow).filter_map(|(flow, player)| Some((flow, player?))).collect();
    if players.is_empty() {
        return playback;
    }
    let mut chunks: BTreeMap<u32, Vec<&TransferRow>> = BTreeMap::new();
    for row in transfers.iter().filter(|row| players.contains_key(&row.flow)) {
        chunks.entry(row.flow).or_default().push(row);
    }
    for (flow, (class, every)) in players {
        let active = counts[flow as usize].active;
        if active.0 < active.1 {
            let chunks = chunks.get(&flow).map_or(&[][..], Vec::as_slice);
            playback.entry(class).or_default().add(every, chunks, active);
        }
    }
    playback
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(seconds)
    }

    /// Chunks of 2 s with a start, an arrival and a rate in Mbit/s.
    fn rows(playback: &Playback) -> Vec<(&'static str, f64)> {
        let mut rows = Vec::new();
        playback.summarise(&mut |metric, value| rows.push((metric.name, value)));
        rows
    }

    fn chunks(chunks: &[(f64, f64, f64)]) -> Vec<TransferRow> {
        let row = |&(start, arrived, mbit): &(f64, f64, f64)| TransferRow {
            flow: 0,
            start: at(start),
            bytes: (mbit * 250_000.0) as u64,
            completion: Span::from_secs_f64(arrived - start),
        };
        chunks.iter().map(row).collect()
    }

    fn played(every: u64, sent: &[(f64, f64, f64)], active: (f64, f64)) -> Playback {
        let mut playback = Playback::default();
        let rows = chunks(sent);
        let chunks: Vec<&TransferRow> = rows.iter().collect();
        playback.add(Span::from_secs(every), &chunks, (at(active.0), at(active.1)));
        playback
    }

    /// The first chunk is requested at 1 s and plays from 1.5 s to 3.5 s; the second has arrived by
    /// then. The third is due at 5.5 s and arrives at 7 s; its 2 s end at 9 s, 1 s before the end
    /// of the run.
    #[test]
    fn playback_stalls_from_the_end_of_a_chunk_until_the_next_arrives_or_the_run_ends() {
        let sent = [(1.0, 1.5, 1.0), (1.5, 3.0, 2.0), (3.0, 7.0, 2.0)];
        let expected = [
            ("startup_mean", 0.5),
            ("startup_max", 0.5),
            ("stalls", 2.0),
            ("stall_time", 2.5),
            ("stalled_share", 2.5 / 8.5),
            ("video_rate", 5e6 / 3.0),
            ("rate_switches", 1.0),
        ];
        assert_eq!(rows(&played(2, &sent, (0.0, 10.0))), expected);
    }

    /// The same with a warm-up of 6 s, which ends within the first stall: 1 s of that stall counts,
    /// but not the stall itself, because it began during the warm-up. No chunk was requested after
    /// the warm-up.
    #[test]
    fn what_happens_before_the_end_of_the_warm_up_does_not_count() {
        let sent = [(1.0, 1.5, 1.0), (1.5, 3.0, 2.0), (3.0, 7.0, 2.0)];
        let expected = [("stalls", 1.0), ("stall_time", 2.0), ("stalled_share", 0.5)];
        assert_eq!(rows(&played(2, &sent, (6.0, 10.0))), expected);
    }

    #[test]
    fn a_player_that_never_starts_has_waited_until_the_end_and_has_no_stalls() {
        let expected = [("startup_mean", 9.0), ("startup_max", 9.0)];
        assert_eq!(rows(&played(2, &[], (1.0, 10.0))), expected);
        assert_eq!(rows(&Playback::default()), []);
    }
}

//! Checks of a group of flows.

use super::queue::Queue;
use crate::resolve::NEED_ECN;
use crate::resolved::{App, Codec, FlowGroup, Resolved, Transfers};

/// With fewer round trips than this, a run consists mostly of slow start.
const FEW_ROUND_TRIPS: u64 = 10;
/// G.711 in packets of 20 ms: 160 B and at least the headers of RTP, UDP and IPv4 (RFC 3551 §4.2).
const G711_PACKET_BYTES: u32 = 200;
const G711_PACKET_MS: std::ops::RangeInclusive<u64> = 19..=21;

pub(super) fn starts_after_the_end(
    resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    (flow.start.1 >= resolved.duration).then(|| {
        format!(
            "flows[{index}].start: flows of `{}` may start at {}, when the run of {} is over",
            flow.name, flow.start.1, resolved.duration
        )
    })
}

pub(super) fn stops_before_it_counts(
    resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    let stop = flow.stop.filter(|&stop| stop <= resolved.warmup)?;
    Some(format!(
        "flows[{index}].stop: flows of `{}` stop at {stop}, within the warm-up of {}, so nothing \
         of them counts; shorten the warm-up or stop them later",
        flow.name, resolved.warmup
    ))
}

/// A recording that is longer than the run.
pub(super) fn cut_replay(resolved: &Resolved, index: usize, flow: &FlowGroup) -> Option<String> {
    let recording = flow.app.recording()?;
    let duration = resolved.duration;
    let all = recording.amounts.len();
    let late = recording.amounts.iter().filter(|(at, _)| flow.start.0 + *at >= duration).count();
    let what = if flow.app.tcp().is_some() { "transfers" } else { "packets" };
    (late > 0).then(|| {
        format!(
            "flows[{index}].app.file: {late} of the {all} {what} of {} are due after the run of \
             {duration}; lengthen the duration",
            recording.file
        )
    })
}

/// Warns if the run is too short for all drawn transfers.
pub(super) fn transfers_after_the_end(
    resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    let Some(Transfers::Drawn { every, .. }) = flow.app.transfers() else { return None };
    let last = flow.start.0 + every.times(u64::from(flow.count));
    (last > resolved.duration).then(|| {
        format!(
            "flows[{index}].count: the last of the {} transfers of `{}` begins at {last} on \
             average, when the run of {} is over; lengthen the duration or write fewer",
            flow.count, flow.name, resolved.duration
        )
    })
}

/// Whether the measured part of a run is too short for TCP to react to a queue.
pub(super) fn too_few_round_trips(
    resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    let counted = resolved.duration.saturating_sub(resolved.warmup);
    let is_short = counted < flow.rtt.times(FEW_ROUND_TRIPS);
    (flow.app.tcp().is_some() && is_short).then(|| {
        format!(
            "flows[{index}].rtt: the {counted} after the warm-up are shorter than \
             {FEW_ROUND_TRIPS} base RTTs of `{}` ({} each); lengthen the duration",
            flow.name, flow.rtt
        )
    })
}

/// A control that reacts to the fraction of marks, on a path where no AQM marks: it acts as Reno
/// (RFC 8257 §3.4, RFC 9331 §4.3).
pub(super) fn waits_for_marks(
    resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    let tcp = flow.app.tcp()?;
    let control = tcp.cc.as_deref()?.split([':', '@']).next()?.trim();
    let marks = |&link: &usize| Queue::of(resolved, &resolved.links[link], &[]).can_mark();
    if !NEED_ECN.contains(&control) || (tcp.ecn.is_some() && flow.path.iter().any(marks)) {
        return None;
    }
    let why = match tcp.ecn {
        None => "it does not ask for ECN; write ecn = true",
        Some(_) => "no queue on its path marks; set ecn = true there, or take an AQM that marks",
    };
    Some(format!(
        "flows[{index}].cc: {control} reacts to marks, but `{}` meets none: {why}",
        flow.name
    ))
}

/// Datagrams beyond the rate of the sender's access link are queued in front of it, without an AQM
/// or a limit, so the links see a lower rate than the scenario states.
pub(super) fn faster_than_its_access(
    _resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    let rate = match &flow.app {
        App::Cbr { datagrams, .. } | App::Bursts { datagrams, .. } => datagrams.rate,
        App::OnOff { datagrams, .. } => datagrams.rate,
        _ => return None,
    };
    let access = flow.access_rate;
    (rate > access).then(|| {
        format!(
            "flows[{index}].app.rate: {rate} is above the access rate of `{}` ({access}), so no \
             more than that arrives and the rest waits before the first link; raise access_rate",
            flow.name
        )
    })
}

/// Datagrams that are rated as G.711 in packets of 20 ms, but sent with another size or spacing.
pub(super) fn unlike_its_codec(
    _resolved: &Resolved,
    index: usize,
    flow: &FlowGroup,
) -> Option<String> {
    let App::Cbr { datagrams, voice: Some(Codec::G711), .. } = &flow.app else {
        return None;
    };
    let every = datagrams.rate.time_for(u64::from(datagrams.packet_bytes));
    let is_g711 = datagrams.packet_bytes >= G711_PACKET_BYTES
        && G711_PACKET_MS.contains(&(every.as_nanos() / 1_000_000));
    (!is_g711).then(|| {
        format!(
            "flows[{index}].app.voice: `{}` sends {} bytes every {every}, but calls are rated as \
             G.711 with {G711_PACKET_BYTES} bytes or more every 20ms; write kind = \"voice\", or \
             leave `voice` out",
            flow.name, datagrams.packet_bytes
        )
    })
}

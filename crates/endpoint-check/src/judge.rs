//! Judges the recorded behaviour of a library's servers.

use sojourn_aqm::contract::Finding;
use sojourn_aqm::{Ecn, Time};

use crate::watch::ServerLog;

/// A datagram is full from this share of the path's largest payload. QUIC sends at least 1,200
/// bytes (RFC 9000 §14), 82 % of an Ethernet's 1,472.
const FULL: f64 = 0.75;
/// The least share of bytes that full datagrams must carry.
const LEAST_FULL: f64 = 0.9;
/// Data that a library may take before it can send it, in congestion windows.
const MOST_WINDOWS: u64 = 4;
/// Bytes that a library may always take ahead: as many as a host offers at once.
const FREE_AHEAD: u64 = 1 << 20;
/// The largest burst of a pacing sender that reports no quantum (RFC 9002 §7.7, §7.2).
const BURST_BYTES: u64 = 14_720;
/// How much faster than its rate a sender may be, because timers are rounded.
const TOLERANCE: f64 = 1.1;
/// The share of bytes that may leave too early: probes are not paced, and a rate may fall. The BBR
/// of ngtcp2 0.12 has 1.6 %, and 9.8 % with an adapter that ignores the quantum.
const MOST_EARLY: f64 = 0.05;

fn finding(promise: &'static str, held: Option<bool>, detail: String) -> Finding {
    Finding { promise, held, detail }
}

/// Datagram sizes reveal an application that writes small pieces, or a library that does not join
/// them. The path carries `most` bytes in a datagram.
pub(crate) fn full_datagrams(log: &ServerLog, most: u32) -> Finding {
    let promise = "data leaves in full datagrams";
    let least = FULL * f64::from(most);
    let all: u64 = log.departures.iter().map(|it| it.bytes).sum();
    let full = log.departures.iter().filter(|it| it.bytes as f64 >= least);
    let share = full.map(|it| it.bytes).sum::<u64>() as f64 / all.max(1) as f64;
    let mean = all as f64 / log.departures.len().max(1) as f64;
    let detail = format!(
        "{:.1} % of bytes are in datagrams of {least:.0} to {most} bytes; the mean is {mean:.0}",
        100.0 * share,
    );
    finding(promise, Some(share >= LEAST_FULL), detail)
}

/// Data in a library's buffers is delayed where no AQM sees it.
pub(crate) fn little_ahead(log: &ServerLog) -> Finding {
    let promise = "it takes little data ahead";
    let (ahead, cwnd) = log.most_ahead;
    let most = cwnd.map_or(FREE_AHEAD, |cwnd| FREE_AHEAD.max(MOST_WINDOWS * cwnd));
    let window = cwnd.map_or("unknown".to_owned(), |cwnd| format!("{cwnd} bytes"));
    let detail =
        format!("at most {ahead} bytes, with a congestion window of {window}; at most {most}");
    finding(promise, Some(ahead <= most), detail)
}

/// Checks departures against a token bucket that fills at the reported rate and holds the quantum.
pub(crate) fn pacing(log: &ServerLog) -> Finding {
    let promise = "departures follow its pacing rate";
    let mut bucket: Option<(Time, f64, f64)> = None;
    let (mut early, mut paced) = (0.0, 0);
    for it in &log.departures {
        let Some(rate) = it.pacing_bps else { continue };
        let depth = (it.quantum_bytes.unwrap_or(BURST_BYTES) + it.bytes) as f64;
        let tokens = bucket.map_or(depth, |(at, tokens, before)| {
            let seconds = it.at.since(at.min(it.at)).as_secs();
            (tokens + TOLERANCE * rate.max(before) / 8.0 * seconds).min(depth)
        });
        let left = tokens - it.bytes as f64;
        paced += it.bytes;
        early += (-left).max(0.0);
        bucket = Some((it.at, left.max(0.0), rate));
    }
    if paced == 0 {
        return finding(promise, None, "it reports no pacing rate".to_owned());
    }
    let share = early / paced as f64;
    let detail =
        format!("{:.2} % of bytes left earlier than the rate and the quantum allow", 100.0 * share);
    finding(promise, Some(share <= MOST_EARLY), detail)
}

/// The most bytes at one instant.
pub(crate) fn bursts(log: &ServerLog) -> Finding {
    let promise = "no burst exceeds its quantum";
    let (mut most, mut excess, mut burst) = ((0, Time::ZERO), 0, (Time::ZERO, 0));
    for it in &log.departures {
        burst = if it.at == burst.0 { (it.at, burst.1 + it.bytes) } else { (it.at, it.bytes) };
        if burst.1 > most.0 {
            most = (burst.1, it.at);
        }
        let allowed = it.quantum_bytes.or(it.pacing_bps.map(|_| BURST_BYTES));
        let allowed = allowed.map_or(u64::MAX, |quantum| quantum + it.bytes);
        excess = excess.max(burst.1.saturating_sub(allowed));
    }
    let paces = log.departures.iter().any(|it| it.pacing_bps.is_some());
    let (bytes, at) = most;
    let mut detail = format!("at most {bytes} bytes at one instant, at {:.3} s", at.as_secs());
    if !paces {
        detail += "; it reports no pacing rate";
    } else if excess > 0 {
        detail += &format!("; {excess} more than its quantum, or RFC 9002's, and a datagram");
    }
    finding(promise, paces.then_some(excess == 0), detail)
}

/// A library that claims ECN sends ECN-capable datagrams.
pub(crate) fn marks(log: Option<&ServerLog>) -> Finding {
    let promise = "its datagrams are ECN-capable where hosts pass the field on";
    let Some(log) = log else {
        let detail = "it has no ECN, and is refused where ecn = true or a queue is for L4S";
        return finding(promise, None, detail.to_owned());
    };
    let all: u64 = log.departures.iter().map(|it| it.bytes).sum();
    let capable = log.departures.iter().filter(|it| it.ecn != Ecn::NotEct);
    let share = capable.map(|it| it.bytes).sum::<u64>() as f64 / all.max(1) as f64;
    let marked = log.marked;
    let detail = format!("{:.1} % of bytes; {marked} marks reached the client", 100.0 * share);
    finding(promise, Some(share >= LEAST_FULL), detail)
}

//! HyStart: leaves slow start before the queue overflows (Ha and Rhee 2011; Linux 6.1
//! `tcp_cubic.c`, `hystart_update`).

use sojourn_aqm::{Span, Time};

use super::{Ack, Window};

/// Active from this window upwards (`hystart_low_window`).
const LOW_WINDOW: u32 = 16;
/// Samples per round for the minimum (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u32 = 8;
/// A longer gap between acknowledgements breaks a train (`hystart_ack_delta_us`).
const ACK_DELTA: Span = Span::from_millis(2);
/// Four of the largest bursts (`sk_gso_max_size`): 64 KiB less room for headers (`MAX_TCP_HEADER`
/// and one byte).
const BURSTS_BYTES: f64 = 4.0 * (65_536.0 - 257.0);
/// Upper bound on the cushion, in us.
const LONGEST_CUSHION: f64 = 1000.0;
const DELAY_MIN: Span = Span::from_millis(4);
const DELAY_MAX: Span = Span::from_millis(16);

/// Measurements of the path of a flow in slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlowStartPath {
    /// The shortest round-trip time.
    pub(crate) delay_min: Span,
    /// Payload of a full segment.
    pub(crate) payload_bytes: u32,
}

/// The detector of one slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HyStart {
    /// Whether rounds, too, begin only at windows where HyStart is active (Linux 6.1 as released).
    late_rounds: bool,
    round: Option<Round>,
    found: bool,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    start: Time,
    last_ack: Time,
    /// The round ends when this segment is acknowledged.
    end: u32,
    sample_cnt: u32,
    curr_rtt: Option<Span>,
}

impl HyStart {
    /// The detector at the start of a connection.
    pub(crate) fn new(late_rounds: bool) -> HyStart {
        HyStart { late_rounds, ..HyStart::default() }
    }

    /// Takes a sample; sets the threshold to the window if slow start should end.
    pub(crate) fn on_rtt(
        &mut self,
        ack: &Ack,
        rtt: Span,
        path: &SlowStartPath,
        window: &mut Window,
    ) {
        if self.found || !window.in_slow_start() {
            return;
        }
        let active = window.cwnd >= LOW_WINDOW;
        if self.late_rounds && !active {
            return;
        }
        let round = match &mut self.round {
            Some(round) if ack.una <= round.end => round,
            slot => slot.insert(Round {
                start: ack.now,
                last_ack: ack.now,
                end: ack.nxt,
                sample_cnt: 0,
                curr_rtt: None,
            }),
        };
        if !active {
            return;
        }
        self.found =
            round.is_train_long(ack, path, window) || round.has_delay_risen(rtt, path.delay_min);
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }
}

impl Round {
    /// Whether acknowledgements have arrived back to back for half of the sum of the minimum round
    /// trip and the cushion, or for the whole sum if sending is paced.
    fn is_train_long(&mut self, ack: &Ack, path: &SlowStartPath, window: &Window) -> bool {
        let now = ack.now;
        if now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        let threshold = path.delay_min + cushion(ack.srtt, path.payload_bytes, window);
        now.since(self.start) > if ack.paced { threshold } else { threshold.half() }
    }

    /// Whether the smallest of the first samples of this round lies clearly above the minimum.
    fn has_delay_risen(&mut self, rtt: Span, delay_min: Span) -> bool {
        let curr_rtt = self.curr_rtt.map_or(rtt, |min| min.min(rtt));
        self.curr_rtt = Some(curr_rtt);
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
            return false;
        }
        curr_rtt > delay_min + delay_thresh(delay_min)
    }
}

/// The time of four bursts at the pacing rate (`hystart_ack_delay`). The rate is that computed on
/// the last acknowledgement, whether packets are paced or not (fact tcp-7).
fn cushion(srtt: Span, payload_bytes: u32, window: &Window) -> Span {
    let rate = window.pacing_rate(0, srtt).unwrap_or(0.0);
    let micros = BURSTS_BYTES * 1e6 / (rate * f64::from(payload_bytes));
    Span::from_micros(micros.min(LONGEST_CUSHION) as u64)
}

/// How far the delay may rise: an eighth of the minimum round trip, but at least 4 ms and at most
/// 16 ms (`HYSTART_DELAY_THRESH`).
fn delay_thresh(delay_min: Span) -> Span {
    Span::from_nanos(delay_min.as_nanos() / 8).clamp(DELAY_MIN, DELAY_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_long_after_half_the_round_trip_and_a_cushion() {
        let start = Time::ZERO + Span::from_secs(1);
        let after = |us: u64, paced: bool, cwnd: u32| {
            let now = start + Span::from_micros(us);
            let mut round = Round { start, last_ack: now, end: 100, sample_cnt: 0, curr_rtt: None };
            let srtt = Span::from_millis(10);
            let ack = Ack { now, delivered: 1, rtt: None, srtt, una: 1, nxt: 100, paced };
            let path = SlowStartPath { delay_min: Span::from_millis(10), payload_bytes: 1448 };
            round.is_train_long(&ack, &path, &Window::new(cwnd))
        };
        // Linux: the limit is (10 ms + 1 ms) / 2 or, with pacing, 11 ms.
        assert_eq!([after(5_500, false, 100), after(5_501, false, 100)], [false, true]);
        assert_eq!([after(11_000, true, 100), after(11_001, true, 100)], [false, true]);
        // With 2,000 segments, two windows per round trip are 4.6 Gbit/s, at which 4 x 65,279 B
        // take 450 us.
        assert_eq!([after(10_450, true, 2000), after(10_451, true, 2000)], [false, true]);
    }

    #[test]
    fn the_delay_may_rise_by_an_eighth_between_4_and_16_ms() {
        let expected = [(10, 4.0), (32, 4.0), (40, 5.0), (100, 12.5), (128, 16.0), (200, 16.0)];
        for (rtt_ms, threshold_ms) in expected {
            assert_eq!(delay_thresh(Span::from_millis(rtt_ms)).as_secs() * 1e3, threshold_ms);
        }
    }
}

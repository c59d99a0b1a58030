//! HyStart: leaves slow start before the queue overflows (Ha and Rhee 2011, as in Linux 6.1;
//! endpoints sheet §2.2).

use sojourn_aqm::{Span, Time};

use super::{Ack, Window};

/// Active from this window on.
const LOW_WINDOW: u32 = 16;
/// Samples that a round takes its minimum from.
const MIN_SAMPLES: u32 = 8;
/// Acknowledgements further apart than this break a train.
const TRAIN_GAP: Span = Span::from_millis(2);
/// Linux `hystart_ack_delay`: four of the largest bursts at the pacing rate, but at most this. With bursts
/// of 64 kB, whether or not offloads make them, it is less only above 2 Gbit/s.
const CUSHION: Span = Span::from_millis(1);
const MIN_THRESHOLD: Span = Span::from_millis(4);
const MAX_THRESHOLD: Span = Span::from_millis(16);

/// The detector of one slow start.
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    /// Rounds too begin only at windows where it is active.
    late_rounds: bool,
    round: Option<Round>,
    found: bool,
}

#[derive(Clone, Copy, Debug)]
struct Round {
    start: Time,
    last_of_train: Time,
    /// The round ends when this segment is acknowledged.
    end: u32,
    samples: u32,
    min_rtt: Option<Span>,
}

impl HyStart {
    /// At the start of a connection.
    pub fn new(late_rounds: bool) -> HyStart {
        HyStart { late_rounds, ..HyStart::default() }
    }

    /// Takes a sample; sets the threshold to the window when slow start should end.
    pub fn on_rtt(&mut self, ack: &Ack, rtt: Span, delay_min: Span, window: &mut Window) {
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
                last_of_train: ack.now,
                end: ack.nxt,
                samples: 0,
                min_rtt: None,
            }),
        };
        if !active {
            return;
        }
        self.found = round.train_is_long(ack, delay_min) || round.delay_rose(rtt, delay_min);
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }
}

impl Round {
    /// The acknowledgements of this round have come back to back for half the base round trip and its
    /// cushion; for all of it where sending is paced.
    fn train_is_long(&mut self, ack: &Ack, delay_min: Span) -> bool {
        let now = ack.now;
        if now.since(self.last_of_train) > TRAIN_GAP {
            return false;
        }
        self.last_of_train = now;
        let threshold = delay_min + CUSHION;
        now.since(self.start) > if ack.paced { threshold } else { threshold.half() }
    }

    /// After the first samples of this round, the smallest still lies clearly above the base round trip.
    fn delay_rose(&mut self, rtt: Span, delay_min: Span) -> bool {
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        min_rtt > delay_min + threshold(delay_min)
    }
}

/// How far the delay may rise: an eighth of the base round trip, 4 ms to 16 ms.
fn threshold(delay_min: Span) -> Span {
    Span::from_nanos(delay_min.as_nanos() / 8).clamp(MIN_THRESHOLD, MAX_THRESHOLD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t16_a_train_is_long_after_half_the_round_trip_and_a_cushion() {
        let start = Time::ZERO + Span::from_secs(1);
        let after = |us: u64, paced: bool| {
            let now = start + Span::from_micros(us);
            let mut round =
                Round { start, last_of_train: now, end: 100, samples: 0, min_rtt: None };
            let ack = Ack { now, delivered: 1, rtt: None, una: 1, nxt: 100, paced };
            round.train_is_long(&ack, Span::from_millis(10))
        };
        // Linux: (10 ms + 1 ms) / 2, paced all of it.
        assert_eq!([after(5_500, false), after(5_501, false)], [false, true]);
        assert_eq!([after(11_000, true), after(11_001, true)], [false, true]);
    }

    #[test]
    fn t16_thresholds() {
        let expected = [(10, 4.0), (32, 4.0), (40, 5.0), (100, 12.5), (128, 16.0), (200, 16.0)];
        for (rtt_ms, threshold_ms) in expected {
            assert_eq!(threshold(Span::from_millis(rtt_ms)).as_secs() * 1e3, threshold_ms);
        }
    }
}

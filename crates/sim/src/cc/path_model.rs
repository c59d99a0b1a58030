//! The path model of BBR v1 and v3: bandwidth-delay product, pacing rate, and bursts of the host
//! (Linux 6.1 `bbr_bdp`, `bbr_set_pacing_rate`, `bbr_tso_segs_goal`).

use sojourn_aqm::Span;

use super::{Needs, RecoveryStage, Start, Window, WindowControl};

/// A burst of the host: 2^-10 s at the pacing rate (Linux `sk_pacing_shift`).
pub(crate) const BURST: Span = Span::from_nanos(1_000_000_000 >> 10);
/// The pacing rate stays 1 % below the bandwidth (Linux `bbr_pacing_margin_percent`).
pub(crate) const PACING_MARGIN: f64 = 0.99;
/// Smallest window (Linux `bbr_cwnd_min_target`).
pub(crate) const MIN_CWND: u32 = 4;
/// Round trip assumed before the first sample (Linux `bbr_init_pacing_rate_from_rtt`).
const NOMINAL_RTT: Span = Span::from_millis(1);
/// Below this rate the host sends single segments (Linux `bbr_min_tso_rate`), in bit/s.
const MIN_TSO_RATE: f64 = 1_200_000.0;
/// Maximum size of a burst (Linux `GSO_LEGACY_MAX_SIZE`).
const MAX_BURST_BYTES: f64 = 65_536.0;

/// What both versions need from the sender. Packets are paced one by one; on a host with
/// segmentation offload the sender forms the bursts.
pub(crate) fn needs() -> Needs {
    let window_control = WindowControl::Full;
    Needs { window_control, rate_samples: true, pacing: Some(Span::ZERO), ..Needs::default() }
}

/// BBR may double its rate even in a recovery (Linux `bbr_sndbuf_expand`).
pub(crate) const WINDOWS_TO_BUFFER: u32 = 3;

/// The modes of both versions; each version documents its own transitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BbrMode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The window before a recovery or ProbeRTT (Linux 6.1 `tcp_bbr.c`, bbr_save_cwnd).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PriorCwnd(pub(crate) u32);

impl PriorCwnd {
    /// Saves the window; if the window is currently reduced, keeps the larger one.
    pub(crate) fn save(&mut self, window: &Window, recovery: RecoveryStage, mode: BbrMode) {
        let cut = recovery >= RecoveryStage::Recovery || mode == BbrMode::ProbeRtt;
        self.0 = if cut { self.0.max(window.cwnd) } else { window.cwnd };
    }

    /// Restores the saved window, unless the current one is larger.
    pub(crate) fn restore(self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.0);
    }
}

/// The path of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathModel {
    /// The windowed minimum round-trip time.
    pub(crate) min_rtt: Option<Span>,
    /// Packets per second.
    pub(crate) pacing_rate: f64,
    /// Initial window in packets.
    pub(crate) initial_window: u32,
    /// Payload of a full segment.
    pub(crate) payload_bytes: u32,
    has_rtt: bool,
}

impl PathModel {
    /// The initial pacing rate is `gain` initial windows per round trip.
    pub(crate) fn new(start: &Start, gain: f64) -> PathModel {
        let mut path = PathModel {
            min_rtt: start.rtt,
            pacing_rate: 0.0,
            initial_window: start.initial_window,
            payload_bytes: start.payload_bytes,
            has_rtt: start.rtt.is_some(),
        };
        path.pacing_rate =
            pace_of_window(start.initial_window, start.rtt.unwrap_or(NOMINAL_RTT), gain);
        path
    }

    /// Sets the pacing rate to `gain` times `bw`. Until the pipe is full the rate only rises.
    pub(crate) fn set_pacing_rate(&mut self, bw: f64, gain: f64, filled_pipe: bool) {
        let pacing_rate = gain * bw * PACING_MARGIN;
        if filled_pipe || pacing_rate > self.pacing_rate {
            self.pacing_rate = pacing_rate;
        }
    }

    /// Takes the first round-trip sample of a connection whose handshake gave none.
    pub(crate) fn take_first_rtt(&mut self, srtt: Span, cwnd: u32, gain: f64) {
        if !self.has_rtt && srtt > Span::ZERO {
            self.has_rtt = true;
            self.pacing_rate = pace_of_window(cwnd, srtt, gain);
        }
    }

    /// Packets that a host with segmentation offload would send in one burst. Room for them is
    /// reserved on any host (Linux `bbr_tso_segs_goal`).
    pub(crate) fn burst(&self) -> u32 {
        let payload = f64::from(self.payload_bytes);
        let packets = (self.pacing_rate * BURST.as_secs()).min(MAX_BURST_BYTES / payload);
        (packets as u32).max(self.least_burst())
    }

    /// The fewest packets of a burst (Linux `bbr_min_tso_segs`).
    pub(crate) fn least_burst(&self) -> u32 {
        if self.pacing_rate * f64::from(self.payload_bytes) * 8.0 < MIN_TSO_RATE { 1 } else { 2 }
    }

    /// `gain` times the bandwidth-delay product, rounded up.
    pub(crate) fn bdp(&self, bw: f64, gain: f64) -> u32 {
        match self.min_rtt {
            Some(min_rtt) => libm::ceil(bw * min_rtt.as_secs() * gain) as u32,
            None => self.initial_window,
        }
    }
}

fn pace_of_window(cwnd: u32, rtt: Span, gain: f64) -> f64 {
    gain * f64::from(cwnd) / rtt.as_secs() * PACING_MARGIN
}

/// Maximum age of the bandwidth maximum, in rounds (Linux `bbr_bw_rtts`).
const BW_ROUNDS: u32 = 10;

/// A value and the round in which it was taken.
#[derive(Clone, Copy, Debug, Default)]
struct OfRound {
    value: f64,
    round: u32,
}

/// The maximum of the last rounds by Kathleen Nichols' algorithm (Linux lib/win_minmax.c,
/// `minmax_running_max`): the best value, and the best since a quarter and since half of the
/// window; these replace the best value when it is too old. No other values are kept, so the result
/// may then be below the true maximum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MaxBw {
    best: [OfRound; 3],
    round: u32,
}

impl MaxBw {
    /// Starts a round.
    pub(crate) fn start_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// Adds a value.
    pub(crate) fn take(&mut self, value: f64) {
        let new = OfRound { value, round: self.round };
        let [first, second, third] = self.best;
        if value >= first.value || self.age(third) > BW_ROUNDS {
            self.best = [new; 3];
            return;
        }
        if value >= second.value {
            self.best = [first, new, new];
        } else if value >= third.value {
            self.best[2] = new;
        }
        self.expire(new);
    }

    fn expire(&mut self, new: OfRound) {
        let [first, second, third] = self.best;
        let age = self.age(first);
        if age > BW_ROUNDS {
            self.best = [second, third, new];
            if self.age(second) > BW_ROUNDS {
                self.best = [third, new, new];
            }
        } else if second.round == first.round && age > BW_ROUNDS / 4 {
            self.best = [first, new, new];
        } else if third.round == second.round && age > BW_ROUNDS / 2 {
            self.best[2] = new;
        }
    }

    fn age(&self, of: OfRound) -> u32 {
        self.round.wrapping_sub(of.round)
    }

    /// The maximum; zero without values.
    pub(crate) fn max(&self) -> f64 {
        self.best[0].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 `tcp_bbr.c`, bbr_save_cwnd.
    #[test]
    fn a_window_that_is_cut_does_not_replace_the_larger_one_that_was_saved() {
        let saved = |recovery, mode| {
            let mut prior = PriorCwnd(50);
            prior.save(&Window::new(4), recovery, mode);
            prior.0
        };
        assert_eq!(saved(RecoveryStage::Open, BbrMode::ProbeBw), 4);
        assert_eq!(saved(RecoveryStage::Open, BbrMode::ProbeRtt), 50);
        assert_eq!(saved(RecoveryStage::Recovery, BbrMode::ProbeBw), 50);
    }

    /// Linux 6.1 `tcp_bbr.c`, bbr_tso_segs_goal.
    #[test]
    fn a_burst_lasts_a_millisecond_and_is_at_most_64_kib() {
        let burst = |pacing_rate| {
            PathModel { pacing_rate, payload_bytes: 1448, ..PathModel::default() }.burst()
        };
        // Packets per second: below and above 1.2 Mbit/s, at 116 Mbit/s and at 1.16 Gbit/s.
        assert_eq!([100.0, 110.0, 10_000.0, 100_000.0].map(burst), [1, 2, 9, 45]);
    }

    #[test]
    fn the_maximum_expires_after_ten_rounds_more() {
        let mut bw = MaxBw::default();
        bw.take(5.0);
        for _ in 0..10 {
            bw.start_round();
            bw.take(3.0);
            assert_eq!(bw.max(), 5.0);
        }
        bw.start_round();
        bw.take(3.0);
        assert_eq!(bw.max(), 3.0);
    }

    /// Linux lib/win_minmax.c, `minmax_subwin_update`: the second choice comes from the second
    /// quarter.
    #[test]
    fn what_follows_an_expired_maximum_may_be_less_than_the_true_one() {
        let mut bw = MaxBw::default();
        for (round, value) in [9.0, 1.0, 1.0, 5.0, 2.0, 4.0, 3.0].into_iter().enumerate() {
            bw.round = round as u32;
            bw.take(value);
        }
        bw.round = 11;
        bw.take(1.0);
        assert_eq!(bw.max(), 5.0);
        bw.round = 14;
        bw.take(1.0);
        assert_eq!(bw.max(), 3.0, "the 4 of round 5 was not kept");
    }
}

//! BBR v1: sends at the measured bandwidth, with at most two bandwidth-delay products in flight
//! (Cardwell et al. 2016; Linux 6.1 `tcp_bbr.c`, which also names the fields).
//!
//! Deviations from Linux: real numbers instead of fixed point; packets held back by pacing are not
//! in flight, as with TCP's internal pacing (`tcp_internal_pacing`); delayed acknowledgements are
//! ignored when the minimum round-trip time is renewed.

mod cwnd;

use sojourn_aqm::{Rng, Span, Time, Var, params};

use super::aggregation::Aggregation;
use super::path_model::{self, BbrMode, MIN_CWND, MaxBw, PACING_MARGIN, PathModel, PriorCwnd};
use super::policer::{Policer, PolicerInput};
use super::{
    CongestionControl, Control, Needs, Progress, RateSample, RecoveryStage, Start, Window,
};

params! {
    /// Parameters of BBR v1.
    pub struct BbrParams {
        dialects: "linux" = "Linux 6.1 tcp_bbr.c";
        /// Whether the rate of a suspected policer is adopted.
        policer: bool, ANY, "Linux 6.1 bbr_lt_bw_sampling" => true;
    }
}

/// 2/ln 2 in 1/256 (Linux `bbr_high_gain`): the sending rate doubles per round trip.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Drains the queue of startup in one round trip (Linux `bbr_drain_gain`).
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// Room for delayed acknowledgements (Linux `bbr_cwnd_gain`).
const CWND_GAIN: f64 = 2.0;
/// Probe, drain, cruise (Linux `bbr_pacing_gain`).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window of the minimum round-trip time (`bbr_min_rtt_win_sec`); `bbr_probe_rtt_mode_ms`.
const MIN_RTT_WIN: Span = Span::from_secs(10);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
/// The pipe is full after three rounds without growth by a quarter (Linux `bbr_full_bw_thresh`).
const FULL_BW_THRESH: f64 = 1.25;
const FULL_BW_CNT: u32 = 3;
const VARS: &[Var] = &[
    Var { name: "mode", unit: "1", doc: "0 startup, 1 drain, 2 probe_bw, 3 probe_rtt" },
    Var { name: "btlbw", unit: "packets/s", doc: "Bottleneck bandwidth" },
    Var { name: "min_rtt", unit: "s", doc: "Smallest round-trip time of the last 10 s" },
    Var { name: "pacing_gain", unit: "1", doc: "Pace over bandwidth" },
    Var { name: "cwnd_gain", unit: "1", doc: "Window over bandwidth-delay product" },
];

/// BBR v1.
///
/// ```text
/// Startup --pipe full--> Drain --in flight <= BDP--> ProbeBw <--> ProbeRtt (every 10 s)
/// ```
#[derive(Clone, Debug)]
pub struct Bbr {
    uses_policer: bool,
    path: PathModel,
    rng: Rng,
    mode: BbrMode,
    /// Index into [`CYCLE`], and when that phase began.
    cycle_idx: usize,
    cycle_stamp: Time,
    pacing_gain: f64,
    cwnd_gain: f64,
    bw: MaxBw,
    round_start: bool,
    /// Total packets delivered, time of the last delivery, and total packets lost.
    delivered: u64,
    delivered_at: Time,
    lost: u64,
    /// The round ends with the delivery of a packet that was sent after this many deliveries.
    next_round_delivered: u64,
    min_rtt_stamp: Time,
    /// When ProbeRTT may end; `None` until the flight has shrunk.
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    /// Whether the last acknowledgement arrived in ProbeRTT, even if it ended ProbeRTT.
    holds_back: bool,
    full_bw: f64,
    full_bw_count: u32,
    filled_pipe: bool,
    /// The window before a recovery or ProbeRTT.
    prior_cwnd: PriorCwnd,
    /// Whether packet conservation applies (send only as much as is delivered), as in the first
    /// round of a recovery.
    packet_conservation: bool,
    recovery: RecoveryStage,
    idle_restart: bool,
    aggregation: Aggregation,
    policer: Policer,
}

impl Bbr {
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.bw.max())
    }

    /// Adds room for bursts at both ends, rounded up to an even number for delayed acknowledgements
    /// (Linux `bbr_quantization_budget`).
    fn quantization_budget(&self, packets: u32) -> u32 {
        let even = (packets + 3 * self.path.burst() + 1) & !1;
        let probing = self.mode == BbrMode::ProbeBw && self.cycle_idx == 0;
        if probing { even + 2 } else { even }
    }

    fn inflight(&self, bw: f64, gain: f64) -> u32 {
        self.quantization_budget(self.path.bdp(bw, gain))
    }

    /// How many of `in_flight` packets will still be in the network when the next packet may leave,
    /// plus that packet's burst while the gain is above one (Linux `bbr_packets_in_net_at_edt`).
    fn in_flight_at_next(&self, p: &Progress, in_flight: u32) -> u32 {
        let burst = if self.pacing_gain > 1.0 { self.path.burst() } else { 0 };
        let delivered = (self.bandwidth() * p.pacing_wait.as_secs()) as u32;
        (in_flight + burst).saturating_sub(delivered)
    }

    fn update_bw(&mut self, p: &Progress, sample: &RateSample) {
        if sample.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = p.delivered_total;
            self.bw.start_round();
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.look_for_policer(p.lost > 0, sample.app_limited);
        let rate = sample.rate();
        if !sample.app_limited || rate >= self.bw.max() {
            self.bw.take(rate);
        }
    }

    /// Linux `bbr_lt_bw_sampling`.
    fn look_for_policer(&mut self, has_losses: bool, app_limited: bool) {
        let input = PolicerInput {
            now: self.delivered_at,
            delivered: self.delivered,
            lost: self.lost,
            has_losses,
            round_start: self.round_start,
            app_limited,
            in_probe_bw: self.mode == BbrMode::ProbeBw,
        };
        if self.uses_policer && self.policer.on_ack(&input, self.path.payload_bytes) {
            self.start_cycle(self.delivered_at);
        }
    }

    fn update_cycle_phase(&mut self, p: &Progress) {
        if self.mode != BbrMode::ProbeBw || !self.is_next_cycle_phase(p) {
            return;
        }
        self.cycle_idx = (self.cycle_idx + 1) % CYCLE.len();
        self.cycle_stamp = p.ack.now;
    }

    fn is_next_cycle_phase(&self, p: &Progress) -> bool {
        let is_long = self.path.min_rtt.is_some_and(|rtt| p.ack.now.since(self.cycle_stamp) > rtt);
        let (bw, gain) = (self.bw.max(), self.pacing_gain);
        let in_flight = || self.in_flight_at_next(p, p.prior_in_flight);
        if gain > 1.0 {
            // Losses mean that the pipe is full.
            is_long && (p.lost > 0 || in_flight() >= self.inflight(bw, gain))
        } else if gain < 1.0 {
            is_long || in_flight() <= self.inflight(bw, 1.0)
        } else {
            is_long
        }
    }

    /// Enters ProbeBW at a random phase other than the draining one (Linux
    /// `bbr_reset_probe_bw_mode`).
    fn start_cycle(&mut self, now: Time) {
        self.mode = BbrMode::ProbeBw;
        let before = CYCLE.len() - 1 - self.rng.below(CYCLE.len() as u64 - 1) as usize;
        self.cycle_idx = (before + 1) % CYCLE.len();
        self.cycle_stamp = now;
    }

    fn check_full_bw_reached(&mut self, sample: &RateSample) {
        if self.filled_pipe || !self.round_start || sample.app_limited {
            return;
        }
        if self.bw.max() >= self.full_bw * FULL_BW_THRESH {
            (self.full_bw, self.full_bw_count) = (self.bw.max(), 0);
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= FULL_BW_CNT;
    }

    fn check_drain(&mut self, p: &Progress, window: &mut Window) {
        if self.mode == BbrMode::Startup && self.filled_pipe {
            self.mode = BbrMode::Drain;
            window.ssthresh = self.inflight(self.bw.max(), 1.0);
        }
        if self.mode == BbrMode::Drain
            && self.in_flight_at_next(p, p.in_flight) <= self.inflight(self.bw.max(), 1.0)
        {
            self.start_cycle(p.ack.now);
        }
    }

    fn update_min_rtt(&mut self, p: &Progress, window: &mut Window) {
        let now = p.ack.now;
        let expired = now.since(self.min_rtt_stamp) > MIN_RTT_WIN;
        if let Some(rtt) = p.ack.rtt
            && (expired || self.path.min_rtt.is_none_or(|min| rtt < min))
        {
            (self.path.min_rtt, self.min_rtt_stamp) = (Some(rtt), now);
        }
        if expired && !self.idle_restart && self.mode != BbrMode::ProbeRtt {
            // The order is that of Linux `bbr_update_min_rtt`, so a larger window saved earlier is
            // kept.
            self.mode = BbrMode::ProbeRtt;
            self.prior_cwnd.save(window, self.recovery, self.mode);
            self.probe_rtt_done_stamp = None;
        }
        self.holds_back = self.mode == BbrMode::ProbeRtt;
        if self.holds_back {
            self.probe_rtt(p, window);
        }
        if p.ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, p: &Progress, window: &mut Window) {
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.end_probe_rtt(p.ack.now, window);
            }
        } else if p.in_flight <= MIN_CWND {
            self.probe_rtt_done_stamp = Some(p.ack.now + PROBE_RTT_TIME);
            self.probe_rtt_round_done = false;
            self.next_round_delivered = p.delivered_total;
        }
    }

    /// Linux `bbr_check_probe_rtt_done`.
    fn end_probe_rtt(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_done_stamp.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_stamp = now;
        self.prior_cwnd.restore(window);
        if self.filled_pipe { self.start_cycle(now) } else { self.mode = BbrMode::Startup }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            BbrMode::Startup => (HIGH_GAIN, HIGH_GAIN),
            BbrMode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            BbrMode::ProbeBw if self.policer.rate().is_some() => (1.0, CWND_GAIN),
            BbrMode::ProbeBw => (CYCLE[self.cycle_idx], CWND_GAIN),
            BbrMode::ProbeRtt => (1.0, 1.0),
        };
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        path_model::needs()
    }

    fn on_start(&mut self, start: &Start) {
        self.path = PathModel::new(start, HIGH_GAIN);
        self.rng = start.rng.clone();
        (self.min_rtt_stamp, self.delivered_at) = (start.now, start.now);
        self.aggregation = Aggregation::new(start.now);
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        self.round_start = false;
        (self.delivered, self.lost) = (p.delivered_total, p.lost_total);
        if p.ack.delivered > 0 {
            self.delivered_at = p.ack.now;
        }
        if let Some(sample) = &p.rate {
            self.update_bw(p, sample);
            if self.round_start {
                self.aggregation.start_round(false);
            }
            self.aggregation.on_ack(p.ack.now, p.ack.delivered, self.bandwidth(), window.cwnd);
        }
        self.update_cycle_phase(p);
        if let Some(sample) = &p.rate {
            self.check_full_bw_reached(sample);
        }
        self.check_drain(p, window);
        self.update_min_rtt(p, window);
        self.update_gains();
        self.path.take_first_rtt(p.srtt, window.cwnd, HIGH_GAIN);
        self.path.set_pacing_rate(self.bandwidth(), self.pacing_gain, self.filled_pipe);
        self.set_cwnd(p, window);
    }

    /// Losses and marks reduce nothing; the window is only saved.
    fn reduce(&mut self, window: &Window) -> u32 {
        self.prior_cwnd.save(window, self.recovery, self.mode);
        window.ssthresh
    }

    fn on_lost(&mut self, _now: Time, _lost: &RateSample, _window: &mut Window) {
        self.lost += 1;
    }

    /// A timeout counts as the end of a round with losses (Linux `bbr_set_state`).
    fn on_timeout(&mut self) {
        self.recovery = RecoveryStage::Loss;
        self.full_bw = 0.0;
        self.round_start = true;
        self.look_for_policer(true, false);
    }

    fn undo(&mut self, _window: &mut Window) {
        (self.full_bw, self.full_bw_count) = (0.0, 0);
        self.policer.reset();
    }

    /// Linux `bbr_cwnd_event`. Once ProbeRTT has lasted long enough it may end here, without
    /// another round.
    fn on_idle(&mut self, now: Time, _idle: Span, window: &mut Window) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            BbrMode::ProbeBw => self.path.pacing_rate = self.bandwidth() * PACING_MARGIN,
            BbrMode::ProbeRtt => self.end_probe_rtt(now, window),
            BbrMode::Startup | BbrMode::Drain => {}
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.path.pacing_rate)
    }

    fn windows_to_buffer(&self) -> u32 {
        path_model::WINDOWS_TO_BUFFER
    }

    fn least_burst(&self) -> u32 {
        self.path.least_burst()
    }

    fn holds_back(&self) -> bool {
        self.holds_back
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let min_rtt = self.path.min_rtt.map_or(f64::NAN, Span::as_secs);
        let mode = f64::from(self.mode as u8);
        out.copy_from_slice(&[mode, self.bandwidth(), min_rtt, self.pacing_gain, self.cwnd_gain]);
    }
}

impl Control for Bbr {
    type Params = BbrParams;
    const NAME: &'static str = "bbr";
    const DOC: &'static str =
        "BBR v1: paced at the measured bandwidth (Cardwell et al. 2016, Linux)";

    fn new(params: &BbrParams) -> Bbr {
        Bbr {
            uses_policer: params.policer,
            path: PathModel::default(),
            rng: Rng::stream(0, "bbr", 0),
            mode: BbrMode::Startup,
            cycle_idx: 0,
            cycle_stamp: Time::ZERO,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            bw: MaxBw::default(),
            round_start: false,
            delivered: 0,
            delivered_at: Time::ZERO,
            lost: 0,
            next_round_delivered: 0,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            holds_back: false,
            full_bw: 0.0,
            full_bw_count: 0,
            filled_pipe: false,
            prior_cwnd: PriorCwnd::default(),
            packet_conservation: false,
            recovery: RecoveryStage::Open,
            idle_restart: false,
            aggregation: Aggregation::new(Time::ZERO),
            policer: Policer::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing;

    fn started() -> (Bbr, Window) {
        testing::started::<Bbr>()
    }

    fn ack(ms: u64, total: u64, bw: f64, in_flight: u32) -> Progress {
        testing::progress(ms, total, bw, in_flight)
    }

    /// Runs rounds at one bandwidth until the mode changes; returns how many.
    fn until_mode_changes(bbr: &mut Bbr, window: &mut Window, from_ms: u64, in_flight: u32) -> u64 {
        let before = bbr.mode;
        for n in 0..200 {
            bbr.on_progress(
                &ack(from_ms + 101 * n, 1000 + from_ms + 10 * n, 500.0, in_flight),
                window,
            );
            if bbr.mode != before {
                return n + 1;
            }
        }
        panic!("still in {before:?}");
    }

    #[test]
    fn gains_are_those_of_linux_and_the_first_pacing_rate_follows_the_initial_window() {
        assert!((HIGH_GAIN - 2.8867).abs() < 5e-5 && (DRAIN_GAIN - 0.3438).abs() < 5e-5);
        let (bbr, _) = started();
        assert!((bbr.pacing_rate().unwrap() - 285.8).abs() < 0.05, "{:?}", bbr.pacing_rate());
    }

    #[test]
    fn the_window_is_two_bandwidth_delay_products_and_room_for_bursts() {
        let (mut bbr, _) = started();
        let bw = 10e6 / 8.0 / 1500.0;
        bbr.path.pacing_rate = bw;
        assert_eq!(bbr.path.bdp(bw, 2.0), 167);
        assert_eq!((bbr.path.burst(), bbr.inflight(bw, 2.0)), (2, 174));
        (bbr.mode, bbr.cycle_idx) = (BbrMode::ProbeBw, 0);
        assert_eq!(bbr.inflight(bw, 2.0), 176);
    }

    #[test]
    fn startup_ends_after_three_rounds_without_growth_and_drains_to_the_bdp() {
        let (mut bbr, mut window) = started();
        // The first round sets the reference; the next three do not exceed it by a quarter.
        assert_eq!(until_mode_changes(&mut bbr, &mut window, 0, 100), 4);
        assert_eq!(
            (bbr.mode, bbr.pacing_gain, bbr.cwnd_gain),
            (BbrMode::Drain, DRAIN_GAIN, HIGH_GAIN)
        );
        // One BDP is 50 packets; 3 x 2 for bursts.
        bbr.on_progress(&ack(500, 5000, 500.0, 57), &mut window);
        assert_eq!(bbr.mode, BbrMode::Drain);
        bbr.on_progress(&ack(510, 5010, 500.0, 56), &mut window);
        assert_eq!(bbr.mode, BbrMode::ProbeBw);
        assert!(bbr.pacing_gain != 0.75, "in_probe_bw never begins with the draining phase");
    }

    /// Linux `bbr_is_next_cycle_phase` with a gain of one.
    #[test]
    fn a_cruising_phase_lasts_longer_than_the_shortest_round_trip() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        bbr.cycle_idx = 4;
        bbr.on_progress(&ack(5_000, 90_000, 500.0, 50), &mut window);
        let begun = (bbr.cycle_idx, bbr.cycle_stamp);
        assert!(bbr.pacing_gain == 1.0 && begun.1 == Time::ZERO + Span::from_secs(5));
        bbr.on_progress(&ack(5_100, 90_010, 500.0, 50), &mut window);
        assert_eq!((bbr.cycle_idx, bbr.cycle_stamp), begun, "after one round-trip time");
        bbr.on_progress(&ack(5_101, 90_020, 500.0, 50), &mut window);
        assert_eq!(bbr.cycle_idx, begun.0 + 1);
    }

    /// Linux `bbr_set_state`: a timeout restarts the search for the full bandwidth.
    #[test]
    fn a_timeout_forgets_the_full_bandwidth() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        assert!(bbr.full_bw > 0.0);
        bbr.on_timeout();
        assert_eq!((bbr.full_bw, bbr.recovery), (0.0, RecoveryStage::Loss));
    }

    #[test]
    fn no_new_minimum_for_ten_seconds_means_four_packets_for_200_ms() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        let good = window.cwnd;
        until_mode_changes(&mut bbr, &mut window, 1000, 50);
        assert_eq!((bbr.mode, window.cwnd), (BbrMode::ProbeRtt, MIN_CWND));
        assert!(bbr.holds_back() && bbr.min_rtt_stamp.as_secs() > 10.0);
        let start = bbr.min_rtt_stamp.as_nanos() / 1_000_000;
        let at = |bbr: &mut Bbr, window: &mut Window, ms, total| {
            bbr.on_progress(&ack(start + ms, total, 500.0, 4), window);
            bbr.mode
        };
        assert_eq!(at(&mut bbr, &mut window, 10, 90_000), BbrMode::ProbeRtt);
        assert_eq!(at(&mut bbr, &mut window, 209, 90_010), BbrMode::ProbeRtt);
        assert_eq!(at(&mut bbr, &mut window, 211, 90_020), BbrMode::ProbeBw);
        assert!(window.cwnd >= good, "{} is back", window.cwnd);
    }

    /// Linux `bbr_cwnd_event`, `CA_EVENT_TX_START`, calls `bbr_check_probe_rtt_done` in any round.
    #[test]
    fn a_restart_from_idle_ends_probe_rtt_once_its_200_ms_have_passed() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        let good = window.cwnd;
        until_mode_changes(&mut bbr, &mut window, 1000, 50);
        let start = bbr.min_rtt_stamp;
        let after = |ms| start + Span::from_millis(ms);
        bbr.on_idle(after(300), Span::from_millis(50), &mut window);
        assert_eq!(bbr.mode, BbrMode::ProbeRtt, "the flight has not shrunk to four packets");
        let ms = start.as_nanos() / 1_000_000;
        bbr.on_progress(&ack(ms + 310, 90_000, 500.0, 4), &mut window);
        bbr.on_idle(after(509), Span::from_millis(50), &mut window);
        assert_eq!((bbr.mode, window.cwnd), (BbrMode::ProbeRtt, MIN_CWND));
        bbr.on_idle(after(512), Span::from_millis(50), &mut window);
        assert_eq!((bbr.mode, bbr.min_rtt_stamp), (BbrMode::ProbeBw, after(512)));
        assert!(window.cwnd >= good, "{} is back", window.cwnd);
    }

    /// Linux `bbr_update_min_rtt` sets the mode and then calls `bbr_save_cwnd`.
    #[test]
    fn probe_rtt_restores_the_largest_window_since_the_last_loss() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        bbr.reduce(&Window::new(300));
        until_mode_changes(&mut bbr, &mut window, 1000, 50);
        assert_eq!((bbr.mode, bbr.prior_cwnd.0), (BbrMode::ProbeRtt, 300));
    }

    /// Linux `bbr_update_min_rtt`: the acknowledgement that ends ProbeRTT arrived in ProbeRTT.
    #[test]
    fn samples_of_what_leaves_at_the_end_of_probe_rtt_are_limited() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        until_mode_changes(&mut bbr, &mut window, 1000, 50);
        let ms = bbr.min_rtt_stamp.as_nanos() / 1_000_000;
        let held = [(10, 90_000), (211, 90_020), (220, 90_030)].map(|(after, total)| {
            bbr.on_progress(&ack(ms + after, total, 500.0, 4), &mut window);
            (bbr.mode, bbr.holds_back())
        });
        let over = BbrMode::ProbeBw;
        assert_eq!(held, [(BbrMode::ProbeRtt, true), (over, true), (over, false)]);
    }

    /// Linux `bbr_set_state`: `bbr_lt_bw_sampling` with losses, at the end of a round.
    #[test]
    fn two_timeouts_with_equal_rates_between_them_mean_a_policer() {
        let (mut bbr, mut window) = started();
        let mut lost = 0;
        let mut rate_after = |from: u64| {
            for n in from..from + 4 {
                let lossless = ack(100 * n, 50 * n, 500.0, 40);
                bbr.on_progress(&Progress { lost_total: lost, ..lossless }, &mut window);
            }
            (0..100).for_each(|_| bbr.on_lost(Time::ZERO, &RateSample::default(), &mut window));
            lost += 100;
            bbr.on_timeout();
            bbr.policer.rate()
        };
        assert_eq!([1, 5, 9].map(&mut rate_after), [None, None, Some(500.0)]);
    }

    #[test]
    fn a_recovery_conserves_packets_for_a_round_then_restores_the_window() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        let before = window.cwnd;
        assert_eq!(bbr.reduce(&window), window.ssthresh, "no reduction");
        let mut lossy = ack(700, 9000, 500.0, 40);
        (lossy.recovery, lossy.lost) = (RecoveryStage::Recovery, 5);
        lossy.rate.as_mut().unwrap().prior_delivered = 0;
        bbr.on_progress(&lossy, &mut window);
        assert_eq!(window.cwnd, 42);
        bbr.on_progress(&ack(900, 9100, 500.0, 40), &mut window);
        assert!(window.cwnd >= before, "{} after {before}", window.cwnd);
    }
}

//! BBR v1: sends at the bandwidth that was measured, with two bandwidth-delay products in flight at most
//! (Cardwell et al. 2016; Linux 6.1 `tcp_bbr.c`; endpoints sheet §2.7).
//!
//! Deviations from Linux: real numbers instead of fixed point; the maximum of the bandwidth is exact per
//! round trip, where Linux keeps three samples; packets that wait for the pacer do not count as in flight,
//! so that nothing is subtracted for them; delayed acknowledgements are not told apart when the smallest
//! round-trip time is renewed; bursts of the host are provisioned for but not sent.

use sojourn_aqm::params;
use sojourn_aqm::{Rng, Span, Time, Var};

use super::aggregation::Aggregation;
use super::pipe::{BURST, MARGIN, MIN_CWND, Pipe, RoundMax};
use super::policer::{Heard, Policer};
use super::{
    CongestionControl, Control, Needs, Progress, RateSample, Stage, Start, Steers, Window,
};

params! {
    /// Parameters of BBR v1.
    pub struct BbrParams {
        dialects: "linux" = "Linux 6.1 tcp_bbr.c";
        /// Whether the rate of a suspected policer is taken over.
        policer: bool, ANY, "Linux 6.1 bbr_lt_bw_sampling" => true;
    }
}

/// 2/ln 2 in 1/256 (Linux `bbr_high_gain`): the window doubles per round trip.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// What startup has queued drains in one round trip (Linux `bbr_drain_gain`).
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// Room for delayed acknowledgements (Linux `bbr_cwnd_gain`).
const CWND_GAIN: f64 = 2.0;
/// Probe, drain, cruise (Linux `bbr_pacing_gain`).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// How long the smallest round-trip time holds (Linux `bbr_min_rtt_win_sec`), and how long probing for it
/// lasts (`bbr_probe_rtt_mode_ms`).
const MIN_RTT_WINDOW: Span = Span::from_secs(10);
const PROBE_RTT_TIME: Span = Span::from_millis(200);
/// The pipe is full when the bandwidth has not grown by a quarter for three rounds (Linux
/// `bbr_full_bw_thresh`, `bbr_full_bw_cnt`).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
const VARS: &[Var] = &[
    Var { name: "mode", unit: "1", doc: "0 startup, 1 drain, 2 probe_bw, 3 probe_rtt" },
    Var { name: "btlbw", unit: "packets/s", doc: "Bottleneck bandwidth" },
    Var { name: "min_rtt", unit: "s", doc: "Smallest round-trip time of the last 10 s" },
    Var { name: "pacing_gain", unit: "1", doc: "Pace over bandwidth" },
    Var { name: "cwnd_gain", unit: "1", doc: "Window over bandwidth-delay product" },
];

/// ```text
/// Startup --pipe full--> Drain --in flight <= BDP--> ProbeBw <--> ProbeRtt (every 10 s)
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR v1.
#[derive(Clone, Debug)]
pub struct Bbr {
    takes_policer: bool,
    pipe: Pipe,
    rng: Rng,
    mode: Mode,
    /// Place in [`CYCLE`] and when it began.
    phase: usize,
    phase_start: Time,
    pacing_gain: f64,
    cwnd_gain: f64,
    bw: RoundMax,
    round_start: bool,
    /// The round ends when a packet is delivered that left after so many were.
    round_end: u64,
    min_rtt_at: Time,
    /// When probing for the round-trip time may end; none before the flight is small.
    probe_rtt_until: Option<Time>,
    probe_rtt_round_done: bool,
    full_bw: f64,
    full_rounds: u32,
    pipe_full: bool,
    /// The last window that was good.
    prior_cwnd: u32,
    /// The first round of a recovery: what is delivered is sent.
    conserves: bool,
    stage: Stage,
    after_idle: bool,
    aggregation: Aggregation,
    policer: Policer,
}

impl Bbr {
    fn bandwidth(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.bw.max())
    }

    /// Room for bursts at both ends, an even number for delayed acknowledgements.
    fn provisioned(&self, packets: u32) -> u32 {
        let even = (packets + 3 * self.pipe.burst() + 1) & !1;
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        if probing { even + 2 } else { even }
    }

    fn target(&self, bw: f64, gain: f64) -> u32 {
        self.provisioned(self.pipe.products(bw, gain))
    }

    fn update_bandwidth(&mut self, p: &Progress, sample: &RateSample) {
        if sample.prior_delivered >= self.round_end {
            self.round_end = p.delivered_total;
            self.bw.start_round();
            self.round_start = true;
            self.conserves = false;
        }
        if self.takes_policer {
            let heard = Heard {
                now: p.ack.now,
                delivered: p.delivered_total,
                lost: p.lost_total,
                loses: p.lost > 0,
                round_start: self.round_start,
                app_limited: sample.app_limited,
                cycling: self.mode == Mode::ProbeBw,
            };
            if self.policer.on_ack(&heard, self.pipe.payload_bytes) {
                self.start_cycle(p.ack.now);
            }
        }
        let rate = sample.rate();
        if !sample.app_limited || rate >= self.bw.max() {
            self.bw.take(rate);
        }
    }

    fn update_phase(&mut self, p: &Progress) {
        if self.mode != Mode::ProbeBw || !self.phase_is_over(p) {
            return;
        }
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = p.ack.now;
    }

    fn phase_is_over(&self, p: &Progress) -> bool {
        let is_long = self.pipe.min_rtt.is_some_and(|rtt| p.ack.now.since(self.phase_start) > rtt);
        let (bw, gain) = (self.bw.max(), self.pacing_gain);
        if gain > 1.0 {
            // The packet about to leave counts; losses say that more does not fit.
            let fills = p.prior_in_flight + self.pipe.burst() >= self.target(bw, gain);
            is_long && (p.lost > 0 || fills)
        } else if gain < 1.0 {
            is_long || p.prior_in_flight <= self.target(bw, 1.0)
        } else {
            is_long
        }
    }

    /// Cycling begins at any phase but the draining one.
    fn start_cycle(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let before = CYCLE.len() - 1 - self.rng.below(CYCLE.len() as u64 - 1) as usize;
        self.phase = (before + 1) % CYCLE.len();
        self.phase_start = now;
    }

    fn check_full_pipe(&mut self, sample: &RateSample) {
        if self.pipe_full || !self.round_start || sample.app_limited {
            return;
        }
        if self.bw.max() >= self.full_bw * FULL_GROWTH {
            (self.full_bw, self.full_rounds) = (self.bw.max(), 0);
            return;
        }
        self.full_rounds += 1;
        self.pipe_full = self.full_rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, p: &Progress, window: &mut Window) {
        if self.mode == Mode::Startup && self.pipe_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.target(self.bw.max(), 1.0);
        }
        if self.mode == Mode::Drain && p.in_flight <= self.target(self.bw.max(), 1.0) {
            self.start_cycle(p.ack.now);
        }
    }

    fn update_min_rtt(&mut self, p: &Progress, window: &mut Window) {
        let now = p.ack.now;
        let expired = now.since(self.min_rtt_at) > MIN_RTT_WINDOW;
        if let Some(rtt) = p.ack.rtt
            && (expired || self.pipe.min_rtt.is_none_or(|min| rtt < min))
        {
            (self.pipe.min_rtt, self.min_rtt_at) = (Some(rtt), now);
        }
        if expired && !self.after_idle && self.mode != Mode::ProbeRtt {
            self.save_window(window);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(p, window);
        }
        if p.ack.delivered > 0 {
            self.after_idle = false;
        }
    }

    fn probe_rtt(&mut self, p: &Progress, window: &mut Window) {
        if self.probe_rtt_until.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.end_probe_rtt(p.ack.now, window);
            }
        } else if p.in_flight <= MIN_CWND {
            self.probe_rtt_until = Some(p.ack.now + PROBE_RTT_TIME);
            self.probe_rtt_round_done = false;
            self.round_end = p.delivered_total;
        }
    }

    fn end_probe_rtt(&mut self, now: Time, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.pipe_full { self.start_cycle(now) } else { self.mode = Mode::Startup }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rate().is_some() => (1.0, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (1.0, 1.0),
        };
    }

    fn save_window(&mut self, window: &Window) {
        let cut = self.stage >= Stage::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    fn set_window(&mut self, p: &Progress, window: &mut Window) {
        let acked = p.ack.delivered;
        if acked > 0 && !self.recovers(p, window) {
            let bw = self.bandwidth();
            let lumps = if self.pipe_full { self.aggregation.window(bw) } else { 0 };
            let target = self.provisioned(self.pipe.products(bw, self.cwnd_gain) + lumps);
            if self.pipe_full {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target
                || p.delivered_total < u64::from(self.pipe.initial_window)
            {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_CWND);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }

    /// Cuts the window by what was lost, restores it when losses are repaired. Returns whether the first
    /// round of a recovery fixes it.
    fn recovers(&mut self, p: &Progress, window: &mut Window) -> bool {
        window.cwnd = window.cwnd.saturating_sub(p.lost).max(1);
        let before = std::mem::replace(&mut self.stage, p.stage);
        if p.stage == Stage::Recovery && before != Stage::Recovery {
            self.conserves = true;
            self.round_end = p.delivered_total;
            window.cwnd = p.in_flight + p.ack.delivered;
        } else if before >= Stage::Recovery && p.stage < Stage::Recovery {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        if self.conserves {
            window.cwnd = window.cwnd.max(p.in_flight + p.ack.delivered);
        }
        self.conserves
    }
}

impl CongestionControl for Bbr {
    fn needs(&self) -> Needs {
        let steers = Steers::Everything;
        Needs { steers, rate_samples: true, pacing: Some(BURST), ..Needs::default() }
    }

    fn on_start(&mut self, start: &Start) {
        self.pipe = Pipe::new(start, HIGH_GAIN);
        self.rng = start.rng.clone();
        self.min_rtt_at = start.now;
        self.aggregation = Aggregation::new(start.now);
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        self.round_start = false;
        if let Some(sample) = &p.rate {
            self.update_bandwidth(p, sample);
            if self.round_start {
                self.aggregation.start_round(false);
            }
            self.aggregation.on_ack(p.ack.now, p.ack.delivered, self.bandwidth(), window.cwnd);
        }
        self.update_phase(p);
        if let Some(sample) = &p.rate {
            self.check_full_pipe(sample);
        }
        self.check_drain(p, window);
        self.update_min_rtt(p, window);
        self.update_gains();
        self.pipe.take_first_rtt(p.srtt, window.cwnd, HIGH_GAIN);
        self.pipe.set_pace(self.bandwidth(), self.pacing_gain, self.pipe_full);
        self.set_window(p, window);
    }

    /// Losses and marks do not reduce: the window is only remembered.
    fn reduce(&mut self, window: &Window) -> u32 {
        self.save_window(window);
        window.ssthresh
    }

    fn on_timeout(&mut self) {
        self.stage = Stage::Loss;
        self.full_bw = 0.0;
    }

    fn undo(&mut self, _window: &mut Window) {
        (self.full_bw, self.full_rounds) = (0.0, 0);
        self.policer.reset();
    }

    fn on_idle(&mut self, now: Time, _idle: Span) {
        self.after_idle = true;
        self.aggregation.restart(now);
        if self.mode == Mode::ProbeBw {
            self.pipe.pace = self.bandwidth() * MARGIN;
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(self.pipe.pace)
    }

    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let min_rtt = self.pipe.min_rtt.map_or(f64::NAN, Span::as_secs);
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
            takes_policer: params.policer,
            pipe: Pipe::default(),
            rng: Rng::stream(0, "bbr", 0),
            mode: Mode::Startup,
            phase: 0,
            phase_start: Time::ZERO,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            bw: RoundMax::default(),
            round_start: false,
            round_end: 0,
            min_rtt_at: Time::ZERO,
            probe_rtt_until: None,
            probe_rtt_round_done: false,
            full_bw: 0.0,
            full_rounds: 0,
            pipe_full: false,
            prior_cwnd: 0,
            conserves: false,
            stage: Stage::Open,
            after_idle: false,
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

    /// Rounds at one bandwidth until the mode changes.
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
    fn t72_gains_and_the_first_pace() {
        assert!((HIGH_GAIN - 2.8867).abs() < 5e-5 && (DRAIN_GAIN - 0.3438).abs() < 5e-5);
        let (bbr, _) = started();
        assert!((bbr.pacing_rate().unwrap() - 285.8).abs() < 0.05, "{:?}", bbr.pacing_rate());
    }

    #[test]
    fn t73_the_window_is_two_products_and_room_for_bursts() {
        let (mut bbr, _) = started();
        let bw = 10e6 / 8.0 / 1500.0;
        bbr.pipe.pace = bw;
        assert_eq!(bbr.pipe.products(bw, 2.0), 167);
        assert_eq!((bbr.pipe.burst(), bbr.target(bw, 2.0)), (2, 174));
        (bbr.mode, bbr.phase) = (Mode::ProbeBw, 0);
        assert_eq!(bbr.target(bw, 2.0), 176);
    }

    #[test]
    fn section_2_7_startup_ends_after_three_rounds_without_growth_and_drains_to_the_product() {
        let (mut bbr, mut window) = started();
        // The first round sets the mark; three more do not beat it by a quarter.
        assert_eq!(until_mode_changes(&mut bbr, &mut window, 0, 100), 4);
        assert_eq!(
            (bbr.mode, bbr.pacing_gain, bbr.cwnd_gain),
            (Mode::Drain, DRAIN_GAIN, HIGH_GAIN)
        );
        // One product is 50 packets; 3 x 2 for bursts.
        bbr.on_progress(&ack(500, 5000, 500.0, 57), &mut window);
        assert_eq!(bbr.mode, Mode::Drain);
        bbr.on_progress(&ack(510, 5010, 500.0, 56), &mut window);
        assert_eq!(bbr.mode, Mode::ProbeBw);
        assert!(bbr.pacing_gain != 0.75, "cycling never begins with the draining phase");
    }

    #[test]
    fn section_2_7_no_new_minimum_for_ten_seconds_means_four_packets_for_200_ms() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        let good = window.cwnd;
        until_mode_changes(&mut bbr, &mut window, 1000, 50);
        assert_eq!((bbr.mode, window.cwnd), (Mode::ProbeRtt, MIN_CWND));
        assert!(bbr.holds_back() && bbr.min_rtt_at.as_secs() > 10.0);
        let start = bbr.min_rtt_at.as_nanos() / 1_000_000;
        let at = |bbr: &mut Bbr, window: &mut Window, ms, total| {
            bbr.on_progress(&ack(start + ms, total, 500.0, 4), window);
            bbr.mode
        };
        assert_eq!(at(&mut bbr, &mut window, 10, 90_000), Mode::ProbeRtt);
        assert_eq!(at(&mut bbr, &mut window, 209, 90_010), Mode::ProbeRtt);
        assert_eq!(at(&mut bbr, &mut window, 211, 90_020), Mode::ProbeBw);
        assert!(window.cwnd >= good, "{} is back", window.cwnd);
    }

    #[test]
    fn section_2_7_a_recovery_conserves_packets_for_a_round_then_restores_the_window() {
        let (mut bbr, mut window) = started();
        until_mode_changes(&mut bbr, &mut window, 0, 100);
        until_mode_changes(&mut bbr, &mut window, 500, 50);
        let before = window.cwnd;
        assert_eq!(bbr.reduce(&window), window.ssthresh, "no reduction");
        let mut lossy = ack(700, 9000, 500.0, 40);
        (lossy.stage, lossy.lost) = (Stage::Recovery, 5);
        lossy.rate.as_mut().unwrap().prior_delivered = 0;
        bbr.on_progress(&lossy, &mut window);
        assert_eq!(window.cwnd, 42);
        bbr.on_progress(&ack(900, 9100, 500.0, 40), &mut window);
        assert!(window.cwnd >= before, "{} after {before}", window.cwnd);
    }
}

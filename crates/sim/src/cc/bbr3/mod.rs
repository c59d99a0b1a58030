//! BBR v3: models bandwidth and round-trip time like v1, and bounds the packets in flight by a
//! model of losses (draft-ietf-ccwg-bbr; Google's `tcp_bbr.c`, branch v3, which also names the
//! fields).
//!
//! Deviations from that code: real numbers instead of fixed point; no ECN, which that code also
//! leaves off unless a route enables it; no protective load balancing and no fast path, which do
//! not affect sending; a loss repaired by a tail loss probe counts like any other; bursts do not
//! grow on paths below 16 ms; as in v1, packets held back by pacing are not in flight.

mod bounds;
mod cwnd;
mod cycle;
mod min_rtt;
mod startup;

use sojourn_aqm::params;
use sojourn_aqm::{Rng, Span, Time, Var};

use self::bounds::{Bounds, Latest};
use self::cycle::{AckPhase, Phase};
use self::startup::FullBw;
use super::aggregation::Aggregation;
use super::path_model::{self, BbrMode, MIN_CWND, PathModel, PriorCwnd};
use super::{
    CongestionControl, Control, Needs, Progress, RateSample, RecoveryStage, Start, Window,
};

params! {
    /// Parameters of BBR v3.
    pub struct Bbr3Params {
        dialects: "google" = "Google's tcp_bbr.c, branch v3";
        /// Pace over bandwidth while the queue of startup drains.
        drain_gain: f64, FRACTION, "bbr_drain_gain, branch v3: 1000/2885; draft-ietf-ccwg-bbr: 0.5"
            => 1000.0 / 2885.0;
    }
}

/// 4 ln 2 (`bbr_startup_pacing_gain`), and the gain of the window (`bbr_startup_cwnd_gain`).
const STARTUP_GAIN: f64 = 2.77;
const CWND_GAIN: f64 = 2.0;
/// Room for the bandwidth found in ProbeBW_UP (`bbr_bw_probe_cwnd_gain`: 2 and 1/4).
const UP_CWND_GAIN: f64 = 2.25;
const VARS: &[Var] = &[
    Var { name: "mode", unit: "1", doc: "0 startup, 1 drain, 2 probe_bw, 3 probe_rtt" },
    Var { name: "phase", unit: "1", doc: "Of probe_bw: 0 down, 1 cruise, 2 refill, 3 up" },
    Var { name: "btlbw", unit: "packets/s", doc: "Bandwidth, within its short-term bound" },
    Var { name: "min_rtt", unit: "s", doc: "Smallest round-trip time of the last 10 s" },
    Var { name: "pacing_gain", unit: "1", doc: "Pace over bandwidth" },
    Var {
        name: "inflight_hi",
        unit: "packets",
        doc: "Long-term bound; NaN while nothing was unsafe",
    },
    Var {
        name: "inflight_lo",
        unit: "packets",
        doc: "Short-term bound; NaN without recent losses",
    },
];

/// BBR v3.
///
/// ```text
/// Startup --pipe full, losses--> Drain --in flight <= BDP--> ProbeBw <--> ProbeRtt (every 5 s)
/// ```
#[derive(Clone, Debug)]
pub struct Bbr3 {
    drain_gain: f64,
    path: PathModel,
    rng: Rng,
    mode: BbrMode,
    phase: Phase,
    cycle_stamp: Time,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// The maximum bandwidth of the previous and of the current cycle.
    bw: [f64; 2],
    bounds: Bounds,
    latest: Latest,
    full_bw: FullBw,
    full_bw_reached: bool,
    round_start: bool,
    /// The round ends with the delivery of a packet that was sent after this many deliveries.
    next_round_delivered: u64,
    /// Total packets delivered, up to the last acknowledgement.
    delivered: u64,
    loss_round_start: bool,
    loss_round_delivered: u64,
    loss_in_round: bool,
    loss_events_in_round: u32,
    /// To which part of a bandwidth probe the acknowledged packets belong.
    ack_phase: AckPhase,
    /// Whether the acknowledged packets were sent while probing.
    bw_probe_samples: bool,
    prev_probe_too_high: bool,
    stopped_risky_probe: bool,
    rounds_since_bw_probe: u64,
    bw_probe_wait: Span,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Option<Span>,
    probe_rtt_min_stamp: Time,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    /// Whether the last acknowledgement arrived in ProbeRTT, even if it ended ProbeRTT.
    holds_back: bool,
    prior_cwnd: PriorCwnd,
    recovery: RecoveryStage,
    idle_restart: bool,
    aggregation: Aggregation,
    /// The bounds before the current recovery.
    undo: Option<Bounds>,
}

impl Bbr3 {
    fn max_bw(&self) -> f64 {
        self.bw[0].max(self.bw[1])
    }

    fn bandwidth(&self) -> f64 {
        self.bounds.bw_lo.map_or(self.max_bw(), |lo| lo.min(self.max_bw()))
    }

    /// Adds room for bursts at both ends.
    fn quantization_budget(&self, packets: u32) -> u32 {
        let room = packets.max(3 * self.path.burst()).max(MIN_CWND);
        let up = self.mode == BbrMode::ProbeBw && self.phase == Phase::Up;
        if up { room + 2 } else { room }
    }

    fn inflight(&self, bw: f64) -> u32 {
        self.quantization_budget(self.path.bdp(bw, 1.0))
    }

    fn is_probing(&self) -> bool {
        match self.mode {
            BbrMode::Startup => true,
            BbrMode::ProbeBw => matches!(self.phase, Phase::Refill | Phase::Up),
            BbrMode::Drain | BbrMode::ProbeRtt => false,
        }
    }

    fn start_round(&mut self, p: &Progress, sample: &RateSample) {
        if sample.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = p.delivered_total;
            self.round_start = true;
            self.rounds_since_bw_probe += 1;
        }
        if p.ack.delivered == 0 {
            return;
        }
        self.latest.bw = self.latest.bw.max(sample.rate());
        self.latest.inflight = self.latest.inflight.max(sample.delivered as u32);
        if sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = p.delivered_total;
            self.loss_round_start = true;
        }
    }

    fn update_signals(&mut self, p: &Progress, sample: &RateSample, cwnd: u32) {
        let rate = sample.rate();
        if !sample.app_limited || rate >= self.max_bw() {
            self.bw[1] = self.bw[1].max(rate);
        }
        self.loss_in_round |= p.lost > 0;
        if self.loss_round_start {
            if self.loss_in_round && !self.is_probing() {
                self.bounds.adapt_lower_bounds(self.latest, self.max_bw(), cwnd);
            }
            self.loss_in_round = false;
        }
    }

    /// Clears the round's congestion signals, so they do not count in the next phase.
    fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.latest = Latest::default();
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            BbrMode::Startup => (STARTUP_GAIN, CWND_GAIN),
            BbrMode::Drain => (self.drain_gain, CWND_GAIN),
            BbrMode::ProbeBw if self.phase == Phase::Up => (self.phase.pacing_gain(), UP_CWND_GAIN),
            BbrMode::ProbeBw => (self.phase.pacing_gain(), CWND_GAIN),
            BbrMode::ProbeRtt => (1.0, 1.0),
        };
    }
}

impl CongestionControl for Bbr3 {
    fn needs(&self) -> Needs {
        path_model::needs()
    }

    fn on_start(&mut self, start: &Start) {
        self.path = PathModel::new(start, STARTUP_GAIN);
        self.rng = start.rng.clone();
        (self.min_rtt_stamp, self.probe_rtt_min_stamp) = (start.now, start.now);
        self.probe_rtt_min_delay = start.rtt;
        self.aggregation = Aggregation::new(start.now);
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        (self.round_start, self.loss_round_start) = (false, false);
        self.delivered = p.delivered_total;
        if self.recovery == RecoveryStage::Loss && p.recovery != RecoveryStage::Loss {
            self.prior_cwnd.restore(window);
        }
        if p.recovery == RecoveryStage::Open {
            self.undo = None;
        }
        if let Some(sample) = &p.rate {
            self.start_round(p, sample);
            self.update_signals(p, sample, window.cwnd);
            if self.round_start {
                self.aggregation.start_round(!self.full_bw_reached);
            }
            self.aggregation.on_ack(p.ack.now, p.ack.delivered, self.bandwidth(), window.cwnd);
            self.check_startup_losses(p, sample);
            self.check_full_pipe(sample);
        }
        self.check_drain(p, window);
        self.update_phase(p, window.cwnd);
        self.update_min_rtt(p, window);
        self.update_gains();
        self.path.take_first_rtt(p.srtt, window.cwnd, STARTUP_GAIN);
        self.path.set_pacing_rate(self.bandwidth(), self.pacing_gain, self.full_bw_reached);
        self.set_cwnd(p, window);
        if let Some(sample) = p.rate.as_ref().filter(|_| self.loss_round_start) {
            self.latest = Latest { bw: sample.rate(), inflight: sample.delivered as u32 };
        }
        self.recovery = p.recovery;
    }

    fn on_lost(&mut self, now: Time, lost: &RateSample, window: &mut Window) {
        if self.undo.is_none() {
            self.prior_cwnd.save(window, self.recovery, self.mode);
            self.undo = Some(self.bounds);
        }
        if !self.loss_in_round {
            self.loss_round_delivered = lost.prior_delivered + lost.delivered;
        }
        self.loss_in_round = true;
        if self.bw_probe_samples && bounds::is_inflight_too_high(lost) {
            self.handle_inflight_too_high(
                now,
                bounds::inflight_hi_from_lost_packet(lost),
                lost,
                window.cwnd,
            );
        }
    }

    /// The model sets the window; nothing is reduced here.
    fn reduce(&mut self, window: &Window) -> u32 {
        window.ssthresh
    }

    fn reduce_on_timeout(&mut self, window: &Window) -> u32 {
        if !self.is_probing() && self.bounds.inflight_lo == u32::MAX {
            self.bounds.inflight_lo = window.cwnd.max(self.prior_cwnd.0);
        }
        window.ssthresh
    }

    fn on_timeout(&mut self) {
        self.recovery = RecoveryStage::Loss;
        self.full_bw = FullBw::default();
    }

    fn undo(&mut self, window: &mut Window) {
        self.full_bw = FullBw::default();
        (self.loss_in_round, self.loss_events_in_round) = (false, 0);
        if let Some(before) = self.undo.take() {
            self.bounds.restore(&before);
        }
        self.prior_cwnd.restore(window);
    }

    /// draft-ietf-ccwg-bbr, `BBRHandleRestartFromIdle`.
    fn on_idle(&mut self, now: Time, _idle: Span, window: &mut Window) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            BbrMode::ProbeBw => self.path.set_pacing_rate(self.bandwidth(), 1.0, true),
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
        let bound = |packets| if packets == u32::MAX { f64::NAN } else { f64::from(packets) };
        out.copy_from_slice(&[
            f64::from(self.mode as u8),
            f64::from(self.phase as u8),
            self.bandwidth(),
            self.path.min_rtt.map_or(f64::NAN, Span::as_secs),
            self.pacing_gain,
            bound(self.bounds.inflight_hi),
            bound(self.bounds.inflight_lo),
        ]);
    }
}

impl Control for Bbr3 {
    type Params = Bbr3Params;
    const NAME: &'static str = "bbr3";
    const DOC: &'static str = "BBR v3: BBR with bounds learnt from losses (draft-ietf-ccwg-bbr)";

    fn new(params: &Bbr3Params) -> Bbr3 {
        Bbr3 {
            drain_gain: params.drain_gain,
            path: PathModel::default(),
            rng: Rng::stream(0, "bbr3", 0),
            mode: BbrMode::Startup,
            phase: Phase::Down,
            cycle_stamp: Time::ZERO,
            pacing_gain: STARTUP_GAIN,
            cwnd_gain: CWND_GAIN,
            bw: [0.0; 2],
            bounds: Bounds::new(),
            latest: Latest::default(),
            full_bw: FullBw::default(),
            full_bw_reached: false,
            round_start: false,
            next_round_delivered: 0,
            delivered: 0,
            loss_round_start: false,
            loss_round_delivered: 1,
            loss_in_round: false,
            loss_events_in_round: 0,
            ack_phase: AckPhase::Idle,
            bw_probe_samples: false,
            prev_probe_too_high: false,
            stopped_risky_probe: false,
            rounds_since_bw_probe: 0,
            bw_probe_wait: Span::ZERO,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            holds_back: false,
            prior_cwnd: PriorCwnd::default(),
            recovery: RecoveryStage::Open,
            idle_restart: false,
            aggregation: Aggregation::new(Time::ZERO),
            undo: None,
        }
    }
}

#[cfg(test)]
mod tests;

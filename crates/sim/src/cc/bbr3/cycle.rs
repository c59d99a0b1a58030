//! The cycle in which BBR v3 probes for bandwidth (draft-ietf-ccwg-bbr §5.3.3; endpoints sheet §2.8).
//!
//! ```text
//! Down --in flight <= BDP and headroom--> Cruise --2 to 3 s, or a Reno flow's time--> Refill
//!   ^                                                                                   |
//!   +--too much lost, no more bandwidth, or at the old bound-- Up <----one round--------+
//! ```

use sojourn_aqm::{Span, Time};

use super::bounds::{self, KEPT};
use super::{Bbr3, Growth, Mode};
use crate::cc::{Progress, RateSample};

/// A Reno flow is given at most so many rounds between probes (`bbr_bw_probe_max_rounds`), less up to one
/// at random (`bbr_bw_probe_rand_rounds`).
const MOST_ROUNDS: u32 = 63;
const RANDOM_ROUNDS: u64 = 2;
/// On long paths probes are 2 to 3 s apart (`bbr_bw_probe_base_us`, `bbr_bw_probe_rand_us`).
const WAIT: Span = Span::from_secs(2);
const RANDOM_WAIT: Span = Span::from_secs(1);

/// The phases of ProbeBw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Empties the queue that probing has built.
    Down,
    /// Keeps the pipe full and leaves room.
    Cruise,
    /// Fills the room before probing.
    Refill,
    /// Probes for more.
    Up,
}

impl Phase {
    /// Pace over bandwidth (`bbr_pacing_gain`).
    pub fn pacing_gain(self) -> f64 {
        match self {
            Phase::Down => 0.91,
            Phase::Cruise | Phase::Refill => 1.0,
            Phase::Up => 1.25,
        }
    }
}

/// What acknowledgements tell of the probe under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Acks {
    /// Nothing.
    Idle,
    /// Of packets sent while refilling.
    Refilling,
    /// Probing has begun, they are still of packets before it.
    Starting,
    /// Of packets sent while probing.
    Probing,
    /// Probing is over, they are still of its packets.
    Stopping,
}

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.forget_round();
        self.bounds.end_rise();
        self.rounds_since_probe = self.rng.below(RANDOM_ROUNDS);
        self.probe_wait = WAIT + Span::from_nanos(self.rng.below(RANDOM_WAIT.as_nanos()));
        self.phase = Phase::Down;
        self.phase_start = now;
        self.acks = Acks::Stopping;
        self.round_end = delivered;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.bounds.inflight_lo != u32::MAX {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.phase = Phase::Cruise;
    }

    fn start_refill(&mut self, delivered: u64) {
        self.bounds.release();
        self.stopped_risky = false;
        self.acks = Acks::Refilling;
        self.round_end = delivered;
        self.phase = Phase::Refill;
    }

    fn start_up(&mut self, p: &Progress, cwnd: u32) {
        self.probe_samples = true;
        self.acks = Acks::Starting;
        self.round_end = p.delivered_total;
        self.phase_start = p.ack.now;
        self.restart_growth(p);
        self.phase = Phase::Up;
        self.bounds.start_rise(cwnd);
    }

    fn restart_growth(&mut self, p: &Progress) {
        let bw = p.rate.map_or(0.0, |sample| sample.rate());
        self.growth = Growth { bw, ..Growth::default() };
    }

    /// Moves the long-term bound, then the phase.
    pub(super) fn update_phase(&mut self, p: &Progress, cwnd: u32) {
        if !self.pipe_full || self.adapt_long_term(p, cwnd) || self.mode != Mode::ProbeBw {
            return;
        }
        match self.phase {
            Phase::Cruise => {
                self.probe_if_time(p, cwnd);
            }
            Phase::Refill if self.round_start => self.start_up(p, cwnd),
            Phase::Refill => {}
            Phase::Up => {
                if self.up_is_done(p, cwnd) {
                    self.previous_too_high = false;
                    self.start_down(p.ack.now, p.delivered_total);
                }
            }
            Phase::Down => {
                let low = p.prior_in_flight <= self.bounds.with_headroom()
                    && p.prior_in_flight <= self.target(self.max_bw());
                if !self.probe_if_time(p, cwnd) && low {
                    self.start_cruise();
                }
            }
        }
    }

    /// Probes when its own time has come, or that of a Reno flow with the same window.
    fn probe_if_time(&mut self, p: &Progress, cwnd: u32) -> bool {
        let window = self.target(self.bandwidth()).min(cwnd);
        let reno = self.rounds_since_probe >= u64::from(window.min(MOST_ROUNDS));
        let due = p.ack.now.since(self.phase_start) > self.probe_wait || reno;
        if due {
            self.start_refill(p.delivered_total);
        }
        due
    }

    /// At the bound that was too high the last time, or no more bandwidth although nothing limits the
    /// flight.
    fn up_is_done(&mut self, p: &Progress, cwnd: u32) -> bool {
        let in_flight = p.prior_in_flight + self.pipe.burst();
        if self.previous_too_high && in_flight >= self.bounds.inflight_hi {
            self.stopped_risky = true;
            return true;
        }
        if p.limited && cwnd >= self.bounds.inflight_hi {
            self.restart_growth(p);
            return false;
        }
        self.growth.is_over
    }

    /// Learns from the flight that was just acknowledged. True: it has decided the phase.
    fn adapt_long_term(&mut self, p: &Progress, cwnd: u32) -> bool {
        if self.acks == Acks::Starting && self.round_start {
            self.acks = Acks::Probing;
        }
        let sample = p.rate.unwrap_or_default();
        if self.acks == Acks::Stopping && self.round_start {
            self.probe_samples = false;
            self.acks = Acks::Idle;
            if self.mode == Mode::ProbeBw && !sample.app_limited && self.bw[1] > 0.0 {
                self.bw = [self.bw[1], 0.0];
            }
            // The old bound did no harm after all: once more, and then beyond it.
            if self.mode == Mode::ProbeBw && self.stopped_risky && !self.previous_too_high {
                self.start_refill(p.delivered_total);
                return true;
            }
        }
        if bounds::is_too_high(&sample) {
            if self.probe_samples {
                self.on_too_high(p.ack.now, sample.in_flight, &sample, cwnd);
            }
        } else if self.bounds.inflight_hi != u32::MAX {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(sample.in_flight);
            let up = self.mode == Mode::ProbeBw && self.phase == Phase::Up;
            if up && p.limited && cwnd >= self.bounds.inflight_hi {
                self.bounds.rise(p.ack.delivered, self.round_start, cwnd);
            }
        }
        false
    }

    /// Probing has gone too far, with so much in flight: once per probe the long-term bound comes down.
    pub(super) fn on_too_high(
        &mut self,
        now: Time,
        in_flight: u32,
        sample: &RateSample,
        cwnd: u32,
    ) {
        self.previous_too_high = true;
        self.probe_samples = false;
        if !sample.app_limited {
            let target = self.target(self.bandwidth()).min(cwnd);
            self.bounds.inflight_hi = in_flight.max((KEPT * f64::from(target)) as u32);
        }
        if self.mode == Mode::ProbeBw && self.phase == Phase::Up {
            let delivered = sample.prior_delivered + sample.delivered;
            self.start_down(now, delivered);
        }
    }
}

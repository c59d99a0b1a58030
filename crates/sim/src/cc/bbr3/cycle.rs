//! The ProbeBW cycle of BBR v3 (draft-ietf-ccwg-bbr §5.3.3).
//!
//! ```text
//! Down --in flight <= BDP and headroom--> Cruise --2 to 3 s, or a Reno flow's time--> Refill
//!   ^                                                                                   |
//!   +--too much lost, no more bandwidth, or at the old bound-- Up <----one round--------+
//! ```

use sojourn_aqm::{Span, Time};

use super::bounds::{self, BETA};
use super::{Bbr3, BbrMode, FullBw};
use crate::cc::{Progress, RateSample};

/// Maximum number of rounds between probes, for coexistence with Reno (`bbr_bw_probe_max_rounds`),
/// minus a random number up to one (`bbr_bw_probe_rand_rounds`).
const MOST_ROUNDS: u32 = 63;
const RANDOM_ROUNDS: u64 = 2;
/// Longest time between probes: 2 s plus a random time of up to 1 s (`bbr_bw_probe_base_us`,
/// `bbr_bw_probe_rand_us`).
const WAIT: Span = Span::from_secs(2);
const RANDOM_WAIT: Span = Span::from_secs(1);

/// The phases of ProbeBw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Drains the queue of the last probe.
    Down,
    /// Keeps the path full and leaves headroom.
    Cruise,
    /// Fills the headroom before probing.
    Refill,
    /// Probes for more bandwidth.
    Up,
}

impl Phase {
    /// Pace over bandwidth (`bbr_pacing_gain`).
    pub(crate) fn pacing_gain(self) -> f64 {
        match self {
            Phase::Down => 0.91,
            Phase::Cruise | Phase::Refill => 1.0,
            Phase::Up => 1.25,
        }
    }
}

/// To which part of a probe the acknowledged packets belong (`bbr_ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AckPhase {
    /// Not to a probe.
    Idle,
    /// Packets sent in ProbeBW_REFILL.
    Refilling,
    /// Probing has begun; the packets were sent before.
    Starting,
    /// Packets sent while probing.
    Probing,
    /// Probing is over; the packets were sent while probing.
    Stopping,
}

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time, delivered: u64) {
        self.reset_congestion_signals();
        self.bounds.end_probe_up();
        self.rounds_since_bw_probe = self.rng.below(RANDOM_ROUNDS);
        self.bw_probe_wait = WAIT + Span::from_nanos(self.rng.below(RANDOM_WAIT.as_nanos()));
        self.phase = Phase::Down;
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::Stopping;
        self.next_round_delivered = delivered;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.bounds.inflight_lo != u32::MAX {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.phase = Phase::Cruise;
    }

    fn start_refill(&mut self, delivered: u64) {
        self.bounds.reset_lower_bounds();
        self.stopped_risky_probe = false;
        self.ack_phase = AckPhase::Refilling;
        self.next_round_delivered = delivered;
        self.phase = Phase::Refill;
    }

    fn start_up(&mut self, p: &Progress, cwnd: u32) {
        self.bw_probe_samples = true;
        self.ack_phase = AckPhase::Starting;
        self.next_round_delivered = p.delivered_total;
        self.cycle_stamp = p.ack.now;
        self.reset_full_bw(p);
        self.phase = Phase::Up;
        self.bounds.start_probe_up(cwnd);
    }

    fn reset_full_bw(&mut self, p: &Progress) {
        let bw = p.rate.map_or(0.0, |sample| sample.rate());
        self.full_bw = FullBw { bw, ..FullBw::default() };
    }

    /// Updates the long-term bound, then the phase.
    pub(super) fn update_phase(&mut self, p: &Progress, cwnd: u32) {
        if !self.full_bw_reached || self.adapt_long_term(p, cwnd) || self.mode != BbrMode::ProbeBw {
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
                    self.prev_probe_too_high = false;
                    self.start_down(p.ack.now, p.delivered_total);
                }
            }
            Phase::Down => {
                let low = p.prior_in_flight <= self.bounds.inflight_with_headroom()
                    && p.prior_in_flight <= self.inflight(self.max_bw());
                if !self.probe_if_time(p, cwnd) && low {
                    self.start_cruise();
                }
            }
        }
    }

    /// Starts a probe when the wait is over, or when a Reno flow with the same window would have
    /// probed.
    fn probe_if_time(&mut self, p: &Progress, cwnd: u32) -> bool {
        let window = self.inflight(self.bandwidth()).min(cwnd);
        let reno = self.rounds_since_bw_probe >= u64::from(window.min(MOST_ROUNDS));
        let due = p.ack.now.since(self.cycle_stamp) > self.bw_probe_wait || reno;
        if due {
            self.start_refill(p.delivered_total);
        }
        due
    }

    /// Whether ProbeBW_UP ends: at the bound that was last too high, or when the bandwidth stops
    /// growing although no bound limits the flight.
    fn up_is_done(&mut self, p: &Progress, cwnd: u32) -> bool {
        let in_flight = p.prior_in_flight + self.path.burst();
        if self.prev_probe_too_high && in_flight >= self.bounds.inflight_hi {
            self.stopped_risky_probe = true;
            return true;
        }
        if p.limited && cwnd >= self.bounds.inflight_hi {
            self.reset_full_bw(p);
            return false;
        }
        self.full_bw.is_over
    }

    /// Adapts the long-term model to the flight just acknowledged. Returns whether this set the
    /// phase.
    fn adapt_long_term(&mut self, p: &Progress, cwnd: u32) -> bool {
        if self.ack_phase == AckPhase::Starting && self.round_start {
            self.ack_phase = AckPhase::Probing;
        }
        let sample = p.rate.unwrap_or_default();
        if self.ack_phase == AckPhase::Stopping && self.round_start {
            self.bw_probe_samples = false;
            self.ack_phase = AckPhase::Idle;
            if self.mode == BbrMode::ProbeBw && !sample.app_limited && self.bw[1] > 0.0 {
                self.bw = [self.bw[1], 0.0];
            }
            // The old bound proved safe: probe again, above it.
            if self.mode == BbrMode::ProbeBw
                && self.stopped_risky_probe
                && !self.prev_probe_too_high
            {
                self.start_refill(p.delivered_total);
                return true;
            }
        }
        if bounds::is_inflight_too_high(&sample) {
            if self.bw_probe_samples {
                self.handle_inflight_too_high(p.ack.now, sample.in_flight, &sample, cwnd);
            }
        } else if self.bounds.inflight_hi != u32::MAX {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(sample.in_flight);
            let up = self.mode == BbrMode::ProbeBw && self.phase == Phase::Up;
            if up && p.limited && cwnd >= self.bounds.inflight_hi {
                self.bounds.probe_inflight_hi_upward(p.ack.delivered, self.round_start, cwnd);
            }
        }
        false
    }

    /// Reacts to a loss rate that is too high with `in_flight` packets in flight: lowers the
    /// long-term bound, once per probe.
    pub(super) fn handle_inflight_too_high(
        &mut self,
        now: Time,
        in_flight: u32,
        sample: &RateSample,
        cwnd: u32,
    ) {
        self.prev_probe_too_high = true;
        self.bw_probe_samples = false;
        if !sample.app_limited {
            let target = self.inflight(self.bandwidth()).min(cwnd);
            self.bounds.inflight_hi = in_flight.max((BETA * f64::from(target)) as u32);
        }
        if self.mode == BbrMode::ProbeBw && self.phase == Phase::Up {
            let delivered = sample.prior_delivered + sample.delivered;
            self.start_down(now, delivered);
        }
    }
}

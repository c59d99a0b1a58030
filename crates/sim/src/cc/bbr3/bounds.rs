//! The bounds of BBR v3: the long-term bound comes from probing, the short-term bound from losses
//! between probes (draft-ietf-ccwg-bbr §5.3.3.6, §5.5.10).

use crate::cc::RateSample;

use super::super::path_model::MIN_CWND;

/// Loss rate above which too many packets were in flight, about 2 % (`bbr_loss_thresh`).
const LOSS_THRESH: f64 = 5.0 / 256.0;
/// Fraction of a bound that remains when it is lowered (one minus `bbr_beta`).
pub(crate) const BETA: f64 = 0.7;
/// Headroom left for other flows in ProbeBW_CRUISE (`bbr_inflight_headroom`).
const HEADROOM: f64 = 0.15;
/// The growth of the long-term bound doubles per round, up to this exponent.
const MOST_DOUBLINGS: u32 = 30;

/// The bounds of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Long-term bound on packets in flight; `u32::MAX` until a loss rate has been too high.
    pub(crate) inflight_hi: u32,
    /// Short-term bound on the bandwidth.
    pub(crate) bw_lo: Option<f64>,
    /// Short-term bound on packets in flight.
    pub(crate) inflight_lo: u32,
    /// Packets acknowledged per increment of the long-term bound.
    probe_up_cnt: u32,
    probe_up_acks: u32,
    probe_up_rounds: u32,
}

impl Bounds {
    /// Undoes a reduction: raises every bound to at least its earlier value.
    pub(crate) fn restore(&mut self, before: &Bounds) {
        self.bw_lo = before.bw_lo.and(self.bw_lo).map(|lo| lo.max(before.bw_lo.unwrap_or(lo)));
        self.inflight_lo = self.inflight_lo.max(before.inflight_lo);
        self.inflight_hi = self.inflight_hi.max(before.inflight_hi);
    }

    /// Without any bound.
    pub(crate) fn new() -> Bounds {
        Bounds {
            inflight_hi: u32::MAX,
            bw_lo: None,
            inflight_lo: u32::MAX,
            probe_up_cnt: u32::MAX,
            probe_up_acks: 0,
            probe_up_rounds: 0,
        }
    }

    /// The long-term bound minus the headroom.
    pub(crate) fn inflight_with_headroom(&self) -> u32 {
        if self.inflight_hi == u32::MAX {
            return u32::MAX;
        }
        let room = ((f64::from(self.inflight_hi) * HEADROOM) as u32).max(1);
        self.inflight_hi.saturating_sub(room).max(MIN_CWND)
    }

    /// After a round with losses outside of probing, lowers the short-term bounds to 0.7 of their
    /// values, but not below the amount just delivered.
    pub(crate) fn adapt_lower_bounds(&mut self, latest: Latest, max_bw: f64, cwnd: u32) {
        let bw_lo = self.bw_lo.unwrap_or(max_bw);
        let inflight_lo = if self.inflight_lo == u32::MAX { cwnd } else { self.inflight_lo };
        self.bw_lo = Some(latest.bw.max(BETA * bw_lo));
        self.inflight_lo = latest.inflight.max((BETA * f64::from(inflight_lo)) as u32);
    }

    /// Removes the short-term bounds.
    pub(crate) fn reset_lower_bounds(&mut self) {
        (self.bw_lo, self.inflight_lo) = (None, u32::MAX);
    }

    /// Enters ProbeBW_UP: the long-term bound at first grows by one packet per window.
    pub(crate) fn start_probe_up(&mut self, cwnd: u32) {
        (self.probe_up_rounds, self.probe_up_acks) = (0, 0);
        self.raise_inflight_hi_slope(cwnd);
    }

    /// Leaves ProbeBW_UP.
    pub(crate) fn end_probe_up(&mut self) {
        self.probe_up_cnt = u32::MAX;
    }

    fn raise_inflight_hi_slope(&mut self, cwnd: u32) {
        self.probe_up_cnt = (cwnd >> self.probe_up_rounds.min(MOST_DOUBLINGS)).max(1);
        self.probe_up_rounds += 1;
    }

    /// Raises the long-term bound while it limits the flow and losses are low; the increment
    /// doubles every round.
    pub(crate) fn probe_inflight_hi_upward(
        &mut self,
        delivered: u32,
        round_start: bool,
        cwnd: u32,
    ) {
        self.probe_up_acks += delivered;
        self.inflight_hi = self.inflight_hi.saturating_add(self.probe_up_acks / self.probe_up_cnt);
        self.probe_up_acks %= self.probe_up_cnt;
        if round_start {
            self.raise_inflight_hi_slope(cwnd);
        }
    }
}

/// Delivery signals of the last round.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latest {
    /// Packets per second.
    pub(crate) bw: f64,
    /// Packets.
    pub(crate) inflight: u32,
}

/// Whether the loss rate of a flight was too high.
pub(crate) fn is_inflight_too_high(sample: &RateSample) -> bool {
    let tolerated = (f64::from(sample.in_flight) * LOSS_THRESH) as u64;
    sample.lost > tolerated && sample.in_flight > 0
}

/// The number of packets in flight at which the loss rate crossed the threshold, computed from the
/// packet whose loss crossed it: the flight before that packet, plus the part of the packet that
/// may be lost.
pub(crate) fn inflight_hi_from_lost_packet(lost: &RateSample) -> u32 {
    let before = f64::from(lost.in_flight.saturating_sub(1));
    let lost_before = lost.lost.saturating_sub(1) as f64;
    let tolerated = libm::ceil(before * LOSS_THRESH);
    let part = ((tolerated - lost_before) / (1.0 - LOSS_THRESH)).max(0.0);
    (before + part) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(in_flight: u32, lost: u64) -> RateSample {
        RateSample { in_flight, lost, ..RateSample::default() }
    }

    #[test]
    fn a_loss_rate_above_two_percent_is_too_high() {
        // 5/256 of 100 is 1.95: one lost packet is tolerated, two are not.
        assert_eq!([1, 2].map(|lost| is_inflight_too_high(&flight(100, lost))), [false, true]);
        assert!(!is_inflight_too_high(&flight(0, 0)));
        assert_eq!(inflight_hi_from_lost_packet(&flight(100, 2)), 100);
        assert_eq!(inflight_hi_from_lost_packet(&flight(100, 9)), 99);
    }

    #[test]
    fn lower_bounds_keep_seven_tenths_or_what_was_just_delivered() {
        let mut bounds = Bounds::new();
        bounds.adapt_lower_bounds(Latest { bw: 100.0, inflight: 10 }, 1000.0, 200);
        assert_eq!((bounds.bw_lo, bounds.inflight_lo), (Some(700.0), 140));
        bounds.adapt_lower_bounds(Latest { bw: 600.0, inflight: 120 }, 1000.0, 200);
        assert_eq!((bounds.bw_lo, bounds.inflight_lo), (Some(600.0), 120));
        bounds.reset_lower_bounds();
        assert_eq!((bounds.bw_lo, bounds.inflight_lo), (None, u32::MAX));
    }

    #[test]
    fn the_long_term_bound_grows_by_one_two_four_packets_per_round() {
        let mut bounds = Bounds { inflight_hi: 64, ..Bounds::new() };
        bounds.start_probe_up(64);
        let mut risen = Vec::new();
        for _ in 0..4 {
            let before = bounds.inflight_hi;
            bounds.probe_inflight_hi_upward(64, true, 64);
            risen.push(bounds.inflight_hi - before);
        }
        assert_eq!(risen, [1, 2, 4, 8]);
        assert_eq!(Bounds { inflight_hi: 100, ..bounds }.inflight_with_headroom(), 85);
    }
}

//! What BBR v3 has learnt of how much the path bears: bounds for the long term from probing, for the short
//! term from losses in between (draft-ietf-ccwg-bbr §5.3.3.6, §5.5.10; endpoints sheet §2.8).

use crate::cc::RateSample;

use super::super::pipe::MIN_CWND;

/// A flight that lost more than 2 % was too large (`bbr_loss_thresh`).
const LOSS_THRESHOLD: f64 = 5.0 / 256.0;
/// A cut leaves 0.7 (`bbr_beta` of 0.3).
pub const KEPT: f64 = 0.7;
/// Room left for others while cruising (`bbr_inflight_headroom`).
const HEADROOM: f64 = 0.15;
/// The rise of the long-term bound doubles per round, up to this exponent.
const MOST_DOUBLINGS: u32 = 30;

/// The bounds of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Most packets in flight that probing found safe; `u32::MAX` before anything was unsafe.
    pub inflight_hi: u32,
    /// Short-term bound of the bandwidth.
    pub bw_lo: Option<f64>,
    /// Short-term bound of packets in flight.
    pub inflight_lo: u32,
    /// Packets acknowledged per packet that the long-term bound rises by.
    rise_every: u32,
    rise_credit: u32,
    rise_rounds: u32,
}

impl Bounds {
    /// Nothing known.
    pub fn new() -> Bounds {
        Bounds {
            inflight_hi: u32::MAX,
            bw_lo: None,
            inflight_lo: u32::MAX,
            rise_every: u32::MAX,
            rise_credit: 0,
            rise_rounds: 0,
        }
    }

    /// The long-term bound less the room that is left for others.
    pub fn with_headroom(&self) -> u32 {
        if self.inflight_hi == u32::MAX {
            return u32::MAX;
        }
        let room = ((f64::from(self.inflight_hi) * HEADROOM) as u32).max(1);
        self.inflight_hi.saturating_sub(room).max(MIN_CWND)
    }

    /// Losses in a round outside probing: 0.7 of the short-term bounds, but not less than what was just
    /// delivered.
    pub fn cut(&mut self, latest: Latest, max_bw: f64, cwnd: u32) {
        let bw_lo = self.bw_lo.unwrap_or(max_bw);
        let inflight_lo = if self.inflight_lo == u32::MAX { cwnd } else { self.inflight_lo };
        self.bw_lo = Some(latest.bw.max(KEPT * bw_lo));
        self.inflight_lo = latest.inflight.max((KEPT * f64::from(inflight_lo)) as u32);
    }

    /// The short-term bounds no longer hold.
    pub fn release(&mut self) {
        (self.bw_lo, self.inflight_lo) = (None, u32::MAX);
    }

    /// Probing upwards begins: the rise starts at one packet per window.
    pub fn start_rise(&mut self, cwnd: u32) {
        (self.rise_rounds, self.rise_credit) = (0, 0);
        self.steepen(cwnd);
    }

    /// Probing upwards ends.
    pub fn end_rise(&mut self) {
        self.rise_every = u32::MAX;
    }

    fn steepen(&mut self, cwnd: u32) {
        self.rise_every = (cwnd >> self.rise_rounds.min(MOST_DOUBLINGS)).max(1);
        self.rise_rounds += 1;
    }

    /// The long-term bound is what limits the flow, and was safe so far: it rises, twice as fast in every
    /// round.
    pub fn rise(&mut self, delivered: u32, round_start: bool, cwnd: u32) {
        self.rise_credit += delivered;
        self.inflight_hi = self.inflight_hi.saturating_add(self.rise_credit / self.rise_every);
        self.rise_credit %= self.rise_every;
        if round_start {
            self.steepen(cwnd);
        }
    }
}

/// What the last round delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    /// Packets per second.
    pub bw: f64,
    /// Packets.
    pub inflight: u32,
}

/// Whether a flight lost more than the path should be made to lose.
pub fn is_too_high(sample: &RateSample) -> bool {
    let bearable = (f64::from(sample.in_flight) * LOSS_THRESHOLD) as u64;
    sample.lost > bearable && sample.in_flight > 0
}

/// The flight at which the loss rate passed the threshold, from the packet with which it did: what was in
/// flight before it, and the part of it that was still bearable.
pub fn inflight_at_loss(lost: &RateSample) -> u32 {
    let before = f64::from(lost.in_flight.saturating_sub(1));
    let lost_before = lost.lost.saturating_sub(1) as f64;
    let bearable = libm::ceil(before * LOSS_THRESHOLD);
    let part = ((bearable - lost_before) / (1.0 - LOSS_THRESHOLD)).max(0.0);
    (before + part) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(in_flight: u32, lost: u64) -> RateSample {
        RateSample { in_flight, lost, ..RateSample::default() }
    }

    #[test]
    fn section_2_8_more_than_two_percent_is_too_high() {
        // 5/256 of 100 is 1.95: one packet is bearable, two are not.
        assert_eq!([1, 2].map(|lost| is_too_high(&flight(100, lost))), [false, true]);
        assert!(!is_too_high(&flight(0, 0)));
        assert_eq!(inflight_at_loss(&flight(100, 2)), 100);
        assert_eq!(inflight_at_loss(&flight(100, 9)), 99);
    }

    #[test]
    fn section_2_8_a_cut_leaves_seven_tenths_but_what_was_just_delivered() {
        let mut bounds = Bounds::new();
        bounds.cut(Latest { bw: 100.0, inflight: 10 }, 1000.0, 200);
        assert_eq!((bounds.bw_lo, bounds.inflight_lo), (Some(700.0), 140));
        bounds.cut(Latest { bw: 600.0, inflight: 120 }, 1000.0, 200);
        assert_eq!((bounds.bw_lo, bounds.inflight_lo), (Some(600.0), 120));
        bounds.release();
        assert_eq!((bounds.bw_lo, bounds.inflight_lo), (None, u32::MAX));
    }

    #[test]
    fn section_2_8_the_bound_rises_by_one_two_four_packets_per_round() {
        let mut bounds = Bounds { inflight_hi: 64, ..Bounds::new() };
        bounds.start_rise(64);
        let mut risen = Vec::new();
        for _ in 0..4 {
            let before = bounds.inflight_hi;
            bounds.rise(64, true, 64);
            risen.push(bounds.inflight_hi - before);
        }
        assert_eq!(risen, [1, 2, 4, 8]);
        assert_eq!(Bounds { inflight_hi: 100, ..bounds }.with_headroom(), 85);
    }
}

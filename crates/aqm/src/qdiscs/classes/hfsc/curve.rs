//! Service curves with two pieces (Linux 6.1 sch_hfsc.c; our functions name their counterparts in
//! the kernel).
//!
//! Times are ticks of 64 ns since a start before time zero, because the kernel's clock never reads
//! zero. Additions wrap as in the kernel, where the inverse of a slope of zero is infinite.

use crate::time::{Rate, Span, Time};

/// Ticks of 64 ns (include/net/pkt_sched.h, PSCHED_SHIFT).
const PSCHED_SHIFT: u32 = 6;
const TICKS_PER_SEC: u64 = 1_000_000_000 >> PSCHED_SHIFT;
/// Fractional bits of a slope, and of its inverse.
const SM_SHIFT: u32 = 30 - PSCHED_SHIFT;
const ISM_SHIFT: u32 = 8 + PSCHED_SHIFT;
/// The clock's value at time zero.
const START: u64 = 1024 * TICKS_PER_SEC;

/// A service curve: a slope for a while, then another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServiceCurve {
    /// Rate of the first piece; `None` for zero.
    pub m1: Option<Rate>,
    /// Length of the first piece.
    pub d: Span,
    /// Rate after the first piece; `None` for zero.
    pub m2: Option<Rate>,
}

/// Ticks at a time (psched_get_time).
pub(super) fn ticks(now: Time) -> u64 {
    START + (now.as_nanos() >> PSCHED_SHIFT)
}

/// The time of a tick.
pub(super) fn time_of(ticks: u64) -> Time {
    Time::from_nanos(ticks.saturating_sub(START).saturating_mul(1 << PSCHED_SHIFT))
}

/// A slope with its inverse, in bytes per tick (m2sm, m2ism).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Slope {
    sm: u64,
    /// Infinite for a slope of zero.
    ism: u64,
}

impl Slope {
    fn new(rate: Option<Rate>) -> Slope {
        let bytes = rate.map_or(0, |rate| rate.as_bps() / 8);
        let sm = (bytes << SM_SHIFT).div_ceil(TICKS_PER_SEC);
        let ism = match bytes {
            0 => u64::MAX,
            bytes => (TICKS_PER_SEC << ISM_SHIFT).div_ceil(bytes),
        };
        Slope { sm, ism }
    }

    /// Bytes served in this number of ticks (seg_x2y).
    fn bytes(self, ticks: u64) -> u64 {
        scaled(ticks, self.sm, SM_SHIFT)
    }

    /// Ticks needed for this number of bytes (seg_y2x).
    fn ticks(self, bytes: u64) -> u64 {
        match (bytes, self.ism) {
            (0, _) => 0,
            (_, u64::MAX) => u64::MAX,
            (bytes, ism) => scaled(bytes, ism, ISM_SHIFT),
        }
    }
}

/// A shifted product, without losing its lower bits to overflow.
fn scaled(value: u64, factor: u64, shift: u32) -> u64 {
    let lower = value & ((1 << shift) - 1);
    (value >> shift).wrapping_mul(factor).wrapping_add(lower.wrapping_mul(factor) >> shift)
}

/// A curve that starts at a point (struct runtime_sc).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Curve {
    x: u64,
    y: u64,
    first: Slope,
    dx: u64,
    dy: u64,
    second: Slope,
}

impl Curve {
    /// A curve that starts at zero (sc2isc, rtsc_init).
    pub(super) fn new(curve: &ServiceCurve) -> Curve {
        let (first, second) = (Slope::new(curve.m1), Slope::new(curve.m2));
        let micros = curve.d.as_nanos() / 1000;
        let dx = (micros * TICKS_PER_SEC).div_ceil(1_000_000);
        Curve { x: 0, y: 0, first, dx, dy: first.bytes(dx), second }
    }

    /// Whether the second slope is at least the first.
    fn is_convex(&self) -> bool {
        self.first.sm <= self.second.sm
    }

    /// The curve of eligible times that belongs to a curve of deadlines (init_ed): the same curve
    /// if it is concave, else its second slope.
    pub(super) fn eligible(&self) -> Curve {
        match self.is_convex() {
            true => Curve { dx: 0, dy: 0, ..*self },
            false => *self,
        }
    }

    /// The time at which `y` bytes have been served (rtsc_y2x).
    pub(super) fn time(&self, y: u64) -> u64 {
        if y < self.y {
            return self.x;
        }
        let after = y - self.y;
        match after <= self.dy {
            true if self.dy == 0 => self.x.wrapping_add(self.dx),
            true => self.x.wrapping_add(self.first.ticks(after)),
            false => {
                let behind = self.second.ticks(after - self.dy);
                self.x.wrapping_add(self.dx).wrapping_add(behind)
            }
        }
    }

    /// The bytes served by a time (rtsc_x2y).
    fn bytes(&self, x: u64) -> u64 {
        if x <= self.x {
            return self.y;
        }
        let after = x - self.x;
        match after <= self.dx {
            true => self.y.wrapping_add(self.first.bytes(after)),
            false => {
                let behind = self.second.bytes(after - self.dx);
                self.y.wrapping_add(self.dy).wrapping_add(behind)
            }
        }
    }

    /// Takes the minimum of this curve and one that begins at a point (rtsc_min).
    pub(super) fn lower_to(&mut self, other: &Curve, x: u64, y: u64) {
        let here = self.bytes(x);
        if other.is_convex() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if here <= y {
            return;
        }
        let (dx, dy) = match self.bytes(x.wrapping_add(other.dx)) >= y.wrapping_add(other.dy) {
            true => (other.dx, other.dy),
            false => {
                // They cross.
                let steeper = other.first.sm - other.second.sm;
                let crossing = ((here - y) << SM_SHIFT) / steeper;
                let dx = crossing + (self.x + self.dx).saturating_sub(x);
                (dx, other.first.bytes(dx))
            }
        };
        *self = Curve { x, y, dx, dy, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In Mbit/s and milliseconds.
    fn curve(m1: u64, d: u64, m2: u64) -> Curve {
        let rate = |mbit: u64| (mbit > 0).then(|| Rate::from_bps(mbit * 1_000_000));
        Curve::new(&ServiceCurve { m1: rate(m1), d: Span::from_millis(d), m2: rate(m2) })
    }

    /// 15,625 ticks are a millisecond, in which 8 Mbit/s carry 1000 bytes.
    #[test]
    fn a_curve_has_its_two_slopes() {
        let curve = curve(8, 10, 4);
        let near = |one: u64, two: u64| one.abs_diff(two) <= 1;
        assert!(near(curve.bytes(15_625), 1000) && near(curve.bytes(20 * 15_625), 15_000));
        assert!(near(curve.time(1000), 15_625) && near(curve.time(15_000), 20 * 15_625));
        assert_eq!(curve.eligible(), curve, "concave");
    }

    #[test]
    fn a_convex_curve_is_eligible_by_its_second_slope() {
        let eligible = curve(0, 10, 8).eligible();
        assert_eq!((eligible.time(0), eligible.time(1000)), (0, 15_625));
        assert_eq!(curve(0, 10, 8).time(1000), 11 * 15_625, "the deadline is later");
    }

    #[test]
    fn a_concave_curve_after_a_short_pause_is_the_lower_of_both() {
        let of = curve(8, 10, 4);
        let mut curve = of;
        // The corner is reached at 10 ms; at 12 ms the old curve is 1000 bytes higher.
        curve.lower_to(&of, 12 * 15_625, 10_000);
        assert_eq!((curve.x, curve.y), (12 * 15_625, 10_000));
        // The difference of 1000 bytes shrinks by 500 bytes per ms.
        assert!(curve.dx.abs_diff(2 * 15_625) <= 1, "{}", curve.dx);
        curve.lower_to(&of, 1000 * 15_625, 10_000);
        assert_eq!(curve.dx, of.dx, "after a long one it begins again");
    }
}

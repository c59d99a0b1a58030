//! The controller of Linux `sch_dualpi2.c` in its integers: p' has 32 bits; a gain is the amount
//! that 64 ns of delay add to it.

use super::params::DualPi2Params;
use crate::params::Hertz;
use crate::time::Span;

const NANOS_PER_SEC: u64 = 1_000_000_000;
/// Delay differences are divided by 2^6 after the multiplication by a gain
/// (`ALPHA_BETA_GRANULARITY`).
const DELAY_SHIFT: u32 = 6;

/// The controller.
#[derive(Clone, Debug)]
pub(super) struct LinuxController {
    target: i64,
    alpha: i64,
    beta: i64,
    /// Maximum of p': 2^32 - 1, or less if p' must stay below 1/k.
    most: u32,
    prob: u32,
    delay: i64,
}

impl LinuxController {
    pub(super) fn new(p: &DualPi2Params) -> LinuxController {
        let share = if p.drop_overload { 1.0 } else { 1.0 / p.k };
        LinuxController {
            target: nanos(p.target),
            alpha: internal_gain(p.alpha.0),
            beta: internal_gain(p.beta.0),
            most: (f64::from(u32::MAX) * share) as u32,
            prob: 0,
            delay: 0,
        }
    }

    /// Linux sch_dualpi2.c, calculate_probability. A step that exceeds 32 bits loses its upper bits
    /// (fact qdisc-6).
    pub(super) fn update(&mut self, delay: Span) -> f64 {
        let delay = nanos(delay);
        let integral = delay.wrapping_sub(self.target).wrapping_mul(self.alpha);
        let proportional = delay.wrapping_sub(self.delay).wrapping_mul(self.beta);
        let step = integral.wrapping_add(proportional);
        let size = (step.unsigned_abs() >> DELAY_SHIFT) as u32;
        let moved = if step > 0 {
            let up = self.prob.wrapping_add(size);
            if up < self.prob { u32::MAX } else { up }
        } else {
            let down = self.prob.wrapping_sub(size);
            if down > self.prob { 0 } else { down }
        };
        self.prob = moved.min(self.most);
        self.delay = delay;
        f64::from(self.prob) / f64::from(u32::MAX)
    }
}

fn nanos(span: Span) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

/// A gain rounded as netlink carries it: to whole 256ths of a Hz.
pub(super) fn kept_gain(gain: Hertz) -> Hertz {
    Hertz(libm::round(gain.0 * 256.0) / 256.0)
}

/// Linux `dualpi2_scale_alpha_beta`: converts from 256ths of a Hz, in which netlink carries gains.
fn internal_gain(hertz: f64) -> i64 {
    let netlink = libm::round(hertz * 256.0) as u64;
    let scaled = ((u128::from(netlink) * u128::from(u32::MAX)) >> 2) / u128::from(NANOS_PER_SEC);
    i64::try_from(scaled).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::testing::assert_near;

    fn controller() -> LinuxController {
        LinuxController::new(&DualPi2Params::of_dialect("linux").unwrap())
    }

    /// Fact qdisc-5.
    #[test]
    fn internal_gains_are_integers_close_to_the_configured_gains() {
        assert_eq!((internal_gain(41.0 / 256.0), internal_gain(819.0 / 256.0)), (44, 879));
        let hertz = |gain: i64| gain as f64 * 1e9 / 64.0 / 4_294_967_296.0;
        assert_near(hertz(44), 0.16007, 5e-6);
        assert_near(hertz(879), 3.1978, 5e-5);
    }

    /// Fact qdisc-5: the delay is 20 ms above the target, as it was before.
    #[test]
    fn a_step_uses_the_integer_gains() {
        let mut controller = controller();
        controller.update(Span::from_millis(35));
        let before = controller.prob;
        controller.update(Span::from_millis(35));
        assert_eq!(controller.prob - before, 20_000_000 * 44 / 64);
    }

    #[test]
    fn the_probability_stays_between_zero_and_one() {
        let mut controller = controller();
        assert_eq!(controller.update(Span::ZERO), 0.0);
        let most = (0..200).map(|_| controller.update(Span::from_millis(250))).last();
        assert_eq!(most, Some(1.0));
    }

    /// Fact qdisc-6: a delay of 400 ms at once adds 1.34 to p', of which 0.34 remain in 32 bits.
    #[test]
    fn a_step_that_does_not_fit_loses_its_upper_bits() {
        let step = (400_000_000u64 * 879 + 385_000_000 * 44) >> 6;
        assert!(step > u64::from(u32::MAX));
        assert_near(controller().update(Span::from_millis(400)), 0.34, 0.005);
    }
}

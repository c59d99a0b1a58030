//! The share of 802.11g frames lost to noise, by rate and signal-to-noise ratio: the model of Pei
//! and Henderson 2010, which is also ns-3's `NistErrorRateModel`.
//!
//! A modulation gives the probability that a coded bit is wrong. The union bound of 802.11's
//! convolutional code (constraint length 7, punctured for 2/3 and 3/4) turns it into the
//! probability of the Viterbi decoder's first error, using the numbers of wrong bits on paths of
//! each distance (Haccoun and Begin 1989).
//!
//! Noise is white and has the same power for all frames: there is no fading. Acknowledgements and
//! preambles are always received.

/// The modulations of 802.11g.
#[derive(Clone, Copy, Debug)]
enum Modulation {
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
}

/// The code's rates.
#[derive(Clone, Copy, Debug)]
enum Code {
    Half,
    TwoThirds,
    ThreeQuarters,
}

/// Logarithm of the probability that noise does not corrupt a given bit. `megabits` is one of the
/// eight rates, `ratio` the signal-to-noise ratio as a power ratio.
pub(crate) fn log_spared(megabits: u64, ratio: f64) -> f64 {
    let (modulation, code) = scheme(megabits);
    libm::log1p(-code.first_error(modulation.bit_error(ratio)).min(1.0))
}

/// Probability that noise destroys a frame of `mac_bytes`, from [`log_spared`] of its rate.
pub(crate) fn frame_error(log_spared: f64, mac_bytes: u32) -> f64 {
    -libm::expm1(8.0 * f64::from(mac_bytes) * log_spared)
}

/// Modulation and code of a rate (IEEE 802.11-2012 table 18-4).
fn scheme(megabits: u64) -> (Modulation, Code) {
    match megabits {
        6 => (Modulation::Bpsk, Code::Half),
        9 => (Modulation::Bpsk, Code::ThreeQuarters),
        12 => (Modulation::Qpsk, Code::Half),
        18 => (Modulation::Qpsk, Code::ThreeQuarters),
        24 => (Modulation::Qam16, Code::Half),
        36 => (Modulation::Qam16, Code::ThreeQuarters),
        48 => (Modulation::Qam64, Code::TwoThirds),
        54 => (Modulation::Qam64, Code::ThreeQuarters),
        other => unreachable!("{other} Mbit/s is not a rate of 802.11g"),
    }
}

impl Modulation {
    /// Probability that a coded bit is wrong (Pei and Henderson 2010, equations 1 to 4).
    fn bit_error(self, ratio: f64) -> f64 {
        let (factor, divisor) = match self {
            Modulation::Bpsk => (1.0 / 2.0, 1.0),
            Modulation::Qpsk => (1.0 / 2.0, 2.0),
            Modulation::Qam16 => (3.0 / 8.0, 10.0),
            Modulation::Qam64 => (7.0 / 24.0, 42.0),
        };
        factor * libm::erfc((ratio / divisor).sqrt())
    }
}

impl Code {
    /// Bound on the probability that the decoder leaves the right path at a bit, given the
    /// probability of a wrong coded bit (Pei and Henderson 2010, equation 5).
    fn first_error(self, bit_error: f64) -> f64 {
        let distance = (4.0 * bit_error * (1.0 - bit_error)).sqrt();
        // The bits per trellis step, the free distance, the step from one distance to the next, and
        // the number of wrong bits on all paths of each distance.
        let (bits, free, step, weights): (f64, i32, i32, &[f64]) = match self {
            Code::Half => (1.0, 10, 2, &HALF),
            Code::TwoThirds => (2.0, 6, 1, &TWO_THIRDS),
            Code::ThreeQuarters => (3.0, 5, 1, &THREE_QUARTERS),
        };
        let growth = power(distance, step);
        let sum = weights.iter().rev().fold(0.0, |sum, weight| sum * growth + weight);
        sum * power(distance, free) / (2.0 * bits)
    }
}

/// An integer power by multiplication, which gives the same result on every machine.
fn power(base: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

const HALF: [f64; 9] =
    [36.0, 211.0, 1404.0, 11633.0, 77433.0, 502690.0, 3322763.0, 21292910.0, 134365911.0];
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0, 117019.0, 498860.0, 2103891.0, 8784123.0];
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1492.0,
    10469.0,
    62935.0,
    379644.0,
    2253373.0,
    13073811.0,
    75152755.0,
    428005675.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [u64; 8] = [6, 9, 12, 18, 24, 36, 48, 54];

    fn ratio(decibels: f64) -> f64 {
        libm::pow(10.0, decibels / 10.0)
    }

    fn frame_lost(megabits: u64, ratio: f64, mac_bytes: u32) -> f64 {
        frame_error(log_spared(megabits, ratio), mac_bytes)
    }

    /// The bound of rate 1/2 by hand: at 4 dB BPSK's coded bit is wrong with probability 0.5
    /// erfc(1.5849) = 0.012501, so the distance is 0.22222 and the first terms of the sum are 18
    /// D^10 = 5.286e-6, 105.5 D^12 = 1.530e-6, 702 D^14 = 5.027e-7 and 5816.5 D^16 = 2.057e-7.
    #[test]
    fn the_first_error_is_the_union_bound() {
        let wrong = Modulation::Bpsk.bit_error(ratio(4.0));
        assert!((wrong - 0.012_501).abs() < 1e-6, "{wrong}");
        let bound = Code::Half.first_error(wrong);
        let four_terms = 5.286e-6 + 1.530e-6 + 5.027e-7 + 2.057e-7;
        assert!(bound > four_terms && bound < 1.03 * four_terms, "{bound:e}");
    }

    #[test]
    fn more_noise_longer_frames_and_denser_symbols_lose_more() {
        for megabits in RATES {
            let mut last = 1.1;
            for decibels in -5..35 {
                let lost = frame_lost(megabits, ratio(f64::from(decibels)), 1536);
                assert!((0.0..=1.0).contains(&lost) && lost <= last, "{megabits} {decibels}");
                last = lost;
            }
            assert!(frame_lost(megabits, ratio(-5.0), 1536) > 0.999);
            assert!(frame_lost(megabits, ratio(34.0), 1536) < 1e-9);
        }
        let half_lost = RATES.map(|megabits| {
            (-50..350)
                .find(|&tenths| frame_lost(megabits, ratio(f64::from(tenths) / 10.0), 1536) < 0.5)
        });
        let by_noise = half_lost.map(Option::unwrap);
        assert!(by_noise.is_sorted(), "{by_noise:?}");
        let (short, long) = (frame_lost(54, ratio(20.0), 88), frame_lost(54, ratio(20.0), 1536));
        assert!(short < long, "{short} {long}");
    }
}

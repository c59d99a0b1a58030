//! Quality of voice calls: the E-model (ITU-T G.107), with delay impairment as reduced by Cole and
//! Rosenbluth 2001, and random losses.
//!
//! Only traffic that the scenario declares as voice is rated, not constant-rate traffic in general.

use sojourn_scenario::resolved::Codec;

/// The rating R of a perfect call (G.107, default settings).
const BEST: f64 = 93.2;
/// Delay in milliseconds beyond which a conversation suffers.
const TOLERATED_MS: f64 = 177.3;

/// Parameters of the E-model for a codec in packets of 20 ms.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Equipment {
    /// Ie: the impairment by the codec itself.
    impairment: f64,
    /// Bpl: percent of random loss at which half of the remaining quality is lost.
    loss_robustness: f64,
    /// Time to fill a packet, plus the codec's look-ahead.
    coding_s: f64,
}

/// ITU-T G.113 Appendix I, Table I.4 (edition of 09/2024): Ie and Bpl of G.711 with the packet-loss
/// concealment of its Appendix I (published for packets of 10 ms, used here for 20 ms), and of
/// G.729A with voice activity detection (published for 20 ms). We did not have the appendix itself;
/// these are the values and conditions as quoted by other works.
fn equipment(codec: Codec) -> Equipment {
    match codec {
        Codec::G711 => Equipment { impairment: 0.0, loss_robustness: 25.1, coding_s: 0.020 },
        // ITU-T G.729 §1: the codec looks 5 ms ahead.
        Codec::G729 => Equipment { impairment: 11.0, loss_robustness: 19.0, coding_s: 0.025 },
    }
}

/// The rating R of a call whose packets take `delay_s` seconds from sending to playout, with a
/// fraction `loss` of them lost.
pub fn rating(codec: Codec, delay_s: f64, loss: f64) -> f64 {
    rating_with(equipment(codec), delay_s, loss)
}

fn rating_with(equipment: Equipment, delay_s: f64, loss: f64) -> f64 {
    debug_assert!(delay_s >= 0.0 && (0.0..=1.0).contains(&loss), "{delay_s} s, {loss}");
    let (delay_ms, percent) = ((delay_s + equipment.coding_s) * 1e3, loss * 100.0);
    let delay_impairment = 0.024 * delay_ms + 0.11 * (delay_ms - TOLERATED_MS).max(0.0);
    // G.107 §3.5, formula 3-29, with random losses (BurstR = 1).
    let Equipment { impairment, loss_robustness, .. } = equipment;
    let lost = (95.0 - impairment) * percent / (percent + loss_robustness);
    BEST - delay_impairment - impairment - lost
}

/// Mean opinion score of a rating, 1 to 4.5. For ratings between 0 and 6.5 the polynomial of G.107
/// Annex B falls slightly below 1, at minimum to 0.98.
pub fn opinion(rating: f64) -> f64 {
    match rating {
        ..=0.0 => 1.0,
        100.0.. => 4.5,
        r => 1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_and_opinions_follow_the_reduced_e_model() {
        let concealed = 25.1;
        for (delay_ms, percent, loss_robustness, rated, scored) in [
            (0.0, 0.0, concealed, 93.2, 4.409),
            (100.0, 0.0, concealed, 90.8, 4.358),
            (200.0, 0.0, concealed, 85.9, 4.226),
            (300.0, 0.0, concealed, 72.5, 3.712),
            (100.0, 1.0, concealed, 87.16, 4.263),
            (100.0, 1.0, 4.3, 72.88, 3.729),
            (100.0, 5.0, concealed, 75.02, 3.823),
            (200.0, 3.0, concealed, 75.76, 3.854),
        ] {
            let equipment = Equipment { impairment: 0.0, loss_robustness, coding_s: 0.0 };
            let rating = rating_with(equipment, delay_ms / 1e3, percent / 100.0);
            assert!((rating - rated).abs() < 0.051, "{rating} for {rated}");
            assert!((opinion(rating) - scored).abs() < 0.002, "{} for {scored}", opinion(rating));
        }
        assert_eq!([opinion(-5.0), opinion(120.0)], [1.0, 4.5]);
    }

    #[test]
    fn a_codec_brings_its_own_impairment_robustness_and_delay() {
        // The rating is 93.2 - 0.024 x (100 + 20) - 95 x 1 / (1 + 25.1).
        let of_g711: f64 = 93.2 - 2.88 - 95.0 / 26.1;
        // The rating is 93.2 - 0.024 x (100 + 25) - 11 - (95 - 11) x 1 / (1 + 19).
        let of_g729: f64 = 93.2 - 3.0 - 11.0 - 4.2;
        assert!((rating(Codec::G711, 0.1, 0.01) - of_g711).abs() < 1e-9);
        assert!((rating(Codec::G729, 0.1, 0.01) - of_g729).abs() < 1e-9);
    }
}

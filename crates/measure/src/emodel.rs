//! How a voice call sounds: the E-model (ITU-T G.107) as reduced by Cole and Rosenbluth 2001, for
//! G.711 with packet-loss concealment.

/// R of a perfect call (G.107, default settings).
const BEST: f64 = 93.2;
/// Robustness of G.711 against loss, with concealment.
const LOSS_ROBUSTNESS: f64 = 25.1;
/// Milliseconds beyond which a conversation suffers.
const TOLERATED_MS: f64 = 177.3;

/// R of a call with a mouth-to-ear delay in seconds and a part of its packets lost.
pub fn rating(delay_s: f64, loss: f64) -> f64 {
    rating_with(LOSS_ROBUSTNESS, delay_s, loss)
}

fn rating_with(robustness: f64, delay_s: f64, loss: f64) -> f64 {
    debug_assert!(delay_s >= 0.0 && (0.0..=1.0).contains(&loss), "{delay_s} s, {loss}");
    let (delay_ms, percent) = (delay_s * 1e3, loss * 100.0);
    let delay_impairment = 0.024 * delay_ms + 0.11 * (delay_ms - TOLERATED_MS).max(0.0);
    // G.711 itself impairs nothing, and losses come at random.
    let loss_impairment = 95.0 * percent / (percent + robustness);
    BEST - delay_impairment - loss_impairment
}

/// Mean opinion score, 1 to 4.5, of a rating.
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
        let concealed = LOSS_ROBUSTNESS;
        for (delay_ms, percent, robustness, rated, scored) in [
            (0.0, 0.0, concealed, 93.2, 4.409),
            (100.0, 0.0, concealed, 90.8, 4.358),
            (200.0, 0.0, concealed, 85.9, 4.226),
            (300.0, 0.0, concealed, 72.5, 3.712),
            (100.0, 1.0, concealed, 87.16, 4.263),
            (100.0, 1.0, 4.3, 72.88, 3.729),
            (100.0, 5.0, concealed, 75.02, 3.823),
            (200.0, 3.0, concealed, 75.76, 3.854),
        ] {
            let rating = rating_with(robustness, delay_ms / 1e3, percent / 100.0);
            assert!((rating - rated).abs() < 0.051, "{rating} for {rated}");
            assert!((opinion(rating) - scored).abs() < 0.002, "{} for {scored}", opinion(rating));
        }
        assert_eq!([opinion(-5.0), opinion(120.0)], [1.0, 4.5]);
    }
}

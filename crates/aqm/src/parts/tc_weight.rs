//! The weight of RED's average as `tc` chooses it.

/// The exponent of the weight: the smallest for which `burst` consecutive packets do not raise the
/// average above `min_th` (iproute2 `tc_red.c`, `tc_red_eval_ewma`), or `None`.
pub fn weight_log(burst: f64, min_packets: f64) -> Option<u32> {
    let allowed = burst + 1.0 - min_packets;
    if allowed < 1.0 {
        return None;
    }
    (1..32).find(|&log| {
        let weight = 1.0 / (1u64 << log) as f64;
        allowed <= (1.0 - libm::pow(1.0 - weight, burst)) / weight
    })
}

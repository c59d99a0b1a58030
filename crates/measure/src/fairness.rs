//! Fairness among flows.

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one flow has everything (Jain, Chiu,
/// Hawe 1984).
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}

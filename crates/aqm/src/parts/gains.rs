//! The proportional-integral step shared by PIE, PI2, MADPIE and DualPI2 (RFC 8033 §4.2).

/// Gains and set point of a PI controller of queue delay.
#[derive(Clone, Copy, Debug)]
pub struct Gains {
    /// Integral gain in Hz: change of the probability per update and second off target.
    pub alpha: f64,
    /// Proportional gain in Hz: change of the probability per second by which the delay changed
    /// since the last update.
    pub beta: f64,
    /// Delay aimed at, in seconds.
    pub target: f64,
}

impl Gains {
    /// Change of the probability, before any scaling (RFC 8033 §4.2). Delays in seconds.
    pub fn step(&self, delay: f64, delay_old: f64) -> f64 {
        self.alpha * (delay - self.target) + self.beta * (delay - delay_old)
    }
}

//! One step of `max_p` (Floyd, Gummadi and Shenker 2001; ns-2.35 `red.cc`, `REDQueue::updateMaxP`).

/// The rule by which `max_p` moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// ns-2, ns-3: a `max_p` equal to its bound is not moved.
    pub(super) is_strict: bool,
}

impl Adaptation {
    /// The next `max_p`, given the side of the middle band on which the average lies.
    pub(super) fn next(&self, max_p: f64, side: Side) -> f64 {
        match side {
            Side::Above if self.is_strict && max_p == self.top => max_p,
            Side::Below if self.is_strict && max_p == self.bottom => max_p,
            Side::Above if max_p <= self.top => max_p + self.alpha.min(max_p / 4.0),
            Side::Below if max_p >= self.bottom => max_p * self.beta,
            _ => max_p,
        }
    }
}

/// Position of the average relative to the middle fifth between the thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Below,
    Within,
    Above,
}

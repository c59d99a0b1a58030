//! Reno: one packet more per round trip, half the window on congestion (RFC 5681 §3.1; Linux
//! `tcp_cong.c`). Deviation from the RFC: the reduction starts from the window, not from what is in
//! flight, as in Linux.

use sojourn_aqm::params;

use super::{Ack, CongestionControl, Control, Window};

params! {
    /// Reno has no parameters.
    pub struct RenoParams {
        dialects: "linux" = "Linux 6.1 tcp_reno: integer window, delivered packets counted";
    }
}

/// Reno.
#[derive(Clone, Debug)]
pub struct Reno;

impl CongestionControl for Reno {
    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut delivered = ack.delivered;
        if window.in_slow_start() {
            delivered = window.slow_start(delivered);
        }
        if delivered > 0 {
            window.additive(window.cwnd, delivered);
        }
    }
}

impl Control for Reno {
    type Params = RenoParams;
    const NAME: &'static str = "reno";
    const DOC: &'static str =
        "One packet more per round trip, half the window on congestion (RFC 5681)";

    fn new(_params: &RenoParams) -> Reno {
        Reno
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::Time;

    #[test]
    fn t36_grows_by_one_packet_per_round_trip_with_or_without_delayed_acks() {
        for delivered in [1, 2] {
            let mut window = Window { cwnd: 10, ssthresh: 5, credit: 0 };
            let ack = Ack { now: Time::ZERO, delivered, rtt: None, una: 0, nxt: 10 };
            (0..10 / delivered).for_each(|_| Reno.grow(&ack, &mut window));
            assert_eq!(window.cwnd, 11);
        }
    }

    #[test]
    fn t17_halves_but_keeps_two() {
        let reduced = |cwnd| Reno.reduce(&Window::new(cwnd));
        assert_eq!([100, 50, 20, 10, 5, 3, 2, 1].map(reduced), [50, 25, 10, 5, 2, 2, 2, 2]);
    }
}

//! Reno: one packet more per round trip, half the window on congestion (RFC 5681 §3.1; Linux
//! `tcp_cong.c`).
//!
//! Deviation from the RFC, as in Linux: the reduction starts from the window, not from FlightSize.

use sojourn_aqm::params;

use super::{Ack, CongestionControl, Control, Window};

params! {
    /// Parameters of Reno.
    pub struct RenoParams {
        dialects: "linux" = "Linux 6.1 tcp_reno: integer window, delivered packets counted";
        /// Whether a mark leaves 0.8 of the window instead of half (ABE).
        abe: bool, ANY, "RFC 8511 §3; Linux has no such option" => false;
    }
}

/// Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    abe: bool,
}

impl CongestionControl for Reno {
    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        if !self.abe {
            return self.reduce(window);
        }
        ((u64::from(window.cwnd) * 4 / 5) as u32).max(2)
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        window.grow_as_reno(ack.delivered);
    }

    fn min_cwnd_of_rate_halving(&self, ssthresh: u32) -> u32 {
        ssthresh / 2 // Linux `tcp_reno_min_cwnd`
    }
}

impl Control for Reno {
    type Params = RenoParams;
    const NAME: &'static str = "reno";
    const DOC: &'static str =
        "One packet more per round trip, half the window on congestion (RFC 5681)";

    fn new(params: &RenoParams) -> Reno {
        Reno { abe: params.abe }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::{Span, Time};

    fn reno() -> Reno {
        Reno { abe: false }
    }

    #[test]
    fn abe_keeps_four_fifths_after_a_mark() {
        let mut abe = Reno { abe: true };
        assert_eq!(
            [abe.reduce_on_mark(&Window::new(100)), abe.reduce(&Window::new(100))],
            [80, 50]
        );
        assert_eq!(reno().reduce_on_mark(&Window::new(100)), 50);
    }

    #[test]
    fn grows_by_one_packet_per_round_trip_with_or_without_delayed_acks() {
        for delivered in [1, 2] {
            let mut window = Window::above(10, 5);
            let ack = Ack {
                now: Time::ZERO,
                delivered,
                rtt: None,
                srtt: Span::ZERO,
                una: 0,
                nxt: 10,
                paced: false,
            };
            (0..10 / delivered).for_each(|_| reno().grow(&ack, &mut window));
            assert_eq!(window.cwnd, 11);
        }
    }

    #[test]
    fn halves_the_window_but_keeps_two_packets() {
        let reduced = |cwnd| reno().reduce(&Window::new(cwnd));
        assert_eq!([100, 50, 20, 10, 5, 3, 2, 1].map(reduced), [50, 25, 10, 5, 2, 2, 2, 2]);
    }
}

//! DCTCP (RFC 8257) in the integer arithmetic of Linux 6.1 (`tcp_dctcp.c`): the window falls in
//! proportion to the fraction of packets marked.
//!
//! It needs ECN and a receiver that echoes every run of marks exactly; a flow without `ecn` behaves
//! like Reno. Deviation from the RFC, as in Linux: packets are counted, not bytes. Deviations from
//! Linux: None known. Fact tcp-57 explains why `alpha` is below the published formula.

use sojourn_aqm::Var;
use sojourn_aqm::params;

use super::{Ack, CongestionControl, Control, Feedback, Needs, Window};

params! {
    /// Parameters of DCTCP.
    pub struct DctcpParams {
        dialects: "linux" = "Linux 6.1 tcp_dctcp.c: integer arithmetic, gain 1/16";
        /// The assumed fraction of marked packets until the first window has been counted.
        initial_alpha: f64, FRACTION, "Linux dctcp_alpha_on_init; RFC 8257 §3.3" => 1.0;
    }
}

/// `DCTCP.Alpha` is in 1/1024 (`DCTCP_MAX_ALPHA`).
const ONE: u32 = 1024;
/// The gain is 1/16 (RFC 8257 §4.2).
const GAIN_SHIFT: u32 = 4;

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// `DCTCP.Alpha`: moving average of the marked fraction.
    alpha: u32,
    delivered: u32,
    marked: u32,
    /// The observation window ends when this segment is acknowledged (`DCTCP.WindowEnd`).
    window_end: u32,
}

impl Dctcp {
    fn update_alpha(&mut self) {
        let decay = self.alpha >> GAIN_SHIFT;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        if self.marked > 0 {
            let scaled = u64::from(self.marked) << (10 - GAIN_SHIFT);
            let gained = (scaled / u64::from(self.delivered.max(1))) as u32;
            self.alpha = (self.alpha + gained).min(ONE);
        }
        (self.delivered, self.marked) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        let cut = (u64::from(window.cwnd) * u64::from(self.alpha)) >> 11;
        window.cwnd.saturating_sub(cut as u32).max(2)
    }

    /// Linux `dctcp_react_to_loss`, called by `dctcp_state`: half of the remaining window.
    fn on_loss_after_mark(&mut self, window: &mut Window) {
        window.ssthresh = self.reduce(window);
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        window.grow_as_reno(ack.delivered);
    }

    fn needs(&self) -> Needs {
        Needs { feedback: Feedback::Runs, needs_ecn: true, ..Needs::default() }
    }

    fn on_echo(&mut self, ack: &Ack, echoed: bool) {
        self.delivered += ack.delivered;
        self.marked += if echoed { ack.delivered } else { 0 };
        if ack.una >= self.window_end {
            self.update_alpha();
            self.window_end = ack.nxt;
        }
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = f64::from(self.alpha) / f64::from(ONE);
    }
}

const VARS: &[Var] = &[Var { name: "alpha", unit: "1", doc: "Moving average of the marked part" }];

impl Control for Dctcp {
    type Params = DctcpParams;
    const NAME: &'static str = "dctcp";
    const DOC: &'static str = "Falls in proportion to the part of the window marked (RFC 8257)";

    fn new(params: &DctcpParams) -> Dctcp {
        let alpha = (params.initial_alpha * f64::from(ONE)) as u32;
        Dctcp { alpha, delivered: 0, marked: 0, window_end: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::params::Params as _;
    use sojourn_aqm::{Span, Time};

    fn dctcp() -> Dctcp {
        Dctcp::new(&DctcpParams::of_dialect("linux").expect("the dialect is declared"))
    }

    /// `alpha` after windows of ten packets each, of which `marked` are marked.
    fn windows(marked: u32) -> Vec<u32> {
        let mut dctcp = dctcp();
        let ack = |una, delivered| Ack {
            now: Time::ZERO,
            delivered,
            rtt: None,
            srtt: Span::ZERO,
            una,
            nxt: una + 10,
            paced: false,
        };
        (dctcp.window_end, dctcp.delivered) = (10, 0);
        let mut window = |n: u32| {
            dctcp.on_echo(&ack(10 * n + 5, marked), true);
            dctcp.on_echo(&Ack { nxt: 10 * n + 20, ..ack(10 * n + 10, 10 - marked) }, false);
            dctcp.alpha
        };
        (0..10).map(&mut window).collect()
    }

    #[test]
    fn alpha_decays_without_marks() {
        assert_eq!(windows(0), [960, 900, 844, 792, 743, 697, 654, 614, 576, 540]);
    }

    #[test]
    fn alpha_follows_the_marked_fraction() {
        assert_eq!(windows(1), [966, 912, 861, 814, 770, 728, 689, 652, 618, 586]);
    }

    #[test]
    fn the_reduction_is_half_of_alpha() {
        for (alpha, expected) in [(1024, 50), (512, 75), (102, 96)] {
            let mut dctcp = Dctcp { alpha, ..dctcp() };
            assert_eq!(dctcp.reduce_on_mark(&Window::new(100)), expected);
        }
        assert_eq!(dctcp().reduce(&Window::new(100)), 50);
    }
}

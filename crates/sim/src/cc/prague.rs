//! Prague: the scalable control of L4S, paced, on accurate feedback (RFC 9331; L4STeam `tcp_prague.c` 0.7 with
//! windows; endpoints sheet §2.4).
//!
//! Deviations from that code: real numbers; its mode of rates for windows below four packets, its variation
//! of the pace by 3 % and its smaller segments on slow paths are left out, so that the window stays at two
//! packets or more; nobody watches for queues that mark by the classic rules. Without ECN it is Reno, paced.

use sojourn_aqm::params;
use sojourn_aqm::{Span, Time, Var};

use super::{CongestionControl, Control, Feedback, Needs, Progress, Stage, Start, Steers, Window};

params! {
    /// Parameters of Prague.
    pub struct PragueParams {
        dialects: "l4steam" = "L4STeam tcp_prague.c 0.7, windows";
        /// Flows with shorter round trips behave as if theirs were this one.
        rtt_target: Span, POSITIVE, "prague_rtt_target" => Span::from_millis(25);
        /// Round trips after slow start before that begins.
        rtt_transition: u64, ANY, "prague_rtt_transition; 500 before version 0.7" => 4;
        /// Part of the window taken for marked after the first mark, which halves the window.
        initial_alpha: f64, FRACTION, "prague_alpha_mode 0; 1 in earlier versions" => 0.0;
    }
}

/// The marked part is averaged with a gain of 1/16 (`PRAGUE_SHIFT_G`).
const GAIN: f64 = 1.0 / 16.0;
/// A burst takes at most 2^-12 s (`prague_burst_shift`).
const BURST: Span = Span::from_nanos(1_000_000_000 >> 12);
/// Growth is not scaled beyond this (`MAX_SCALED_RTT`).
const MAX_SCALED_RTT: Span = Span::from_millis(100);
/// The window never falls below (`MIN_CWND_RTT`).
const MIN_CWND: f64 = 2.0;

const VARS: &[Var] = &[
    Var { name: "alpha", unit: "1", doc: "Moving average of the marked part" },
    Var { name: "frac_cwnd", unit: "packets", doc: "Window with its fraction" },
    Var { name: "pacing_rate", unit: "packets/s", doc: "Pace" },
];

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    params: PragueParams,
    /// The window with its fraction, and the integer that the sender was given.
    cwnd: f64,
    shown: u32,
    alpha: f64,
    saw_mark: bool,
    srtt: Span,
    pace: Option<f64>,
    /// Packets of the present round.
    delivered: u32,
    marked: u32,
    round_end: u32,
    /// Round trips since slow start.
    rounds: u64,
    averaged_at: Time,
    reduced_at: Option<Time>,
}

impl Prague {
    /// Whether the flow behaves as if its round trip were the target.
    fn is_rtt_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= self.params.rtt_transition
    }

    /// At most one reduction per round trip, or per target where that is longer.
    fn on_marks(&mut self, now: Time, una: u32, window: &mut Window) {
        if !self.saw_mark {
            self.saw_mark = true;
            self.alpha = self.params.initial_alpha;
            self.cut(now, 0.5, window);
            return;
        }
        let apart =
            if self.is_rtt_independent(window) { self.params.rtt_target } else { Span::ZERO };
        let apart = apart.max(self.srtt);
        if self.reduced_at.is_none_or(|at| now.since(at) >= apart) && una > 0 {
            self.cut(now, self.alpha / 2.0, window);
        }
    }

    fn cut(&mut self, now: Time, part: f64, window: &mut Window) {
        self.reduced_at = Some(now);
        self.cwnd = (self.cwnd * (1.0 - part)).max(MIN_CWND);
        window.ssthresh = self.cwnd as u32;
    }

    fn grow(&mut self, p: &Progress, window: &mut Window) {
        let mut unmarked = p.ack.delivered.saturating_sub(p.marks);
        if unmarked == 0 || !p.limited {
            return;
        }
        if window.in_slow_start() {
            unmarked = window.slow_start(unmarked);
            (self.cwnd, self.shown) = (f64::from(window.cwnd), window.cwnd);
        }
        self.cwnd += f64::from(unmarked) * self.increase() / self.cwnd;
    }

    /// Packets of growth per round trip: one per target, in the proportion of the rates.
    fn increase(&self) -> f64 {
        let scaled = self.rounds >= self.params.rtt_transition && self.srtt <= MAX_SCALED_RTT;
        let ratio = self.srtt.as_secs() / self.params.rtt_target.as_secs();
        if scaled && ratio < 1.0 { ratio * ratio } else { 1.0 }
    }

    /// Once per round trip, or per target where that is longer, the marked part is averaged.
    fn average(&mut self, p: &Progress, window: &Window) {
        self.delivered += p.ack.delivered;
        self.marked += p.marks;
        let waits = self.is_rtt_independent(window)
            && p.ack.now.since(self.averaged_at) < self.params.rtt_target;
        if p.ack.una < self.round_end || waits {
            return;
        }
        if self.saw_mark {
            let part = f64::from(self.marked) / f64::from(self.delivered.max(1));
            self.alpha += GAIN * (part.min(1.0) - self.alpha);
            self.averaged_at = p.ack.now;
        }
        (self.delivered, self.marked, self.round_end) = (0, 0, p.ack.nxt);
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    /// The sender's window follows by one packet per acknowledgement.
    fn show(&mut self, window: &mut Window) {
        let wanted = libm::ceil(self.cwnd.max(MIN_CWND)) as u32;
        window.cwnd = match window.cwnd {
            cwnd if cwnd > wanted => cwnd - 1,
            cwnd if cwnd < wanted => cwnd + 1,
            cwnd => cwnd,
        };
        self.shown = window.cwnd;
    }
}

impl CongestionControl for Prague {
    fn needs(&self) -> Needs {
        Needs {
            steers: Steers::Window,
            feedback: Feedback::Accurate,
            low_latency: true,
            needs_ecn: true,
            rate_samples: false,
            pacing: Some(BURST),
        }
    }

    fn on_start(&mut self, start: &Start) {
        self.averaged_at = start.now;
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        self.srtt = p.srtt;
        if window.cwnd != self.shown {
            self.cwnd = f64::from(window.cwnd); // the sender has moved it: a loss, or idle time
        }
        if p.stage == Stage::Loss {
            window.grow_as_reno(p.ack.delivered);
            (self.cwnd, self.shown) = (f64::from(window.cwnd), window.cwnd);
        } else {
            if p.marks > 0 {
                self.on_marks(p.ack.now, p.ack.una, window);
            }
            self.grow(p, window);
            self.show(window);
        }
        self.average(p, window);
        if self.srtt > Span::ZERO {
            let starting = window.cwnd < window.ssthresh / 2;
            let packets = self.cwnd.max(f64::from(p.in_flight)) * if starting { 2.0 } else { 1.0 };
            self.pace = Some(packets / self.srtt.as_secs());
        }
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pace
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        out.copy_from_slice(&[self.alpha, self.cwnd, self.pace.unwrap_or(f64::NAN)]);
    }
}

impl Control for Prague {
    type Params = PragueParams;
    const NAME: &'static str = "prague";
    const DOC: &'static str = "Scalable, paced, for queues of low latency (RFC 9331, L4STeam)";

    fn new(params: &PragueParams) -> Prague {
        Prague {
            params: params.clone(),
            cwnd: MIN_CWND,
            shown: 0,
            alpha: params.initial_alpha,
            saw_mark: false,
            srtt: Span::ZERO,
            pace: None,
            delivered: 0,
            marked: 0,
            round_end: 0,
            rounds: 0,
            averaged_at: Time::ZERO,
            reduced_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Ack;
    use sojourn_aqm::params::Params as _;

    /// A flow in congestion avoidance, its window the only thing that limits it.
    struct Flow {
        prague: Prague,
        window: Window,
        una: u32,
        now_ms: u64,
        rtt_ms: u64,
    }

    impl Flow {
        fn start(cwnd: u32, rtt_ms: u64) -> Flow {
            let mut prague = Prague::new(&PragueParams::of_dialect("l4steam").unwrap());
            prague.round_end = cwnd;
            let window = Window::above(cwnd, cwnd);
            Flow { prague, window, una: 0, now_ms: 0, rtt_ms }
        }

        /// A round trip with one acknowledgement per packet, the first `marks` of them with a mark.
        fn round(&mut self, marks: u32) {
            self.now_ms += self.rtt_ms;
            let packets = self.window.cwnd;
            for n in 0..packets {
                self.una += 1;
                let srtt = Span::from_millis(self.rtt_ms);
                let progress = Progress {
                    ack: Ack {
                        now: Time::ZERO + Span::from_millis(self.now_ms),
                        delivered: 1,
                        rtt: Some(srtt),
                        una: self.una,
                        nxt: self.una + packets,
                        paced: true,
                    },
                    in_flight: packets,
                    prior_in_flight: packets,
                    lost: 0,
                    marks: u32::from(n < marks),
                    limited: true,
                    stage: Stage::Open,
                    srtt,
                    delivered_total: 0,
                    lost_total: 0,
                    rate: None,
                };
                self.prague.on_progress(&progress, &mut self.window);
            }
        }
    }

    #[test]
    fn section_2_4_the_first_mark_halves_and_ends_slow_start() {
        let mut flow = Flow::start(100, 50);
        flow.window.ssthresh = u32::MAX;
        flow.round(1);
        assert!(!flow.window.in_slow_start());
        assert!((flow.prague.cwnd - 51.0).abs() < 1.5, "{}", flow.prague.cwnd);
    }

    #[test]
    fn section_2_4_a_reduction_is_half_of_the_average_and_comes_once_per_round() {
        let mut flow = Flow::start(100, 50);
        (flow.prague.saw_mark, flow.prague.alpha) = (true, 0.2);
        flow.round(40);
        // 90 are left, and the packets without a mark add 60/90; the average takes in 0.4.
        assert!((flow.prague.cwnd - 90.66).abs() < 0.05, "{}", flow.prague.cwnd);
        assert!((flow.prague.alpha - (0.2 + 0.2 / 16.0)).abs() < 1e-3, "{}", flow.prague.alpha);
    }

    #[test]
    fn section_2_4_growth_is_that_of_a_flow_with_the_target_round_trip() {
        // At 5 ms a fifth of the target: 1/25 of a packet per round trip, once four rounds have passed.
        let grown = |rtt_ms, rounds: u64| {
            let mut flow = Flow::start(100, rtt_ms);
            flow.prague.rounds = rounds;
            flow.round(0);
            flow.prague.cwnd - 100.0
        };
        assert!((grown(50, 4) - 1.0).abs() < 0.01);
        assert!((grown(5, 4) - 0.04).abs() < 0.001);
        assert!((grown(5, 0) - 1.0).abs() < 0.01);
    }

    #[test]
    fn section_2_4_a_short_round_trip_averages_per_target() {
        let mut flow = Flow::start(20, 5);
        (flow.prague.saw_mark, flow.prague.rounds) = (true, 10);
        flow.prague.averaged_at = Time::ZERO;
        let averages: Vec<bool> = (0..10)
            .map(|_| {
                let before = flow.prague.alpha;
                flow.round(20);
                flow.prague.alpha != before
            })
            .collect();
        assert_eq!(averages.iter().filter(|&&changed| changed).count(), 2, "{averages:?}");
    }

    #[test]
    fn section_2_4_losses_halve() {
        assert_eq!(Flow::start(20, 50).prague.reduce(&Window::new(31)), 15);
        assert_eq!(Flow::start(20, 50).prague.reduce(&Window::new(3)), 2);
    }
}

//! Prague: the scalable control of L4S, paced, on accurate feedback (RFC 9331; L4STeam `tcp_prague.c` 0.7 with
//! its defaults; draft-briscoe-iccrg-prague-congestion-control-04; endpoints sheet §2.4). By the window it
//! steers above four packets, by the rate below, where windows are too coarse.
//!
//! Deviations from that code: real numbers; segments keep their size on paths slower than 1 Mbit/s; losses
//! are the sender's affair, so that the window comes down in proportion to what is delivered instead of by
//! one per acknowledgement; the first mark ends slow start also where its acknowledgement covers packets
//! without mark (there slow start goes on and forgets the halving); the slow average of the round trip
//! starts with a sample.
//! Like version 0.7 it does not watch for queues that mark by the classic rules, and without ECN it is Reno,
//! not paced.

use sojourn_aqm::params;
use sojourn_aqm::{Span, Time, Var};

use super::{
    Ack, CongestionControl, Control, Feedback, Needs, Progress, Stage, Start, Steers, Window,
};

params! {
    /// Parameters of Prague.
    pub struct PragueParams {
        dialects: "l4steam" = "L4STeam tcp_prague.c 0.7";
        /// Flows with shorter round trips behave as if theirs were this one.
        rtt_target: Span, POSITIVE, "prague_rtt_target" => Span::from_millis(25);
        /// Round trips after slow start before that begins.
        rtt_transition: u64, ANY, "prague_rtt_transition; 500 before version 0.7" => 4;
        /// Part of the window taken for marked after the first mark, which halves the window.
        initial_alpha: f64, FRACTION, "prague_alpha_mode 0; 1 in earlier versions" => 0.0;
        /// It steers by the rate while its window is at most so many packets of 1500 bytes; 0: never.
        cwnd_transit: u64, ANY, "prague_cwnd_transit, prague_cwnd_mode 2" => 4;
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
/// The rate never falls below 100 kbit/s (`MINIMUM_RATE`).
const MIN_RATE: f64 = 12_500.0;
/// Growth is that of a flow with packets of this size (`MTU_SYS`).
const USUAL_BYTES: f64 = 1500.0;
/// In the first half of a round trip the rate is higher by this part, in the second lower (`RATE_OFFSET`).
const RATE_OFFSET: f64 = 4.0 / 128.0;
/// The gain of the slow average of round trips (`HSRTT_SHIFT`).
const SLOW_GAIN: f64 = 1.0 / 128.0;

const VARS: &[Var] = &[
    Var { name: "alpha", unit: "1", doc: "Moving average of the marked part" },
    Var { name: "frac_cwnd", unit: "packets", doc: "Window with its fraction" },
    Var { name: "pacing_rate", unit: "packets/s", doc: "Pace" },
];

/// What marks and growth act on; the other follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Steering {
    Window,
    Rate,
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    params: PragueParams,
    /// No ECN: it is Reno.
    plain: bool,
    steering: Steering,
    packet_bytes: f64,
    /// The window with its fraction, and the integer that the sender was given.
    cwnd: f64,
    shown: u32,
    /// Bytes per second.
    rate: f64,
    alpha: f64,
    saw_mark: bool,
    srtt: Span,
    /// A slow average of it, in seconds.
    slow_rtt: Option<f64>,
    pace: Option<f64>,
    /// Packets of the present round.
    delivered: u32,
    marked: u32,
    round_end: u32,
    /// Round trips since slow start.
    rounds: u64,
    averaged_at: Time,
    reduced_at: Option<Time>,
    /// What had been sent at the last mark that could reduce; none after something beyond was delivered.
    reducing: Option<u32>,
    /// A loss is being repaired; the rate before it.
    in_loss: bool,
    rate_before_loss: f64,
}

impl Prague {
    /// Whether the flow behaves as if its round trip were the target.
    fn is_rtt_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= self.params.rtt_transition
    }

    fn is_by_rate(&self, window: &Window) -> bool {
        self.steering == Steering::Rate && self.is_rtt_independent(window)
    }

    fn virtual_rtt(&self) -> Span {
        self.params.rtt_target.max(self.srtt)
    }

    /// The window of the present rate.
    fn window_of_rate(&self) -> f64 {
        let rtt = self.slow_rtt.unwrap_or(self.srtt.as_secs());
        self.rate * rtt / self.packet_bytes
    }

    /// The rate of the present window.
    fn rate_of_window(&self) -> f64 {
        self.rate_of(self.cwnd)
    }

    fn rate_of(&self, packets: f64) -> f64 {
        match self.srtt {
            Span::ZERO => MIN_RATE,
            srtt => (packets * self.packet_bytes / srtt.as_secs()).max(MIN_RATE),
        }
    }

    /// At most one reduction per round trip, or per target where that is longer.
    fn on_marks(&mut self, ack: &Ack, window: &mut Window) {
        let first = !std::mem::replace(&mut self.saw_mark, true);
        if self.reducing.is_none() {
            self.reducing = Some(ack.nxt);
            let early = |at| ack.now.since(at) < self.params.rtt_target;
            if !(self.is_rtt_independent(window) && self.reduced_at.is_some_and(early)) {
                self.reduced_at = Some(ack.now);
                let part = if first { 0.0 } else { self.alpha / 2.0 };
                self.cut(part, window);
            }
        }
        if first {
            self.alpha = self.params.initial_alpha;
            self.cut(0.5, window);
            window.ssthresh = window.ssthresh.min(self.whole_window());
        }
    }

    fn cut(&mut self, part: f64, window: &Window) {
        if self.is_by_rate(window) {
            self.rate = (self.rate * (1.0 - part)).max(MIN_RATE);
            self.cwnd = self.window_of_rate();
        } else {
            self.cwnd *= 1.0 - part;
            self.rate = self.rate_of_window();
        }
    }

    fn grow_unmarked(&mut self, p: &Progress, window: &mut Window) {
        let mut unmarked = p.ack.delivered.saturating_sub(p.marks);
        if unmarked == 0 || self.in_loss || !p.limited {
            return;
        }
        if window.in_slow_start() {
            unmarked = window.slow_start(unmarked);
            (self.cwnd, self.shown) = (f64::from(window.cwnd), window.cwnd);
        }
        let growth = f64::from(unmarked) * USUAL_BYTES;
        if self.is_by_rate(window) {
            let rtt = self.virtual_rtt().as_secs();
            let packets = libm::ceil(self.rate * rtt / self.packet_bytes);
            self.rate += growth / rtt / packets;
            self.cwnd = self.cwnd.max(self.window_of_rate());
        } else {
            self.cwnd += growth / self.packet_bytes * self.increase() / self.cwnd;
            self.rate = self.rate.max(self.rate_of_window());
        }
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
        if self.srtt > Span::ZERO {
            let slow = self.slow_rtt.get_or_insert(self.srtt.as_secs());
            *slow += SLOW_GAIN * (self.srtt.as_secs() - *slow);
        }
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn whole_window(&self) -> u32 {
        libm::ceil(self.cwnd.max(MIN_CWND)) as u32
    }

    /// The sender's window follows by one packet per acknowledgement.
    fn show(&mut self, window: &mut Window) {
        let wanted = self.whole_window();
        if window.cwnd > wanted {
            window.cwnd -= 1;
            window.ssthresh = window.cwnd;
        } else if window.cwnd < wanted {
            window.cwnd += 1;
        }
        self.shown = window.cwnd;
    }

    /// Sets the pace: that of the rate, higher in the first half of a round trip so that a step marks
    /// in every one; or all that is in the network in a round trip.
    fn set_pace(&mut self, now: Time, in_flight: u32, window: &Window) {
        if self.srtt == Span::ZERO {
            return;
        }
        let mut pace = if self.is_by_rate(window) {
            let first_half = now.since(self.averaged_at) < self.virtual_rtt().half();
            self.rate * (1.0 + if first_half { RATE_OFFSET } else { -RATE_OFFSET })
        } else {
            self.rate = self.rate_of(libm::floor(self.cwnd).max(f64::from(in_flight)));
            self.rate
        };
        if window.cwnd < window.ssthresh / 2 {
            pace *= 2.0;
        }
        self.pace = Some(pace / self.packet_bytes);
    }

    fn choose_steering(&mut self, window: &Window) {
        let small = f64::from(window.cwnd) * self.packet_bytes
            <= self.params.cwnd_transit as f64 * USUAL_BYTES;
        if self.saw_mark && small {
            self.steering = Steering::Rate;
            self.cwnd = self.window_of_rate();
        } else {
            self.steering = Steering::Window;
            self.rate = self.rate_of_window();
        }
    }
}

impl CongestionControl for Prague {
    fn needs(&self) -> Needs {
        if self.plain {
            return Needs::default();
        }
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
        self.plain = !start.ecn;
        self.packet_bytes = f64::from(start.packet_bytes);
        self.averaged_at = start.now;
        self.cwnd = f64::from(start.initial_window);
        self.slow_rtt = start.rtt.map(Span::as_secs);
        self.srtt = start.rtt.unwrap_or(Span::ZERO);
        self.rate = self.rate_of_window();
        self.set_pace(start.now, 0, &Window::new(start.initial_window));
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        debug_assert!(self.plain, "with ECN it steers the window itself");
        window.grow_as_reno(ack.delivered);
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        self.srtt = p.srtt;
        if window.cwnd != self.shown && !self.in_loss {
            self.cwnd = f64::from(window.cwnd); // the sender has moved it: idle time
            self.rate = self.rate_of_window();
        }
        self.in_loss &= p.stage != Stage::Open;
        self.reducing = self.reducing.filter(|&point| p.ack.una <= point);
        if p.marks > 0 {
            self.on_marks(&p.ack, window);
        }
        self.grow_unmarked(p, window);
        self.show(window);
        self.average(p, window);
        self.set_pace(p.ack.now, p.in_flight, window);
        self.choose_steering(window);
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        if !self.plain {
            self.rate_before_loss = self.rate;
            self.cut(0.5, window);
            self.in_loss = true;
        }
        (window.cwnd / 2).max(2)
    }

    fn undo(&mut self, window: &mut Window) {
        if !self.plain {
            self.in_loss = false;
            self.rate = self.rate.max(self.rate_before_loss);
            self.cwnd = self.window_of_rate();
            self.shown = window.cwnd;
        }
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
            plain: false,
            steering: Steering::Window,
            packet_bytes: USUAL_BYTES,
            cwnd: MIN_CWND,
            shown: 0,
            rate: MIN_RATE,
            alpha: params.initial_alpha,
            saw_mark: false,
            srtt: Span::ZERO,
            slow_rtt: None,
            pace: None,
            delivered: 0,
            marked: 0,
            round_end: 0,
            rounds: 0,
            averaged_at: Time::ZERO,
            reduced_at: None,
            reducing: None,
            in_loss: false,
            rate_before_loss: 0.0,
        }
    }
}

#[cfg(test)]
#[path = "prague_tests.rs"]
mod tests;

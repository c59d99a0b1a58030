//! Prague: scalable congestion control for L4S, paced, with accurate ECN feedback (RFC 9331;
//! draft-briscoe-iccrg-prague-congestion-control-04; L4STeam `tcp_prague.c` with its defaults).
//! Version 0.7 controls the window above four packets and the rate below, because small windows are
//! too coarse. Version 0.6 has no rate: its window is an integer plus a fraction (`cwnd_cnt`).
//!
//! Deviations from that code: real numbers; segments keep their size, whereas 0.7 shrinks them
//! below 1 Mbit/s so that two leave per 25 ms (`packet = "150B"` is its smallest); the sender
//! handles losses, so the window falls in proportion to delivered packets instead of by one packet
//! per acknowledgement; the first mark ends slow start even if its acknowledgement covers unmarked
//! packets (in that code slow start goes on and the halving is lost); the slow average of the round
//! trip starts with a sample. As both versions do by default, it does not detect queues that mark
//! by the classic rules, and without ECN it is Reno without pacing. Later commits of 0.6 pace by
//! `frac_cwnd`, which stays at the initial window during slow start; we do not follow these.

mod params;

use sojourn_aqm::{Span, Time, Var};

pub use params::PragueParams;

use super::{
    Ack, CongestionControl, Control, Feedback, Needs, Progress, RecoveryStage, Start, Window,
    WindowControl,
};

/// Gain of the average of the marked fraction (`PRAGUE_SHIFT_G`).
const GAIN: f64 = 1.0 / 16.0;
/// Longest burst: 2^-12 s (`prague_burst_shift`).
const BURST: Span = Span::from_nanos(1_000_000_000 >> 12);
/// Growth is not scaled above this round trip (`MAX_SCALED_RTT`).
const MAX_SCALED_RTT: Span = Span::from_millis(100);
/// Smallest window (`MIN_CWND_RTT`; `MIN_CWND` in 0.6).
const MIN_CWND_RTT: f64 = 2.0;
/// Smallest rate, 100 kbit/s (`MINIMUM_RATE`), in bytes per second.
const MINIMUM_RATE: f64 = 12_500.0;
/// Growth is that of a flow with packets of this size (`MTU_SYS`).
const MTU_SYS: f64 = 1500.0;
/// The rate is raised by this fraction in the first half of a round trip and lowered by it in the
/// second (`RATE_OFFSET`).
const RATE_OFFSET: f64 = 4.0 / 128.0;
/// The gain of the slow average of round trips (`HSRTT_SHIFT`).
const HSRTT_GAIN: f64 = 1.0 / 128.0;

const VARS: &[Var] = &[
    Var { name: "alpha", unit: "1", doc: "Moving average of the marked part" },
    Var { name: "frac_cwnd", unit: "packets", doc: "Window with its fraction" },
    Var { name: "pacing_rate", unit: "packets/s", doc: "Pace" },
];

/// Whether marks and growth act on the window or on the rate; the other follows (`cwnd_mode`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CwndMode {
    Window,
    Rate,
}

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    params: PragueParams,
    /// Whether this is version 0.6: the window is an integer, and `cwnd` differs from it by at most
    /// one packet.
    is_whole: bool,
    /// Whether it behaves as Reno, because ECN is missing.
    is_reno: bool,
    mode: CwndMode,
    packet_bytes: f64,
    /// The window with its fraction (`frac_cwnd`), and the integer last passed to the sender.
    cwnd: f64,
    sender_cwnd: u32,
    /// Bytes per second.
    rate: f64,
    alpha: f64,
    saw_ce: bool,
    srtt: Span,
    /// A slow average of the round trip, in seconds.
    hsrtt: Option<f64>,
    pacing_rate: Option<f64>,
    /// Packets delivered in the current round.
    delivered: u32,
    marked: u32,
    round_end: u32,
    /// Round trips since slow start.
    rounds: u64,
    alpha_stamp: Time,
    cwr_stamp: Option<Time>,
    /// SND.NXT at the last reduction; `None` once a later segment is delivered.
    cwr_end: Option<u32>,
    /// Whether a loss is being repaired, and the rate before it.
    in_loss: bool,
    rate_before_loss: f64,
}

impl Prague {
    /// Whether the flow behaves as if its round trip were the target (`prague_is_rtt_indep`).
    fn is_rtt_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= self.params.rtt_transition
    }

    fn is_rate_based(&self, window: &Window) -> bool {
        self.mode == CwndMode::Rate && self.is_rtt_independent(window)
    }

    fn virtual_rtt(&self) -> Span {
        self.params.rtt_target.max(self.srtt)
    }

    /// The window that corresponds to the rate.
    fn window_of_rate(&self) -> f64 {
        let rtt = self.hsrtt.unwrap_or(self.srtt.as_secs());
        self.rate * rtt / self.packet_bytes
    }

    /// The rate that corresponds to the window.
    fn rate_of_window(&self) -> f64 {
        self.rate_of(self.cwnd)
    }

    fn rate_of(&self, packets: f64) -> f64 {
        match self.srtt {
            Span::ZERO => MINIMUM_RATE,
            srtt => (packets * self.packet_bytes / srtt.as_secs()).max(MINIMUM_RATE),
        }
    }

    /// Reduces the window at most once per round trip, or once per target if that is longer.
    fn enter_cwr(&mut self, ack: &Ack, window: &mut Window) {
        let first = !std::mem::replace(&mut self.saw_ce, true);
        if self.cwr_end.is_none() {
            self.cwr_end = Some(ack.nxt);
            let early = |at| ack.now.since(at) < self.params.rtt_target;
            if !(self.is_rtt_independent(window) && self.cwr_stamp.is_some_and(early)) {
                self.cwr_stamp = Some(ack.now);
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
        if self.is_rate_based(window) {
            self.rate = (self.rate * (1.0 - part)).max(MINIMUM_RATE);
            self.cwnd = self.window_of_rate();
        } else {
            self.cwnd *= 1.0 - part;
            self.rate = self.rate_of_window();
        }
    }

    fn update_cwnd(&mut self, p: &Progress, window: &mut Window) {
        let mut unmarked = p.ack.delivered.saturating_sub(p.marks);
        if unmarked == 0 || self.in_loss || !p.limited {
            return;
        }
        if window.in_slow_start() {
            unmarked = window.slow_start(unmarked);
            (self.cwnd, self.sender_cwnd) = (f64::from(window.cwnd), window.cwnd);
        }
        let growth = f64::from(unmarked) * MTU_SYS;
        if self.is_whole {
            let packets = f64::from(unmarked) * self.additive_increase();
            self.cwnd += packets / f64::from(window.cwnd);
        } else if self.is_rate_based(window) {
            let rtt = self.virtual_rtt().as_secs();
            let packets = libm::ceil(self.rate * rtt / self.packet_bytes);
            self.rate += growth / rtt / packets;
            self.cwnd = self.cwnd.max(self.window_of_rate());
        } else {
            self.cwnd += growth / self.packet_bytes * self.additive_increase() / self.cwnd;
            self.rate = self.rate.max(self.rate_of_window());
        }
    }

    /// Growth in packets per round trip: that of a flow with the target as its round trip.
    fn additive_increase(&self) -> f64 {
        let scaled = self.rounds >= self.params.rtt_transition && self.srtt <= MAX_SCALED_RTT;
        let ratio = self.srtt.as_secs() / self.params.rtt_target.as_secs();
        if scaled && ratio < 1.0 { ratio * ratio } else { 1.0 }
    }

    /// Updates the average of the marked fraction once per round trip, or once per target if that
    /// is longer.
    fn update_alpha(&mut self, p: &Progress, window: &Window) {
        self.delivered += p.ack.delivered;
        self.marked += p.marks;
        let waits = self.is_rtt_independent(window)
            && p.ack.now.since(self.alpha_stamp) < self.params.rtt_target;
        if p.ack.una < self.round_end || waits {
            return;
        }
        if self.saw_ce {
            let part = f64::from(self.marked) / f64::from(self.delivered.max(1));
            self.alpha += GAIN * (part.min(1.0) - self.alpha);
            self.alpha_stamp = p.ack.now;
        }
        (self.delivered, self.marked, self.round_end) = (0, 0, p.ack.nxt);
        if self.srtt > Span::ZERO {
            let slow = self.hsrtt.get_or_insert(self.srtt.as_secs());
            *slow += HSRTT_GAIN * (self.srtt.as_secs() - *slow);
        }
        if !window.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn whole_window(&self) -> u32 {
        libm::ceil(self.cwnd.max(MIN_CWND_RTT)) as u32
    }

    /// The window that the sender moves towards. Version 0.6 follows in whole packets and discards
    /// reductions below the smallest window.
    fn wanted_window(&mut self, now: u32) -> u32 {
        if !self.is_whole {
            return self.whole_window();
        }
        let carry = self.cwnd - f64::from(now);
        if carry <= -1.0 && f64::from(now) <= MIN_CWND_RTT {
            self.cwnd = MIN_CWND_RTT;
            return now;
        }
        now.saturating_add_signed(carry as i32)
    }

    /// Moves the sender's window by one packet per acknowledgement.
    fn move_sender_cwnd(&mut self, window: &mut Window) {
        let wanted = self.wanted_window(window.cwnd);
        if window.cwnd > wanted {
            window.cwnd -= 1;
            window.ssthresh = window.cwnd;
        } else if window.cwnd < wanted {
            window.cwnd += 1;
        }
        self.sender_cwnd = window.cwnd;
    }

    /// Sets the pacing rate. In rate mode it is the rate, raised in the first half of a round trip
    /// so that a step AQM marks packets in every round trip; in window mode it is the packets in
    /// flight per round trip.
    fn update_pacing_rate(&mut self, now: Time, in_flight: u32, window: &Window) {
        if self.srtt == Span::ZERO {
            return;
        }
        let mut pacing_rate = if self.is_rate_based(window) {
            let first_half = now.since(self.alpha_stamp) < self.virtual_rtt().half();
            self.rate * (1.0 + if first_half { RATE_OFFSET } else { -RATE_OFFSET })
        } else if self.is_whole {
            let packets = f64::from(window.cwnd.max(in_flight));
            packets * self.packet_bytes / self.srtt.as_secs()
        } else {
            self.rate = self.rate_of(libm::floor(self.cwnd).max(f64::from(in_flight)));
            self.rate
        };
        if window.cwnd < window.ssthresh / 2 {
            pacing_rate *= 2.0;
        }
        self.pacing_rate = Some(pacing_rate / self.packet_bytes);
    }

    fn set_mode(&mut self, window: &Window) {
        let small =
            f64::from(window.cwnd) * self.packet_bytes <= self.params.cwnd_transit as f64 * MTU_SYS;
        if self.saw_ce && small {
            self.mode = CwndMode::Rate;
            self.cwnd = self.window_of_rate();
        } else {
            self.mode = CwndMode::Window;
            self.rate = self.rate_of_window();
        }
    }
}

impl CongestionControl for Prague {
    fn needs(&self) -> Needs {
        if self.is_reno {
            return Needs::default();
        }
        Needs {
            window_control: WindowControl::Window,
            feedback: Feedback::Accurate,
            low_latency: true,
            needs_ecn: true,
            rtt_samples: false,
            rate_samples: false,
            pacing: Some(BURST),
            // tcp_prague.c 0.7, head: pacing needs `fq` on the sender's interface.
            fq: true,
        }
    }

    fn on_start(&mut self, start: &Start) {
        self.is_reno = !start.ecn;
        self.packet_bytes = f64::from(start.packet_bytes);
        self.alpha_stamp = start.now;
        self.cwnd = f64::from(start.initial_window);
        self.hsrtt = start.rtt.map(Span::as_secs);
        self.srtt = start.rtt.unwrap_or(Span::ZERO);
        self.rate = self.rate_of_window();
        self.update_pacing_rate(start.now, 0, &Window::new(start.initial_window));
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        debug_assert!(self.is_reno, "with ECN it sets the window itself");
        window.grow_as_reno(ack.delivered);
    }

    fn on_progress(&mut self, p: &Progress, window: &mut Window) {
        self.srtt = p.srtt;
        if window.cwnd != self.sender_cwnd && !self.in_loss {
            self.cwnd = f64::from(window.cwnd); // the sender has changed it after an idle period
            self.rate = self.rate_of_window();
        }
        self.in_loss &= p.recovery != RecoveryStage::Open;
        self.cwr_end = self.cwr_end.filter(|&point| p.ack.una <= point);
        if p.marks > 0 {
            self.enter_cwr(&p.ack, window);
        }
        self.update_cwnd(p, window);
        self.move_sender_cwnd(window);
        self.update_alpha(p, window);
        self.update_pacing_rate(p.ack.now, p.in_flight, window);
        self.set_mode(window);
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        if !self.is_reno {
            self.rate_before_loss = self.rate;
            self.cut(0.5, window);
            self.in_loss = true;
        }
        (window.cwnd / 2).max(2)
    }

    fn undo(&mut self, window: &mut Window) {
        if !self.is_reno {
            self.in_loss = false;
            self.rate = self.rate.max(self.rate_before_loss);
            self.cwnd = if self.is_whole { f64::from(window.cwnd) } else { self.window_of_rate() };
            self.sender_cwnd = window.cwnd;
        }
    }

    fn pacing_rate(&self) -> Option<f64> {
        self.pacing_rate
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        out.copy_from_slice(&[self.alpha, self.cwnd, self.pacing_rate.unwrap_or(f64::NAN)]);
    }
}

impl Control for Prague {
    type Params = PragueParams;
    const NAME: &'static str = "prague";
    const DOC: &'static str = "Scalable, paced, for queues of low latency (RFC 9331, L4STeam)";

    fn new(params: &PragueParams) -> Prague {
        Prague {
            params: params.clone(),
            is_whole: params.dialect == "0.6",
            is_reno: false,
            mode: CwndMode::Window,
            packet_bytes: MTU_SYS,
            cwnd: MIN_CWND_RTT,
            sender_cwnd: 0,
            rate: MINIMUM_RATE,
            alpha: params.initial_alpha,
            saw_ce: false,
            srtt: Span::ZERO,
            hsrtt: None,
            pacing_rate: None,
            delivered: 0,
            marked: 0,
            round_end: 0,
            rounds: 0,
            alpha_stamp: Time::ZERO,
            cwr_stamp: None,
            cwr_end: None,
            in_loss: false,
            rate_before_loss: 0.0,
        }
    }
}

#[cfg(test)]
#[path = "prague_tests.rs"]
mod tests;

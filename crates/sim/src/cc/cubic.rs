//! CUBIC (RFC 9438) in the integer arithmetic of Linux 6.1 (`tcp_cubic.c`).
//!
//! Deviations from the RFC are those of Linux: reductions start from the congestion window, not
//! from the amount of data in flight; growth is at most one packet per two delivered; `W_est`
//! always grows by 8/15 per window, never by 1; time is counted in jiffies of a millisecond; and
//! for 1/32 s the curve is not recomputed for the same window, even after a reduction. Deviation
//! from Linux: the cube root in `K` is exact, whereas Linux's is up to 0.2 % off (fact tcp-6).

use sojourn_aqm::params;
use sojourn_aqm::{Span, Time};

use super::hystart::{HyStart, SlowStartPath};
use super::hystart_plus::HyStartPlus;
use super::{Ack, CongestionControl, Control, Needs, Start, Window};

params! {
    /// Parameters of CUBIC.
    pub struct CubicParams {
        dialects: "linux" = "Linux 6.1 tcp_cubic.c: integer arithmetic";
        /// Part of the window kept on congestion, rounded to 1/1024.
        beta: f64, FRACTION, "Linux: 717/1024; RFC 9438 §4.6: 0.7" => 717.0 / 1024.0;
        /// Whether a loss below the former maximum releases bandwidth (RFC 9438 §4.7).
        fast_convergence: bool, ANY, "RFC 9438 §4.7" => true;
        /// Whether growth is at least that of Reno (RFC 9438 §4.3).
        reno_friendly: bool, ANY, "RFC 9438 §4.3" => true;
        /// Whether the Reno estimate counts acknowledgements instead of packets.
        friendly_counts_acks: bool, ANY, "Linux before 4.0: ca->ack_cnt, where cnt alone is \
            divided by the packets per acknowledgement" => false;
        /// Whether a mark leaves 0.85 of the window instead of `beta` (ABE).
        abe: bool, ANY, "RFC 8511 §3; Linux has no such option" => false;
        /// Whether slow start ends early, by delay or by the length of ACK trains.
        hystart: bool, ANY, "Linux 6.1" => true;
        /// Whether HyStart starts its rounds only at windows of 16 packets or more.
        hystart_late_rounds: bool, ANY, "Linux 6.1 as released: cubictcp_acked tests \
            the window, then hystart_update begins a round; 6.1.192 has it the other way round"
            => false;
        /// Whether slow start ends in two steps, by HyStart++ instead of HyStart.
        hystart_plus: bool, ANY, "RFC 9406; not in Linux" => false;
    }
}

/// Fractions are in 1/1024 (`BICTCP_BETA_SCALE`), times in 1/1024 s (`BICTCP_HZ`).
const SCALE: u64 = 1024;
/// C = 0.4 packets/s^3, as 410/1024 (RFC 9438 §4.6).
const C: u64 = 410;
/// 2^40 / C: from packets to the cube of 1/1024 s (`cube_factor`).
const CUBE_FACTOR: u64 = (1 << 40) / C;
/// Without a known `W_max`, at most 20 packets per increment: growth of 5 % or more per round trip
/// (Linux `bictcp_update`).
const MAX_CNT_WITHOUT_W_MAX: u32 = 20;
/// A jiffy of Linux with HZ = 1000.
const JIFFY_NANOS: u64 = 1_000_000;
const HZ: u64 = 1000;
/// Jiffies after the start of an epoch during which round-trip samples are ignored (Linux
/// `cubictcp_acked`).
const RTT_HOLDOFF: u64 = HZ;
/// Jiffies for which the curve is not recomputed for the same window (Linux `bictcp_update`).
const MIN_RECOMPUTE: u64 = HZ / 32;

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    params: CubicParams,
    beta_cubic: u64,
    payload_bytes: u32,
    hystart: HyStart,
    hystart_plus: HyStartPlus,
    delay_min: Option<Span>,
    w_max: u32,
    epoch: Option<Epoch>,
    /// When the curve was last computed, in jiffies, and for which window (Linux `last_time`,
    /// `last_cwnd`).
    computed_at: Option<(u64, u32)>,
    /// Packets to deliver per increment (Linux `cnt`).
    cnt: u32,
}

/// A congestion avoidance epoch (RFC 9438 §4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began, in jiffies.
    epoch_start: u64,
    /// The plateau of the curve: its window (Linux `bic_origin_point`), and `K`, the time from the
    /// start to the plateau in 1/1024 s.
    origin_point: u32,
    k: u64,
    /// RFC 9438 §4.3 `W_est`, and the packets acknowledged towards its next increment.
    w_est: u32,
    w_est_credit: u32,
}

fn jiffies(now: Time) -> u64 {
    now.as_nanos() / JIFFY_NANOS
}

impl Cubic {
    fn update(&mut self, ack: &Ack, window: &Window) {
        let (now, cwnd) = (jiffies(ack.now), window.cwnd);
        let acked = if self.params.friendly_counts_acks { 1 } else { ack.delivered };
        if let Some(epoch) = &mut self.epoch {
            epoch.w_est_credit += acked;
        }
        // A reduction ends the epoch but does not reset this (Linux `bictcp_recalc_ssthresh`).
        if self.computed_at.is_some_and(|(at, of)| of == cwnd && now - at <= MIN_RECOMPUTE) {
            return;
        }
        let this_jiffy = self.computed_at.is_some_and(|(at, _)| at == now);
        if self.epoch.is_none() || !this_jiffy {
            self.computed_at = Some((now, cwnd));
            self.compute_cnt(now, cwnd, acked);
        }
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.params.reno_friendly) {
            self.cnt = self.cnt.min(epoch.cnt_of_w_est(cwnd, self.beta_cubic));
        }
        self.cnt = self.cnt.max(2);
    }

    fn compute_cnt(&mut self, now: u64, cwnd: u32, acked: u32) {
        let start = || Epoch { w_est_credit: acked, ..Epoch::new(now, cwnd, self.w_max) };
        let epoch = self.epoch.get_or_insert_with(start);
        let rtt = self.delay_min.map_or(0, |rtt| rtt.as_nanos().div_ceil(JIFFY_NANOS));
        self.cnt = epoch.cnt(now - epoch.epoch_start + rtt, cwnd, self.w_max == 0);
    }
}

impl Epoch {
    fn new(epoch_start: u64, cwnd: u32, w_max: u32) -> Epoch {
        let below = w_max.saturating_sub(cwnd);
        Epoch {
            epoch_start,
            origin_point: w_max.max(cwnd),
            k: cube_root(CUBE_FACTOR * u64::from(below)),
            w_est: cwnd,
            w_est_credit: 0,
        }
    }

    /// Packets to deliver per increment to reach the curve one round trip later.
    fn cnt(&self, elapsed: u64, cwnd: u32, no_w_max: bool) -> u32 {
        let target = self.target(elapsed);
        let cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if no_w_max { cnt.min(MAX_CNT_WITHOUT_W_MAX) } else { cnt }
    }

    /// `W_cubic(t)`, `elapsed` jiffies after the start of the epoch (RFC 9438 §4.2).
    fn target(&self, elapsed: u64) -> u32 {
        let t = elapsed * SCALE / HZ;
        let offset = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(C) * offset * offset * offset) >> 40).min(1 << 30) as u32;
        if t < self.k { self.origin_point.saturating_sub(delta) } else { self.origin_point + delta }
    }

    /// Packets to deliver per increment to follow `W_est` (RFC 9438 §4.3).
    fn cnt_of_w_est(&mut self, cwnd: u32, beta: u64) -> u32 {
        let scale = 8 * (SCALE + beta) / 3 / (SCALE - beta).max(1);
        let per = ((u64::from(cwnd) * scale) >> 3).max(1) as u32;
        while self.w_est_credit > per {
            self.w_est_credit -= per;
            self.w_est += 1;
        }
        match self.w_est.checked_sub(cwnd) {
            Some(ahead) if ahead > 0 => cwnd / ahead,
            _ => u32::MAX,
        }
    }
}

impl CongestionControl for Cubic {
    fn needs(&self) -> Needs {
        Needs { rtt_samples: true, ..Needs::default() }
    }

    fn on_start(&mut self, start: &Start) {
        self.payload_bytes = start.payload_bytes;
    }

    fn reduce(&mut self, window: &Window) -> u32 {
        self.epoch = None;
        let cwnd = u64::from(window.cwnd);
        self.w_max = if window.cwnd < self.w_max && self.params.fast_convergence {
            (cwnd * (SCALE + self.beta_cubic) / (2 * SCALE)) as u32
        } else {
            window.cwnd
        };
        ((cwnd * self.beta_cubic / SCALE) as u32).max(2)
    }

    fn reduce_on_mark(&mut self, window: &Window) -> u32 {
        let reduced = self.reduce(window);
        match self.params.abe {
            true => ((u64::from(window.cwnd) * 85 / 100) as u32).max(2),
            false => reduced,
        }
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut ack = *ack;
        if window.in_slow_start() {
            if self.params.hystart_plus {
                ack.delivered = self.hystart_plus.counted(ack.delivered, ack.paced);
            }
            ack.delivered = window.slow_start(ack.delivered);
        }
        if ack.delivered > 0 {
            self.update(&ack, window);
            window.additive(self.cnt, ack.delivered);
        }
    }

    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        if self.epoch.is_some_and(|epoch| jiffies(ack.now) - epoch.epoch_start < RTT_HOLDOFF) {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |min| min.min(rtt));
        self.delay_min = Some(delay_min);
        if self.params.hystart_plus {
            self.hystart_plus.on_rtt(ack, rtt, window);
        } else if self.params.hystart {
            let path = SlowStartPath { delay_min, payload_bytes: self.payload_bytes };
            self.hystart.on_rtt(ack, rtt, &path, window);
        }
    }

    fn on_timeout(&mut self) {
        // Linux `bictcp_reset` resets everything, including `W_max` and the minimum delay.
        *self = Cubic { payload_bytes: self.payload_bytes, ..Cubic::new(&self.params) };
    }

    fn on_idle(&mut self, now: Time, idle: Span, _window: &mut Window) {
        if let Some(epoch) = &mut self.epoch {
            epoch.epoch_start =
                (epoch.epoch_start + idle.as_nanos() / JIFFY_NANOS).min(jiffies(now));
        }
    }
}

impl Control for Cubic {
    type Params = CubicParams;
    const NAME: &'static str = "cubic";
    const DOC: &'static str =
        "Window along a cubic curve around the last maximum (RFC 9438, Linux)";

    fn new(params: &CubicParams) -> Cubic {
        Cubic {
            params: params.clone(),
            beta_cubic: (params.beta * SCALE as f64) as u64,
            payload_bytes: 0,
            hystart: HyStart::new(params.hystart_late_rounds),
            hystart_plus: HyStartPlus::default(),
            delay_min: None,
            w_max: 0,
            epoch: None,
            computed_at: None,
            cnt: 2,
        }
    }
}

/// The integer part of a cube root, by Newton's method from above (fact tcp-6).
fn cube_root(x: u64) -> u64 {
    if x == 0 {
        return 0;
    }
    let mut root = 1u64 << (u64::BITS - x.leading_zeros()).div_ceil(3);
    loop {
        let next = (2 * root + x / (root * root)) / 3;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_aqm::params::Params;

    /// An acknowledgement at `ms` of `delivered` segments at a window of 70, without a round-trip
    /// sample.
    fn acknowledged(ms: u64, delivered: u32) -> Ack {
        let (now, srtt) = (Time::ZERO + Span::from_millis(ms), Span::ZERO);
        Ack { now, delivered, rtt: None, srtt, una: delivered, nxt: 70, paced: false }
    }

    fn cubic() -> Cubic {
        Cubic::new(&CubicParams::of_dialect("linux").unwrap())
    }

    #[test]
    fn cube_roots_are_exact() {
        for root in [0u64, 1, 2, 3, 10, 4316, 1_000_000] {
            assert_eq!(cube_root(root.pow(3)), root);
            assert_eq!(cube_root(root.pow(3) + root), root);
        }
        assert_eq!(cube_root(26), 2);
    }

    #[test]
    fn k_is_that_of_linux_within_its_table() {
        // Linux `cubic_root`: its table-driven root is within 0.2 % of the exact one.
        for (max, cwnd, k) in
            [(100, 70, 4316.0), (10, 7, 2003.0), (500, 350, 7380.0), (1000, 700, 9294.0)]
        {
            let found = Epoch::new(0, cwnd, max).k as f64;
            assert!((found / k - 1.0).abs() < 2e-3, "{found} for {k}");
        }
    }

    #[test]
    fn k_is_that_of_rfc_9438() {
        for (max, k) in [(100, 4.2172), (10, 1.9574), (500, 7.2112), (1000, 9.0856)] {
            let exact = (0.3 * f64::from(max) / 0.4).cbrt();
            assert!((exact - k).abs() < 5e-5, "{exact} for {k}");
            let epoch = Epoch::new(0, max * 7 / 10, max);
            assert!((epoch.k as f64 / 1024.0 / k - 1.0).abs() < 2e-3, "{} for {k}", epoch.k);
        }
    }

    #[test]
    fn the_curve_is_that_of_rfc_9438() {
        let epoch = Epoch::new(0, 70, 100);
        let curve = [70.0, 86.681, 95.640, 99.279, 99.996, 100.192, 102.267, 121.653, 177.354];
        for (t, expected) in [0u64, 1, 2, 3, 4, 5, 6, 8, 10].into_iter().zip(curve) {
            let exact = 0.4 * (t as f64 - 75f64.cbrt()).powi(3) + 100.0;
            assert!((exact - expected).abs() < 1e-3, "{exact} for {expected}");
            let found = f64::from(epoch.target(t * HZ));
            assert!((found - expected).abs() <= 1.0, "{found} for {expected}");
        }
    }

    #[test]
    fn round_trips_of_the_first_second_of_an_epoch_are_ignored() {
        let mut cubic = cubic();
        let mut window = Window::above(70, 70);
        let at = |ms: u64, rtt_ms: u64| Ack {
            rtt: Some(Span::from_millis(rtt_ms)),
            ..acknowledged(ms, 1)
        };
        cubic.on_rtt(&at(0, 100), &mut window);
        cubic.grow(&at(0, 100), &mut window);
        let mut least = |ms| {
            cubic.on_rtt(&at(ms, 50), &mut window);
            cubic.delay_min
        };
        assert_eq!(least(999), Some(Span::from_millis(100)));
        assert_eq!(least(1000), Some(Span::from_millis(50)));
    }

    #[test]
    fn fast_convergence_lowers_w_max_below_the_window() {
        let mut cubic = cubic();
        cubic.w_max = 100;
        assert_eq!((cubic.reduce(&Window::new(80)), cubic.w_max), (56, 68));
        assert_eq!((cubic.reduce(&Window::new(60)), cubic.w_max), (42, 51));
    }

    #[test]
    fn keeps_seven_tenths_of_the_window_and_at_least_two_packets() {
        let reduced = |cwnd| cubic().reduce(&Window::new(cwnd));
        assert_eq!([100, 50, 20, 10, 5, 3, 2, 1].map(reduced), [70, 35, 14, 7, 3, 2, 2, 2]);
    }

    #[test]
    fn w_est_grows_by_eight_fifteenths_per_window() {
        let rfc: f64 = 3.0 * 0.3 / 1.7;
        assert!((rfc - 0.5294).abs() < 1e-4);
        let mut epoch = Epoch::new(0, 800, 0);
        epoch.w_est_credit = 15 * 800 + 1; // fifteen round trips
        epoch.cnt_of_w_est(800, 717);
        assert_eq!(epoch.w_est, 800 + 8);
    }

    #[test]
    fn w_est_grows_after_fifteen_eighths_of_a_window() {
        for (cwnd, quantum) in [(10, 18), (50, 93), (100, 187)] {
            let mut epoch = Epoch::new(0, cwnd, 0);
            epoch.w_est_credit = quantum + 1;
            epoch.cnt_of_w_est(cwnd, 717);
            assert_eq!((epoch.w_est, epoch.w_est_credit), (cwnd + 1, 1));
        }
    }

    #[test]
    fn before_linux_4_0_the_friendly_estimate_counts_acknowledgements() {
        let credit = |friendly_counts_acks| {
            let linux = CubicParams::of_dialect("linux").unwrap();
            let mut cubic = super::Cubic::new(&CubicParams { friendly_counts_acks, ..linux });
            let ack = acknowledged(0, 2);
            cubic.update(&ack, &Window::above(70, 70));
            cubic.epoch.unwrap().w_est_credit
        };
        assert_eq!([credit(true), credit(false)], [1, 2]);
    }

    #[test]
    fn the_first_growth_after_a_reduction_takes_23_packets() {
        let mut cubic = cubic();
        cubic.w_max = 100;
        cubic.delay_min = Some(Span::from_millis(100));
        let window = Window::above(70, 70);
        let ack = acknowledged(0, 1);
        cubic.update(&ack, &window);
        assert_eq!(cubic.cnt, 23);
        let mut fresh = super::Cubic::new(&CubicParams::of_dialect("linux").unwrap());
        fresh.update(&ack, &window);
        assert!((2..=MAX_CNT_WITHOUT_W_MAX).contains(&fresh.cnt));
    }

    #[test]
    fn the_curve_is_not_computed_again_for_the_same_window_within_31_jiffies() {
        let count_after = |ms: u64| {
            let mut cubic = cubic();
            cubic.w_max = 100;
            let window = Window::above(70, 70);
            cubic.update(&acknowledged(0, 1), &window);
            cubic.cnt = 7;
            cubic.update(&acknowledged(ms, 1), &window);
            cubic.cnt
        };
        assert_eq!(count_after(31), 7);
        assert_ne!(count_after(32), 7);
    }

    #[test]
    fn idle_time_moves_the_epoch_but_not_into_the_future() {
        let (mut cubic, window) = (cubic(), &mut Window::new(10));
        cubic.epoch = Some(Epoch::new(1000, 70, 100));
        cubic.on_idle(Time::ZERO + Span::from_secs(3), Span::from_millis(500), window);
        assert_eq!(cubic.epoch.unwrap().epoch_start, 1500);
        cubic.on_idle(Time::ZERO + Span::from_secs(3), Span::from_secs(9), window);
        assert_eq!(cubic.epoch.unwrap().epoch_start, 3000);
    }

    #[test]
    fn a_mark_leaves_85_percent_with_abe() {
        let linux = CubicParams::of_dialect("linux").unwrap();
        let mut abe = super::Cubic::new(&CubicParams { abe: true, ..linux });
        assert_eq!(abe.reduce_on_mark(&Window::new(100)), 85);
        assert_eq!(abe.reduce(&Window::new(100)), 70);
        assert_eq!(cubic().reduce_on_mark(&Window::new(100)), 70);
    }
}

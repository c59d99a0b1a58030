//! CUBIC (RFC 9438) in the integer arithmetic of Linux 6.1 (endpoints sheet §2.1).
//!
//! Deviations from the RFC are those of Linux: the reduction starts from the window, growth is at most
//! one packet per two delivered, the Reno-friendly estimate grows by 8/15 per window and never by 1; time is
//! counted in jiffies of a millisecond, and a window judged not long ago is judged again later, even where
//! another reduction has brought it about.
//! Deviations from Linux: None known.

use sojourn_aqm::params;
use sojourn_aqm::{Span, Time};

use super::hystart::HyStart;
use super::hystart_plus::HyStartPlus;
use super::{Ack, CongestionControl, Control, Window};

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
        /// Whether that Reno counts acknowledgements instead of packets.
        friendly_counts_acks: bool, ANY, "Linux before 4.0: ca->ack_cnt, where cnt alone is divided by \
            the packets per acknowledgement" => false;
        /// Whether a mark leaves 0.85 of the window instead of `beta` (ABE).
        abe: bool, ANY, "RFC 8511 §3; Linux has no such option" => false;
        /// Whether slow start ends early, by delay or by the length of ACK trains.
        hystart: bool, ANY, "Linux 6.1" => true;
        /// Whether the rounds of that begin only at windows of 16 packets and more.
        hystart_late_rounds: bool, ANY, "Linux 6.1 as released: cubictcp_acked tests the \
            window, then hystart_update begins a round; 6.1.192 has it the other way round" => false;
        /// Whether slow start ends in two steps instead, by HyStart++.
        hystart_plus: bool, ANY, "RFC 9406; not in Linux" => false;
    }
}

/// Fractions are in 1/1024, times in 1/1024 s.
const SCALE: u64 = 1024;
/// C = 0.4 packets/s^3, as 410/1024 (RFC 9438 §4.6).
const C: u64 = 410;
/// 2^40 / C: from packets to the cube of 1/1024 s.
const CUBE_FACTOR: u64 = (1 << 40) / C;
/// Growth where no maximum is known: at most one packet per 20, 5 % per round trip.
const UNKNOWN_MAX_COUNT: u32 = 20;
/// A jiffy of Linux with HZ = 1000.
const JIFFY_NANOS: u64 = 1_000_000;
const HZ: u64 = 1000;
/// Round trips this many jiffies after an epoch began say nothing (Linux `cubictcp_acked`).
const UNSETTLED: u64 = HZ;
/// For so many jiffies the curve is not evaluated again for the same window (Linux `bictcp_update`).
const STANDS: u64 = HZ / 32;

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    params: CubicParams,
    beta: u64,
    hystart: HyStart,
    hystart_plus: HyStartPlus,
    delay_min: Option<Span>,
    last_max: u32,
    epoch: Option<Epoch>,
    /// When the curve was last evaluated, in jiffies, and for which window.
    evaluated: Option<(u64, u32)>,
    /// Packets to deliver per increment.
    count: u32,
}

/// Growth since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// In jiffies.
    start: u64,
    /// Where the curve is flat: window and time after the start in 1/1024 s.
    origin: u32,
    k: u64,
    reno_window: u32,
    reno_credit: u32,
}

fn jiffies(now: Time) -> u64 {
    now.as_nanos() / JIFFY_NANOS
}

impl Cubic {
    fn update(&mut self, ack: &Ack, window: &Window) {
        let (now, cwnd) = (jiffies(ack.now), window.cwnd);
        let acked = if self.params.friendly_counts_acks { 1 } else { ack.delivered };
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_credit += acked;
        }
        // A reduction ends the epoch and leaves this be.
        if self.evaluated.is_some_and(|(at, of)| of == cwnd && now - at <= STANDS) {
            return;
        }
        let this_jiffy = self.evaluated.is_some_and(|(at, _)| at == now);
        if self.epoch.is_none() || !this_jiffy {
            self.evaluated = Some((now, cwnd));
            self.evaluate(now, cwnd, acked);
        }
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.params.reno_friendly) {
            self.count = self.count.min(epoch.reno_count(cwnd, self.beta));
        }
        self.count = self.count.max(2);
    }

    fn evaluate(&mut self, now: u64, cwnd: u32, acked: u32) {
        let start = || Epoch { reno_credit: acked, ..Epoch::new(now, cwnd, self.last_max) };
        let epoch = self.epoch.get_or_insert_with(start);
        let rtt = self.delay_min.map_or(0, |rtt| rtt.as_nanos().div_ceil(JIFFY_NANOS));
        self.count = epoch.count(now - epoch.start + rtt, cwnd, self.last_max == 0);
    }
}

impl Epoch {
    fn new(start: u64, cwnd: u32, last_max: u32) -> Epoch {
        let below = last_max.saturating_sub(cwnd);
        Epoch {
            start,
            origin: last_max.max(cwnd),
            k: cube_root(CUBE_FACTOR * u64::from(below)),
            reno_window: cwnd,
            reno_credit: 0,
        }
    }

    /// How many packets must be delivered per increment to be on the curve one round trip from now.
    fn count(&self, elapsed: u64, cwnd: u32, max_unknown: bool) -> u32 {
        let target = self.target(elapsed);
        let count = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
        if max_unknown { count.min(UNKNOWN_MAX_COUNT) } else { count }
    }

    /// The curve, so many jiffies after the epoch began.
    fn target(&self, elapsed: u64) -> u32 {
        let t = elapsed * SCALE / HZ;
        let offset = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(C) * offset * offset * offset) >> 40).min(1 << 30) as u32;
        if t < self.k { self.origin.saturating_sub(delta) } else { self.origin + delta }
    }

    /// The same for the window that Reno would have.
    fn reno_count(&mut self, cwnd: u32, beta: u64) -> u32 {
        let scale = 8 * (SCALE + beta) / 3 / (SCALE - beta).max(1);
        let per = ((u64::from(cwnd) * scale) >> 3).max(1) as u32;
        while self.reno_credit > per {
            self.reno_credit -= per;
            self.reno_window += 1;
        }
        match self.reno_window.checked_sub(cwnd) {
            Some(ahead) if ahead > 0 => cwnd / ahead,
            _ => u32::MAX,
        }
    }
}

impl CongestionControl for Cubic {
    fn reduce(&mut self, window: &Window) -> u32 {
        self.epoch = None;
        let cwnd = u64::from(window.cwnd);
        self.last_max = if window.cwnd < self.last_max && self.params.fast_convergence {
            (cwnd * (SCALE + self.beta) / (2 * SCALE)) as u32
        } else {
            window.cwnd
        };
        ((cwnd * self.beta / SCALE) as u32).max(2)
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
            window.additive(self.count, ack.delivered);
        }
    }

    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let Some(rtt) = ack.rtt else { return };
        if self.epoch.is_some_and(|epoch| jiffies(ack.now) - epoch.start < UNSETTLED) {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |min| min.min(rtt));
        self.delay_min = Some(delay_min);
        if self.params.hystart_plus {
            self.hystart_plus.on_rtt(ack, rtt, window);
        } else if self.params.hystart {
            self.hystart.on_rtt(ack, rtt, delay_min, window);
        }
    }

    fn on_timeout(&mut self) {
        // Linux resets everything, the known maximum and the base delay too.
        *self = Cubic::new(&self.params);
    }

    fn on_idle(&mut self, now: Time, idle: Span) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = (epoch.start + idle.as_nanos() / JIFFY_NANOS).min(jiffies(now));
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
            beta: (params.beta * SCALE as f64) as u64,
            hystart: HyStart::new(params.hystart_late_rounds),
            hystart_plus: HyStartPlus::default(),
            delay_min: None,
            last_max: 0,
            epoch: None,
            evaluated: None,
            count: 2,
        }
    }
}

/// The integer part of a cube root, by Newton's method from above.
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
    fn t12_time_to_the_plateau() {
        // Linux's table-driven root is within 0.2 % of the exact one.
        for (max, cwnd, k) in
            [(100, 70, 4316.0), (10, 7, 2003.0), (500, 350, 7380.0), (1000, 700, 9294.0)]
        {
            let found = Epoch::new(0, cwnd, max).k as f64;
            assert!((found / k - 1.0).abs() < 2e-3, "{found} for {k}");
        }
    }

    #[test]
    fn t11_time_to_the_plateau_of_the_rfc() {
        for (max, k) in [(100, 4.2172), (10, 1.9574), (500, 7.2112), (1000, 9.0856)] {
            let exact = (0.3 * f64::from(max) / 0.4).cbrt();
            assert!((exact - k).abs() < 5e-5, "{exact} for {k}");
            let epoch = Epoch::new(0, max * 7 / 10, max);
            assert!((epoch.k as f64 / 1024.0 / k - 1.0).abs() < 2e-3, "{} for {k}", epoch.k);
        }
    }

    #[test]
    fn t13_the_curve() {
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
    fn round_trips_of_the_first_second_of_an_epoch_say_nothing() {
        let mut cubic = cubic();
        let mut window = Window::above(70, 70);
        let at = |ms: u64, rtt_ms: u64| Ack {
            now: Time::ZERO + Span::from_millis(ms),
            delivered: 1,
            rtt: Some(Span::from_millis(rtt_ms)),
            una: 1,
            nxt: 70,
            paced: false,
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
    fn t14_fast_convergence() {
        let mut cubic = cubic();
        cubic.last_max = 100;
        assert_eq!((cubic.reduce(&Window::new(80)), cubic.last_max), (56, 68));
        assert_eq!((cubic.reduce(&Window::new(60)), cubic.last_max), (42, 51));
    }

    #[test]
    fn t17_keeps_seven_tenths_and_at_least_two() {
        let reduced = |cwnd| cubic().reduce(&Window::new(cwnd));
        assert_eq!([100, 50, 20, 10, 5, 3, 2, 1].map(reduced), [70, 35, 14, 7, 3, 2, 2, 2]);
    }

    #[test]
    fn t15_the_reno_friendly_window_grows_by_eight_fifteenths() {
        let rfc: f64 = 3.0 * 0.3 / 1.7;
        assert!((rfc - 0.5294).abs() < 1e-4);
        let mut epoch = Epoch::new(0, 800, 0);
        epoch.reno_credit = 15 * 800 + 1; // fifteen round trips
        epoch.reno_count(800, 717);
        assert_eq!(epoch.reno_window, 800 + 8);
    }

    #[test]
    fn t18_reno_friendly_quantum() {
        for (cwnd, quantum) in [(10, 18), (50, 93), (100, 187)] {
            let mut epoch = Epoch::new(0, cwnd, 0);
            epoch.reno_credit = quantum + 1;
            epoch.reno_count(cwnd, 717);
            assert_eq!((epoch.reno_window, epoch.reno_credit), (cwnd + 1, 1));
        }
    }

    #[test]
    fn before_linux_4_0_the_friendly_estimate_counts_acknowledgements() {
        let credit = |friendly_counts_acks| {
            let linux = CubicParams::of_dialect("linux").unwrap();
            let mut cubic = super::Cubic::new(&CubicParams { friendly_counts_acks, ..linux });
            let ack =
                Ack { now: Time::ZERO, delivered: 2, rtt: None, una: 2, nxt: 70, paced: false };
            cubic.update(&ack, &Window::above(70, 70));
            cubic.epoch.unwrap().reno_credit
        };
        assert_eq!([credit(true), credit(false)], [1, 2]);
    }

    #[test]
    fn t19_first_growth_after_a_reduction() {
        let mut cubic = cubic();
        cubic.last_max = 100;
        cubic.delay_min = Some(Span::from_millis(100));
        let window = Window::above(70, 70);
        let ack = Ack { now: Time::ZERO, delivered: 1, rtt: None, una: 1, nxt: 70, paced: false };
        cubic.update(&ack, &window);
        assert_eq!(cubic.count, 23);
        let mut fresh = super::Cubic::new(&CubicParams::of_dialect("linux").unwrap());
        fresh.update(&ack, &window);
        assert!((2..=UNKNOWN_MAX_COUNT).contains(&fresh.count));
    }
}

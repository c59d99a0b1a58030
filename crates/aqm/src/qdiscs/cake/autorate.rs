//! CAKE's estimate of the incoming bandwidth (`autorate-ingress`).
//!
//! Source: Linux 6.1 `sch_cake.c`, `cake_enqueue`.

use super::diffserv::TinShare;
use super::params::CakeParams;
use crate::params::OrOff;
use crate::time::{Rate, Span, Time};

/// A gap of this length or longer counts as this length.
const LONGEST_GAP: Span = Span::from_secs(1);

/// The estimator. A window ends at each gap between arrivals that is longer than the mean gap.
#[derive(Debug)]
pub(super) struct Autorate {
    /// The parameters at the estimated rate.
    params: CakeParams,
    last_arrival: Option<Time>,
    mean_gap_ns: u64,
    /// `None` before the first arrival: the kernel's window begins when the machine starts.
    window_begin: Option<Time>,
    window_bytes: u64,
    /// The peak rate of arrivals, in bytes per second.
    peak: u64,
}

impl Autorate {
    pub(super) fn new(params: &CakeParams) -> Autorate {
        let peak = params.bandwidth.0.map_or(0, |rate| rate.as_bps() / 8);
        Autorate {
            params: params.clone(),
            last_arrival: None,
            mean_gap_ns: 0,
            window_begin: None,
            window_bytes: 0,
            peak,
        }
    }

    /// The queued bytes grow by `bytes`, modulo 2^64 as in the kernel. If the arrival ends a
    /// window, the rate becomes 15/16 of the peak. Returns whether the rate was set: the kernel
    /// means to wait 250 ms between two settings, but never stores the time of the last one (fact
    /// qdisc-27).
    pub(super) fn arrive(&mut self, now: Time, bytes: u64) -> bool {
        self.window_bytes = self.window_bytes.wrapping_add(bytes);
        let gap = self.last_arrival.replace(now).map_or(LONGEST_GAP, |last| now.since(last));
        let gap = gap.min(LONGEST_GAP).as_nanos();
        self.mean_gap_ns = mean(self.mean_gap_ns, gap, gap > self.mean_gap_ns);
        if gap <= self.mean_gap_ns {
            return false;
        }
        let window = self.window_begin.replace(now).map(|begin| now.since(begin).as_nanos());
        let scaled = self.window_bytes.wrapping_mul(1_000_000_000);
        let rate = window.map_or(0, |window| scaled / window);
        self.peak = mean(self.peak, rate, rate > self.peak);
        self.window_bytes = 0;
        let rate = self.peak.wrapping_mul(15) >> 4;
        self.params.bandwidth = OrOff((rate > 0).then(|| Rate::from_bps(rate.saturating_mul(8))));
        true
    }

    /// The parameters at the estimated rate.
    pub(super) fn params(&self) -> &CakeParams {
        &self.params
    }

    /// A tin's share of the estimated rate.
    pub(super) fn share(&self, tin: usize) -> TinShare {
        self.params.diffserv.share(tin, self.params.bandwidth.0)
    }
}

/// A moving average, which rises fast and falls slowly (Linux 6.1 sch_cake.c, cake_ewma).
fn mean(mean: u64, sample: u64, rises: bool) -> u64 {
    let shift = if rises { 2 } else { 8 };
    mean - (mean >> shift) + (sample >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;

    fn estimator(bandwidth: &str) -> Autorate {
        let mut params = CakeParams::of_dialect("besteffort").unwrap();
        params.set("bandwidth", bandwidth).unwrap();
        Autorate::new(&params)
    }

    fn rate(autorate: &Autorate) -> Option<u64> {
        autorate.params().bandwidth.0.map(Rate::as_bps)
    }

    /// Pairs of packets, 100 us apart, every 10 ms: each second gap is longer than the mean.
    #[test]
    fn the_rate_approaches_fifteen_sixteenths_of_the_arrivals() {
        let mut autorate = estimator("1mbit");
        for pair in 0..5_000 {
            let at = Time::from_nanos(pair * 10_000_000);
            autorate.arrive(at, 1250);
            autorate.arrive(at + Span::from_micros(100), 1250);
        }
        let arrivals = 2_000_000 * 15 / 16;
        assert!(rate(&autorate).unwrap().abs_diff(arrivals) < arrivals / 100);
    }

    /// The first window began when the machine started, so its rate is 0; without a bandwidth the
    /// rate then stays unlimited until a window is over.
    #[test]
    fn the_first_arrival_gives_no_rate() {
        let mut autorate = estimator("off");
        assert!(autorate.arrive(Time::from_nanos(7), 1500));
        assert_eq!(rate(&autorate), None);
        let mut autorate = estimator("16mbit");
        autorate.arrive(Time::from_nanos(7), 1500);
        let kept = 2_000_000 - (2_000_000 >> 8);
        assert_eq!(rate(&autorate), Some((kept * 15 / 16) * 8));
    }

    /// Linux 6.1 sch_cake.c, cake_enqueue: arrivals without pauses end no window.
    #[test]
    fn equal_gaps_end_no_window() {
        let mut autorate = estimator("1mbit");
        let at = |n: u64| Time::from_nanos(n * 1_000_000);
        autorate.arrive(at(0), 1500);
        assert!(!(1..20_000).any(|n| autorate.arrive(at(n), 1500)));
    }
}

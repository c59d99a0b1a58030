//! Minstrel, the rate control of Linux's wireless LANs: chooses the rates for a frame from how
//! often earlier frames at each rate were received.
//!
//! Source: Linux 3.14, net/mac80211/rc80211_minstrel.c, for hardware that takes four rates per
//! frame (as ath5k does), with the same integer arithmetic and order of choice. As in that code,
//! success is not counted for the last of the four rates.
//!
//! Deviations: the rates of 802.11b are not supported, so 6 Mbit/s is the slowest; the time since
//! the last update is not rounded to ticks; the table of rates to sample comes from our own random
//! numbers.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::wlan_timing::{OfdmRate, WINDOW_MAX, WINDOW_MIN};

/// Rates per frame that the hardware takes.
pub(super) const STAGES: usize = 4;

const RATES: usize = OfdmRate::COUNT;
/// How often statistics are updated (`update_interval`).
const UPDATE_INTERVAL: Span = Span::from_millis(100);
/// The share of frames that sample another rate, in percent (`lookaround_rate_mrr`).
const SAMPLED_PERCENT: i64 = 10;
/// Attempts at one rate end after this time (`segment_size`, microseconds).
const SEGMENT_US: u64 = 6_000;
/// Maximum number of attempts at one rate (`max_retry`).
const MAX_RETRY: u32 = 7;
/// Columns of the table of rates to sample (`SAMPLE_COLUMNS`).
const COLUMNS: usize = 10;
/// A rate not sampled for this number of updates is sampled at the first stage of the frame.
const SKIPPED: u32 = 20;
/// Counters are reset after this number of frames.
const FRAMES: i64 = 10_000;
/// Probabilities are fractions of this (`MINSTREL_SCALE`).
const ONE: u64 = 1 << 16;
/// The old average's weight, out of 128 (`EWMA_LEVEL`, `EWMA_DIV`).
const OLD_WEIGHT: u64 = 96;
/// Statistics assume frames of this size (`calc_rate_durations`).
const FRAME_BYTES: u64 = 1_200;

/// Attempts at one rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Stage {
    /// The index of the rate, from the slowest.
    pub(super) rate: u32,
    /// The number of attempts; zero for an unused stage.
    pub(super) attempts: u32,
}

/// The rates at which a frame is tried, in order.
pub(super) type Chain = [Stage; STAGES];

/// The statistics of a rate.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The duration of a frame without errors, in microseconds.
    perfect_us: u64,
    retries: u32,
    /// Like `retries`, but fewer if success is nearly certain or hopeless.
    adjusted_retries: u32,
    attempts: u64,
    successes: u64,
    probability: u64,
    throughput: u64,
    /// Updates since an attempt at this rate.
    skipped: u32,
    /// Samples allowed until the next update; `None` if unlimited.
    samples_left: Option<u32>,
}

/// The rate control of one station towards one other.
#[derive(Debug)]
pub(super) struct Minstrel {
    rates: [Known; RATES],
    /// The rates with the highest and the second-highest throughput.
    best: [usize; 2],
    most_robust: usize,
    frames: i64,
    samples: i64,
    deferred: i64,
    /// The order in which rates are sampled.
    table: [[usize; RATES]; COLUMNS],
    row: usize,
    column: usize,
    updated: Time,
}

impl Minstrel {
    /// The initial state; `rng` draws the order of samples.
    pub(super) fn new(rng: &mut Rng) -> Minstrel {
        let durations =
            OfdmRate::all().map(|rate| (duration(rate, FRAME_BYTES), duration(rate, 10)));
        let slowest_ack = durations[0].1;
        Minstrel {
            rates: durations.map(|(frame, ack)| Known::new(frame, ack, slowest_ack)),
            best: [0; 2],
            most_robust: 0,
            frames: 0,
            samples: 0,
            deferred: 0,
            table: std::array::from_fn(|_| column(rng)),
            row: 0,
            column: 0,
            updated: Time::ZERO,
        }
    }

    /// The rates for the next frame, and whether one of them is a deferred sample, which counts
    /// once it was sent (`minstrel_get_rate`).
    pub(super) fn next_frame(&mut self) -> (Chain, bool) {
        let stage =
            |rate: usize| Stage { rate: rate as u32, attempts: self.rates[rate].adjusted_retries };
        let [first, second] = self.best.map(stage);
        let slowest = Stage { rate: 0, attempts: MAX_RETRY };
        let mut chain = [first, second, stage(self.most_robust), slowest];
        self.frames += 1;
        let due = self.frames * SAMPLED_PERCENT / 100 - (self.samples + self.deferred / 2);
        if due < 0 {
            return (chain, false);
        }
        if self.frames >= FRAMES {
            (self.frames, self.samples, self.deferred) = (0, 0, 0);
        } else if due > 2 * RATES as i64 {
            self.samples += due - 2 * RATES as i64;
        }
        let sampled = self.next_sample();
        let known = &mut self.rates[sampled];
        let sample = Stage { rate: sampled as u32, attempts: known.adjusted_retries };
        if sampled < self.best[0] && known.skipped < SKIPPED {
            // A slower rate is tried after the best one, so it costs nothing if the best one
            // succeeds.
            chain[1] = sample;
            self.deferred += 1;
            return (chain, true);
        }
        match &mut known.samples_left {
            Some(0) => return (chain, false),
            Some(left) => *left -= 1,
            None => {}
        }
        self.samples += 1;
        chain[0] = sample;
        (chain, false)
    }

    /// Reports the attempts of a frame at each rate of its chain, and the final result
    /// (`minstrel_tx_status`).
    pub(super) fn report(
        &mut self,
        now: Time,
        chain: &Chain,
        tried: [u32; STAGES],
        was_received: bool,
        had_deferred_sample: bool,
    ) {
        for (stage, tried) in chain.iter().zip(tried).take_while(|&(_, tried)| tried > 0) {
            self.rates[stage.rate as usize].attempts += u64::from(tried);
        }
        let last = tried[..STAGES - 1].iter().rposition(|&attempts| attempts > 0);
        if let Some(last) = last.filter(|_| was_received && tried[STAGES - 1] == 0) {
            self.rates[chain[last].rate as usize].successes += 1;
        }
        self.samples += i64::from(had_deferred_sample);
        self.deferred = (self.deferred - 1).max(0);
        if now.since(self.updated) > UPDATE_INTERVAL {
            self.update(now);
        }
    }

    /// Updates the averages and the rates to use until the next update (`minstrel_update_stats`).
    fn update(&mut self, now: Time) {
        (self.best, self.most_robust) = ([0; 2], 0);
        for place in 0..RATES {
            self.rates[place].update();
            let known = self.rates[place];
            let [first, second] = self.best.map(|rate| self.rates[rate].throughput);
            if known.throughput > first {
                self.best = [place, self.best[0]];
            } else if known.throughput > second {
                self.best[1] = place;
            }
            let robust = &self.rates[self.most_robust];
            let is_better = match known.probability >= ONE * 95 / 100 {
                true => known.throughput >= robust.throughput,
                false => known.probability >= robust.probability,
            };
            if is_better {
                self.most_robust = place;
            }
        }
        self.updated = now;
    }

    fn next_sample(&mut self) -> usize {
        let sampled = self.table[self.column][self.row];
        self.row += 1;
        if self.row == RATES {
            (self.row, self.column) = (0, (self.column + 1) % COLUMNS);
        }
        sampled
    }
}

impl Known {
    /// Statistics with only the durations, in microseconds, and the resulting number of attempts
    /// that fit into a segment (`minstrel_rate_init`).
    fn new(frame_us: u64, ack_us: u64, slowest_ack_us: u64) -> Known {
        let (mut retries, mut window) = (1, u64::from(WINDOW_MIN));
        let mut spent = frame_us + slowest_ack_us;
        loop {
            spent += ack_us + frame_us + (9 * window / 2);
            window = (2 * window + 1).min(u64::from(WINDOW_MAX));
            if spent >= SEGMENT_US {
                break;
            }
            retries += 1;
            if retries >= MAX_RETRY {
                break;
            }
        }
        Known {
            perfect_us: frame_us,
            retries,
            adjusted_retries: retries,
            attempts: 0,
            successes: 0,
            probability: 0,
            throughput: 0,
            skipped: 0,
            samples_left: None,
        }
    }

    fn update(&mut self) {
        match (ONE * self.successes).checked_div(self.attempts) {
            Some(new) => {
                self.probability = (self.probability * OLD_WEIGHT + new * (128 - OLD_WEIGHT)) / 128;
                self.skipped = 0;
            }
            None => self.skipped += 1,
        }
        (self.attempts, self.successes) = (0, 0);
        let is_hopeless = self.probability < ONE * 10 / 100;
        self.throughput =
            if is_hopeless { 0 } else { self.probability * (1_000_000 / self.perfect_us) };
        let is_certain = self.probability > ONE * 95 / 100;
        (self.adjusted_retries, self.samples_left) = match is_certain || is_hopeless {
            true => ((self.retries >> 1).min(2), Some(4)),
            false => (self.retries, None),
        };
        if self.adjusted_retries == 0 {
            self.adjusted_retries = 2;
        }
    }
}

/// The duration of a frame in microseconds, as computed by mac80211: with a SIFS and a checksum,
/// without headers (`ieee80211_frame_duration`).
fn duration(rate: OfdmRate, bytes: u64) -> u64 {
    let bits = 16 + 8 * (bytes + 4) + 6;
    16 + 16 + 4 + 4 * bits.div_ceil(rate.symbol_bits())
}

/// A column of the table of samples: all rates, in random order (`init_sample_table`).
fn column(rng: &mut Rng) -> [usize; RATES] {
    let mut column = [None; RATES];
    for rate in 0..RATES {
        let mut place = (rate + rng.below(256) as usize) % RATES;
        while column[place].is_some() {
            place = (place + 1) % RATES;
        }
        column[place] = Some(rate);
    }
    column.map(|rate| rate.expect("every place was taken"))
}

#[cfg(test)]
#[path = "minstrel_tests.rs"]
mod tests;

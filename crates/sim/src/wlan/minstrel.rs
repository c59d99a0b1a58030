//! Minstrel, the rate control of Linux's wireless LANs: which rates a frame is tried at, from how
//! often frames at each rate were received before.
//!
//! Source: Linux 3.14, net/mac80211/rc80211_minstrel.c, for hardware that takes four rates per
//! frame (ath5k does); its integers and its order of choice. Success is not counted for the
//! last of the four rates, as there.
//!
//! Deviations: the rates of 802.11b are not known, so that 6 Mbit/s is the slowest; the time since
//! the last update has no ticks; the table of rates to sample comes from our own random numbers.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::wlan_timing::{OfdmRate, WINDOW_MAX, WINDOW_MIN};

/// Rates per frame that the hardware takes.
pub(super) const STAGES: usize = 4;

const RATES: usize = OfdmRate::COUNT;
/// Statistics are made so often (`update_interval`).
const UPDATE_INTERVAL: Span = Span::from_millis(100);
/// The share of frames that sample another rate, in percent (`lookaround_rate_mrr`).
const SAMPLED_PERCENT: i64 = 10;
/// Attempts at one rate end when they have lasted so long (`segment_size`, microseconds).
const SEGMENT_US: u64 = 6_000;
/// Attempts at one rate, at most (`max_retry`).
const MAX_RETRY: u32 = 7;
/// Columns of the table of rates to sample (`SAMPLE_COLUMNS`).
const COLUMNS: usize = 10;
/// A rate that was not sampled for this number of updates is sampled first in the frame.
const SKIPPED: u32 = 20;
/// Counters are reset after this number of frames.
const FRAMES: i64 = 10_000;
/// Probabilities are fractions of this (`MINSTREL_SCALE`).
const ONE: u64 = 1 << 16;
/// The old average's weight, of 128 (`EWMA_LEVEL`, `EWMA_DIV`).
const OLD_WEIGHT: u64 = 96;
/// Statistics are of frames of this size (`calc_rate_durations`).
const FRAME_BYTES: u64 = 1_200;

/// Attempts at one rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Stage {
    /// The rate, by place from the slowest.
    pub(super) rate: usize,
    /// How many; none at a stage that does not exist.
    pub(super) attempts: u32,
}

/// The rates that a frame is tried at, one after the other.
pub(super) type Chain = [Stage; STAGES];

/// The statistics of a rate.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The duration of a frame without errors, in microseconds.
    perfect_us: u64,
    retries: u32,
    /// The same, but fewer where success is nearly certain or hopeless.
    adjusted_retries: u32,
    attempts: u64,
    successes: u64,
    probability: u64,
    throughput: u64,
    /// Updates since an attempt at this rate.
    skipped: u32,
    /// Samples until the next update; without a limit where none is stated.
    samples_left: Option<u32>,
}

/// The rate control of one station towards one other.
#[derive(Debug)]
pub(super) struct Minstrel {
    rates: [Known; RATES],
    /// The rates of the highest and the next throughput.
    best: [usize; 2],
    most_robust: usize,
    frames: i64,
    samples: i64,
    deferred: i64,
    /// In which order rates are sampled.
    table: [[usize; RATES]; COLUMNS],
    row: usize,
    column: usize,
    updated: Time,
}

impl Minstrel {
    /// At the start; `rng` draws the order of samples.
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

    /// The rates that the next frame is tried at, and whether one of them is a deferred sample,
    /// which counts once it was sent (`minstrel_get_rate`).
    pub(super) fn next_frame(&mut self) -> (Chain, bool) {
        let stage = |rate: usize| Stage { rate, attempts: self.rates[rate].adjusted_retries };
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
        let sample = Stage { rate: sampled, attempts: known.adjusted_retries };
        if sampled < self.best[0] && known.skipped < SKIPPED {
            // A slower rate is tried after the best one, so it costs nothing where that works.
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

    /// A frame was tried so often at each rate of its chain, at last with this result
    /// (`minstrel_tx_status`).
    pub(super) fn report(
        &mut self,
        now: Time,
        chain: &Chain,
        tried: [u32; STAGES],
        was_received: bool,
        had_deferred_sample: bool,
    ) {
        let last = tried.iter().rposition(|&attempts| attempts > 0);
        for (place, (stage, attempts)) in chain.iter().zip(tried).enumerate() {
            self.rates[stage.rate].attempts += u64::from(attempts);
            if was_received && Some(place) == last && place + 1 < STAGES {
                self.rates[stage.rate].successes += 1;
            }
        }
        self.samples += i64::from(had_deferred_sample);
        self.deferred = (self.deferred - 1).max(0);
        if now.since(self.updated) > UPDATE_INTERVAL {
            self.update(now);
        }
    }

    /// Averages, and the rates to use until the next update (`minstrel_update_stats`).
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
    /// Nothing but how long things last, in microseconds, and so how many attempts make a segment
    /// (`minstrel_rate_init`).
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

/// How long a frame lasts, in microseconds, as mac80211 counts: with a SIFS, a checksum, and no
/// headers (`ieee80211_frame_duration`).
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

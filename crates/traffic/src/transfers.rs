//! Transfers over TCP: bulk data, users who fetch one file after the other, video in chunks.

use sojourn_aqm::{Rate, Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, Sizes, Transfers};

use crate::CustomApp;

/// What a user transfers.
#[derive(Debug)]
pub enum TransferPlan {
    /// Unlimited data, or this many bytes.
    Bulk(Option<u64>),
    /// One file after the other.
    Files {
        /// Sizes in bytes.
        sizes: Sizes,
        /// Mean think time.
        think: Span,
    },
    /// One file.
    One {
        /// Sizes in bytes.
        sizes: Sizes,
    },
    /// Chunks of video.
    Chunks {
        /// Playing time of a chunk.
        every: Span,
        /// The ladder of rates, increasing.
        rates: Vec<Rate>,
        /// Index of the current rate in the ladder.
        rung: usize,
    },
    /// Objects requested by others, such as the objects of a page.
    OnDemand,
    /// As specified by a custom application.
    Custom(Box<dyn CustomApp>),
}

impl TransferPlan {
    /// The plan of an application over one connection at a time, for the application of a single
    /// flow ([`App::of_member`]).
    pub fn of(app: &App) -> Option<TransferPlan> {
        Some(match app {
            App::Bulk { bytes, .. } => TransferPlan::Bulk(*bytes),
            App::Files { sizes, think, .. } => {
                TransferPlan::Files { sizes: sizes.clone(), think: *think }
            }
            App::Transfers { plan: Transfers::Drawn { sizes, .. }, .. } => {
                TransferPlan::One { sizes: sizes.clone() }
            }
            App::Chunks { every, rates, .. } => {
                TransferPlan::Chunks { every: *every, rates: rates.clone(), rung: 0 }
            }
            _ => return None,
        })
    }

    /// The size in bytes of the connection that opens now; `None` if unlimited.
    pub fn next_bytes(&mut self, now: Time, rng: &mut Rng) -> Option<u64> {
        match self {
            TransferPlan::Bulk(bytes) => *bytes,
            TransferPlan::Files { sizes, .. } | TransferPlan::One { sizes } => {
                Some(draw::size(rng, sizes))
            }
            TransferPlan::Chunks { every, rates, rung } => {
                Some(rates[*rung].bytes_in(*every).max(1))
            }
            TransferPlan::OnDemand => unreachable!("objects are requested by others"),
            TransferPlan::Custom(app) => app.next_bytes(now, rng),
        }
    }

    /// When the next connection opens, after a transfer that finishes now.
    pub fn next_start(&mut self, finished: &FinishedTransfer, now: Time, rng: &mut Rng) -> Time {
        match self {
            TransferPlan::Bulk(_) | TransferPlan::One { .. } | TransferPlan::OnDemand => {
                Time::NEVER
            }
            TransferPlan::Custom(app) => app.next_start(finished, now, rng),
            TransferPlan::Files { think, .. } => {
                now + Span::from_secs_f64(rng.exponential(think.as_secs()))
            }
            TransferPlan::Chunks { every, rates, rung } => {
                let seconds = now.since(finished.start).as_secs();
                let affordable = SAFETY_MARGIN * finished.bytes as f64 * 8.0 / seconds;
                let fit =
                    rates.iter().take_while(|rate| rate.as_bps() as f64 <= affordable).count();
                *rung = fit.saturating_sub(1);
                now.max(finished.start + *every)
            }
        }
    }
}

/// A player requests at most this fraction of the last chunk's throughput (our choice, a margin for
/// variations).
const SAFETY_MARGIN: f64 = 0.8;

/// A finished transfer.
#[derive(Clone, Copy, Debug)]
pub struct FinishedTransfer {
    /// When the user requested it.
    pub start: Time,
    /// Its size.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rng() -> Rng {
        Rng::stream(1, "transfers", 0)
    }

    /// A player of chunks of 2 s at 1, 2 or 4 Mbit/s.
    fn player() -> TransferPlan {
        let rates = [1, 2, 4].map(|mbit| Rate::from_bps(mbit * 1_000_000)).to_vec();
        TransferPlan::Chunks { every: Span::from_secs(2), rates, rung: 0 }
    }

    fn secs(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_player_begins_at_the_lowest_rate_and_requests_what_the_last_chunk_could_afford() {
        let mut plan = player();
        let bytes = plan.next_bytes(Time::ZERO, &mut rng()).expect("a chunk is limited");
        assert_eq!(bytes, 250_000);
        // 250 kB in 1 s are 2 Mbit/s, of which 0.8 are enough for 1 Mbit/s only.
        let chunk = FinishedTransfer { start: Time::ZERO, bytes };
        assert_eq!(plan.next_start(&chunk, secs(1), &mut rng()), secs(2));
        assert_eq!(plan.next_bytes(Time::ZERO, &mut rng()), Some(250_000));
        // 250 kB in 0.5 s are 4 Mbit/s, of which 0.8 are enough for 2 Mbit/s.
        let half = Time::ZERO + Span::from_millis(500);
        assert_eq!(plan.next_start(&chunk, half, &mut rng()), secs(2));
        assert_eq!(plan.next_bytes(Time::ZERO, &mut rng()), Some(500_000));
    }

    #[test]
    fn a_player_that_is_late_requests_at_once() {
        let chunk = FinishedTransfer { start: Time::ZERO, bytes: 250_000 };
        assert_eq!(player().next_start(&chunk, secs(3), &mut rng()), secs(3));
    }

    #[test]
    fn bulk_data_is_transferred_once() {
        let mut plan = TransferPlan::Bulk(Some(1_000));
        assert_eq!(plan.next_bytes(Time::ZERO, &mut rng()), Some(1_000));
        let finished = FinishedTransfer { start: Time::ZERO, bytes: 1_000 };
        assert_eq!(plan.next_start(&finished, secs(1), &mut rng()), Time::NEVER);
    }
}

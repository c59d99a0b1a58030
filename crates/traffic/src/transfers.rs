//! Transfers over TCP: bulk data, users who fetch one file after the other, video in chunks.

use sojourn_aqm::{Rate, Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, Sizes};

/// What a user transfers.
#[derive(Clone, Debug)]
pub enum TransferPlan {
    /// Unlimited data, or so many bytes.
    Bulk(Option<u64>),
    /// One file after the other.
    Files {
        /// Sizes in bytes.
        sizes: Sizes,
        /// Mean think time.
        think: Span,
    },
    /// Chunks of video.
    Chunks {
        /// Playing time of a chunk.
        every: Span,
        /// The ladder of rates, increasing.
        rates: Vec<Rate>,
        /// The place of the present rate in the ladder.
        rung: usize,
    },
    /// Objects that others request, such as the objects of a page.
    OnDemand,
}

impl TransferPlan {
    /// The plan of an application over one connection at a time.
    pub fn of(app: &App) -> Option<TransferPlan> {
        Some(match app {
            App::Bulk { bytes, .. } => TransferPlan::Bulk(*bytes),
            App::Files { sizes, think, .. } => {
                TransferPlan::Files { sizes: sizes.clone(), think: *think }
            }
            App::Chunks { every, rates, .. } => {
                TransferPlan::Chunks { every: *every, rates: rates.clone(), rung: 0 }
            }
            _ => return None,
        })
    }

    /// The bytes that the next connection carries; none: unlimited.
    pub fn next_bytes(&self, rng: &mut Rng) -> Option<u64> {
        match self {
            TransferPlan::Bulk(bytes) => *bytes,
            TransferPlan::Files { sizes, .. } => Some(draw::size(rng, sizes)),
            TransferPlan::Chunks { every, rates, rung } => {
                Some(rates[*rung].bytes_in(*every).max(1))
            }
            TransferPlan::OnDemand => unreachable!("objects are requested by others"),
        }
    }

    /// When the next connection opens after a transfer that is finished now.
    pub fn next_start(&mut self, finished: &FinishedTransfer, now: Time, rng: &mut Rng) -> Time {
        match self {
            TransferPlan::Bulk(_) | TransferPlan::OnDemand => Time::NEVER,
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

/// A player requests at most this fraction of the last chunk's throughput (our choice: a margin for
/// the variation of throughput).
const SAFETY_MARGIN: f64 = 0.8;

/// A finished transfer.
#[derive(Clone, Copy, Debug)]
pub struct FinishedTransfer {
    /// When the user requested it.
    pub start: Time,
    /// Its size.
    pub bytes: u64,
}

//! Transfers over TCP: bulk data, users who fetch one file after the other, video in chunks.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{App, Carried, Sizes, Transfers};

use crate::{CustomApp, Player};

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
    Chunks(Player),
    /// Objects requested by others, such as the objects of a page.
    OnDemand,
    /// Transfers specified by a custom application.
    Custom(Box<dyn CustomApp>),
}

impl TransferPlan {
    /// The plan of an application over one connection at a time, for the application of a single
    /// flow ([`App::of_member`]).
    pub fn of(app: &App) -> Option<TransferPlan> {
        if let Some(bytes) = app.bulk() {
            return Some(TransferPlan::Bulk(bytes));
        }
        if let Some(chunks) = app.chunks() {
            return Some(TransferPlan::Chunks(Player::new(chunks.clone())));
        }
        if let Some(Transfers::Drawn { sizes, .. }) = app.transfers() {
            return Some(TransferPlan::One { sizes: sizes.clone() });
        }
        match app {
            App::Files { sizes, think, .. }
            | App::Endpoint { carried: Carried::Files { sizes, think }, .. } => {
                Some(TransferPlan::Files { sizes: sizes.clone(), think: *think })
            }
            _ => None,
        }
    }

    /// The size in bytes of the connection that opens now; `None` if unlimited.
    pub fn next_bytes(&mut self, now: Time, rng: &mut Rng) -> Option<u64> {
        match self {
            TransferPlan::Bulk(bytes) => *bytes,
            TransferPlan::Files { sizes, .. } | TransferPlan::One { sizes } => {
                Some(draw::size(rng, sizes))
            }
            TransferPlan::Chunks(player) => Some(player.next_bytes()),
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
            TransferPlan::Chunks(player) => player.next_start(finished, now),
        }
    }
}

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

    fn secs(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn bulk_data_is_transferred_once() {
        let mut plan = TransferPlan::Bulk(Some(1_000));
        assert_eq!(plan.next_bytes(Time::ZERO, &mut rng()), Some(1_000));
        let finished = FinishedTransfer { start: Time::ZERO, bytes: 1_000 };
        assert_eq!(plan.next_start(&finished, secs(1), &mut rng()), Time::NEVER);
    }
}

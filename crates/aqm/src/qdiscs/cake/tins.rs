//! The tins of CAKE: classes of packets by DSCP, each with flow queues, hosts and a share of the
//! bandwidth.

use alloc::collections::VecDeque;

use super::decaying::Decaying;
use super::diffserv::TinShare;
use super::hosts::{Hosts, Shares};
use super::params::{CakeParams, Isolation};
use super::round::Round;
use super::shaper::TinClock;
use super::ways::Ways;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};

/// The list from which a queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum List {
    New,
    Old,
    Decaying,
}

/// A tin.
#[derive(Debug)]
pub(super) struct Tin {
    /// Index of the tin's first queue among the queues of all tins.
    pub(super) first: u32,
    pub(super) flow_ways: Ways,
    pub(super) shares: Shares,
    /// Queues that became active since they were last served.
    pub(super) new: VecDeque<u32>,
    /// The other active queues.
    pub(super) old: Round,
    /// Empty queues whose COBALT is not at rest yet.
    pub(super) decaying: Decaying,
    pub(super) packets: u64,
    /// Number of bulk queues.
    pub(super) bulk: u32,
    /// The transmission time of a largest packet at the tin's threshold.
    pub(super) frame_time: Span,
    /// Target and interval of COBALT at that threshold.
    pub(super) target: Span,
    pub(super) interval: Span,
    pub(super) clock: TinClock,
    /// If no bandwidth is set: bytes that the tin may send before the next tin's turn.
    deficit: i64,
    quantum: i64,
}

impl Tin {
    pub(super) fn new(params: &CakeParams, share: &TinShare, first: u32, mtu_bytes: u32) -> Tin {
        let places = params.flows as usize;
        let (target, interval) = params.of_tin(share.threshold, mtu_bytes);
        let is = |one| params.isolation == one || params.isolation == Isolation::Triple;
        Tin {
            first,
            flow_ways: Ways::new(places),
            shares: Shares::new(
                CakeParams::quantum(share.threshold),
                Hosts::new(places, is(Isolation::Src)),
                Hosts::new(places, is(Isolation::Dst)),
            ),
            new: VecDeque::with_capacity(places),
            old: Round::new(places),
            decaying: Decaying::new(places),
            packets: 0,
            bulk: 0,
            frame_time: CakeParams::frame_time(share.threshold, mtu_bytes),
            target,
            interval,
            clock: TinClock::new(share.threshold),
            deficit: 0,
            quantum: share.quantum,
        }
    }

    /// Changes the threshold (Linux 6.1 sch_cake.c, cake_set_rate).
    pub(super) fn set_threshold(
        &mut self,
        params: &CakeParams,
        threshold: Option<Rate>,
        mtu_bytes: u32,
    ) {
        self.shares.quantum = CakeParams::quantum(threshold);
        self.frame_time = CakeParams::frame_time(threshold, mtu_bytes);
        (self.target, self.interval) = params.of_tin(threshold, mtu_bytes);
        self.clock.set_rate(threshold);
    }

    /// Whether any queue of the tin may hold packets.
    fn is_active(&self) -> bool {
        !self.new.is_empty() || self.old.length() > 0
    }

    /// The queues that may hold packets.
    pub(super) fn active(&self) -> impl Iterator<Item = u32> {
        self.new.iter().copied().chain(self.old.queues())
    }

    /// The queue to serve: on the first request of a call a decaying queue, otherwise new queues
    /// before old ones.
    #[inline]
    pub(super) fn next(&self, is_first: bool) -> Option<(List, u32)> {
        let order = match is_first {
            true => [List::Decaying, List::New, List::Old],
            false => [List::New, List::Old, List::Decaying],
        };
        order.into_iter().find_map(|list| Some((list, self.head(list)?)))
    }

    fn head(&self, list: List) -> Option<u32> {
        match list {
            List::New => self.new.front().copied(),
            List::Old => self.old.head().map(|turn| turn.queue),
            List::Decaying => self.decaying.head().map(|queue| self.first + queue),
        }
    }

    pub(super) fn push_decaying(&mut self, queue: u32) {
        self.decaying.push(queue - self.first);
    }

    pub(super) fn remove_decaying(&mut self, queue: u32) {
        self.decaying.remove(queue - self.first);
    }

    /// Gives old queues their shares until one has credits.
    #[inline]
    pub(super) fn turn_old(&mut self, rng: &mut Rng) {
        let shares = &self.shares;
        self.old.turn(|hosts| shares.of(hosts), rng);
    }

    /// A packet of this size on the link below leaves.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u64, now: Time) {
        self.clock.charge(bytes, now);
        self.deficit -= bytes as i64;
    }
}

/// The tin to serve. With a bandwidth: the highest tin within its threshold, or else the one that
/// will be within it first. Without a bandwidth: the next one by deficit round robin from `current`
/// (Linux 6.1 sch_cake.c, cake_dequeue).
#[inline]
pub(super) fn select(
    tins: &mut [Tin],
    current: usize,
    is_shaped: bool,
    now: Time,
) -> Option<usize> {
    if is_shaped {
        let waits = |tin: &Tin| tin.clock.next().as_nanos().saturating_sub(now.as_nanos());
        let active = tins.iter().enumerate().filter(|(_, tin)| tin.is_active());
        return active.min_by_key(|&(place, tin)| (waits(tin), !place)).map(|(place, _)| place);
    }
    if !tins.iter().any(Tin::is_active) {
        return None;
    }
    let mut place = current;
    while tins[place].deficit < 0 || !tins[place].is_active() {
        let tin = &mut tins[place];
        if tin.deficit <= 0 {
            tin.deficit += tin.quantum;
        }
        place = (place + 1) % tins.len();
    }
    Some(place)
}

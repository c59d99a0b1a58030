//! The tins of CAKE: classes of packets by DSCP, each with flow queues, hosts and a share of the
//! bandwidth.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use super::decaying::Decaying;
use super::hosts::{Hosts, Shares};
use super::params::{CakeParams, Isolation};
use super::round::Round;
use super::shaper::TinClock;
use super::ways::Ways;
use crate::rng::Rng;
use crate::time::{Rate, Time};

crate::words! {
    /// How packets are assigned to tins by their DSCP.
    pub enum Diffserv {
        /// One tin for all.
        Besteffort = "besteffort",
        /// Eight tins by the upper three bits of the DSCP.
        Precedence = "precedence",
        /// Best effort, bulk and latency-sensitive.
        Diffserv3 = "diffserv3",
        /// Best effort, bulk, streaming media and latency-sensitive.
        Diffserv4 = "diffserv4",
        /// Eight tins of related classes of RFC 4594.
        Diffserv8 = "diffserv8",
    }
}

/// What a tin gets of the bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TinShare {
    /// Its threshold; within it the tin goes before those with lower numbers.
    pub(super) threshold: Option<Rate>,
    /// Its weight without a bandwidth, in bytes per round.
    pub(super) quantum: i64,
}

impl Diffserv {
    /// The shares of the tins (Linux 6.1 sch_cake.c, cake_config_besteffort to
    /// cake_config_diffserv3).
    pub(super) fn shares(self, bandwidth: Option<Rate>) -> Vec<TinShare> {
        // The kernel counts bytes per second.
        let whole = bandwidth.map_or(0, |rate| rate.as_bps() / 8);
        let threshold = |bytes: u64| bandwidth.map(|_| Rate::from_bps(bytes * 8));
        let shifted = |shifts: &[u32]| {
            let share =
                |&by: &u32| TinShare { threshold: threshold(whole >> by), quantum: 1024 >> by };
            shifts.iter().map(share).collect()
        };
        match self {
            Diffserv::Besteffort => vec![TinShare { threshold: bandwidth, quantum: 65_535 }],
            Diffserv::Diffserv3 => shifted(&[0, 4, 2]),
            Diffserv::Diffserv4 => shifted(&[0, 4, 1, 2]),
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                let less =
                    |&(bytes, quantum): &(u64, i64)| Some(((bytes * 7) >> 3, quantum * 7 >> 3));
                let all = core::iter::successors(Some((whole, 256)), less).take(8);
                all.map(|(bytes, quantum)| TinShare { threshold: threshold(bytes), quantum })
                    .collect()
            }
        }
    }

    /// The tin of each DSCP (Linux 6.1 sch_cake.c, `precedence`, `diffserv3`, `diffserv4` and
    /// `diffserv8`). Names are those of RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865 (VA) and 8622
    /// (LE), and the type of service of RFC 1349.
    pub(super) fn table(self) -> [u8; 64] {
        const LE: u8 = 1;
        const TOS2: u8 = 2;
        const TOS4: u8 = 4;
        const VA: u8 = 44;
        const EF: u8 = 46;
        const fn cs(class: u8) -> u8 {
            8 * class
        }
        const fn af(class: u8, precedence: u8) -> u8 {
            8 * class + 2 * precedence
        }
        let mut tins = [0; 64];
        let mut put = |tin: u8, dscps: &[u8]| {
            dscps.iter().for_each(|&dscp| tins[usize::from(dscp)] = tin);
        };
        match self {
            Diffserv::Besteffort => {}
            Diffserv::Precedence => (0..64).for_each(|dscp| put(dscp / 8, &[dscp])),
            Diffserv::Diffserv3 => {
                put(1, &[LE, cs(1)]);
                put(2, &[TOS4, VA, EF, cs(6), cs(7)]);
            }
            Diffserv::Diffserv4 => {
                put(1, &[LE, cs(1)]);
                put(2, &[TOS4, cs(2), cs(3)]);
                (2..=4).for_each(|class| put(2, &[1, 2, 3].map(|n| af(class, n))));
                put(3, &[cs(4), cs(5), VA, EF, cs(6), cs(7)]);
            }
            Diffserv::Diffserv8 => {
                (0..64).for_each(|dscp| put(2, &[dscp]));
                put(0, &[LE]);
                put(1, &[TOS2, cs(1), af(1, 1), af(1, 2), af(1, 3)]);
                put(3, &[cs(3), af(3, 1), af(3, 2), af(3, 3), af(4, 1), af(4, 2), af(4, 3)]);
                put(4, &[TOS4, af(2, 1), af(2, 2), af(2, 3)]);
                put(5, &[cs(2)]);
                put(6, &[cs(4), cs(5), VA, EF]);
                put(7, &[cs(6), cs(7)]);
            }
        }
        tins
    }
}

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
    /// The first of its queues among those of all tins.
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
    pub(super) clock: TinClock,
    /// Bytes that it may send before the next tin without a bandwidth.
    deficit: i64,
    quantum: i64,
}

impl Tin {
    pub(super) fn new(params: &CakeParams, share: &TinShare, first: u32) -> Tin {
        let places = params.flows as usize;
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
            clock: TinClock::new(share.threshold),
            deficit: 0,
            quantum: share.quantum,
        }
    }

    /// Whether it has queues that may hold packets.
    fn is_active(&self) -> bool {
        !self.new.is_empty() || self.old.length() > 0
    }

    /// The queues that may hold packets.
    pub(super) fn active(&self) -> impl Iterator<Item = u32> {
        self.new.iter().copied().chain(self.old.queues())
    }

    /// The queue to serve: at first in a call a decaying one, then new before old.
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
    pub(super) fn turn_old(&mut self, rng: &mut Rng) {
        let shares = &self.shares;
        self.old.turn(|hosts| shares.of(hosts), rng);
    }

    /// A packet of this size on the link below leaves.
    pub(super) fn charge(&mut self, bytes: u64, now: Time) {
        self.clock.charge(bytes, now);
        self.deficit -= bytes as i64;
    }
}

/// The tin to serve: with a bandwidth the highest one that is within its threshold, or else the one
/// that comes within it first; without, by deficit round robin from `current` (Linux 6.1
/// sch_cake.c, cake_dequeue).
pub(super) fn select(
    tins: &mut [Tin],
    current: usize,
    is_shaped: bool,
    now: Time,
) -> Option<usize> {
    if tins.len() == 1 {
        return tins[0].is_active().then_some(0);
    }
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

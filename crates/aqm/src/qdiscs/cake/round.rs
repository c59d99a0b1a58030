//! The queues that deficit round robin serves, in the order of their turns.

use alloc::vec::Vec;

use super::hosts::{HostPair, Share};
use crate::rng::Rng;

/// The old queues. With n flows of one host, sending a packet takes about n turns. So the turns are
/// adjacent in memory, although a queue that joins or leaves then moves those behind it.
#[derive(Clone, Debug)]
pub(super) struct Round {
    turns: Vec<Turn>,
    /// Index of the queue whose turn it is; 0 if the round is empty.
    head: usize,
}

/// A queue in the round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Turn {
    pub(super) queue: u32,
    pub(super) hosts: HostPair,
    pub(super) credits: i64,
}

impl Round {
    /// An empty round with room for `queues` queues.
    pub(super) fn new(queues: usize) -> Round {
        Round { turns: Vec::with_capacity(queues), head: 0 }
    }

    pub(super) fn length(&self) -> usize {
        self.turns.len()
    }

    /// The queue whose turn it is.
    pub(super) fn head(&self) -> Option<&Turn> {
        self.turns.get(self.head)
    }

    pub(super) fn head_mut(&mut self) -> Option<&mut Turn> {
        self.turns.get_mut(self.head)
    }

    /// Appends a queue: its turn is the last.
    pub(super) fn push(&mut self, turn: Turn) {
        if self.head == 0 {
            return self.turns.push(turn);
        }
        self.turns.insert(self.head, turn);
        self.head += 1;
    }

    /// Removes the queue whose turn it is.
    pub(super) fn pop(&mut self) {
        self.turns.remove(self.head);
        if self.head == self.turns.len() {
            self.head = 0;
        }
    }

    /// Changes the hosts of a queue that may be in the round.
    pub(super) fn set_hosts(&mut self, queue: u32, hosts: HostPair) {
        if let Some(turn) = self.turns.iter_mut().find(|turn| turn.queue == queue) {
            turn.hosts = hosts;
        }
    }

    /// Gives queues their shares, in order, until one has credits. Each share draws a random
    /// number. Turns never change the load of a host.
    pub(super) fn turn(&mut self, share_of: impl Fn(HostPair) -> Share, rng: &mut Rng) {
        let Some(first) = self.head() else { return };
        let mut hosts = first.hosts;
        let mut share = share_of(hosts);
        // A local copy, so that the generator's state stays in registers.
        let mut draws = rng.clone();
        loop {
            let mut turns = self.turns[self.head..].iter_mut();
            while let Some(turn) = turns.next() {
                if turn.credits > 0 {
                    let left = turns.len();
                    self.head = self.turns.len() - 1 - left;
                    *rng = draws;
                    return;
                }
                if turn.hosts != hosts {
                    hosts = turn.hosts;
                    share = share_of(hosts);
                }
                turn.credits += share.rounded(&mut draws);
            }
            self.head = 0;
        }
    }

    /// The queues, in no order.
    pub(super) fn queues(&self) -> impl Iterator<Item = u32> {
        self.turns.iter().map(|turn| turn.queue)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Linux 6.1 sch_cake.c, cake_dequeue: a queue without credits gets a share and moves to the
    /// end of the list.
    fn turn_one_by_one(
        old: &mut VecDeque<Turn>,
        exact_share_of: impl Fn(HostPair) -> u64,
        rng: &mut Rng,
    ) {
        while old.front().is_some_and(|turn| turn.credits <= 0) {
            let exact = exact_share_of(old[0].hosts);
            old[0].credits += ((exact + (rng.next_u64() >> 48)) >> 16) as i64;
            old.rotate_left(1);
        }
    }

    #[test]
    fn a_round_is_the_list_of_the_kernel() {
        let mut chance = Rng::stream(1, "round", 0);
        for case in 0..300 {
            let mut rngs = [(); 2].map(|()| Rng::stream(case, "draws", 0));
            let (mut round, mut list) = (Round::new(64), VecDeque::new());
            let pairs = 1 + chance.below(4);
            for step in 0..200 {
                let hosts = HostPair::new(chance.below(pairs) as u32, 1);
                match chance.below(6) {
                    0 | 1 if list.len() < 64 => {
                        let credits = 1 - chance.below(3_000) as i64;
                        let turn = Turn { queue: step, hosts, credits };
                        round.push(turn);
                        list.push_back(turn);
                    }
                    2 if !list.is_empty() => {
                        round.pop();
                        list.pop_front();
                    }
                    3 => {
                        let queue = chance.below(u64::from(step) + 1) as u32;
                        round.set_hosts(queue, hosts);
                        let turn = list.iter_mut().find(|turn| turn.queue == queue);
                        turn.into_iter().for_each(|turn| turn.hosts = hosts);
                    }
                    _ => {
                        // A share below one byte may be rounded to 0.
                        let divisor = 1 + chance.below(2_000);
                        let exact = |hosts: HostPair| {
                            1514 * 65_536 / divisor / u64::from(1 + hosts.source())
                        };
                        round.turn(|hosts| Share::of(exact(hosts)), &mut rngs[0]);
                        turn_one_by_one(&mut list, exact, &mut rngs[1]);
                        if let Some(turn) = round.head_mut() {
                            turn.credits -= 1500;
                            list[0].credits -= 1500;
                        }
                    }
                }
                assert_eq!(round.head(), list.front());
                assert_eq!(round.length(), list.len());
            }
            while let Some(turn) = list.pop_front() {
                assert_eq!(round.head(), Some(&turn));
                round.pop();
            }
            let [one, other] = &mut rngs;
            assert_eq!(one.next_u64(), other.next_u64());
        }
    }
}

//! The routine printed in RFC 8289, compared packet by packet.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::*;
use crate::qdisc::Qdisc;
use crate::qdiscs::fifo::Fifo;
use crate::testing::{Log, Numbered, law};
use crate::units::Limit;

fn rng() -> Rng {
    Rng::stream(1, "unused", 0)
}

/// The routine of RFC 8289 §5.5 and §5.6, step by step as printed, zero sentinels included.
struct Oracle {
    target: u64,
    interval: u64,
    maxpacket: u64,
    queue: VecDeque<(u64, Numbered)>,
    first_above_time: u64,
    drop_next: u64,
    count: u32,
    lastcount: u32,
    dropping: bool,
    dropped: Vec<u64>,
}

impl Oracle {
    fn new(target: u64, interval: u64) -> Oracle {
        Oracle {
            target,
            interval,
            maxpacket: 1514,
            queue: VecDeque::new(),
            first_above_time: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
            dropped: Vec::new(),
        }
    }

    fn bytes(&self) -> u64 {
        self.queue.iter().map(|(_, packet)| u64::from(packet.bytes)).sum()
    }

    fn control_law(&self, t: u64) -> u64 {
        t + (self.interval as f64 / f64::from(self.count).sqrt()) as u64
    }

    fn dodequeue(&mut self, now: u64) -> (Option<Numbered>, bool) {
        let Some((enqueued, packet)) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let mut ok_to_drop = false;
        if now - enqueued < self.target || self.bytes() <= self.maxpacket {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(packet), ok_to_drop)
    }

    fn drop(&mut self, packet: Option<Numbered>) {
        self.dropped.push(packet.expect("only a packet is dropped").id);
    }

    fn dequeue(&mut self, now: u64) -> Option<Numbered> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.drop(packet);
                self.count += 1;
                (packet, ok_to_drop) = self.dodequeue(now);
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            self.drop(packet);
            (packet, _) = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now as i64 - (self.drop_next as i64) < 16 * self.interval as i64 {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        packet
    }
}

/// 1.2 million dequeues of random traffic: bursts, idle times and standing queues, with slow and
/// fast settings.
#[test]
fn deciding_packet_by_packet_equals_the_routine_of_rfc_8289() {
    let mut dropped = 0;
    for (index, (target, interval)) in
        [("5ms", "100ms"), ("1ms", "10ms"), ("400us", "2ms"), ("20ms", "21ms")].iter().enumerate()
    {
        let settings = [("target", *target), ("interval", *interval)];
        let nanos = |text| crate::units::span(text).unwrap().as_nanos();
        let mut oracle = Oracle::new(nanos(target), nanos(interval));
        let mut fifo = Fifo::new(law::<CoDel>(&settings), Limit::Packets(200));
        let mut chance = Rng::stream(8289, "oracle", index as u64);
        dropped += compare(&mut oracle, &mut fifo, &mut chance);
    }
    assert!(dropped > 10_000, "only {dropped} drops were compared");
}

fn compare(oracle: &mut Oracle, fifo: &mut Fifo<Numbered, CoDel>, chance: &mut Rng) -> usize {
    let (mut log, mut now, mut id) = (Log::default(), 1_000_000_000, 0);
    for phase in 0..3_000 {
        let load = [0.3, 0.5, 0.5, 0.7, 0.45][phase % 5];
        let pace = [20_000, 200_000, 2_000_000][chance.below(3) as usize];
        let mut dequeues = 0;
        while dequeues < 100 {
            now += chance.below(pace);
            let time = Time::from_nanos(now);
            if chance.uniform() < load && oracle.queue.len() < 200 {
                let packet = Numbered::new(id, 0, 40 + chance.below(1475) as u32);
                oracle.queue.push_back((now, packet));
                fifo.enqueue(time, packet, &mut rng(), &mut log);
                id += 1;
            } else {
                dequeues += 1;
                let sent = fifo.dequeue(time, &mut rng(), &mut log).map(|d| d.packet);
                assert_eq!(sent, oracle.dequeue(now));
                assert_eq!(log.dropped.len(), oracle.dropped.len(), "at {time:?}");
            }
        }
    }
    assert_eq!(log.dropped_ids(), oracle.dropped);
    oracle.dropped.len()
}

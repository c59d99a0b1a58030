//! FQ-CoDel written out literally, queue by queue and packet by packet, compared with `Fq<CoDel>`.
//!
//! RFC 8290 §4.1 and §4.2 around RFC 8289 §5.5. Where the RFC's prose and Linux differ (credits
//! used up exactly, an emptied new queue), this follows Linux, like `fq/mod.rs`, whose header gives
//! the reasons.

use alloc::collections::VecDeque;

use super::*;
use crate::laws::codel::CoDel;
use crate::params::Params;
use crate::testing::{Log, Numbered, env, law};

const TARGET: u64 = 5_000_000;
const INTERVAL: u64 = 100_000_000;
const QUEUES: usize = 16;
const LIMIT: usize = 200;

#[derive(Default)]
struct Queue {
    packets: VecDeque<(u64, Numbered)>,
    credits: i64,
    first_above_time: Option<u64>,
    drop_next: Option<u64>,
    count: u64,
    lastcount: u64,
    dropping: bool,
}

struct Literal {
    queues: Vec<Queue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    dropped: Vec<u64>,
}

fn law_after(t: u64, count: u64) -> u64 {
    t + (INTERVAL as f64 / libm::sqrt(count as f64)) as u64
}

impl Literal {
    fn new() -> Literal {
        let queues = (0..QUEUES).map(|_| Queue::default()).collect();
        Literal { queues, new: VecDeque::new(), old: VecDeque::new(), dropped: Vec::new() }
    }

    fn bytes(&self, queue: &Queue) -> u64 {
        queue.packets.iter().map(|(_, packet)| u64::from(packet.bytes)).sum()
    }

    fn all_bytes(&self) -> u64 {
        self.queues.iter().map(|queue| self.bytes(queue)).sum()
    }

    fn enqueue(&mut self, now: u64, index: usize, packet: Numbered) {
        self.queues[index].packets.push_back((now, packet));
        if !self.new.contains(&index) && !self.old.contains(&index) {
            self.queues[index].credits = 1514;
            self.new.push_back(index);
        }
        if self.queues.iter().map(|queue| queue.packets.len()).sum::<usize>() <= LIMIT {
            return;
        }
        let size = |&i: &usize| (self.bytes(&self.queues[i]), usize::MAX - i);
        let fattest = (0..QUEUES).max_by_key(size).unwrap();
        let half = self.queues[fattest].packets.len().div_ceil(2);
        for _ in 0..half.min(64) {
            let (_, packet) = self.queues[fattest].packets.pop_front().unwrap();
            self.dropped.push(packet.id);
        }
    }

    /// RFC 8289 §5.6 `dodequeue`: the head, and whether dropping it is allowed.
    fn dodequeue(&mut self, now: u64, index: usize) -> (Option<Numbered>, bool) {
        let head = self.queues[index].packets.pop_front();
        let left = self.all_bytes();
        let queue = &mut self.queues[index];
        let Some((enqueued, packet)) = head else {
            queue.first_above_time = None;
            return (None, false);
        };
        if now - enqueued < TARGET || left <= 1514 {
            queue.first_above_time = None;
            return (Some(packet), false);
        }
        match queue.first_above_time {
            None => {
                queue.first_above_time = Some(now + INTERVAL);
                (Some(packet), false)
            }
            Some(first_above) => (Some(packet), now >= first_above),
        }
    }

    fn drop(&mut self, packet: Option<Numbered>) {
        self.dropped.push(packet.expect("what may be dropped exists").id);
    }

    /// RFC 8289 §5.5 `dequeue`.
    fn codel(&mut self, now: u64, index: usize) -> Option<Numbered> {
        let (mut packet, mut ok) = self.dodequeue(now, index);
        if self.queues[index].dropping {
            if !ok {
                self.queues[index].dropping = false;
            }
            while self.queues[index].dropping && now >= self.queues[index].drop_next.unwrap() {
                self.drop(packet);
                self.queues[index].count += 1;
                (packet, ok) = self.dodequeue(now, index);
                let queue = &mut self.queues[index];
                match ok {
                    false => queue.dropping = false,
                    true => queue.drop_next = queue.drop_next.map(|t| law_after(t, queue.count)),
                }
            }
        } else if ok {
            self.drop(packet);
            (packet, _) = self.dodequeue(now, index);
            let queue = &mut self.queues[index];
            queue.dropping = true;
            let delta = queue.count - queue.lastcount;
            let recent = queue.drop_next.is_some_and(|t| now.saturating_sub(t) < 16 * INTERVAL);
            queue.count = if delta > 1 && recent { delta } else { 1 };
            queue.drop_next = Some(law_after(now, queue.count));
            queue.lastcount = queue.count;
        }
        packet
    }

    /// RFC 8290 §4.2.
    fn dequeue(&mut self, now: u64) -> Option<Numbered> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            if self.queues[index].credits <= 0 {
                self.queues[index].credits += 1514;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            if let Some(packet) = self.codel(now, index) {
                self.queues[index].credits -= i64::from(packet.bytes);
                return Some(packet);
            }
            if is_new {
                self.new.pop_front();
                if !self.old.is_empty() {
                    self.old.push_back(index);
                }
            } else {
                self.old.pop_front();
            }
        }
    }
}

#[test]
fn flow_queues_with_codel_do_what_the_literal_form_of_rfc_8290_does() {
    let mut params = FqParams::of_dialect("rfc8290").unwrap();
    params.set("flows", "16").unwrap();
    params.set("limit", "200p").unwrap();
    let (mut left, mut lost) = (0, 0);
    for seed in 0..20 {
        let mut fq: Fq<Numbered, CoDel> = Fq::new(&params, &env(), || law::<CoDel>(&[]));
        let mut literal = Literal::new();
        let mut chance = Rng::stream(seed, "oracle", 0);
        let (mut rng, mut log, mut now) = (Rng::stream(1, "unused", 0), Log::default(), 0);
        for id in 0..20_000 {
            now += chance.below(1_500_000);
            let time = Time::from_nanos(now);
            let load = [0.65, 0.5, 0.3, 0.52][(id / 2_500) as usize % 4];
            if chance.uniform() < load {
                let (flow, size) = (chance.below(12), [100, 700, 1514][chance.below(3) as usize]);
                let packet = Numbered::new(id, flow, size);
                let index = fq.queue_of(flow) as usize;
                fq.enqueue(time, packet, &mut rng, &mut log);
                literal.enqueue(now, index, packet);
            } else {
                let sent = fq.dequeue(time, &mut rng, &mut log).map(|departure| departure.packet);
                assert_eq!(sent, literal.dequeue(now), "seed {seed}, {id}");
                left += u64::from(sent.is_some());
            }
            assert_eq!(log.dropped.len(), literal.dropped.len(), "seed {seed}, {id}");
        }
        assert_eq!(log.dropped_ids(), literal.dropped, "seed {seed}");
        lost += log.dropped.len();
    }
    assert!(left > 100_000 && lost > 10_000, "{left} left, {lost} were lost");
}

//! PIE as printed in RFC 8033 Appendix B, with the corrections of facts aqm-76 and aqm-79, compared
//! packet by packet. It has the structure of the pseudo-code: one `enque`, one `deque`, one
//! `calculate_drop_prob`, and plain numbers.

use alloc::collections::VecDeque;

use super::*;
use crate::law::Cause;
use crate::qdisc::Qdisc;
use crate::qdiscs::fifo::Fifo;
use crate::testing::{Log, Numbered, law};
use crate::units::Limit;

const TAIL_DROP: u64 = 90_000;
const QDELAY_REF: u64 = 15_000_000;
const T_UPDATE: u64 = 15_000_000;
const MAX_BURST: u64 = 150_000_000;
const DQ_THRESHOLD: u64 = 16_384;
const MEAN_PKTSIZE: u64 = 1514;
const MAX_ECNTH: f64 = 0.1;
/// One, in the scale of a sum that must reach 0.85 and 8.5 exactly (fact aqm-2).
const SCALE: f64 = (1u64 << 56) as f64;

struct Oracle {
    by_rate: bool,
    queue: VecDeque<(u64, Numbered)>,
    drop_prob: f64,
    accu_prob: f64,
    qdelay: u64,
    qdelay_old: u64,
    burst_allowance: u64,
    in_measurement: bool,
    dq_count: u64,
    avg_dq_time: f64,
    measurement_start: u64,
    dropped: Vec<u64>,
    marked: Vec<u64>,
}

use alloc::vec::Vec;

impl Oracle {
    fn new(by_rate: bool) -> Oracle {
        Oracle {
            by_rate,
            queue: VecDeque::new(),
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay: 0,
            qdelay_old: 0,
            burst_allowance: MAX_BURST,
            in_measurement: false,
            dq_count: 0,
            avg_dq_time: 0.0,
            measurement_start: 0,
            dropped: Vec::new(),
            marked: Vec::new(),
        }
    }

    fn bytes(&self) -> u64 {
        self.queue.iter().map(|(_, packet)| u64::from(packet.bytes)).sum()
    }

    fn enque(&mut self, now: u64, packet: Numbered, rng: &mut Rng) {
        if self.bytes() + u64::from(packet.bytes) > TAIL_DROP {
            self.dropped.push(packet.id);
            self.accu_prob = 0.0;
            return;
        }
        let calm = 2 * self.qdelay < QDELAY_REF && 2 * self.qdelay_old < QDELAY_REF;
        if self.drop_prob == 0.0 && calm {
            self.burst_allowance = MAX_BURST;
        }
        if self.burst_allowance == 0 && self.drop_early(rng) {
            self.accu_prob = 0.0;
            if self.drop_prob < MAX_ECNTH && packet.ecn.can_mark() {
                self.marked.push(packet.id);
            } else {
                self.dropped.push(packet.id);
                return;
            }
        }
        self.queue.push_back((now, packet));
    }

    fn drop_early(&mut self, rng: &mut Rng) -> bool {
        if (2 * self.qdelay_old < QDELAY_REF && self.drop_prob < 0.2)
            || self.bytes() <= 2 * MEAN_PKTSIZE
        {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += (self.drop_prob * SCALE).round();
        if self.accu_prob < 0.85 * SCALE - 65_536.0 {
            return false;
        }
        if self.accu_prob >= 8.5 * SCALE - 65_536.0 {
            return true;
        }
        rng.uniform() < self.drop_prob
    }

    fn deque(&mut self, now: u64) -> Option<Numbered> {
        let (enqueued, packet) = self.queue.pop_front()?;
        let left = self.bytes();
        if !self.by_rate {
            self.qdelay = if self.queue.is_empty() { 0 } else { now - enqueued };
            return Some(packet);
        }
        if self.in_measurement {
            self.dq_count += u64::from(packet.bytes);
            if self.dq_count >= DQ_THRESHOLD {
                let dq_time = (now - self.measurement_start) as f64 / 1e9;
                self.avg_dq_time = if self.avg_dq_time == 0.0 {
                    dq_time
                } else {
                    0.75 * self.avg_dq_time + 0.25 * dq_time
                };
                self.in_measurement = false;
            }
        }
        if left >= DQ_THRESHOLD && !self.in_measurement {
            self.in_measurement = true;
            self.measurement_start = now;
            self.dq_count = 0;
        }
        Some(packet)
    }

    fn calculate_drop_prob(&mut self) {
        if self.by_rate {
            let seconds = self.bytes() as f64 * self.avg_dq_time / DQ_THRESHOLD as f64;
            self.qdelay = (seconds * 1e9) as u64;
        }
        let (d, d_old) = (self.qdelay as f64 / 1e9, self.qdelay_old as f64 / 1e9);
        let mut p = 0.125 * (d - 0.015) + 1.25 * (d - d_old);
        p /= match self.drop_prob {
            x if x < 0.000_001 => 2048.0,
            x if x < 0.000_01 => 512.0,
            x if x < 0.000_1 => 128.0,
            x if x < 0.001 => 32.0,
            x if x < 0.01 => 8.0,
            x if x < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        self.drop_prob += p;
        if self.qdelay == 0 && self.qdelay_old == 0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.qdelay;
        self.burst_allowance = self.burst_allowance.saturating_sub(T_UPDATE);
    }
}

/// Compares both under random traffic of up to twice the service rate; both draw from equal
/// streams.
fn compare(by_rate: bool, index: u64) -> (usize, usize) {
    let delay = if by_rate { "rate" } else { "stamps" };
    let pie: Pie = law(&[("ecn", "true"), ("delay", delay)]);
    let mut fifo = Fifo::new(pie, Limit::Bytes(TAIL_DROP));
    let mut oracle = Oracle::new(by_rate);
    let mut chance = Rng::stream(8033, "oracle traffic", index);
    let (mut rng, mut oracle_rng) = (Rng::stream(1, "law", index), Rng::stream(1, "law", index));
    let (mut log, mut now, mut id) = (Log::default(), 0, 0);
    for step in 0..300_000_u64 {
        let load = [0.55, 0.5, 0.7, 0.5, 0.3, 0.52][(step / 5_000 % 6) as usize];
        now += chance.below(1_200_000);
        while let Some(due) = fifo_timer(&fifo).filter(|due| due.as_nanos() <= now) {
            Qdisc::<Numbered>::on_timer(&mut fifo, due);
            oracle.calculate_drop_prob();
        }
        let time = Time::from_nanos(now);
        if chance.uniform() < load {
            let ecn = [crate::Ecn::NotEct, crate::Ecn::Ect0][chance.below(2) as usize];
            let bytes = [40, 576, 1514, 1514][chance.below(4) as usize];
            let packet = Numbered { ecn, ..Numbered::new(id, 0, bytes) };
            fifo.enqueue(time, packet, &mut rng, &mut log);
            oracle.enque(now, packet, &mut oracle_rng);
            id += 1;
        } else {
            let sent = fifo.dequeue(time, &mut rng, &mut log).map(|d| d.packet.id);
            assert_eq!(sent, oracle.deque(now).map(|packet| packet.id), "step {step}");
        }
        assert_eq!(fifo.backlog().bytes, oracle.bytes(), "step {step}");
    }
    let marked: Vec<u64> = log.marked.iter().map(|&(id, ..)| id).collect();
    assert_eq!(log.dropped_ids(), oracle.dropped);
    assert_eq!(marked, oracle.marked);
    let by_chance = log.dropped.iter().filter(|(.., cause)| *cause == Cause::Random).count();
    (by_chance, marked.len())
}

fn fifo_timer(fifo: &Fifo<Numbered, Pie>) -> Option<Time> {
    Qdisc::<Numbered>::next_timer(fifo)
}

/// 1.2 million operations, with stamps and with the rate of Appendix B.
#[test]
fn deciding_packet_by_packet_equals_the_routine_of_rfc_8033() {
    let (mut dropped, mut marked) = (0, 0);
    for index in 0..4 {
        let (drops, marks) = compare(index % 2 == 1, index);
        dropped += drops;
        marked += marks;
    }
    assert!(dropped > 1_000 && marked > 100, "{dropped} drops and {marked} marks were compared");
}

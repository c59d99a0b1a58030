//! CHOKe: RED in which every arrival above the lower threshold is compared with a random queued
//! packet; if both belong to one flow, both are dropped.
//!
//! Source: Linux 6.1 `sch_choke.c` and the thresholds of tc. The text of Pan, Prabhakar and Psounis
//! 2000 was not read.
//!
//! Deviations from Linux: a packet that could be marked is dropped unmarked if the queue is full;
//! holes are closed before the buffer would have to grow (Linux's buffer cannot grow, and may
//! overwrite its head); `limit` may be in bytes, which count as mean packets for the thresholds.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::effective::Effective;
use crate::law::{Cause, Env, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::params;
use crate::params::{Bytes, OrAuto};
use crate::parts::idle_table::IdleTable;
use crate::parts::linux_red::{Curve, RedState, usual_burst};
use crate::parts::tc_weight::weight_log;
use crate::qdisc::{Departure, Qdisc, Scheme, Sink, mark};
use crate::qdiscs::queues::total::Total;
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;

params! {
    /// Parameters of CHOKe.
    pub struct ChokeParams {
        dialects: "linux" = "Linux sch_choke.c; thresholds as tc computes them";
        /// Limit on the backlog; arrivals beyond it are dropped.
        limit: Limit, POSITIVE, "Linux pfifo: txqueuelen of Ethernet" => Limit::Packets(1000);
        /// Average backlog in packets up to which no packet is dropped or marked; `auto` is a third
        /// of `max_th`.
        min_th: OrAuto<u64>, POSITIVE, "tc q_choke.c: max / 3" => OrAuto(None);
        /// Average backlog in packets above which every arrival is signalled; `auto` is a quarter
        /// of `limit`, at least 3.
        max_th: OrAuto<u64>, POSITIVE, "tc q_choke.c: limit / 4" => OrAuto(None);
        /// Signal probability where the average reaches `max_th`.
        max_p: f64, FRACTION, "tc q_choke.c: probability 0.02" => 0.02;
        /// Mean packet size, for the decay while idle and for limits in bytes.
        mean_packet_bytes: Bytes, POSITIVE, "tc q_choke.c: avpkt 1000" => Bytes(1000);
        /// Consecutive packets that RED lets pass, which determines the weight of the average;
        /// `auto` is (2 min + max) / 3.
        burst: OrAuto<u64>, POSITIVE, "tc q_choke.c" => OrAuto(None);
        /// Whether RED marks ECN-capable packets instead of dropping them.
        ecn: bool, ANY, "tc q_choke.c: off" => false;
        /// Whether an average above `max_th` drops ECN-capable packets.
        hard_drop: bool, ANY, "Linux sch_choke.c: off" => false;
    } behaviour {
        "compared with a queued packet": "arrivals while the average is above min_th",
            "Linux sch_choke.c";
        "the queued packet": "is at a place drawn at random, up to three times while the place is \
            a hole; then it is the head", "Linux sch_choke.c";
        "a match": "drops both packets, even if they could be marked", "Linux sch_choke.c";
        "every arrival is signalled": "above max_th; in RED itself from max_th on",
            "Linux sch_choke.c";
        "after an idle time": "the average is shifted as a table of idle times says; no sample is \
            taken",
            "Linux red.h, red_calc_qavg_from_idle_time";
        "random numbers of RED": "one per signal", "Linux red.h";
    }
    check: |params| match params.limit {
        Limit::Packets(n) if n > MOST_PACKETS => Err(format!(
            "limit `{n}p` must be at most {MOST_PACKETS}p (Linux sch_choke.c: CHOKE_MAX_QUEUE)"
        )),
        _ => params.curve().map(drop),
    };
}

/// `tc choke` without `bandwidth`.
const DEFAULT_RATE: Rate = Rate::from_bps(10_000_000);
/// Linux `sch_choke.c`: CHOKE_MAX_QUEUE.
const MOST_PACKETS: u64 = 128 * 1024 - 1;

impl ChokeParams {
    fn curve(&self) -> Result<Curve, String> {
        let limit = match self.limit {
            Limit::Packets(n) => n,
            Limit::Bytes(n) => n / self.mean_packet_bytes.0,
        };
        let max_th = self.max_th.0.unwrap_or((limit / 4).max(3));
        let min_th = self.min_th.0.unwrap_or(max_th / 3).max(1);
        if min_th >= max_th {
            let source = "Linux sch_choke.c, tc choke";
            return Err(format!(
                "min_th `{min_th}` must be less than max_th `{max_th}` ({source})"
            ));
        }
        let usual = || usual_burst(min_th as f64, max_th as f64, self.min_th.0.is_none());
        let burst = self.burst.0.map_or_else(usual, |packets| packets as f64);
        let log = weight_log(burst, min_th as f64).ok_or_else(|| {
            format!(
                "burst ({burst}) is too small for min_th ({min_th}): no weight of the average fits \
                 (tc tc_red.c)"
            )
        })?;
        Ok(Curve::new(min_th, max_th, self.max_p, log))
    }
}

/// CHOKe, as registered.
pub struct Choke;

const VARS: &[Var] = &[
    Var { name: "avg_queue", unit: "packets", doc: "Average backlog" },
    Var { name: "matches", unit: "1", doc: "Arrivals so far that matched a packet of their flow" },
];

impl Scheme for Choke {
    type Params = ChokeParams;
    const NAME: &'static str = "choke";
    const DOC: &'static str =
        "RED; an arrival that meets its own flow is dropped with it (Linux sch_choke.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(params: &ChokeParams, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(ChokeQueue::<P>::new(params, env))
    }

    fn effective(params: &ChokeParams, _env: &Env) -> Vec<Effective> {
        params.curve().map_or_else(|_| Vec::new(), |curve| curve.effective(Limit::Packets).into())
    }
}

/// The discipline.
#[derive(Debug)]
struct ChokeQueue<P> {
    /// In order of arrival, with holes where packets were removed; the head is never a hole.
    places: VecDeque<Option<(Time, P)>>,
    total: Total,
    limit: Limit,
    curve: Curve,
    red: RedState,
    ecn: bool,
    hard_drop: bool,
    mean_packet_bytes: u64,
    table: IdleTable,
    idle_since: Option<Time>,
    matches: u64,
}

impl<P: Packet> ChokeQueue<P> {
    fn new(params: &ChokeParams, env: &Env) -> Self {
        let mean_packet_bytes = params.mean_packet_bytes.0;
        let curve = params.curve().expect("the parameters have been checked");
        let rate = env.rate.unwrap_or(DEFAULT_RATE);
        let limit_packets = match params.limit {
            Limit::Packets(n) => n,
            Limit::Bytes(n) => n / params.mean_packet_bytes.0,
        };
        ChokeQueue {
            // Twice the limit always suffices, because at least half of a full buffer is holes.
            places: VecDeque::with_capacity(2 * limit_packets.min(1024) as usize),
            total: Total::default(),
            limit: params.limit,
            curve,
            red: RedState::REST,
            ecn: params.ecn,
            hard_drop: params.hard_drop,
            mean_packet_bytes,
            table: IdleTable::new(curve.weight_log, mean_packet_bytes, rate),
            idle_since: None,
            matches: 0,
        }
    }

    /// Updates the average: it decays over an idle time, otherwise it samples the backlog.
    fn learn(&mut self, now: Time) {
        match self.idle_since.take() {
            Some(since) => {
                let micros = now.since(since).as_nanos() / 1000;
                self.red.average = self.table.decayed(self.red.average, micros);
            }
            None => self.red.sample(&self.curve, u64::from(self.total.packets)),
        }
    }

    /// The place of a random packet if it belongs to `flow`. After three holes, the head is tried
    /// (Linux 6.1 sch_choke.c, choke_peek_random).
    fn place_of_match(&self, flow: u64, rng: &mut Rng) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        let mut draw = || rng.below(self.places.len() as u64) as usize;
        let tries = (0..3).map(|_| draw()).find(|&place| self.places[place].is_some());
        let place = tries.unwrap_or(0);
        let (_, packet) = self.places[place].as_ref().expect("the head is not a hole");
        (packet.flow() == flow).then_some(place)
    }

    fn remove(&mut self, place: usize) -> (Time, P) {
        let taken = self.places[place].take().expect("a match is not a hole");
        self.total.remove(taken.1.bytes());
        // Holes at the end stay, because choke_drop_by_idx compares the place with the one after
        // the last.
        while self.places.front().is_some_and(Option::is_none) {
            self.places.pop_front();
        }
        taken
    }

    /// Closes the holes before the buffer would grow, if they fill at least half of it.
    fn close_holes(&mut self) {
        let holes = self.places.len() - self.total.packets as usize;
        if self.places.len() == self.places.capacity() && holes * 2 >= self.places.len() {
            self.places.retain(Option::is_some);
        }
    }

    /// Whether RED signals this arrival.
    fn red_signals(&mut self, rng: &mut Rng) -> Option<Cause> {
        if self.red.is_above(&self.curve, self.curve.max_th) {
            self.red.leave();
            return Some(Cause::Forced);
        }
        self.red.hits(&self.curve, rng).then_some(Cause::Random)
    }

    /// Comparison, then RED (Linux 6.1 sch_choke.c, choke_enqueue). Returns the packet if it may be
    /// appended.
    fn judge(
        &mut self,
        now: Time,
        mut packet: P,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<P> {
        if let Some(place) = self.place_of_match(packet.flow(), rng) {
            self.matches += 1;
            let (enqueued, victim) = self.remove(place);
            sink.dropped(victim, enqueued, Stage::Queued, Cause::Match);
            sink.dropped(packet, now, Stage::Enqueue, Cause::Match);
            return None;
        }
        let Some(cause) = self.red_signals(rng) else { return Some(packet) };
        let may_mark = self.ecn && (cause == Cause::Random || !self.hard_drop);
        let is_full = self.total.is_full_for(packet.bytes(), self.limit);
        match may_mark && packet.ecn().can_mark() {
            true if is_full => Some(packet), // it is dropped next
            true => {
                mark(&mut packet, now, Stage::Enqueue, cause, sink);
                Some(packet)
            }
            false => {
                sink.dropped(packet, now, Stage::Enqueue, cause);
                None
            }
        }
    }
}

impl<P: Packet + Send> Qdisc<P> for ChokeQueue<P> {
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let was_idle = self.idle_since.is_some();
        self.learn(now);
        let packet = if self.red.is_above(&self.curve, self.curve.min_th) {
            self.judge(now, packet, rng, sink)
        } else {
            self.red.leave();
            Some(packet)
        };
        match packet {
            Some(packet) if self.total.is_full_for(packet.bytes(), self.limit) => {
                sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
            }
            Some(packet) => {
                self.close_holes();
                self.total.add(packet.bytes());
                self.places.push_back(Some((now, packet)));
            }
            // The device is idle, so the kernel finds the queue empty again (fact aqm-130).
            None if was_idle && self.places.is_empty() => self.idle_since = Some(now),
            None => {}
        }
    }

    fn dequeue(
        &mut self,
        now: Time,
        _rng: &mut Rng,
        _sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        if self.places.is_empty() {
            self.idle_since.get_or_insert(now);
            return None;
        }
        let (enqueued, packet) = self.remove(0);
        Some(Departure { packet, enqueued })
    }

    fn on_rate(&mut self, _now: Time, rate: Rate) {
        self.table = IdleTable::new(self.curve.weight_log, self.mean_packet_bytes, rate);
    }

    fn backlog(&self) -> Backlog {
        self.total.backlog()
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        out[0] = self.red.mean(&self.curve);
        out[1] = self.matches as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::params::Params;
    use crate::testing::{Log, Numbered, assert_near, env, ms};

    fn choke() -> ChokeQueue<Numbered> {
        choke_of("1000p")
    }

    fn choke_of(limit: &str) -> ChokeQueue<Numbered> {
        let mut params = ChokeParams::of_dialect("linux").unwrap();
        for (name, text) in [("limit", limit), ("min_th", "10"), ("max_th", "30")] {
            params.set(name, text).unwrap();
        }
        params.check().unwrap();
        ChokeQueue::new(&params, &env())
    }

    /// A queue with packets of `flows` in turn; the average is held constant.
    fn filled(flows: &[u64], count: u64, average: u64) -> ChokeQueue<Numbered> {
        let mut choke = choke();
        // The weight is so small that the average hardly moves.
        choke.curve.weight_log = 40;
        for id in 0..count {
            let flow = flows[id as usize % flows.len()];
            offer(&mut choke, id, flow, &mut Rng::stream(1, "test", 0));
        }
        choke.red.average = average << 40;
        choke
    }

    fn offer(choke: &mut ChokeQueue<Numbered>, id: u64, flow: u64, rng: &mut Rng) -> Log {
        let mut log = Log::default();
        choke.enqueue(ms(1), Numbered::new(id, flow, 1000), rng, &mut log);
        log
    }

    /// Linux 6.1 sch_choke.c, choke_enqueue.
    #[test]
    fn a_single_flow_loses_the_arrival_and_one_that_waits() {
        let mut choke = filled(&[1], 20, 20);
        let mut rng = Rng::stream(1, "test", 0);
        for n in 1..=10 {
            let log = offer(&mut choke, 100, 1, &mut rng);
            assert_eq!(log.dropped.len(), 2);
            assert_eq!(choke.backlog().packets, 20 - n);
        }
    }

    /// Linux 6.1 sch_choke.c, choke_enqueue, tests `qavg <= qth_min`.
    #[test]
    fn at_exactly_the_lower_threshold_nothing_is_compared() {
        let mut choke = filled(&[1], 10, 10);
        let log = offer(&mut choke, 100, 1, &mut Rng::stream(1, "test", 0));
        assert!(log.dropped.is_empty());
        assert_eq!(choke.red.average, 10 << 40);
        assert_eq!(choke.backlog().packets, 11);
    }

    /// Pan, Prabhakar and Psounis 2000: a flow loses packets in proportion to its share of the
    /// queue.
    #[test]
    fn the_probability_of_a_match_is_the_share_of_the_queue() {
        let choke = filled(&[1, 2, 2, 3], 80, 20);
        let mut rng = Rng::stream(1, "test", 0);
        let mut share = |flow| {
            let hits = (0..100_000).filter(|_| choke.place_of_match(flow, &mut rng).is_some());
            hits.count() as f64 / 1e5
        };
        assert_near(share(1), 0.25, 0.01);
        assert_near(share(2), 0.5, 0.01);
        assert_near(share(4), 0.0, 0.0);
    }

    /// Linux 6.1 sch_choke.c, choke_enqueue, tests `qavg > qth_max`.
    #[test]
    fn above_the_upper_threshold_an_arrival_without_match_is_dropped_alone() {
        let mut choke = filled(&[1, 2, 3], 60, 31);
        let log = offer(&mut choke, 100, 9, &mut Rng::stream(1, "test", 0));
        assert_eq!(log.dropped, [(100, Stage::Enqueue, Cause::Forced)]);
        assert_eq!(choke.backlog().packets, 60);
    }

    /// One draw selects the position, and another is made where RED starts to count (red.h,
    /// red_action).
    #[test]
    fn an_arrival_above_the_threshold_draws_one_position() {
        let mut choke = filled(&[1, 2, 3], 60, 20);
        let mut rng = Rng::stream(1, "test", 0);
        offer(&mut choke, 100, 9, &mut rng);
        offer(&mut choke, 101, 9, &mut rng);
        let mut expected = Rng::stream(1, "test", 0);
        (0..3).for_each(|_| _ = expected.next_u64());
        assert_eq!(rng.next_u64(), expected.next_u64());
    }

    /// Our choice: packets are never allocated individually, no matter how long the head stays.
    #[test]
    fn holes_are_closed_before_the_buffer_would_have_to_grow() {
        let mut choke = choke_of("40p");
        let capacity = choke.places.capacity();
        // The weight is so small that the average hardly moves.
        choke.curve.weight_log = 40;
        let mut rng = Rng::stream(1, "test", 0);
        offer(&mut choke, 0, 1, &mut rng);
        (1..10).for_each(|id| _ = offer(&mut choke, id, 2, &mut rng));
        for id in 10..10 + 4 * capacity as u64 {
            choke.red.average = 0; // this one waits
            offer(&mut choke, id, 2, &mut rng);
            choke.red.average = 20 << 40;
            let matches = choke.matches;
            while choke.matches == matches {
                offer(&mut choke, 0, 2, &mut rng);
            }
        }
        assert!(choke.matches >= 4 * capacity as u64 && choke.backlog().packets < 40);
        assert_eq!(choke.places.capacity(), capacity);
    }

    #[test]
    fn holes_are_skipped_and_after_three_the_head_is_taken() {
        let mut choke = filled(&[1, 2], 20, 20);
        for place in 1..19 {
            let (_, packet) = choke.places[place].take().unwrap();
            choke.total.remove(packet.bytes);
        }
        let mut rng = Rng::stream(1, "test", 0);
        let hits = (0..1000).filter(|_| choke.place_of_match(1, &mut rng).is_some()).count();
        assert!(hits > 700, "{hits}"); // fair would be 500
        let mut next = || choke.dequeue(ms(2), &mut rng, &mut Log::default()).map(|d| d.packet.id);
        assert_eq!([next(), next(), next()], [Some(0), Some(19), None]);
    }

    /// Linux 6.1 sch_choke.c, choke_enqueue: `red_use_harddrop` concerns the upper threshold alone.
    #[test]
    fn hard_drop_drops_above_the_upper_threshold_and_marks_below() {
        let judge = |hard_drop, average| {
            let mut choke = filled(&[1, 2, 3], 60, average);
            (choke.ecn, choke.hard_drop) = (true, hard_drop);
            choke.curve = Curve { weight_log: 40, ..Curve::new(10, 30, 1.0, 0) };
            let mut rng = Rng::stream(1, "test", 0);
            let mut log = Log::default();
            // Below the upper threshold the first arrival draws the gap, and the next one is hit.
            for id in 0..9 {
                let packet = Numbered { ecn: Ecn::Ect0, ..Numbered::new(id, 9, 1000) };
                choke.judge(ms(1), packet, &mut rng, &mut log);
                if !log.marked.is_empty() || !log.dropped.is_empty() {
                    break;
                }
            }
            (log.marked.len(), log.dropped.len())
        };
        assert_eq!([judge(true, 31), judge(true, 29)], [(0, 1), (1, 0)]);
        assert_eq!([judge(false, 31), judge(false, 29)], [(1, 0), (1, 0)]);
    }

    /// Linux 6.1 sch_choke.c, choke_drop_by_idx: `idx == q->tail` is never true, so a hole at the
    /// end stays and can be drawn.
    #[test]
    fn a_hole_at_the_end_stays() {
        let mut choke = filled(&[1, 2], 20, 20);
        choke.remove(19);
        assert_eq!((choke.places.len(), choke.backlog().packets), (20, 19));
        (1..19).for_each(|place| _ = choke.remove(place));
        choke.remove(0);
        assert!(choke.places.is_empty(), "without a packet there is no hole");
    }

    /// Linux 6.1 sch_choke.c, choke_dequeue: the idle time begins when a dequeue returns no packet,
    /// not when the last packet is dropped. red.h, red_calc_qavg_from_idle_time: the average decays
    /// by bit shifts.
    #[test]
    fn an_average_decays_from_when_the_link_finds_nothing() {
        let mut choke = choke();
        let log = choke.curve.weight_log;
        choke.red.average = 20 << log;
        let (mut rng, mut sink) = (Rng::stream(1, "test", 0), Log::default());
        choke.enqueue(ms(0), Numbered::new(1, 1, 1000), &mut rng, &mut sink);
        let sampled = choke.red.average;
        assert_eq!(sampled, (20 << log) - 20, "not idle yet");
        choke.dequeue(ms(1), &mut rng, &mut sink);
        choke.dequeue(ms(2), &mut rng, &mut sink);
        choke.enqueue(ms(10_002), Numbered::new(2, 1, 1000), &mut rng, &mut sink);
        assert_eq!(choke.red.average, choke.table.decayed(sampled, 10_000_000));
        assert!(choke.red.average < sampled);
    }

    /// Fact aqm-130: an idle queue remains idle after an arrival is dropped into it.
    #[test]
    fn a_drop_into_an_idle_queue_starts_another_idle_time() {
        let mut choke = choke();
        choke.red.average = 200 << choke.curve.weight_log;
        let (mut rng, mut sink) = (Rng::stream(1, "test", 0), Log::default());
        choke.dequeue(ms(1), &mut rng, &mut sink);
        choke.enqueue(ms(1), Numbered::new(1, 1, 1000), &mut rng, &mut sink);
        assert_eq!(sink.dropped, [(1, Stage::Enqueue, Cause::Forced)]);
        let before = choke.red.average;
        choke.enqueue(ms(10_001), Numbered::new(2, 1, 1000), &mut rng, &mut sink);
        assert_eq!(choke.red.average, choke.table.decayed(before, 10_000_000));
        assert!(choke.red.average < before);
    }
}

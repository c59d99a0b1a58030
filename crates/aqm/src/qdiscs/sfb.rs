//! SFB, stochastic fair BLUE: a BLUE in each of 8 x 16 bins. Every flow has one bin in each level;
//! the lowest of the eight probabilities applies to it. So only an unresponsive flow, which keeps
//! all its bins full, reaches a probability of 1 and the penalty box.
//!
//! Source: Linux 6.1 `sch_sfb.c`; the text of Feng, Shin, Kandlur and Saha 2001 was not read.
//!
//! Time is counted in jiffies, 250 per second (Linux `kernel/Kconfig.hz`).
//!
//! Deviations from Linux: `limit` may be in bytes as well.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;

use crate::law::{Cause, Env, Stage, Var, Verdict};
use crate::packet::{Backlog, Packet};
use crate::params;
use crate::params::Hertz;
use crate::params::rules::contradiction;
use crate::qdisc::{Departure, Qdisc, Scheme, Sink, mark};
use crate::qdiscs::queues::total::{Ceiling, Total};
use crate::rng::{Rng, splitmix};
use crate::time::{Span, Time};
use crate::units::Limit;

params! {
    /// Parameters of SFB.
    pub struct SfbParams {
        dialects: "linux" = "Linux sch_sfb.c";
        /// Limit on the backlog; arrivals beyond it are dropped.
        limit: Limit, POSITIVE, "Linux sch_sfb.c: txqueuelen of Ethernet" => Limit::Packets(1000);
        /// Packets in a bin at which an arrival raises its probability.
        bin_target: u64, POSITIVE, "Linux sch_sfb.c: bin_size 20" => 20;
        /// Packets in each of a flow's bins at which its arrivals are dropped.
        bin_max: u64, POSITIVE, "Linux sch_sfb.c: max 25" => 25;
        /// How much a full bin raises its probability, in steps of 1/65535.
        increment: f64, PROBABILITY, "Linux sch_sfb.c: 66/65535" => 66.0 / 65535.0;
        /// How much an empty bin lowers it, in steps of 1/65535.
        decrement: f64, PROBABILITY, "Linux sch_sfb.c: 11/65535" => 11.0 / 65535.0;
        /// Time between two changes of the hash.
        rehash_interval: Span, POSITIVE, "Linux sch_sfb.c: 600 s" => Span::from_secs(600);
        /// How long before a change the next bank learns which flows are unresponsive.
        warmup: Span, NOT_NEGATIVE, "Linux sch_sfb.c: 60 s" => Span::from_secs(60);
        /// Packets per second for all flows in the penalty box together.
        penalty_rate: Hertz, NOT_NEGATIVE, "Linux sch_sfb.c: 10" => Hertz(10.0);
        /// Their burst in packets.
        penalty_burst: u64, ANY, "Linux sch_sfb.c: 20" => 20;
    } behaviour {
        "a bin's probability changes": "at every arrival in the bin, before the arrival is judged",
            "Linux sch_sfb.c; Feng et al. 2001 hold it for a time";
        "in a set-up by tc": "increment and decrement are 33/65535 and 3/65535, which tc always \
            sends; an imported set-up has them", "iproute2 6.1 q_sfb.c, sfb_parse_opt";
        "above one half": "arrivals are dropped even if they could be marked", "Linux sch_sfb.c";
        "at one": "arrivals pass unmarked while the penalty box has tokens, else they are dropped",
            "Linux sch_sfb.c";
        "tokens of the penalty box": "are added when a packet arrives without a token left, for \
            the time since the last such packet: packets that arrive faster than penalty_rate \
            never earn tokens", "Linux sch_sfb.c";
        "a new hash": "starts with the probabilities that its bank learned during the warm-up; \
            the old bank keeps its probabilities until it is used again", "Linux sch_sfb.c";
    }
    check: |params| check(params);
}

fn check(params: &SfbParams) -> Result<(), String> {
    if params.bin_target > params.bin_max {
        let source = "Linux sch_sfb.c";
        return Err(contradiction(params, "bin_target", "at most", "bin_max", source));
    }
    Ok(())
}

/// SFB, as registered.
pub struct Sfb;

const VARS: &[Var] = &[
    Var { name: "highest_prob", unit: "1", doc: "The highest probability of a bin" },
    Var {
        name: "tokens",
        unit: "packets",
        doc: "Packets that the penalty box lets pass before it refills",
    },
];

impl Scheme for Sfb {
    type Params = SfbParams;
    const NAME: &'static str = "sfb";
    const DOC: &'static str = "A BLUE in each bin of a hash of eight levels; unresponsive flows \
         are limited (Linux sch_sfb.c)";
    const VARS: &'static [Var] = VARS;

    fn build<P: Packet + Send + 'static>(params: &SfbParams, env: &Env) -> Box<dyn Qdisc<P>> {
        Box::new(SfbQueue::<P>::new(params, env))
    }
}

const LEVELS: usize = 8;
const BINS: usize = 16;
/// A jiffy.
const JIFFY: Span = Span::from_millis(4);
const JIFFIES_PER_SEC: f64 = 250.0;
/// A probability of one, in the 16 bits of Linux.
const ONE: u32 = 65_535;

/// The time rounded down to a jiffy.
fn in_jiffies(now: Time) -> Time {
    Time::from_nanos(now.as_nanos() / JIFFY.as_nanos() * JIFFY.as_nanos())
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: u32,
    /// The probability, in units of 1/65535.
    prob: u32,
}

/// One hash with its bins.
#[derive(Clone, Debug)]
struct Bank {
    salt: u64,
    bins: [[Bin; BINS]; LEVELS],
}

impl Bank {
    fn new(salt: u64) -> Bank {
        Bank { salt, bins: [[Bin::default(); BINS]; LEVELS] }
    }

    /// The hash of a flow; never 0, which means "not counted" in Linux 6.1 sch_sfb.c, sfb_enqueue.
    fn hash(&self, flow: u64) -> u32 {
        (splitmix(flow ^ self.salt) as u32).max(1)
    }

    /// The bins of a hash: four bits for each level.
    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        let place = move |level: usize| (hash >> (4 * level)) as usize % BINS;
        self.bins.iter_mut().enumerate().map(move |(level, bins)| &mut bins[place(level)])
    }
}

/// The discipline.
#[derive(Debug)]
struct SfbQueue<P> {
    /// Arrival time, packet, and the packet's hash in each bank that counts it.
    waiting: VecDeque<(Time, P, [Option<u32>; 2])>,
    total: Total,
    params: SfbParams,
    increment: u32,
    decrement: u32,
    banks: [Bank; 2],
    active: usize,
    rehash_at: Time,
    tokens: u64,
    refilled: Time,
}

impl<P: Packet> SfbQueue<P> {
    fn new(params: &SfbParams, env: &Env) -> Self {
        let steps = |prob: f64| libm::round(prob * f64::from(ONE)) as u32;
        SfbQueue {
            waiting: VecDeque::new(),
            total: Total::default(),
            increment: steps(params.increment),
            decrement: steps(params.decrement),
            banks: [Bank::new(env.salt), Bank::new(splitmix(!env.salt))],
            active: 0,
            rehash_at: Time::ZERO + params.rehash_interval,
            tokens: params.penalty_burst,
            refilled: Time::ZERO,
            params: params.clone(),
        }
    }

    fn rehash_if_due(&mut self, now: Time) {
        if now <= self.rehash_at {
            return;
        }
        let old = &mut self.banks[self.active];
        old.salt = splitmix(old.salt.wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.active ^= 1;
        self.rehash_at = now + self.params.rehash_interval;
    }

    /// Updates a flow's bins at an arrival (Linux 6.1 sch_sfb.c, sfb_enqueue). Returns their
    /// minimum length and probability.
    fn learn(&mut self, bank: usize, hash: u32) -> (u32, u32) {
        let (target, up, down) = (self.params.bin_target, self.increment, self.decrement);
        let bins = self.banks[bank].of(hash).map(|bin| {
            if bin.packets == 0 {
                bin.prob = bin.prob.saturating_sub(down);
            } else if u64::from(bin.packets) >= target {
                bin.prob = (bin.prob + up).min(ONE);
            }
            (bin.packets, bin.prob)
        });
        bins.fold((u32::MAX, ONE), |(packets, prob), bin| (packets.min(bin.0), prob.min(bin.1)))
    }

    /// Whether the penalty box passes one more packet (Linux 6.1 sch_sfb.c, sfb_rate_limit). A
    /// packet that gets no token restarts the clock (fact qdisc-9).
    fn has_token(&mut self, now: Time) -> bool {
        const MOST: Span = Span::from_secs(10);
        if self.params.penalty_rate.0 == 0.0 {
            return false;
        }
        if self.tokens == 0 {
            let jiffies = now.since(self.refilled).min(MOST).as_nanos() / JIFFY.as_nanos();
            let earned = (jiffies as f64 * self.params.penalty_rate.0 / JIFFIES_PER_SEC) as u64;
            self.tokens = earned.min(self.params.penalty_burst);
            self.refilled = now;
        }
        if self.tokens == 0 {
            return false;
        }
        self.tokens -= 1;
        true
    }

    /// Whether the next bank is being trained (Linux 6.1 sch_sfb.c, sfb_enqueue: double_buffering).
    fn is_warming_up(&self, now: Time) -> bool {
        self.params.warmup > Span::ZERO && now + self.params.warmup > self.rehash_at
    }

    /// The verdict of a bank on an arrival, and the hashes under which it is to be counted.
    fn judge(
        &mut self,
        now: Time,
        bank: usize,
        packet: &P,
        rng: &mut Rng,
    ) -> (Verdict, [Option<u32>; 2]) {
        let mut hashes = [None; 2];
        let hash = self.banks[bank].hash(packet.flow());
        hashes[bank] = Some(hash);
        let (packets, prob) = self.learn(bank, hash);
        if u64::from(packets) >= self.params.bin_max {
            return (Verdict::Drop(Cause::BinOverflow), hashes);
        }
        if prob < ONE {
            return (self.by_chance(prob, packet, rng), hashes);
        }
        // Not at the arrival that has just brought a new hash.
        if bank == self.active && self.is_warming_up(now) {
            let other = bank ^ 1;
            let hash = self.banks[other].hash(packet.flow());
            self.learn(other, hash);
            hashes[other] = Some(hash);
        }
        match self.has_token(now) {
            true => (Verdict::Pass, hashes),
            false => (Verdict::Drop(Cause::Penalty), hashes),
        }
    }

    /// Draws against the probability. If it is above one half, a share of ECT packets is dropped
    /// too; that share grows with the probability.
    fn by_chance(&self, prob: u32, packet: &P, rng: &mut Rng) -> Verdict {
        const HALF: u32 = ONE / 2;
        let draw = (rng.next_u64() >> 48) as u32;
        if draw >= prob {
            return Verdict::Pass;
        }
        let must_drop = prob > HALF && draw < 2 * (prob - HALF);
        Verdict::signal(!must_drop && packet.ecn().can_mark(), Cause::Random)
    }

    fn count(&mut self, hashes: [Option<u32>; 2], change: impl Fn(u32) -> u32) {
        for (bank, hash) in self.banks.iter_mut().zip(hashes) {
            if let Some(hash) = hash {
                bank.of(hash).for_each(|bin| bin.packets = change(bin.packets));
            }
        }
    }
}

impl<P: Packet + Send> Qdisc<P> for SfbQueue<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>) {
        let ceiling = Ceiling::new(self.params.limit, u64::MAX);
        if !self.total.has_room_for(packet.bytes(), ceiling) {
            return sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
        }
        let jiffy = in_jiffies(now);
        // sfb_enqueue reads the bank's number before it changes: the arrival that triggers the new
        // hash is judged and counted by the retiring bank, with that bank's new salt.
        let bank = self.active;
        self.rehash_if_due(jiffy);
        let (verdict, hashes) = self.judge(jiffy, bank, &packet, rng);
        match verdict {
            Verdict::Pass => {}
            Verdict::Mark(cause) => mark(&mut packet, now, Stage::Enqueue, cause, sink),
            Verdict::Drop(cause) => return sink.dropped(packet, now, Stage::Enqueue, cause),
        }
        self.count(hashes, |packets| packets + 1);
        self.total.add(packet.bytes());
        self.waiting.push_back((now, packet, hashes));
    }

    fn dequeue(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        _sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        let (enqueued, packet, hashes) = self.waiting.pop_front()?;
        self.count(hashes, |packets| packets - 1);
        self.total.remove(packet.bytes());
        Some(Departure { packet, enqueued })
    }

    fn on_limit(&mut self, limit: Limit) -> bool {
        self.params.limit = limit;
        true
    }

    fn backlog(&self) -> Backlog {
        self.total.backlog()
    }

    fn vars(&self) -> &'static [Var] {
        VARS
    }

    fn observe(&self, out: &mut [f64]) {
        let bins = self.banks[self.active].bins.iter().flatten();
        let highest = bins.map(|bin| bin.prob).max().unwrap_or(0);
        out[0] = f64::from(highest) / f64::from(ONE);
        out[1] = self.tokens as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::params::Params;
    use crate::testing::{Log, Numbered, assert_near, env, ms};

    fn sfb() -> SfbQueue<Numbered> {
        SfbQueue::new(&SfbParams::of_dialect("linux").unwrap(), &env())
    }

    fn rng() -> Rng {
        Rng::stream(1, "test", 0)
    }

    fn set_bins(sfb: &mut SfbQueue<Numbered>, flow: u64, packets: u32, prob: f64) {
        let hash = sfb.banks[0].hash(flow);
        let prob = (prob * f64::from(ONE)) as u32;
        sfb.banks[0].of(hash).for_each(|bin| *bin = Bin { packets, prob });
    }

    fn arrival(ecn: Ecn) -> Numbered {
        Numbered { ecn, ..Numbered::new(0, 7, 1000) }
    }

    /// Linux 6.1 `sch_sfb.c`: 65535 in steps of 66, the kernel's default (tc always sends 33).
    #[test]
    fn a_bin_that_stays_full_comes_to_one_after_993_arrivals() {
        let mut sfb = sfb();
        set_bins(&mut sfb, 7, 20, 0.0);
        let hash = sfb.banks[0].hash(7);
        let arrivals = (1..).find(|_| sfb.learn(0, hash).1 == ONE);
        assert_eq!(arrivals, Some(993));
    }

    /// Linux 6.1 `sfb_enqueue` drops packets with draws r < 2 (p - 1/2), out of those with r < p.
    #[test]
    fn above_one_half_ect_packets_are_dropped_too() {
        let mut rng = rng();
        for (prob, dropped, marked) in [(0.4, 0.0, 0.4), (0.75, 0.5, 0.25)] {
            let sfb = sfb();
            let scaled = (prob * f64::from(ONE)) as u32;
            let (mut drops, mut marks) = (0u32, 0u32);
            for _ in 0..100_000 {
                match sfb.by_chance(scaled, &arrival(Ecn::Ect0), &mut rng) {
                    Verdict::Pass => {}
                    Verdict::Mark(_) => marks += 1,
                    Verdict::Drop(_) => drops += 1,
                }
            }
            assert_near(f64::from(drops) / 1e5, dropped, 0.01);
            assert_near(f64::from(marks) / 1e5, marked, 0.01);
        }
    }

    /// Linux 6.1 sch_sfb.c, sfb_enqueue, uses the smallest probability of the eight bins.
    #[test]
    fn a_flow_with_one_unshared_bin_is_not_signalled() {
        let mut sfb = sfb();
        set_bins(&mut sfb, 1, 24, 1.0);
        let (mine, theirs) = (sfb.banks[0].hash(7), sfb.banks[0].hash(1));
        assert_ne!(mine, theirs);
        for _ in 0..1000 {
            assert_eq!(sfb.judge(ms(1), 0, &arrival(Ecn::NotEct), &mut rng()).0, Verdict::Pass);
        }
    }

    /// The number of arrivals, one every `every` milliseconds, that pass the penalty box.
    fn passes(sfb: &mut SfbQueue<Numbered>, from: u64, to: u64, every: usize) -> usize {
        let mut judge = |t| sfb.judge(ms(t), 0, &arrival(Ecn::NotEct), &mut rng()).0;
        (from..to).step_by(every).filter(|&t| judge(t) == Verdict::Pass).count()
    }

    /// Fact qdisc-9.
    #[test]
    fn the_penalty_box_lets_twenty_pass_and_then_ten_a_second_if_they_come_no_faster() {
        let mut sfb = sfb();
        set_bins(&mut sfb, 7, 20, 1.0);
        assert_eq!(passes(&mut sfb, 0, 20, 1), 20);
        assert_eq!(passes(&mut sfb, 20, 3_020, 99), 0);
        assert_eq!(passes(&mut sfb, 3_090, 6_090, 100), 30);
        assert_eq!(passes(&mut sfb, 16_000, 16_050, 1), 20, "it holds at most a burst");
    }

    /// Linux 6.1 sch_sfb.c, sfb_rate_limit: 103 to 200 ms are 25 jiffies, which earn one token.
    #[test]
    fn tokens_are_earned_by_the_jiffy() {
        let mut sfb = sfb();
        sfb.tokens = 0;
        let mut passes = |id, t| {
            set_bins(&mut sfb, 7, 20, 1.0);
            let mut log = Log::default();
            sfb.enqueue(ms(t), Numbered::new(id, 7, 1000), &mut rng(), &mut log);
            log.dropped.is_empty()
        };
        assert_eq!([103, 200].map(|t| passes(t, t)), [true, true]);
    }

    /// Linux 6.1 sch_sfb.c, sfb_rate_limit: with a rate of 0 not even the first burst passes.
    #[test]
    fn without_a_penalty_rate_no_packet_passes() {
        let mut sfb = sfb();
        sfb.params.penalty_rate = Hertz(0.0);
        set_bins(&mut sfb, 7, 20, 1.0);
        assert_eq!(passes(&mut sfb, 0, 20, 1), 0);
    }

    /// Linux 6.1 sch_sfb.c, sfb_swap_slot: the retiring bank gets a new hash and keeps its
    /// probabilities.
    #[test]
    fn a_new_hash_changes_banks_and_leaves_probabilities() {
        let mut sfb = sfb();
        set_bins(&mut sfb, 7, 20, 0.5);
        let highest = |bank: &Bank| bank.bins.iter().flatten().map(|bin| bin.prob).max();
        let (salt, prob) = (sfb.banks[0].salt, highest(&sfb.banks[0]));
        sfb.rehash_if_due(ms(600_000));
        assert_eq!(sfb.active, 0, "later than the interval, not at it");
        sfb.rehash_if_due(ms(600_004));
        assert_eq!((sfb.active, highest(&sfb.banks[0])), (1, prob));
        assert_ne!(sfb.banks[0].salt, salt);
    }

    /// Linux 6.1 sch_sfb.c, sfb_enqueue: `slot` is read before sfb_swap_slot.
    #[test]
    fn the_arrival_that_brings_a_new_hash_is_judged_and_counted_by_the_bank_that_retires() {
        for full in [0, 1] {
            let mut sfb = sfb();
            sfb.banks[full].bins.iter_mut().flatten().for_each(|bin| bin.packets = 25);
            let mut log = Log::default();
            sfb.enqueue(ms(600_004), Numbered::new(0, 7, 1000), &mut rng(), &mut log);
            assert_eq!((sfb.active, log.dropped.len()), (1, 1 - full));
            let counted = sfb.banks[0].bins.iter().flatten().filter(|bin| bin.packets == 1);
            assert_eq!(counted.count(), LEVELS * full);
        }
    }

    /// Linux 6.1 sch_sfb.c, sfb_enqueue: `minqlen >= q->max`.
    #[test]
    fn a_flow_whose_bins_all_hold_25_is_dropped() {
        for (packets, is_dropped) in [(24, false), (25, true)] {
            let mut sfb = sfb();
            set_bins(&mut sfb, 7, packets, 0.0);
            let verdict = sfb.judge(ms(1), 0, &arrival(Ecn::Ect0), &mut Rng::scripted(0.9)).0;
            assert_eq!(verdict != Verdict::Pass, is_dropped);
        }
    }

    /// Linux 6.1 sch_sfb.c, sfb_enqueue.
    #[test]
    fn an_arrival_draws_once_and_in_the_penalty_box_never() {
        for (prob, draws) in [(0.5, 1), (1.0, 0)] {
            let mut sfb = sfb();
            set_bins(&mut sfb, 7, 5, prob);
            let (mut rng, mut expected) = (rng(), rng());
            sfb.judge(ms(1), 0, &arrival(Ecn::Ect0), &mut rng);
            (0..draws).for_each(|_| _ = expected.next_u64());
            assert_eq!(rng.next_u64(), expected.next_u64());
        }
    }

    #[test]
    fn lengths_come_back_to_zero_across_a_new_hash() {
        let mut sfb = sfb();
        let mut log = Log::default();
        let minutes = |n: u64| ms(60_000 * n);
        for id in 0..20 {
            let packet = Numbered::new(id, id % 3, 1000);
            sfb.enqueue(minutes(id), packet, &mut rng(), &mut log);
        }
        assert_eq!(sfb.active, 1);
        while sfb.dequeue(minutes(30), &mut rng(), &mut log).is_some() {}
        assert!(sfb.banks.iter().flat_map(|b| b.bins.iter().flatten()).all(|b| b.packets == 0));
    }
}

//! Effects of the path behind a link, besides a constant delay: random loss, jitter, and ECN
//! bleaching.

use sojourn_aqm::{Rng, Span, Time};
use sojourn_scenario::draw;
use sojourn_scenario::resolved::{
    Blocks, Corrupt, DelayChanges, Extra, Jitter, Link as LinkPlan, Loss, Reorder, span_at,
};

use crate::correlated::Chance;
use crate::netem_delay::NetemDelay;

/// Loss, jitter and bleaching on one path. Loss and jitter have separate random streams, so that
/// neither changes the draws of the other.
#[derive(Debug)]
pub struct Impairment {
    loss: Option<Losses>,
    jitter: Option<Delays>,
    changes: Option<DelayChanges>,
    bleaches: bool,
    damages: Option<Chance>,
    /// Which packets skip the delay, how many must not before, and how many have not.
    skips: Option<(Chance, u32, u32)>,
    /// Whether packets with different delays may overtake each other.
    delays_reorder: bool,
    /// When propagation of the last packet started; later packets may not overtake it.
    last: Time,
    offered: u64,
    lost: u64,
    at_warmup: (u64, u64),
}

/// Random losses.
#[derive(Debug)]
enum Losses {
    Correlated(Chance),
    /// The state is that of a Gilbert-Elliott channel, 1 or 2 (bad), or of a four-state channel.
    Model {
        loss: Loss,
        rng: Rng,
        state: u8,
    },
}

/// Random delays.
#[derive(Debug)]
enum Delays {
    Netem(NetemDelay, Rng),
    #[cfg(not(target_arch = "wasm32"))]
    Slots(crate::slots::SlotState, Rng),
    /// With when the last block leaves, and when it has been received.
    Model(Extra, Rng, Option<(Time, Time)>),
}

/// The effects of the path behind a link on packets.
#[derive(Clone, Debug, Default)]
pub struct Impairs {
    /// Random loss.
    pub loss: Option<Loss>,
    /// Extra delay.
    pub jitter: Option<Jitter>,
    /// Changes of the propagation delay.
    pub changes: Option<DelayChanges>,
    /// Packets that skip the delay and the jitter.
    pub reorder: Option<Reorder>,
    /// Packets that receivers drop.
    pub corrupt: Option<Corrupt>,
    /// Whether it clears the ECN field.
    pub bleaches: bool,
}

impl Impairment {
    /// The impairment behind a scenario's link.
    pub fn of_plan(link: &LinkPlan, seed: u64) -> Option<Impairment> {
        let does = Impairs {
            loss: link.loss.clone(),
            jitter: link.jitter.clone(),
            changes: link.delay_changes.clone(),
            reorder: link.reorder,
            corrupt: link.corrupt,
            bleaches: link.ecn_bleaching,
        };
        Impairment::behind(&link.name, seed, does)
    }

    /// The impairment behind a link, whose random streams are named after the link; `None` if the
    /// path does nothing to packets.
    pub fn behind(link: &str, seed: u64, does: Impairs) -> Option<Impairment> {
        Impairment::new(does, |purpose| Rng::stream(seed, &format!("{link}/{purpose}"), 0))
    }

    fn new(does: Impairs, stream: impl Fn(&str) -> Rng) -> Option<Impairment> {
        let Impairs { loss, jitter, changes, reorder, corrupt, bleaches } = does;
        let varies = jitter.is_some() || changes.is_some() || reorder.is_some();
        let any = loss.is_some() || varies || corrupt.is_some() || bleaches;
        any.then(|| Impairment {
            damages: corrupt.map(|it| Chance::new(it.rate, it.correlation, stream("corrupt"))),
            skips: reorder
                .map(|it| (Chance::new(it.rate, it.correlation, stream("reorder")), it.gap, 0)),
            delays_reorder: jitter.as_ref().is_some_and(|jitter| jitter.reorder)
                || changes.as_ref().is_some_and(|changes| changes.reorder),
            loss: loss.map(|loss| Losses::of(loss, stream("loss"))),
            jitter: jitter.map(|jitter| Delays::of(jitter.extra, stream("jitter"))),
            changes,
            bleaches,
            last: Time::ZERO,
            offered: 0,
            lost: 0,
            at_warmup: (0, 0),
        })
    }

    /// Whether the ECN field of every packet is cleared.
    pub fn bleaches(&self) -> bool {
        self.bleaches
    }

    /// Whether packets may overtake each other.
    pub fn reorders(&self) -> bool {
        self.skips.is_some() || self.delays_reorder
    }

    /// Ends the warm-up: summaries count from here on.
    pub fn end_warmup(&mut self) {
        self.at_warmup = (self.offered, self.lost);
    }

    /// Handles a packet of `bytes` that leaves the link now. Returns when its propagation delay
    /// starts, or `None` if it is lost.
    #[cfg_attr(target_arch = "wasm32", expect(unused_variables))]
    pub fn pass(&mut self, now: Time, bytes: u32) -> Option<Time> {
        self.offered += 1;
        if self.loss.as_mut().is_some_and(|loss| loss.happen(now))
            || self.damages.as_mut().is_some_and(Chance::happens)
        {
            self.lost += 1;
            return None;
        }
        if self.skips_delay() {
            return Some(now);
        }
        if self.jitter.is_none() && self.changes.is_none() {
            return Some(now);
        }
        let start = now + self.changes.as_ref().map_or(Span::ZERO, |changes| changes.at(now));
        let late = match &mut self.jitter {
            None => start,
            Some(Delays::Netem(netem, rng)) => start + netem.draw(rng),
            #[cfg(not(target_arch = "wasm32"))]
            Some(Delays::Slots(slots, rng)) => slots.pass(start.max(self.last), bytes, rng),
            Some(Delays::Model(extra, rng, block)) => delayed(extra, (now, start), block, rng),
        };
        if self.delays_reorder {
            return Some(late);
        }
        self.last = self.last.max(late);
        Some(self.last)
    }

    /// Packets since the warm-up, and how many of them were lost.
    pub fn counted(&self) -> (u64, u64) {
        (self.offered - self.at_warmup.0, self.lost - self.at_warmup.1)
    }

    /// Whether the next packet skips the delay (Linux 6.1 sch_netem.c, netem_enqueue).
    fn skips_delay(&mut self) -> bool {
        let Some((chance, gap, delayed)) = &mut self.skips else { return false };
        let skips = delayed.saturating_add(1) >= *gap && chance.happens();
        *delayed = if skips { 0 } else { delayed.saturating_add(1) };
        skips
    }
}

impl Losses {
    fn of(loss: Loss, rng: Rng) -> Losses {
        match loss {
            Loss::Correlated { rate, correlation } => {
                Losses::Correlated(Chance::new(rate, correlation, rng))
            }
            loss => Losses::Model { loss, rng, state: 1 },
        }
    }

    /// Whether the next packet is lost.
    ///
    /// In the model of Gilbert (1960) and Elliott (1963) we change the state first and then decide
    /// about the packet. This is our choice; the mean length of a loss burst is then that of the
    /// bad state. Linux decides by the state before the change (sch_netem.c, loss_gilb_ell).
    fn happen(&mut self, now: Time) -> bool {
        let (loss, rng, state) = match self {
            Losses::Correlated(chance) => return chance.happens(),
            Losses::Model { loss, rng, state } => (loss, rng, state),
        };
        match *loss {
            Loss::Bernoulli(rate) | Loss::Correlated { rate, .. } => rng.uniform() < rate,
            Loss::Schedule(ref steps) => {
                let begun = steps.partition_point(|&(from, _)| from <= now.as_nanos());
                rng.uniform() < steps[begun - 1].1
            }
            Loss::GilbertElliott { enter, leave, bad, good } => {
                let change = if *state == 2 { leave } else { enter };
                if rng.uniform() < change {
                    *state = 3 - *state;
                }
                rng.uniform() < if *state == 2 { bad } else { good }
            }
            Loss::FourState { p13, p31, p32, p23, p14 } => {
                // Linux 6.1 sch_netem.c, loss_4state; the new state decides about the packet.
                let [(first, p), (second, q)] = match *state {
                    1 => [(4, p14), (3, p13)],
                    2 => [(3, p23), (2, 0.0)],
                    3 => [(2, p32), (1, p31)],
                    _ => [(1, 1.0), (1, 0.0)],
                };
                *state = match rng.uniform() {
                    draw if draw < p => first,
                    draw if draw < p + q => second,
                    _ => *state,
                };
                *state > 2
            }
        }
    }
}

impl Delays {
    fn of(extra: Extra, rng: Rng) -> Delays {
        match extra {
            Extra::Netem(jitter) => Delays::Netem(NetemDelay::new(jitter), rng),
            #[cfg(not(target_arch = "wasm32"))]
            Extra::Slots(slots) => Delays::Slots(crate::slots::SlotState::new(slots), rng),
            extra => Delays::Model(extra, rng, None),
        }
    }
}

/// Draws an extra delay; returns when the delay is over.
fn delayed(
    extra: &Extra,
    (now, start): (Time, Time),
    block: &mut Option<(Time, Time)>,
    rng: &mut Rng,
) -> Time {
    start
        + match extra {
            Extra::Uniform(max) => Span::from_nanos(rng.below(max.as_nanos())),
            Extra::Schedule(steps) => match span_at(steps, now) {
                Span::ZERO => Span::ZERO,
                max => Span::from_nanos(rng.below(max.as_nanos())),
            },
            Extra::Exponential(mean) => Span::from_secs_f64(rng.exponential(mean.as_secs())),
            Extra::LogNormal { mean, deviation } => {
                Span::from_secs_f64(draw::lognormal(rng, mean.as_secs(), deviation.as_secs()))
            }
            Extra::Netem(_) => Span::ZERO,
            #[cfg(not(target_arch = "wasm32"))]
            Extra::Slots(_) => Span::ZERO,
            Extra::Blocks(blocks) => return in_block(*blocks, start, block, rng),
        }
}

/// When the block arrives that carries a packet allowed to leave from `start` on.
/// [`Impairment::pass`] keeps blocks in order.
fn in_block(blocks: Blocks, start: Time, last: &mut Option<(Time, Time)>, rng: &mut Rng) -> Time {
    let pauses = last.is_none_or(|(left, _)| start > left + blocks.pause);
    let every = if pauses { blocks.request } else { blocks.every };
    let leaves = Time::from_nanos(start.as_nanos().next_multiple_of(every.as_nanos()));
    if let Some((left, received)) = *last
        && leaves <= left
    {
        return received;
    }
    let again = blocks.retransmit > 0.0 && rng.uniform() < blocks.retransmit;
    let received = if again { leaves + blocks.round_trip } else { leaves };
    *last = Some((leaves, received));
    received
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(loss: Option<Loss>, jitter: Option<Jitter>) -> Impairment {
        let does = Impairs { loss, jitter, ..Impairs::default() };
        Impairment::new(does, |purpose| Rng::stream(7, purpose, 0)).expect("impaired")
    }

    /// Whether each of `packets` packets is lost.
    fn losses(loss: Loss, packets: usize) -> Vec<bool> {
        let mut path = with(Some(loss), None);
        (0..packets).map(|_| path.pass(Time::ZERO, 1500).is_none()).collect()
    }

    #[test]
    fn a_path_says_whether_it_bleaches_and_whether_packets_overtake_each_other() {
        let extra = Extra::Uniform(Span::from_millis(1));
        let of = |reorder| with(None, Some(Jitter { extra: extra.clone(), reorder }));
        assert_eq!([of(true).reorders(), of(false).reorders()], [true, false]);
        let bleaching =
            Impairment::behind("a", 1, Impairs { bleaches: true, ..Impairs::default() });
        let bleaching = bleaching.expect("it clears ECN");
        assert_eq!((bleaching.bleaches(), bleaching.reorders()), (true, false));
        assert!(!of(true).bleaches());
        assert!(Impairment::behind("a", 1, Impairs::default()).is_none());
    }

    #[test]
    fn packets_are_counted_from_the_end_of_the_warm_up() {
        let mut path = with(Some(Loss::Bernoulli(1.0)), None);
        (0..3).for_each(|_| assert_eq!(path.pass(Time::ZERO, 1500), None));
        path.end_warmup();
        assert_eq!(path.counted(), (0, 0));
        (0..2).for_each(|_| assert_eq!(path.pass(Time::ZERO, 1500), None));
        assert_eq!(path.counted(), (2, 2));
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let lost = losses(Loss::Bernoulli(0.02), 200_000).iter().filter(|&&lost| lost).count();
        // 4000 losses are expected; four standard deviations are 4 sqrt(200 000 x 0.02 x 0.98) =
        // 250.
        assert!(lost.abs_diff(4_000) < 250, "{lost}");
        assert!(!losses(Loss::Bernoulli(0.0), 1_000).contains(&true));
        assert!(!losses(Loss::Bernoulli(1.0), 1_000).contains(&false));
    }

    /// Linux 6.1 sch_netem.c, loss_4state: the stationary probabilities of the chain's states.
    #[test]
    fn four_states_lose_packets_in_bursts_and_alone() {
        let (p13, p31, p32, p23, p14) = (0.01, 0.2, 0.1, 0.3, 0.02);
        let lost = losses(Loss::FourState { p13, p31, p32, p23, p14 }, 400_000);
        // Relative to state 1: 3 balances 1, 2 balances 3, 4 is entered from 1 alone.
        let (in_3, in_4) = (p13 / p31, p14);
        let share = (in_3 + in_4) / (1.0 + in_3 + in_4 + in_3 * p32 / p23);
        let found = lost.iter().filter(|&&lost| lost).count() as f64 / 400_000.0;
        assert!((found - share).abs() < 0.003, "{found}, {share}");
    }

    #[test]
    fn an_isolated_loss_is_never_followed_by_another() {
        let isolated = Loss::FourState { p13: 0.0, p31: 1.0, p32: 0.0, p23: 1.0, p14: 0.5 };
        let lost = losses(isolated, 10_000);
        assert!(lost.contains(&true) && !lost.windows(2).any(|pair| pair[0] && pair[1]));
        let never_ending = Loss::FourState { p13: 1.0, p31: 0.0, p32: 0.0, p23: 1.0, p14: 0.0 };
        assert!(losses(never_ending, 100).iter().all(|&lost| lost));
    }

    #[test]
    fn gilbert_and_elliott_lose_in_bursts_of_the_mean_length() {
        let loss = Loss::GilbertElliott { enter: 0.01, leave: 0.25, bad: 1.0, good: 0.0 };
        let lost = losses(loss, 400_000);
        let share = lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64;
        // The stationary share is enter / (enter + leave) = 3.846 %, from about 3850 bursts of 4 +-
        // 3.5 packets.
        assert!((share / (0.01 / 0.26) - 1.0).abs() < 0.08, "{share}");
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let mean = share * lost.len() as f64 / bursts;
        assert!((mean - 4.0).abs() < 4.0 * 3.46 / bursts.sqrt(), "{mean}");
    }

    #[test]
    fn jitter_delays_by_its_mean_and_keeps_order_unless_it_may_reorder() {
        let mean = Span::from_millis(5);
        for reorder in [false, true] {
            let extra = Extra::Exponential(mean);
            let mut path = with(None, Some(Jitter { extra, reorder }));
            let times: Vec<Time> = (0..10_000)
                .map(|i| path.pass(Time::ZERO + Span::from_millis(i), 1500).expect("none is lost"))
                .collect();
            let overtaken = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
            assert_eq!(overtaken > 0, reorder, "{overtaken}");
            let late = |(i, at): (usize, &Time)| {
                at.since(Time::ZERO + Span::from_millis(i as u64)).as_secs()
            };
            let average = times.iter().enumerate().map(late).sum::<f64>() / times.len() as f64;
            match reorder {
                // Four standard errors of an exponential mean of 5 ms are 0.2 ms.
                true => assert!((average - 0.005).abs() < 0.0002, "{average}"),
                false => assert!(average > 0.005, "{average}"),
            }
        }
    }

    /// The delay is 20 ms longer between 100 and 200 ms, then 5 ms longer.
    fn changing(reorder: bool) -> Vec<u64> {
        let above_least = [(0, 0), (100, 20), (200, 5)];
        let ms = Span::from_millis;
        let above_least = above_least.map(|(at, above)| (Time::ZERO + ms(at), ms(above))).to_vec();
        let changes = Some(DelayChanges { above_least, reorder });
        let does = Impairs { changes, ..Impairs::default() };
        let mut path = Impairment::behind("a", 1, does).expect("impaired");
        let at = |at_ms: u64| path.pass(Time::ZERO + ms(at_ms), 1500).expect("none is lost");
        [99, 100, 199, 200, 210, 214, 215].map(at).map(|t| t.as_nanos() / 1_000_000).to_vec()
    }

    #[test]
    fn no_packet_overtakes_another_when_the_delay_falls_unless_it_may() {
        assert_eq!(changing(false), [99, 120, 219, 219, 219, 219, 220]);
        assert_eq!(changing(true), [99, 120, 219, 205, 215, 219, 220]);
    }

    #[test]
    fn loss_has_the_probability_of_its_time() {
        let mut path = with(Some(Loss::Schedule(vec![(0, 0.0), (1_000, 1.0), (2_000, 0.0)])), None);
        let lost =
            [0, 999, 1_000, 1_999, 2_000].map(|at| path.pass(Time::from_nanos(at), 1500).is_none());
        assert_eq!(lost, [false, false, true, true, false]);
    }

    /// Linux 6.1 sch_netem.c, netem_enqueue: `reorder 25% gap 5` delays four packets, then each of
    /// the next with a probability of 75 %, until one is sent at once.
    #[test]
    fn packets_that_skip_the_delay_come_at_their_rate_after_the_gap() {
        let whole =
            DelayChanges { above_least: vec![(Time::ZERO, Span::from_millis(10))], reorder: false };
        let reorder = Some(Reorder { rate: 0.25, correlation: 0.0, gap: 5 });
        let does = Impairs { changes: Some(whole), reorder, ..Impairs::default() };
        let mut path = Impairment::behind("a", 7, does).expect("impaired");
        assert!(path.reorders());
        let at = |us: u64| Time::from_nanos(us * 1_000);
        let skipped: Vec<bool> =
            (0..100_000).map(|us| path.pass(at(us), 1500) == Some(at(us))).collect();
        let places = skipped.iter().enumerate().filter(|&(_, &it)| it).map(|(at, _)| at);
        let places: Vec<usize> = places.collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 5) && places[0] >= 4);
        // Four delayed packets and a mean of four draws.
        let mean = 100_000.0 / places.len() as f64;
        assert!((mean - 8.0).abs() < 0.15, "{mean}");
    }

    #[test]
    fn damaged_packets_count_as_lost_and_change_no_other_draw() {
        let passed = |corrupt| {
            let jitter =
                Some(Jitter { extra: Extra::Uniform(Span::from_millis(9)), reorder: true });
            let loss = Some(Loss::Bernoulli(0.1));
            let does = Impairs { loss, jitter, corrupt, ..Impairs::default() };
            let mut path = Impairment::behind("a", 7, does).expect("impaired");
            (0..9_000).filter(|_| path.pass(Time::ZERO, 1500).is_some()).count()
        };
        let damage = |rate| Some(Corrupt { rate, correlation: 0.0 });
        assert_eq!((passed(damage(1.0)), passed(damage(0.0))), (0, passed(None)));
        let share = 1.0 - passed(damage(0.2)) as f64 / passed(None) as f64;
        assert!((share - 0.2).abs() < 0.02, "{share}");
    }

    /// Linux 6.1 sch_netem.c, get_crandom; fact link-11.
    #[test]
    fn correlated_losses_come_in_runs_and_less_often_than_the_rate() {
        let lost = losses(Loss::Correlated { rate: 0.25, correlation: 0.5 }, 200_000);
        let share = lost.iter().filter(|&&lost| lost).count() as f64 / 200_000.0;
        let pairs = lost.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
        assert!(0.05 < share && share < 0.25, "{share}");
        assert!(pairs / (share * 200_000.0) > 1.5 * share, "{pairs}");
    }

    /// How late each of 1000 packets is, one each 20 us from `from_ms` on, in microseconds.
    fn late_us(path: &mut Impairment, from_ms: u64) -> Vec<i64> {
        let enter = (0..1_000).map(|i| Time::from_nanos(from_ms * 1_000_000 + i * 20_000));
        let late =
            |at: Time| path.pass(at, 1500).expect("none is lost").since(at).as_nanos() as i64;
        enter.map(late).map(|nanos| nanos / 1_000).collect()
    }

    #[test]
    fn jitter_has_the_maximum_of_its_time_and_keeps_order_unless_it_may_reorder() {
        let step = |(at, max)| (Time::ZERO + Span::from_millis(at), Span::from_millis(max));
        let steps = [(0, 4), (100, 0), (200, 1)].map(step).to_vec();
        for reorder in [true, false] {
            let extra = Extra::Schedule(steps.clone());
            let mut path = with(None, Some(Jitter { extra, reorder }));
            let most = [50, 100, 200].map(|from| {
                let late = late_us(&mut path, from);
                // In order, a packet waits for the one before it: the mean approaches the maximum.
                let mean = late.iter().sum::<i64>() / 1_000;
                (late.into_iter().max().expect("packets"), mean)
            });
            assert!((3_900..4_000).contains(&most[0].0), "{most:?}");
            assert_eq!(most[1], (0, 0));
            assert!((900..1_000).contains(&most[2].0), "{most:?}");
            // Four standard errors of a uniform mean over 1000 packets are 146 us.
            assert_eq!((1_854..2_146).contains(&most[0].1), reorder, "{most:?}");
        }
    }

    /// When packets leave in blocks of 1 ms, if they enter at these times, in microseconds.
    fn in_blocks(enter_us: &[u64], change: impl Fn(&mut Blocks)) -> Vec<u64> {
        let (every, zero) = (Span::from_millis(1), Span::ZERO);
        let mut blocks =
            Blocks { every, request: every, pause: zero, retransmit: 0.0, round_trip: zero };
        change(&mut blocks);
        let mut path = with(None, Some(Jitter { extra: Extra::Blocks(blocks), reorder: false }));
        let mut at =
            |us: &u64| path.pass(Time::from_nanos(us * 1_000), 1500).expect("none is lost");
        enter_us.iter().map(|us| at(us).as_nanos() / 1_000).collect()
    }

    #[test]
    fn packets_leave_together_at_the_end_of_their_block() {
        let left = in_blocks(&[1, 400, 1_000, 1_001, 5_500], |_| ());
        assert_eq!(left, [1_000, 1_000, 1_000, 2_000, 6_000]);
    }

    #[test]
    fn after_a_pause_a_packet_waits_for_the_next_request() {
        let request = |blocks: &mut Blocks| {
            (blocks.request, blocks.pause) = (Span::from_millis(10), Span::from_millis(8));
        };
        // The request at 10 ms covers packets that enter before it. Until its grant is used at 18
        // ms, later packets need no request.
        let left = in_blocks(&[3_000, 5_000, 10_500, 18_000, 18_500, 40_001], request);
        assert_eq!(left, [10_000, 10_000, 11_000, 18_000, 19_000, 50_000]);
    }

    #[test]
    fn a_block_that_is_sent_again_holds_up_those_behind_it() {
        let again = |blocks: &mut Blocks| {
            (blocks.retransmit, blocks.round_trip) = (0.1, Span::from_millis(8));
        };
        let enter: Vec<u64> = (0..20_000).map(|packet| 500 * packet + 1).collect();
        let left = in_blocks(&enter, again);
        assert!(left.is_sorted());
        let waits: Vec<u64> = enter.iter().zip(&left).map(|(enter, left)| left - enter).collect();
        assert!(waits.iter().all(|&wait_us| wait_us < 9_000));
        // A block is not held up if it and the seven before it arrive without retransmission:
        // 0.9^8.
        let held = waits.iter().filter(|&&wait_us| wait_us >= 1_000).count() as f64 / 20_000.0;
        assert!((held - (1.0 - 0.9_f64.powi(8))).abs() < 0.03, "{held}");
    }

    #[test]
    fn loss_does_not_change_what_jitter_draws() {
        let jitter = Jitter { extra: Extra::Uniform(Span::from_millis(9)), reorder: true };
        let times = |loss| {
            let mut path = with(loss, Some(jitter.clone()));
            (0..5).map(|_| path.pass(Time::ZERO, 1500)).collect::<Vec<_>>()
        };
        assert_eq!(times(None), times(Some(Loss::Bernoulli(0.0))));
    }
}

//! The resolved links.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sojourn_aqm::{Effective, Env, Framing, Limit, Packing, QdiscSpec, Rate, Span, Time, registry};

use super::{Class, Radio, Schedule, Scheduler, as_numbers};
use crate::document::wire::{Corrupt, NetemDistribution, Reorder};

/// A link in one direction: queue, transmitter, wire.
#[derive(Clone, PartialEq, Debug)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// How fast it sends.
    pub capacity: Capacity,
    /// Propagation delay; the smallest if it changes.
    pub delay: Span,
    /// How the delay changes.
    pub delay_changes: Option<DelayChanges>,
    /// Bytes of framing added to every packet; rates, limits and laws count them.
    pub framing_bytes: u32,
    /// How framed packets are packed; rates, limits and laws count the result.
    pub packing: Packing,
    /// The queue, with its `limit` filled in from the scenario's `buffer`.
    pub queue: QdiscSpec,
    /// The limit of that queue.
    pub limit: Limit,
    /// Largest packet that any flow sends through the link, framing included, not packed.
    pub mtu_bytes: u32,
    /// The policer in front of the queue.
    pub policer: Option<Policer>,
    /// The scheduler of its classes; without one it has a single queue.
    pub scheduler: Option<Scheduler>,
    /// The device below the queue, if it holds more than the packet being sent.
    pub device: Option<Device>,
    /// Extra delay on the wire.
    pub jitter: Option<Jitter>,
    /// Random loss on the wire.
    pub loss: Option<Loss>,
    /// Copies of arriving packets.
    pub duplicate: Option<Duplicate>,
    /// Packets that skip the delay of the wire; `delay` is then zero.
    pub reorder: Option<Reorder>,
    /// Packets damaged on the wire.
    pub corrupt: Option<Corrupt>,
    /// Whether the wire clears the ECN field of every packet.
    pub ecn_bleaching: bool,
}

impl Link {
    /// Whether its queue gives low latency to packets with ECT(1) (RFC 9332).
    pub fn is_l4s(&self) -> bool {
        self.queue.law == "dualpi2"
    }

    /// Bytes that a packet of `ip_bytes` takes on the link.
    pub fn bytes_of(&self, ip_bytes: u32) -> u32 {
        self.packing.bytes(u64::from(ip_bytes) + u64::from(self.framing_bytes)) as u32
    }

    /// Bytes that the largest packet of any flow takes on the link.
    pub fn largest_bytes(&self) -> u32 {
        self.packing.bytes(u64::from(self.mtu_bytes)) as u32
    }

    /// The MTU that the queue is configured with. Linux dialects get that of the device: the MTU
    /// and header of Ethernet, unless the scenario has larger packets (Linux 6.1 pkt_sched.h,
    /// psched_mtu). All others get the largest packet that any flow sends.
    pub fn queue_mtu_bytes(&self) -> u32 {
        self.mtu_bytes_of(&self.queue)
    }

    /// The MTU that a queue of the link is configured with.
    pub fn mtu_bytes_of(&self, queue: &QdiscSpec) -> u32 {
        const ETHERNET: u32 = 1500 + 14;
        match registry::follows_linux(queue) {
            true => self.mtu_bytes.max(ETHERNET),
            false => self.largest_bytes(),
        }
    }

    /// The effective values of the queue's parameters at the link's initial rate.
    pub fn effective(&self) -> Vec<Effective> {
        let rate = Some(self.capacity.initial_rate());
        let of = |(queue, limit): (&QdiscSpec, Limit)| {
            let env = Env { limit, mtu_bytes: self.mtu_bytes_of(queue), rate, salt: 0 };
            registry::effective(queue, &env).expect("the queue has been checked")
        };
        let Some(scheduler) = &self.scheduler else { return of((&self.queue, self.limit)) };
        let of_leaf = |index| {
            let class: &Class = &scheduler.classes[index];
            of(self.queue_of(class)).into_iter().map(|value| {
                let part = format!("{} {}", class.name, value.part);
                value.of(part.trim_end())
            })
        };
        scheduler.leaves().flat_map(of_leaf).collect()
    }

    /// The queue of a class, with its limit.
    pub fn queue_of<'a>(&'a self, class: &'a Class) -> (&'a QdiscSpec, Limit) {
        class.queue.as_ref().map_or((&self.queue, self.limit), |(spec, limit)| (spec, *limit))
    }

    /// Whether the value contradicts the scenario: it replaces a parameter that the scenario sets,
    /// or was derived from one.
    pub fn contradicts(&self, value: &Effective) -> bool {
        let is_set = |name: &str| self.queue.settings.iter().any(|(set, _)| set == name);
        value.replaces.is_some() && (is_set(value.name) || is_set(value.cause))
    }
}

/// A policer: a token bucket, full at the start, that drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policer {
    /// Rate of the tokens.
    pub rate: Rate,
    /// Depth in bytes.
    pub burst_bytes: u64,
}

/// A device below a queue. It takes a packet while it holds at most `limit` bytes, or fewer than
/// `limit` packets, including the packet being sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Device {
    /// The limit, in bytes as the queue counts them.
    pub limit: Limit,
    /// Bytes that the line adds on top of those that the queue counts.
    pub overhead_bytes: u32,
}

/// How fast a link sends.
#[derive(Clone, PartialEq, Debug)]
pub enum Capacity {
    /// A constant rate.
    Constant(Rate),
    /// Rates and the times from which they hold.
    Schedule(Schedule),
    /// A token bucket in front of a line.
    Bucket(Bucket),
    /// Delivery opportunities recorded on a real link.
    Trace(Arc<Trace>),
    /// A transmitter of a wireless LAN, which shares the medium with the others.
    Wireless {
        /// The LAN, by index.
        wlan: usize,
        /// The radio settings of frames to and from it, if they differ from the LAN's.
        radio: Option<Radio>,
        /// The IP rate of this transmitter with packets of 1500 B when no other transmitter
        /// contends.
        alone: Rate,
        /// Whether it has a queue for each station and serves them by airtime.
        airtime_fairness: bool,
    },
}

impl Capacity {
    /// The rate at time zero. For a schedule that begins with an outage, the first rate; for a
    /// token bucket, the rate of its tokens; for a trace, its mean; for a wireless LAN, the rate of
    /// a lone transmitter.
    pub fn initial_rate(&self) -> Rate {
        match self {
            Capacity::Constant(rate) => *rate,
            Capacity::Schedule(schedule) => schedule.first_rate(),
            Capacity::Bucket(bucket) => bucket.rate,
            Capacity::Trace(trace) => trace.mean_rate(),
            Capacity::Wireless { alone, .. } => *alone,
        }
    }

    /// The highest rate of a schedule; for everything else, the rate at time zero.
    pub fn highest_rate(&self) -> Rate {
        match self {
            Capacity::Schedule(schedule) => schedule.highest_rate(),
            steady => steady.initial_rate(),
        }
    }

    /// The index of the wireless LAN of which it is a transmitter.
    pub fn wireless_lan(&self) -> Option<usize> {
        match self {
            Capacity::Wireless { wlan, .. } => Some(*wlan),
            _ => None,
        }
    }

    /// Whether it has a queue for each station of its wireless LAN and serves them by airtime.
    pub fn serves_by_airtime(&self) -> bool {
        matches!(self, Capacity::Wireless { airtime_fairness: true, .. })
    }

    /// The rate of a schedule at a time, or in an outage the rate before it; for everything else,
    /// the rate at time zero.
    pub fn rate_at(&self, now: Time) -> Rate {
        match self {
            Capacity::Schedule(schedule) => schedule.rate_at(now),
            other => other.initial_rate(),
        }
    }
}

/// A token bucket in front of a line, full at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Rate of the tokens.
    pub rate: Rate,
    /// Depth in bytes.
    pub burst_bytes: u64,
    /// Rate of the line; not below that of the tokens.
    pub line: Rate,
    /// Whether a packet may leave when tokens are short, which puts the bucket into debt.
    pub overdraft: bool,
    /// The framing that it counts for each packet.
    pub framing: Framing,
}

/// A recorded link in Mahimahi's format: each line is the time of one delivery opportunity in
/// milliseconds. An opportunity carries up to `opportunity_bytes` of the queued packets; the rest
/// of it is lost. The trace repeats forever; its last timestamp is the period.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// The file as the scenario names it.
    pub file: String,
    /// SHA-256 of the file's content, in hexadecimal.
    pub sha256: String,
    /// Milliseconds since the start, in order; the last is positive.
    pub opportunities_ms: Vec<u32>,
    /// Bytes per opportunity.
    pub opportunity_bytes: u32,
}

impl Trace {
    /// The period after which it repeats.
    pub fn period(&self) -> Span {
        Span::from_millis(u64::from(self.opportunities_ms.last().copied().unwrap_or(0)))
    }

    /// The mean rate over one period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u128 * u128::from(self.opportunity_bytes) * 8;
        let nanos = u128::from(self.period().as_nanos()).max(1);
        Rate::from_bps((bits * 1_000_000_000 / nanos).max(1) as u64)
    }
}

/// A propagation delay that changes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DelayChanges {
    /// Pairs of a time and the excess over the smallest delay from then on; the first time is zero.
    #[serde(with = "as_numbers::spans_at")]
    pub above_least: Vec<(Time, Span)>,
    /// Whether packets may overtake each other.
    pub reorder: bool,
}

impl DelayChanges {
    /// The excess over the smallest delay for a packet that enters the wire now.
    pub fn at(&self, now: Time) -> Span {
        span_at(&self.above_least, now)
    }
}

/// The span of steps that applies now; the first step is at time zero.
pub fn span_at(steps: &[(Time, Span)], now: Time) -> Span {
    steps[steps.partition_point(|&(from, _)| from <= now) - 1].1
}

/// Extra delay of each packet on a wire.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Jitter {
    /// How it is distributed.
    pub extra: Extra,
    /// Whether packets may overtake each other.
    pub reorder: bool,
}

/// A distribution of extra delays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Extra {
    /// Uniform from zero to this.
    Uniform(#[serde(with = "as_numbers::span")] Span),
    /// Exponential with this mean.
    Exponential(#[serde(with = "as_numbers::span")] Span),
    /// Log-normal.
    LogNormal {
        /// Its mean.
        #[serde(with = "as_numbers::span")]
        mean: Span,
        /// Its standard deviation.
        #[serde(with = "as_numbers::span")]
        deviation: Span,
    },
    /// A distribution of netem.
    Netem(NetemJitter),
    /// Uniform from zero to the span that applies from the latest of these times on; the first time
    /// is zero.
    Schedule(#[serde(with = "as_numbers::spans_at")] Vec<(Time, Span)>),
    /// Packets leave in blocks.
    Blocks(Blocks),
    /// Packets leave in slots.
    #[cfg(not(target_arch = "wasm32"))]
    Slots(Slots),
}

/// Extra delays of a distribution of netem; draws below zero are none.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct NetemJitter {
    /// Its centre.
    #[serde(with = "as_numbers::span")]
    pub mean: Span,
    /// Half its width if uniform, else its standard deviation.
    #[serde(with = "as_numbers::span")]
    pub deviation: Span,
    /// Its form.
    pub distribution: NetemDistribution,
}

/// When slots of netem begin, and what they hold.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Slots {
    /// The time until a slot.
    pub until: NetemJitter,
    /// The packets after which a slot is full.
    pub packets: Option<u32>,
    /// The bytes after which a slot is full.
    pub bytes: Option<u64>,
}

/// When a scheduled medium sends its blocks.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Blocks {
    /// A block leaves at multiples of this time.
    #[serde(with = "as_numbers::span")]
    pub every: Span,
    /// The first block after a pause leaves at multiples of this time.
    #[serde(with = "as_numbers::span")]
    pub request: Span,
    /// How long after a block a pause begins.
    #[serde(with = "as_numbers::span")]
    pub pause: Span,
    /// Probability that a block is sent again.
    pub retransmit: f64,
    /// How much later a block that is sent again arrives.
    #[serde(with = "as_numbers::span")]
    pub round_trip: Span,
}

/// Random loss on a wire; all numbers are probabilities.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Loss {
    /// Each packet is lost with this probability.
    Bernoulli(f64),
    /// Each packet is lost with a probability, by correlated draws.
    Correlated {
        /// Probability of loss.
        rate: f64,
        /// Weight of the previous random draw in the next one.
        correlation: f64,
    },
    /// Two states, after Gilbert 1960 and Elliott 1963.
    GilbertElliott {
        /// Probability of a change from the good to the bad state, at each packet.
        enter: f64,
        /// Probability of a change from the bad to the good state, at each packet.
        leave: f64,
        /// Probability of loss in the bad state.
        bad: f64,
        /// Probability of loss in the good state.
        good: f64,
    },
    /// Four states: packets arrive in states 1 and 2, and are lost in states 3 and 4.
    FourState {
        /// Probability of a change from state 1 to 3.
        p13: f64,
        /// Probability of a change from state 3 to 1.
        p31: f64,
        /// Probability of a change from state 3 to 2.
        p32: f64,
        /// Probability of a change from state 2 to 3.
        p23: f64,
        /// Probability of a change from state 1 to 4.
        p14: f64,
    },
    /// Each packet is lost with the probability that applies from the latest of these times on, in
    /// nanoseconds; the first time is zero.
    Schedule(Vec<(u64, f64)>),
}

/// Random copies of packets that arrive at a link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Duplicate {
    /// Probability that a packet is copied.
    pub rate: f64,
    /// Weight of the previous random draw in the next one.
    pub correlation: f64,
}

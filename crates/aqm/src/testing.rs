//! Helpers of the tests of laws and disciplines.

use alloc::vec;
use alloc::vec::Vec;

use crate::law::{Aqm, Cause, Env, Law, Stage, Verdict};
use crate::packet::{Backlog, Ecn, Head, Packet};
use crate::params::Params;
use crate::qdisc::Sink;
use crate::rng::Rng;
use crate::time::{Rate, Span, Time};
use crate::units::Limit;

/// An instant in milliseconds.
pub(crate) fn ms(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// A link of 10 Mb/s with Ethernet frames.
pub(crate) fn env() -> Env {
    Env {
        limit: Limit::Packets(1000),
        mtu_bytes: 1514,
        rate: Some(Rate::from_bps(10_000_000)),
        salt: 0,
    }
}

/// A generator for code that draws nothing.
pub(crate) fn rng() -> Rng {
    Rng::stream(1, "unused", 0)
}

/// Parameters of a dialect: its defaults, changed by `settings`.
pub(crate) fn params_of<P: Params>(dialect: &str, settings: &[(&str, &str)]) -> P {
    let mut params = P::of_dialect(dialect).expect("a dialect of these parameters");
    for (name, text) in settings {
        params.set(name, text).expect("a legal value");
    }
    params.check().expect("legal together");
    params
}

/// A law with these parameters changed from the defaults.
pub(crate) fn law<L: Law>(settings: &[(&str, &str)]) -> L {
    law_in::<L>(&env(), settings)
}

/// The same in its own environment.
pub(crate) fn law_in<L: Law>(env: &Env, settings: &[(&str, &str)]) -> L {
    law_of_in(env, L::Params::DIALECTS[0].name, settings)
}

/// A law of that dialect, with these parameters changed from its defaults.
pub(crate) fn law_of<L: Law>(dialect: &str, settings: &[(&str, &str)]) -> L {
    law_of_in(&env(), dialect, settings)
}

/// The same in its own environment.
pub(crate) fn law_of_in<L: Law>(env: &Env, dialect: &str, settings: &[(&str, &str)]) -> L {
    L::new(&params_of(dialect, settings), env)
}

/// The value of a state variable.
pub(crate) fn var<L: Law>(law: &L, name: &str) -> f64 {
    let mut values = [f64::NAN; 8];
    law.observe(&mut values[..L::VARS.len()]);
    values[L::VARS.iter().position(|var| var.name == name).unwrap()]
}

/// A backlog of full-sized packets.
pub(crate) fn full_packets(packets: u32) -> Backlog {
    let bytes = u64::from(packets) * 1514;
    Backlog { packets, bytes, link_bytes: bytes }
}

/// A backlog of `bytes`.
pub(crate) fn bytes(bytes: u64) -> Backlog {
    Backlog { packets: bytes.div_ceil(1514) as u32, bytes, link_bytes: bytes }
}

/// A full-sized arrival.
pub(crate) fn arrival(now: Time, ecn: Ecn) -> Head {
    Head { bytes: 1514, ecn, enqueued: now }
}

/// A full-sized packet at the head with that sojourn time. `now` is at least `waited`.
pub(crate) fn waited(now: Time, waited: Span) -> Head {
    let enqueued = Time::from_nanos(now.as_nanos() - waited.as_nanos());
    Head { bytes: 1514, ecn: Ecn::NotEct, enqueued }
}

/// An instant late enough for a packet to have been queued, at a whole tick of 1024 ns.
pub(crate) fn at(micros: u64) -> Time {
    Time::from_nanos((1 << 30) + micros * 1_000)
}

/// The verdict of a law on a full-sized arrival, when its draw is `u`.
pub(crate) fn judge<L: Aqm>(law: &mut L, queue: Backlog, u: f64, ecn: Ecn) -> Verdict {
    law.on_enqueue(Time::ZERO, arrival(Time::ZERO, ecn), queue, &mut Rng::scripted(u))
}

/// One dequeue call on an endless queue; returns the number of drops.
pub(crate) fn drops_in_call<L: Aqm>(law: &mut L, now: Time, sojourn: Span) -> usize {
    let mut verdict = || law.on_dequeue(now, waited(now, sojourn), full_packets(1000), &mut rng());
    (0..).find(|_| verdict() == Verdict::Pass).expect("a call ends")
}

/// Calls the law every `step` microseconds in `from..to`; returns the time of each drop.
pub(crate) fn drop_times<L: Aqm>(
    law: &mut L,
    (from, to, step): (u64, u64, u64),
    sojourn: impl Fn(u64) -> Span,
) -> Vec<u64> {
    let call = |t| vec![t; drops_in_call(law, at(t), sojourn(t))];
    (from..to).step_by(step as usize).flat_map(call).collect()
}

/// Two departures that complete a measurement of exactly 1 MB/s, with a threshold of 10 000 bytes.
pub(crate) fn learn_rate(mut on_dequeue: impl FnMut(Time, Head, Backlog)) {
    for (now, size) in [(ms(0), 40), (ms(10), 9960)] {
        on_dequeue(now, Head { bytes: size, ecn: Ecn::NotEct, enqueued: now }, bytes(10_000));
    }
}

/// The gaps of the next `signals` signals, in arrivals; each arrival finds 100 full packets at time
/// zero.
pub(crate) fn gaps<L: Aqm>(law: &mut L, rng: &mut Rng, ecn: Ecn, signals: usize) -> Vec<u64> {
    let arrival = arrival(Time::ZERO, ecn);
    let mut is_signalled =
        || law.on_enqueue(Time::ZERO, arrival, full_packets(100), rng) != Verdict::Pass;
    (0..signals)
        .map(|_| (1..).find(|_| is_signalled()).expect("a probability above zero hits at last"))
        .collect()
}

/// The mean of whole numbers.
pub(crate) fn mean(numbers: &[u64]) -> f64 {
    numbers.iter().sum::<u64>() as f64 / numbers.len() as f64
}

/// Asserts that two numbers differ by at most `within`.
#[track_caller]
pub(crate) fn assert_near(measured: f64, expected: f64, within: f64) {
    assert!((measured - expected).abs() <= within, "{measured} is not {expected} +- {within}");
}

/// A packet with a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Numbered {
    pub(crate) id: u64,
    pub(crate) flow: u64,
    pub(crate) bytes: u32,
    pub(crate) ecn: Ecn,
}

impl Numbered {
    /// A packet that cannot be marked.
    pub(crate) fn new(id: u64, flow: u64, bytes: u32) -> Numbered {
        Numbered { id, flow, bytes, ecn: Ecn::NotEct }
    }
}

impl Packet for Numbered {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
}

/// A sink that records.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) dropped: Vec<(u64, Stage, Cause)>,
    pub(crate) marked: Vec<(u64, Stage, Cause)>,
}

impl Log {
    /// The numbers of the dropped packets.
    pub(crate) fn dropped_ids(&self) -> Vec<u64> {
        self.dropped.iter().map(|&(id, ..)| id).collect()
    }
}

impl Sink<Numbered> for Log {
    fn dropped(&mut self, packet: Numbered, _enqueued: Time, stage: Stage, cause: Cause) {
        self.dropped.push((packet.id, stage, cause));
    }
    fn marked(&mut self, packet: &mut Numbered, _enqueued: Time, stage: Stage, cause: Cause) {
        self.marked.push((packet.id, stage, cause));
    }
}

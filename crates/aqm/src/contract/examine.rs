//! Checks every promise of the contract for one law and reports one finding per promise.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::host::{Host, Ledger};
use super::traffic;
use super::values::{edges, usual};
use crate::law::{Aqm, Env};
use crate::packet::{Backlog, Ecn, Head};
use crate::params::ParamSpec;
use crate::registry::{self, Discipline, QdiscSpec};
use crate::rng::Rng;
use crate::time::{Rate, Time};
use crate::units::Limit;

/// One promise, and whether it held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The promise in a few words.
    pub promise: &'static str,
    /// Whether it held; `None` if it does not apply.
    pub held: Option<bool>,
    /// How it was tested, or how it failed.
    pub detail: String,
}

/// The law that is examined.
pub struct Subject<'a> {
    /// The law in one queue, with the user's settings.
    pub spec: QdiscSpec,
    /// The law's own parameters.
    pub params: &'a [ParamSpec],
    /// Takes the first failure that the law reported since the last call.
    pub failure: &'a dyn Fn() -> Option<String>,
    /// Random operations in each of the long tests.
    pub operations: u64,
}

const PACKETS: Limit = Limit::Packets(400);
const BYTES: Limit = Limit::Bytes(400_000);

/// Every promise of the contract, in the order in which a page shows them.
pub fn examine(subject: &Subject<'_>) -> Vec<Finding> {
    vec![
        subject.random_traffic(),
        subject.marks(),
        subject.determinism(),
        subject.timers(),
        subject.idle_times(),
        subject.flow_queues(),
        subject.effects(),
        subject.extremes(),
    ]
}

/// Whether the same random traffic under the same seed gives the same events twice. Other failures
/// are ignored here: a law that fails the same way twice counts as repeatable.
pub fn repeats(subject: &Subject<'_>) -> bool {
    let run = || subject.run(subject.spec.discipline, PACKETS, &[], (3, subject.operations));
    run().and_then(|first| Ok(first.digest == run()?.digest)).unwrap_or(true)
}

impl Subject<'_> {
    fn name(&self) -> &str {
        &self.spec.law
    }

    fn has(&self, param: &str) -> bool {
        self.params.iter().any(|spec| spec.name == param)
    }

    /// The law with other settings; `None` if they are illegal.
    fn with(&self, discipline: Discipline, settings: &[(&str, &str)]) -> Option<QdiscSpec> {
        let mut spec = QdiscSpec { discipline, ..self.spec.clone() };
        for (name, value) in settings {
            spec.settings.retain(|(set, _)| set != name);
            spec.settings.push(((*name).to_owned(), (*value).to_owned()));
        }
        registry::settings(&spec).is_ok().then_some(spec)
    }

    /// Runs random traffic; returns the first failure.
    fn run(
        &self,
        discipline: Discipline,
        limit: Limit,
        settings: &[(&str, &str)],
        (seed, operations): (u64, u64),
    ) -> Result<Ledger, String> {
        let text = format!("{limit}");
        let mut all = vec![("limit", text.as_str())];
        if discipline == Discipline::Fq {
            all.push(("flows", "16"));
        }
        all.extend(settings);
        let spec = self.with(discipline, &all).ok_or("these settings are refused")?;
        let mut host = Host::new(&spec, limit, seed);
        traffic::run(&mut host, operations);
        let broken = (self.failure)().or(host.ledger.broken.take());
        broken.map_or(Ok(host.ledger), Err)
    }

    fn random_traffic(&self) -> Finding {
        let promise = "packets are conserved, flows keep their order, limits hold";
        let of = |limit| self.run(Discipline::Fifo, limit, &[], (1, self.operations));
        let found = of(PACKETS).and_then(|ledger| of(BYTES).map(|_| ledger));
        finding(
            promise,
            found.map(|ledger| {
                let (n, signals) = (2 * self.operations, ledger.signals());
                format!(
                    "{n} random operations under limits in packets and in bytes; {signals} signals"
                )
            }),
        )
    }

    fn marks(&self) -> Finding {
        let promise = "only packets that are ECN-capable are marked";
        let ecn: &[(&str, &str)] = if self.has("ecn") { &[("ecn", "true")] } else { &[] };
        let found = self.run(Discipline::Fifo, BYTES, ecn, (2, self.operations / 4));
        match found {
            Ok(ledger) if ledger.marks == 0 => {
                let detail = "the law has never marked a packet".to_owned();
                Finding { promise, held: None, detail }
            }
            found => finding(promise, found.map(|ledger| format!("{} marks", ledger.marks))),
        }
    }

    fn determinism(&self) -> Finding {
        let promise = "the same seed gives the same decisions, another seed others";
        let operations = 50_000.min(self.operations);
        let run = |seed| self.run(Discipline::Fifo, PACKETS, &[], (seed, operations));
        let found = run(3).and_then(|first| Ok((first.digest, run(3)?.digest, run(4)?.digest)));
        finding(
            promise,
            found.and_then(|(first, again, other)| match () {
                () if first != again => {
                    Err("two runs under one seed differ: the law keeps state across \
                                         runs, or draws its own random numbers"
                        .to_owned())
                }
                () if first == other => Err("two seeds give the same events".to_owned()),
                () => {
                    Ok(format!("{operations} operations, twice under one seed, once under another"))
                }
            }),
        )
    }

    fn law(&self) -> Option<alloc::boxed::Box<dyn Aqm>> {
        let rate = Some(Rate::from_bps(10_000_000));
        let env = Env { limit: PACKETS, mtu_bytes: 1514, rate, salt: 0 };
        registry::build_law(&self.spec, &env).ok()
    }

    fn timers(&self) -> Finding {
        let promise = "timers move on, and laws with the same parameters share their times";
        let Some([mut busy, mut idle]) = self.law().and_then(|law| Some([law, self.law()?])) else {
            return refused(promise);
        };
        if busy.next_timer().is_none() && idle.next_timer().is_none() {
            return Finding { promise, held: None, detail: "the law has no timer".to_owned() };
        }
        let mut rng = Rng::stream(5, "examine", 0);
        let mut count = 0;
        for step in 1..=2_000_u64 {
            let now = Time::from_nanos(step * 1_000_000);
            count += advance(&mut *busy, now, full(step % 60));
            advance(&mut *idle, now, Backlog::EMPTY);
            feed(&mut *busy, now, step % 60, &mut rng);
            if let Some(why) = (self.failure)() {
                return finding(promise, Err(why));
            }
            if busy.next_timer() != idle.next_timer() {
                let why = format!(
                    "at {:.3} s a busy law's next timer is {:?}, an idle one's {:?}; flow queues \
                     need one grid of times",
                    now.as_secs(),
                    busy.next_timer(),
                    idle.next_timer()
                );
                return finding(promise, Err(why));
            }
        }
        finding(promise, Ok(format!("{count} timers within 2 s")))
    }

    /// Tests the contract of [`Aqm::on_idle_timers`].
    fn idle_times(&self) -> Finding {
        let promise = "after an idle time the law is where timers one by one would have led";
        let Some([mut ticked, mut woken]) = self.law().and_then(|law| Some([law, self.law()?]))
        else {
            return refused(promise);
        };
        if ticked.next_timer().is_none() {
            return Finding { promise, held: None, detail: "the law has no timer".to_owned() };
        }
        let mut rngs = [Rng::stream(6, "examine", 0), Rng::stream(6, "examine", 0)];
        let mut now = Time::ZERO;
        for round in 0..60_u64 {
            for step in 0..200 {
                now = Time::from_nanos(now.as_nanos() + 700_000);
                let waiting = step % 50;
                for (law, rng) in [&mut ticked, &mut woken].into_iter().zip(&mut rngs) {
                    advance(&mut **law, now, full(waiting));
                    feed(&mut **law, now, waiting, rng);
                }
            }
            for law in [&mut ticked, &mut woken] {
                law.on_empty(now);
            }
            now = Time::from_nanos(now.as_nanos() + (round * round + 1) * 5_000_000);
            while let Some(due) = ticked.next_timer().filter(|&due| due <= now) {
                ticked.on_timer(due, Backlog::EMPTY);
                if let Some(why) = (self.failure)() {
                    return finding(promise, Err(why));
                }
            }
            woken.on_idle_timers(now);
            if let Some(why) = (self.failure)().or(self.differ(&*ticked, &*woken, now)) {
                return finding(promise, Err(why));
            }
        }
        finding(promise, Ok("60 idle times of 5 ms to 17 s".to_owned()))
    }

    /// Describes the difference between two laws that should be in the same state.
    fn differ(&self, ticked: &dyn Aqm, woken: &dyn Aqm, now: Time) -> Option<String> {
        let names = match &self.spec.custom {
            Some(law) => law.vars(),
            None => registry::law(self.name()).map_or(&[][..], |entry| entry.vars),
        };
        let (mut one, mut other) = (vec![0.0; names.len()], vec![0.0; names.len()]);
        ticked.observe(&mut one);
        woken.observe(&mut other);
        let at_s = now.as_secs();
        let differs = |(&x, &y): (&f64, &f64)| x != y && !(x.is_nan() && y.is_nan());
        let place = one.iter().zip(&other).position(differs);
        let var = place
            .map(|i| format!("at {at_s:.3} s {} is {}, not {}", names[i].name, other[i], one[i]));
        let timers = (ticked.next_timer(), woken.next_timer());
        let timer = (timers.0 != timers.1).then(|| format!("at {at_s:.3} s the timers differ"));
        var.or(timer)
    }

    fn flow_queues(&self) -> Finding {
        let promise = "the promises hold under flow queues";
        let operations = self.operations / 4;
        let found = self.run(Discipline::Fq, PACKETS, &[], (7, operations));
        finding(
            promise,
            found.map(|ledger| {
                let (name, signals) = (self.name(), ledger.signals());
                format!(
                    "{operations} operations under fq({name}) with 16 queues; {signals} signals"
                )
            }),
        )
    }

    /// The digest with one more setting; `None` if it is refused.
    fn digest(&self, settings: &[(&str, &str)]) -> Result<Option<u64>, String> {
        match self.with(Discipline::Fifo, settings) {
            None => Ok(None),
            Some(_) => {
                let ledger = self.run(Discipline::Fifo, PACKETS, settings, (9, 17_500))?;
                Ok(Some(ledger.digest))
            }
        }
    }

    /// Whether changing a parameter's value changes a decision; `None` if the given settings allow
    /// no other value.
    fn has_effect(&self, param: &ParamSpec) -> Result<Option<bool>, String> {
        let ecn: &[&[(&str, &str)]] = &[&[], &[("ecn", "true")]];
        let needed = if self.has("ecn") && param.name != "ecn" { ecn } else { &ecn[..1] };
        let scaled = self.value_of(param.name).map(|value| multiples(&value)).unwrap_or_default();
        let mut is_tried = false;
        for others in needed {
            let Some(first) = self.digest(others)? else { continue };
            for value in usual(param).into_iter().chain(scaled.iter().map(String::as_str)) {
                let mut all = others.to_vec();
                all.push((param.name, value));
                let Some(other) = self.digest(&all)? else { continue };
                is_tried = true;
                if other != first {
                    return Ok(Some(true));
                }
            }
        }
        Ok(is_tried.then_some(false))
    }

    /// The value that a parameter has, as text.
    fn value_of(&self, param: &str) -> Option<String> {
        let settings = registry::settings(&self.spec).ok()?;
        settings.into_iter().find(|(name, _)| *name == param).map(|(_, value)| value)
    }

    fn effects(&self) -> Finding {
        let promise = "every parameter has an effect";
        if self.params.is_empty() {
            return Finding { promise, held: None, detail: "the law has no parameter".to_owned() };
        }
        let (mut without, mut untried) = (Vec::new(), Vec::new());
        for param in self.params {
            match self.has_effect(param) {
                Ok(Some(true)) => {}
                Ok(Some(false)) => without.push(param.name),
                Ok(None) => untried.push(param.name),
                Err(why) => return finding(promise, Err(format!("{}: {why}", param.name))),
            }
        }
        let names = self.params.iter().map(|param| param.name);
        let tried: Vec<&str> = names.filter(|name| !untried.contains(name)).collect();
        let other = match untried.is_empty() {
            true => String::new(),
            false => format!("; of {} no other value was legal", untried.join(", ")),
        };
        let found = match without.is_empty() {
            true => Ok(format!("{}{other}", tried.join(", "))),
            false => {
                let names = without.join(", ");
                Err(format!("no value that was tried changes a decision: {names}{other}"))
            }
        };
        finding(promise, found)
    }

    fn extremes(&self) -> Finding {
        let promise = "the promises hold at the edges of every parameter";
        let mut tried = 0;
        for param in self.params {
            let words = param.words.iter().copied().chain(param.absent);
            for value in edges(param.kind).iter().copied().chain(words) {
                if self.with(Discipline::Fifo, &[(param.name, value)]).is_none() {
                    continue;
                }
                tried += 1;
                let run = self.run(Discipline::Fifo, PACKETS, &[(param.name, value)], (6, 5_000));
                if let Err(why) = run {
                    return finding(promise, Err(format!("{}={value}: {why}", param.name)));
                }
            }
        }
        finding(promise, Ok(format!("{tried} legal settings, the others are refused")))
    }
}

fn finding(promise: &'static str, found: Result<String, String>) -> Finding {
    let held = Some(found.is_ok());
    Finding { promise, held, detail: found.unwrap_or_else(|why| why) }
}

fn refused(promise: &'static str) -> Finding {
    finding(promise, Err("the law cannot be made with these settings".to_owned()))
}

/// The number in a value such as `90kB`, times 1/4, 1/2, 2 and 4: if one parameter limits another,
/// only values near the current ones may be legal.
fn multiples(value: &str) -> Vec<String> {
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    let (number, unit) = value.split_at(end);
    let Ok(number) = number.parse::<f64>() else { return Vec::new() };
    [0.25, 0.5, 2.0, 4.0].iter().map(|factor| format!("{}{unit}", factor * number)).collect()
}

fn full(packets: u64) -> Backlog {
    let bytes = packets * 1514;
    Backlog { packets: packets as u32, bytes, link_bytes: bytes }
}

/// Runs the timers that are due; returns the number run.
fn advance(law: &mut dyn Aqm, now: Time, queue: Backlog) -> u64 {
    let mut count = 0;
    while let Some(due) = law.next_timer().filter(|&due| due <= now) {
        let head = (queue.packets > 0).then_some(Time::from_nanos(due.as_nanos() / 2));
        law.on_head(head);
        law.on_timer(due, queue);
        count += 1;
    }
    count
}

/// Feeds the law one arrival and one departure.
fn feed(law: &mut dyn Aqm, now: Time, waiting: u64, rng: &mut Rng) {
    let waited = waiting * 1_200_000;
    let enqueued = Time::from_nanos(now.as_nanos().saturating_sub(waited));
    let arrival = Head { bytes: 1514, ecn: Ecn::NotEct, enqueued: now };
    law.on_enqueue(now, arrival, full(waiting), rng);
    law.on_dequeue(now, Head { enqueued, ..arrival }, full(waiting), rng);
}

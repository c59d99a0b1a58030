//! The golden traces in `testdata/golden`, through the Rust API.

#[path = "golden/trace.rs"]
mod trace;

use sojourn_aqm::{
    Aqm, Backlog, Cause, Ecn, Env, Head, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage,
    Time, Var, Verdict, registry,
};
use trace::{Discipline, Fate, Law, MTU, RATE_BPS, TracePacket};

struct RustLaw {
    law: Box<dyn Aqm>,
    vars: &'static [Var],
    rng: Rng,
}

fn spec_and_env(text: &str) -> (QdiscSpec, Env) {
    let rate = Some(Rate::from_bps(RATE_BPS));
    let env = Env { limit: Limit::Packets(1000), mtu_bytes: MTU, rate, salt: 0 };
    (QdiscSpec::parse(text).expect("a legal description"), env)
}

fn value(vars: &[Var], name: &str, observe: impl FnOnce(&mut [f64])) -> f64 {
    let mut values = vec![f64::NAN; vars.len()];
    observe(&mut values);
    values[vars.iter().position(|var| var.name == name).expect("a variable of that name")]
}

impl Law for RustLaw {
    fn new(text: &str) -> RustLaw {
        let (spec, env) = spec_and_env(text);
        let vars = registry::law(&spec.law).expect("a law").vars;
        let law = registry::build_law(&spec, &env).expect("the law builds");
        RustLaw { law, vars, rng: Rng::stream(1, "queue", 0) }
    }
    fn seed(&mut self, seed: u64) {
        self.rng = Rng::stream(seed, "queue", 0);
    }
    fn on_enqueue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        self.law.on_enqueue(now, head, queue, &mut self.rng)
    }
    fn on_dequeue(&mut self, now: Time, head: Head, queue: Backlog) -> Verdict {
        self.law.on_dequeue(now, head, queue, &mut self.rng)
    }
    fn next_timer(&self) -> Option<Time> {
        self.law.next_timer()
    }
    fn on_timer(&mut self, now: Time, queue: Backlog) {
        self.law.on_timer(now, queue);
    }
    fn on_idle_timers(&mut self, now: Time) {
        self.law.on_idle_timers(now);
    }
    fn var(&mut self, name: &str) -> f64 {
        value(self.vars, name, |out| self.law.observe(out))
    }
}

#[derive(Clone, Copy)]
struct RustPacket(TracePacket);

impl Packet for RustPacket {
    fn bytes(&self) -> u32 {
        self.0.bytes
    }
    fn ecn(&self) -> Ecn {
        self.0.ecn
    }
    fn set_ce(&mut self) {
        self.0.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.0.flow
    }
}

#[derive(Default)]
struct Observer(Vec<Fate>);

impl Observer {
    fn note(&mut self, id: u64, what: &'static str, stage: Stage, cause: Cause) {
        self.0.push(Fate { id, what, stage: stage.word(), cause: cause.class().word() });
    }
}

impl Sink<RustPacket> for Observer {
    fn dropped(&mut self, packet: RustPacket, _: Time, stage: Stage, cause: Cause) {
        self.note(packet.0.id, "dropped", stage, cause);
    }
    fn marked(&mut self, packet: &mut RustPacket, _enqueued: Time, stage: Stage, cause: Cause) {
        self.note(packet.0.id, "marked", stage, cause);
    }
}

struct RustDiscipline {
    qdisc: Box<dyn Qdisc<RustPacket>>,
    rng: Rng,
    observer: Observer,
}

impl Discipline for RustDiscipline {
    fn new(text: &str) -> RustDiscipline {
        let (spec, mut env) = spec_and_env(text);
        env.salt = Rng::stream(1, "hash", 0).next_u64();
        let qdisc = registry::build(&spec, &env).expect("the entry builds");
        RustDiscipline { qdisc, rng: Rng::stream(1, "queue", 0), observer: Observer::default() }
    }
    fn enqueue(&mut self, now: Time, packet: TracePacket) {
        self.qdisc.enqueue(now, RustPacket(packet), &mut self.rng, &mut self.observer);
    }
    fn dequeue(&mut self, now: Time) -> Option<(u64, Time)> {
        let left = self.qdisc.dequeue(now, &mut self.rng, &mut self.observer)?;
        Some((left.packet.0.id, left.enqueued))
    }
    fn next_timer(&self) -> Option<Time> {
        self.qdisc.next_timer()
    }
    fn on_timer(&mut self, now: Time) {
        self.qdisc.on_timer(now);
    }
    fn var(&mut self, name: &str) -> f64 {
        value(self.qdisc.vars(), name, |out| self.qdisc.observe(out))
    }
    fn fates(&mut self) -> Vec<Fate> {
        std::mem::take(&mut self.observer.0)
    }
}

#[test]
fn every_golden_trace_is_met() {
    let (traces, values) = trace::run_all::<RustLaw, RustDiscipline>();
    assert!(traces >= 33, "{traces} traces");
    let file = concat!(env!("CARGO_TARGET_TMPDIR"), "/tally-golden-rust");
    std::fs::write(file, values.to_string()).expect("the target folder is writable");
}

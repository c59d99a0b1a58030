//! Nothing is allocated on the packet path once the buffers have grown: every registry entry is
//! warmed up, then watched through a counting allocator.

// An allocator needs unsafe code; this one forwards to the system's.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use sojourn_aqm::registry::{self, PRESETS};
use sojourn_aqm::{Cause, Ecn, Env, Limit, Packet, Qdisc, QdiscSpec, Rate, Rng, Sink, Stage, Time};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to `System` unchanged; counting touches only a thread-local
// number, which needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Clone, Copy)]
struct TestPacket {
    flow: u64,
    ecn: Ecn,
}

impl Packet for TestPacket {
    fn bytes(&self) -> u32 {
        1000
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

/// Counts signals, to show that the law was active.
#[derive(Default)]
struct Observer {
    signals: u64,
    departures: u64,
}

impl Sink<TestPacket> for Observer {
    fn dropped(&mut self, _: TestPacket, _: Time, _: Stage, cause: Cause) {
        self.signals += u64::from(cause != Cause::Overflow);
    }
    fn marked(&mut self, _: &mut TestPacket, _: Time, _: Stage, _: Cause) {
        self.signals += 1;
    }
}

const FLOWS: u64 = 8;
const MOST_PACKETS: u32 = 250;

struct Host {
    qdisc: Box<dyn Qdisc<TestPacket>>,
    now: u64,
    chance: Rng,
    rng: Rng,
    observer: Observer,
    vars: Vec<f64>,
}

impl Host {
    fn new(kind: &str) -> Host {
        let limit = Limit::Packets(200);
        let rate = Some(Rate::from_bps(10_000_000));
        let env = Env { limit, mtu_bytes: 1514, rate, salt: 1 };
        let spec = QdiscSpec::parse(&format!("{kind}:limit={limit}")).expect("a legal entry");
        let qdisc = registry::build::<TestPacket>(&spec, &env).expect("the entry builds");
        Host {
            vars: vec![0.0; qdisc.vars().len()],
            qdisc,
            now: 0,
            chance: Rng::stream(1, "host", 0),
            rng: Rng::stream(1, "law", 0),
            observer: Observer::default(),
        }
    }

    fn offer(&mut self, flow: u64) {
        let now = Time::from_nanos(self.now);
        let packet = TestPacket { flow, ecn: [Ecn::NotEct, Ecn::Ect0][flow as usize % 2] };
        self.qdisc.enqueue(now, packet, &mut self.rng, &mut self.observer);
    }

    fn take(&mut self) -> bool {
        let now = Time::from_nanos(self.now);
        let left = self.qdisc.dequeue(now, &mut self.rng, &mut self.observer).is_some();
        self.observer.departures += u64::from(left);
        left
    }

    /// Grows the buffer of every flow to its largest size before any law signals.
    fn warm_up(&mut self) {
        for flow in 0..FLOWS {
            (0..MOST_PACKETS).for_each(|_| self.offer(flow));
            while self.take() {}
        }
        // Each of many flows sends one packet, because one flow cannot fill some disciplines.
        (0..u64::from(MOST_PACKETS)).for_each(|flow| self.offer(flow));
        while self.take() {}
    }

    fn run(&mut self, operations: u64) {
        for i in 0..operations {
            self.now += self.chance.below(1_200_000);
            while let Some(due) = self.qdisc.next_timer().filter(|due| due.as_nanos() <= self.now) {
                self.qdisc.on_timer(due);
            }
            let load = [0.65, 0.5, 0.3][(i / 1000) as usize % 3];
            if self.chance.uniform() < load {
                let flow = self.chance.below(FLOWS);
                self.offer(flow);
            } else {
                self.take();
            }
            self.qdisc.observe(&mut self.vars);
        }
    }
}

#[test]
fn no_entry_allocates_on_the_packet_path_after_warm_up() {
    let laws = registry::laws();
    let plain = registry::entries().into_iter().map(|entry| entry.name.to_string());
    let queued = laws.iter().map(|law| format!("fq({})", law.name));
    let presets = PRESETS.iter().map(|preset| preset.name.to_string());
    let dialects = laws.iter().flat_map(|law| {
        law.dialects[1..].iter().map(|dialect| format!("{}@{}", law.name, dialect.name))
    });
    for kind in plain.chain(queued).chain(presets).chain(dialects) {
        let mut host = Host::new(&kind);
        host.warm_up();
        let before = ALLOCATIONS.get();
        host.run(50_000);
        assert_eq!(ALLOCATIONS.get() - before, 0, "{kind}");
        assert!(host.observer.departures > 10_000, "{kind}");
        let may_be_silent = ["fq(taildrop)", "fq(ared)", "sfq"].contains(&kind.as_str())
            || kind.starts_with("taildrop");
        assert!(host.observer.signals > 0 || may_be_silent, "{kind}");
    }
}

/// Shows that the counter works: the very first packets do allocate.
#[test]
fn warming_up_does_allocate() {
    let mut host = Host::new("taildrop");
    let before = ALLOCATIONS.get();
    host.warm_up();
    assert!(ALLOCATIONS.get() > before);
}

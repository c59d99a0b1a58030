//! Disciplines under any traffic, in a host that follows the contract of `Qdisc`.

use bolero::TypeGenerator;
use sojourn_aqm::contract::host::Host;
use sojourn_aqm::{Ecn, Rate};

use crate::target;
use sojourn_fuzz::settings::Settings;

/// An event in the life of a discipline.
#[derive(Clone, Debug, TypeGenerator)]
enum Event {
    /// Packets of a flow arrive.
    Enqueue { flow: u8, bytes: u16, ecn: u8, count: u8 },
    /// The link dequeues packets.
    Dequeue(u8),
    /// Microseconds pass.
    Wait(u16),
    /// Nanoseconds pass: a power of two, up to a minute.
    Silence(u8),
    /// The rate of the link changes to a power of two.
    Rate(u8),
}

/// A discipline and its events.
#[derive(Clone, Debug, TypeGenerator)]
struct Life {
    settings: Settings,
    seed: u8,
    events: Vec<Event>,
}

/// The ECN field of any number.
pub fn ecn(field: u8) -> Ecn {
    [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(field % 4)]
}

fn happen(host: &mut Host, event: &Event) {
    match *event {
        Event::Enqueue { flow, bytes, ecn: field, count } => {
            for _ in 0..=count % 64 {
                host.offer(u64::from(flow), u32::from(bytes).max(1), ecn(field));
                host.check();
            }
        }
        Event::Dequeue(count) => {
            for _ in 0..=count % 64 {
                host.take();
                host.check();
            }
        }
        Event::Wait(micros) => host.pass(u64::from(micros) * 1000),
        Event::Silence(power) => host.pass(1 << (power % 37)),
        Event::Rate(power) => {
            host.qdisc.on_rate(host.ledger.now, Rate::from_bps(1 << (power % 40)))
        }
    }
}

target! {
    /// Checks conservation, order, marks, limits, timers and finite variables, for any parameters.
    fn every_discipline_keeps_its_contract(life: Life) {
        let Some((spec, limit)) = life.settings.spec() else { return };
        let mut host = Host::new(&spec, limit, u64::from(life.seed));
        for event in life.events.iter().take(200) {
            happen(&mut host, event);
            host.check();
            host.insist();
        }
    }
}

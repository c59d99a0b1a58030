//! Laws alone, called with any packet and any backlog at any time, as a caller of the C bindings
//! may do.

use bolero::TypeGenerator;
use sojourn_aqm::{Backlog, Ecn, Env, Head, Rate, Rng, Time, Verdict, registry};

use crate::life::ecn;
use crate::target;
use sojourn_fuzz::settings::Settings;

/// A call of a hook, with any arguments. Times need not be in order.
#[derive(Clone, Debug, TypeGenerator)]
enum Call {
    Enqueue { now: u64, bytes: u32, ecn: u8, queue: (u32, u64, u64) },
    Dequeue { now: u64, waited: u64, bytes: u32, ecn: u8, queue: (u32, u64, u64) },
    Overflow { now: u64, queue: (u32, u64, u64) },
    Empty { now: u64 },
    Timer { now: u64, queue: (u32, u64, u64) },
    NextTimer { queue: (u32, u64, u64) },
    Rate { now: u64, bps: u64 },
}

/// A law and the calls of its hooks.
#[derive(Clone, Debug, TypeGenerator)]
struct Calls {
    settings: Settings,
    calls: Vec<Call>,
}

fn backlog((packets, bytes, link_bytes): (u32, u64, u64)) -> Backlog {
    Backlog { packets, bytes, link_bytes }
}

fn check(verdict: Verdict, ecn: Ecn) {
    assert!(
        !matches!(verdict, Verdict::Mark(_)) || ecn.can_mark(),
        "marks only what can be marked"
    );
}

fn ask(law: &mut dyn sojourn_aqm::Aqm, call: &Call, rng: &mut Rng) {
    let at = Time::from_nanos;
    match *call {
        Call::Enqueue { now, bytes, ecn: field, queue } => {
            let head = Head { bytes: bytes.max(1), ecn: ecn(field), enqueued: at(now) };
            check(law.on_enqueue(at(now), head, backlog(queue), rng), head.ecn);
        }
        Call::Dequeue { now, waited, bytes, ecn: field, queue } => {
            let enqueued = at(now.saturating_sub(waited));
            let head = Head { bytes: bytes.max(1), ecn: ecn(field), enqueued };
            check(law.on_dequeue(at(now), head, backlog(queue), rng), head.ecn);
        }
        Call::Overflow { now, queue } => law.on_overflow(at(now), backlog(queue)),
        Call::Empty { now } => law.on_empty(at(now)),
        Call::Timer { now, queue } => law.on_timer(at(now), backlog(queue)),
        Call::NextTimer { queue } => {
            if let Some(due) = law.next_timer() {
                law.on_timer(due, backlog(queue));
            }
        }
        Call::Rate { now, bps } => law.on_rate(at(now), Rate::from_bps(bps.max(1))),
    }
}

target! {
    /// No panic, and no mark on a packet that is not ECN-capable, even if the caller breaks the
    /// contract.
    fn no_law_panics_whatever_it_is_asked(calls: Calls) {
        let Some((spec, limit)) = calls.settings.spec() else { return };
        let env = Env { limit, mtu_bytes: 1514, rate: Some(Rate::from_bps(10_000_000)), salt: 1 };
        let Ok(mut law) = registry::build_law(&spec, &env) else { return };
        let vars = registry::law(&spec.law).expect("a law").vars;
        let mut values = vec![f64::NAN; vars.len()];
        let mut rng = Rng::stream(1, "fuzz", 0);
        for call in calls.calls.iter().take(200) {
            ask(&mut *law, call, &mut rng);
            law.observe(&mut values);
            assert!(values.iter().all(|value| value.is_finite()), "{vars:?}: {values:?}");
        }
    }
}

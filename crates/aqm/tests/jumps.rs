//! Laws survive clock jumps, even to the end of time: every loop is bounded.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use sojourn_aqm::contract::values;
use sojourn_aqm::{
    Aqm, Backlog, Ecn, Env, Head, Limit, QdiscSpec, Rate, Rng, Span, Time, registry,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// Every dialect of every law with its defaults, and with one parameter at each of its edges.
fn settings() -> Vec<String> {
    let mut texts = Vec::new();
    for law in registry::laws() {
        for dialect in law.dialects {
            let kind = format!("{}@{}", law.name, dialect.name);
            let at_edges = (law.params)().iter().flat_map(|param| {
                let values = values::edges(param.kind).iter();
                values.map(|value| format!("{kind}:{}={value}", param.name)).collect::<Vec<_>>()
            });
            texts.extend(at_edges);
            texts.push(kind);
        }
    }
    texts
}

fn env() -> Env {
    Env {
        rate: Some(Rate::from_bps(10_000_000)),
        mtu_bytes: 1514,
        limit: Limit::Packets(100),
        salt: 1,
    }
}

/// A second of overload, to give a law some state; the last packet waited for `last`.
fn busy(law: &mut dyn Aqm, last: Span) -> Time {
    let mut rng = Rng::stream(1, "jump", 0);
    let queue = Backlog { packets: 50, bytes: 75_000, link_bytes: 75_000 };
    let mut now = Time::ZERO;
    for _ in 0..1_000 {
        now += Span::from_millis(1);
        let enqueued = Time::from_nanos(now.as_nanos().saturating_sub(200_000_000));
        let head = Head { enqueued, bytes: 1500, ecn: Ecn::NotEct };
        while let Some(due) = law.next_timer().filter(|&due| due <= now) {
            law.on_head(Some(head.enqueued));
            law.on_timer(due, queue);
        }
        law.on_enqueue(now, head, queue, &mut rng);
        law.on_dequeue(now, head, queue, &mut rng);
    }
    let enqueued = Time::from_nanos(now.as_nanos() - last.as_nanos());
    let head = Head { enqueued, bytes: 1500, ecn: Ecn::NotEct };
    law.on_dequeue(now, head, Backlog::EMPTY, &mut rng);
    law.on_empty(now);
    now
}

/// Jumps a law's clock by an hour and to the end of time.
fn catches_up(text: &str, last: Span) -> bool {
    let Ok(spec) = QdiscSpec::parse(text) else { return true };
    let Ok(mut law) = registry::build_law(&spec, &env()) else { return true };
    let (done, finished) = mpsc::channel();
    thread::spawn(move || {
        let now = busy(law.as_mut(), last);
        for later in [now + Span::from_secs(3600), Time::NEVER, Time::NEVER] {
            law.on_idle_timers(later);
        }
        done.send(())
    });
    finished.recv_timeout(PATIENCE).is_ok()
}

#[test]
fn a_law_that_can_come_to_rest_catches_up_with_any_jump_of_an_idle_clock() {
    for text in settings() {
        assert!(catches_up(&text, Span::ZERO), "{text} has not come back");
    }
}

/// After a long last sojourn time, PIE's probability keeps growing.
#[test]
fn a_law_that_never_comes_to_rest_catches_up_as_well() {
    for text in ["pie", "madpie", "pi2", "pi", "ared"] {
        assert!(catches_up(text, Span::from_millis(900)), "{text} has not come back");
    }
}

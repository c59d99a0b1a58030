//! The wire behind a resolved link as JSON.

use serde_json::{Value, json};
#[cfg(not(target_arch = "wasm32"))]
use sojourn_aqm::units;
use sojourn_aqm::{Span, Time};

use super::app_json::text;
use super::{Blocks, Extra, Jitter, Link, Loss, NetemJitter};

/// How long packets propagate.
pub(super) fn delay(link: &Link) -> Value {
    let Some(changes) = &link.delay_changes else { return json!(text(link.delay)) };
    let step = |&(at, above): &(Time, Span)| [text(at.since(Time::ZERO)), text(link.delay + above)];
    let steps: Vec<_> = changes.above_least.iter().map(step).collect();
    json!({ "kind": "schedule", "steps": steps, "reorder": changes.reorder })
}

/// Extra delay.
pub(super) fn jitter(jitter: &Jitter) -> Value {
    let reorder = jitter.reorder;
    match &jitter.extra {
        Extra::Uniform(max) => json!({ "kind": "uniform", "max": text(*max), "reorder": reorder }),
        Extra::Exponential(mean) => {
            json!({ "kind": "exponential", "mean": text(*mean), "reorder": reorder })
        }
        Extra::LogNormal { mean, deviation } => json!({
            "kind": "lognormal",
            "mean": text(*mean),
            "deviation": text(*deviation),
            "reorder": reorder,
        }),
        Extra::Blocks(Blocks { every, request, pause, retransmit, round_trip }) => json!({
            "kind": "blocks",
            "every": text(*every),
            "request": text(*request),
            "pause": text(*pause),
            "retransmit": retransmit,
            "round_trip": text(*round_trip),
        }),
        #[cfg(not(target_arch = "wasm32"))]
        Extra::Slots(slots) => json!({
            "kind": "slots",
            "mean": text(slots.until.mean),
            "deviation": text(slots.until.deviation),
            "distribution": slots.until.distribution,
            "packets": slots.packets,
            "bytes": slots.bytes.map(units::show_bytes),
        }),
        Extra::Netem(NetemJitter { mean, deviation, distribution }) => json!({
            "kind": "netem",
            "mean": text(*mean),
            "deviation": text(*deviation),
            "distribution": distribution,
            "reorder": reorder,
        }),
        Extra::Schedule(steps) => {
            let step = |&(at, max): &(Time, Span)| [text(at.since(Time::ZERO)), text(max)];
            let steps: Vec<_> = steps.iter().map(step).collect();
            json!({ "kind": "schedule", "steps": steps, "reorder": reorder })
        }
    }
}

/// Random loss.
pub(super) fn loss(loss: &Loss) -> Value {
    match loss {
        Loss::Bernoulli(rate) => json!({ "kind": "bernoulli", "rate": rate }),
        Loss::Correlated { rate, correlation } => {
            json!({ "kind": "bernoulli", "rate": rate, "correlation": correlation })
        }
        Loss::Schedule(steps) => {
            let step = |&(at, rate): &(u64, f64)| json!([text(Span::from_nanos(at)), rate]);
            json!({ "kind": "schedule", "steps": steps.iter().map(step).collect::<Vec<_>>() })
        }
        Loss::GilbertElliott { enter, leave, bad, good } => json!({
            "kind": "gilbert-elliott", "enter": enter, "leave": leave, "bad": bad, "good": good,
        }),
        Loss::FourState { p13, p31, p32, p23, p14 } => json!({
            "kind": "four-state", "p13": p13, "p31": p31, "p32": p32, "p23": p23, "p14": p14,
        }),
    }
}

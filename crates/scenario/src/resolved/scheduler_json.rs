//! Converts a scheduler to JSON; has code that links use too.

use serde_json::{Map, Value, json};
use sojourn_aqm::params::Quantity as _;
use sojourn_aqm::{Packing, QdiscSpec, registry, units};

use super::{Class, Link, Scheduler, SchedulerKind};

/// A scheduler as JSON, with all defaults filled in.
pub(super) fn scheduler(link: &Link, scheduler: &Scheduler) -> Value {
    let leaves: Vec<usize> = scheduler.leaves().collect();
    let name = |class: usize| scheduler.classes[class].name.as_str();
    let class = |(index, class): (usize, &Class)| {
        let mut value = json!({ "name": class.name, "dscp": class.dscp });
        if let SchedulerKind::Htb { classes, .. } = &scheduler.kind {
            let rates = &classes[index];
            value["parent"] = json!(rates.parent.map(name));
            value["rate"] = json!(rates.rate.to_string());
            value["ceil"] = json!(rates.ceil.to_string());
            value["burst"] = json!(units::show_bytes(rates.burst_bytes));
            value["cburst"] = json!(units::show_bytes(rates.cburst_bytes));
            value["quantum"] = json!(units::show_bytes(rates.quantum_bytes));
            value["prio"] = json!(rates.priority);
        }
        #[cfg(not(target_arch = "wasm32"))]
        if let SchedulerKind::Hfsc(classes) = &scheduler.kind {
            let node = &classes[index];
            value["parent"] = json!(node.parent.map(name));
            for (key, written) in [("rt", node.rt), ("ls", node.ls), ("ul", node.ul)] {
                value[key] = json!(written.map(curve));
            }
        }
        #[cfg(not(target_arch = "wasm32"))]
        if let SchedulerKind::Ets(quanta) = &scheduler.kind {
            value["quantum"] = json!(quanta[index].map(units::show_bytes));
        }
        if leaves.contains(&index) {
            let (spec, limit) = link.queue_of(class);
            value["queue"] = queue(spec);
            value["aqm"] = json!(spec.to_string());
            value["limit"] = json!(limit.to_string());
        }
        value
    };
    let classes: Vec<Value> = scheduler.classes.iter().enumerate().map(class).collect();
    let default = scheduler.default.map(name);
    let mut value = json!({ "kind": scheduler.word(), "default": default, "classes": classes });
    if let SchedulerKind::Htb { framing, .. } = &scheduler.kind {
        if framing.overhead != 0 {
            value["overhead"] = json!(units::show_bytes(framing.overhead.unsigned_abs()));
        }
        add_packing(&mut value, framing.packing);
    }
    value
}

/// A service curve; a missing rate is written as zero.
#[cfg(not(target_arch = "wasm32"))]
fn curve(curve: sojourn_aqm::qdiscs::classes::ServiceCurve) -> Value {
    let [m1, m2] = [curve.m1, curve.m2].map(units::show_rate_or_outage);
    json!({ "m1": m1, "d": curve.d.to_string(), "m2": m2 })
}

/// Adds the keys that change the size of a frame.
pub(super) fn add_packing(value: &mut Value, packing: Packing) {
    if !packing.is_none() {
        value["mpu"] = json!(units::show_bytes(packing.mpu));
        value["cells"] = json!(packing.cells.show());
    }
}

pub(super) fn queue(spec: &QdiscSpec) -> Value {
    let settings = registry::settings(&spec.in_place()).expect("a checked spec is legal");
    let settings = settings.into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
    let mut queue = json!({
        "kind": spec.kind(),
        "dialect": registry::dialect_of(spec),
        "settings": settings.collect::<Map<_, _>>(),
    });
    if let Some(law) = &spec.custom {
        queue["source"] = json!(law.source());
    }
    queue
}

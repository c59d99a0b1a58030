//! The resolved scenario as JSON for people and manifests: keys in a fixed order, quantities as
//! texts with units.

use serde_json::{Value, json};
use sojourn_aqm::{Rate, Span, Time, units};

use super::app_json::{self, size, text};
use super::scheduler_json::{self, add_packing, queue};
use super::wire_json;
use super::{Capacity, FlowGroup, Link, Radio, RateControl, Resolved, Trace, Wlan};

impl Resolved {
    /// The scenario as JSON. Traces and recordings appear by file and SHA-256, not by content.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "seed": self.seed,
            "duration": text(self.duration),
            "warmup": text(self.warmup),
            "record": {
                "packets": self.record.packets,
                "signals": self.record.signals,
                "flows": self.record.flows,
                "states": self.record.states,
                "sample": text(self.record.sample),
                "bins": self.record.bins.map(text),
                "latency": self.record.latency,
            },
            "links": self.links.iter().map(|l| link(l, &self.wlans)).collect::<Vec<_>>(),
            "wlans": self.wlans.iter().map(wlan).collect::<Vec<_>>(),
            "flows": self.flows.iter().map(|f| flow(f, &self.links)).collect::<Vec<_>>(),
            "engine": { "linux": self.linux, "ns3": self.ns3 },
            "warnings": self.warnings,
        })
    }
}

fn link(link: &Link, wlans: &[Wlan]) -> Value {
    let mut value = json!({
        "name": link.name,
        "rate": capacity(&link.capacity, wlans),
        "delay": wire_json::delay(link),
        "framing": size(link.framing_bytes),
        "limit": text(link.limit),
        "mtu": size(link.mtu_bytes),
        "queue": queue(&link.queue),
        "device": link.device.map(|device| json!({
            "limit": text(device.limit),
            "overhead": size(device.overhead_bytes),
        })),
        "jitter": link.jitter.as_ref().map(wire_json::jitter),
        "loss": link.loss.as_ref().map(wire_json::loss),
        "ecn_bleaching": link.ecn_bleaching,
    });
    add_packing(&mut value, link.packing);
    if let Some(duplicate) = &link.duplicate {
        value["duplicate"] = json!(duplicate);
    }
    if let Some(reorder) = &link.reorder {
        value["reorder"] = json!(reorder);
    }
    if let Some(corrupt) = &link.corrupt {
        value["corrupt"] = json!(corrupt);
    }
    if let Some(policer) = &link.policer {
        let burst = units::show_bytes(policer.burst_bytes);
        value["policer"] = json!({ "rate": text(policer.rate), "burst": burst });
    }
    if let Some(scheduler) = &link.scheduler {
        value["scheduler"] = scheduler_json::scheduler(link, scheduler);
    }
    value
}

fn wlan(wlan: &Wlan) -> Value {
    json!({
        "name": wlan.name,
        "radio": radio(&wlan.radio),
        "attempts": wlan.attempts,
        "slot": text(wlan.slot),
        "difs": text(wlan.difs),
        "eifs": text(wlan.eifs),
    })
}

/// How frames are sent and lost, with the signal-to-noise ratio in dB.
fn radio(radio: &Radio) -> Value {
    json!({
        "rate": match radio.rate {
            RateControl::Constant(rate) => text(rate.rate()),
            RateControl::Minstrel => "minstrel".to_owned(),
        },
        "error_rate": radio.error_rate,
        "snr": radio.snr.map(|ratio| format!("{}dB", 10.0 * libm::log10(ratio))),
    })
}

fn capacity(capacity: &Capacity, wlans: &[Wlan]) -> Value {
    match capacity {
        Capacity::Constant(rate) => json!(text(rate)),
        Capacity::Schedule(schedule) => {
            let step = |&(at, rate): &(Time, Option<Rate>)| {
                [text(at.since(Time::ZERO)), units::show_rate_or_outage(rate)]
            };
            let steps = schedule.steps().iter().map(step).collect::<Vec<_>>();
            let in_service = schedule.in_service.word();
            json!({ "kind": "schedule", "steps": steps, "in_service": in_service })
        }
        Capacity::Bucket(bucket) => {
            let mut value = json!({
                "kind": "bucket",
                "rate": text(bucket.rate),
                "burst": units::show_bytes(bucket.burst_bytes),
                "line": text(bucket.line),
                "overdraft": bucket.overdraft,
            });
            if bucket.framing.overhead != 0 {
                value["overhead"] = json!(format!("{}B", bucket.framing.overhead));
            }
            add_packing(&mut value, bucket.framing.packing);
            value
        }
        Capacity::Trace(recorded) => trace(recorded),
        Capacity::Wireless { wlan, radio: own, alone, airtime_fairness } => json!({
            "kind": "wireless",
            "wlan": wlans[*wlan].name,
            "radio": own.as_ref().map(radio),
            "alone": text(alone),
            "airtime_fairness": airtime_fairness,
        }),
    }
}

fn trace(trace: &Trace) -> Value {
    json!({
        "kind": "trace",
        "file": trace.file,
        "sha256": trace.sha256,
        "opportunity": size(trace.opportunity_bytes),
        "opportunities": trace.opportunities_ms.len(),
        "period": text(trace.period()),
        "mean_rate": text(trace.mean_rate()),
    })
}

/// Kind, dialect and every parameter of the queue at time zero, and the code of an unregistered
/// law.
fn flow(flow: &FlowGroup, links: &[Link]) -> Value {
    let route = |route: &[usize]| route.iter().map(|&l| links[l].name.as_str()).collect::<Vec<_>>();
    let mut table = json!({
        "name": flow.name,
        "class": flow.class,
        "count": flow.count,
        "path": route(&flow.path),
        "reverse": route(&flow.reverse),
        "rtt": text(flow.rtt),
        "access_rate": text(flow.access_rate),
        "sender_downlink": flow.sender_downlink.map(text),
        "receiver_rate": flow.receiver_rate.map(text),
        "access_delay": text(flow.access_delay),
        "egress_delay": text(flow.egress_delay),
        "return_delay": text(flow.return_delay),
        "return_egress_delay": text(flow.return_egress_delay),
        "start": [text(flow.start.0), text(flow.start.1)],
        "stop": flow.stop.map(|stop: Span| text(stop)),
        "app": app_json::app(&flow.app),
    });
    if let Some(hosts) = flow.hosts {
        table["hosts"] = json!(hosts);
    }
    if flow.dscp != 0 {
        table["dscp"] = json!(flow.dscp);
    }
    table
}

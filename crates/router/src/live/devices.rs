//! The two TUN devices: creates and addresses them, reads them back, and counts the packets that
//! they dropped.

use std::fs::File;
use std::io;
use std::process::Command;

use serde_json::{Value, json};

use super::ends::Ends;
use super::plan::{ADDRESSES, EndNetns, INTERFACES, IPV6_ADDRESSES, LEAST_IPV6_MTU, LivePlan};
use crate::linux::{Failure, sys, tun};

/// Queue length of a device in packets: too long to overflow while the router keeps up.
const QUEUE_PACKETS: u32 = 10_000;

/// Creates the device of an end, assigns its addresses and sets it up.
pub(super) fn open(plan: &LivePlan, ends: &Ends, end: usize) -> Result<File, Failure> {
    let name = INTERFACES[end];
    let file = ends.within(end, || tun::open(name));
    let file = file.map_err(|e| format!("{}: {name}: {e}", tun::DEVICE))?;
    let (mtu, queue) = (plan.mtu_bytes.to_string(), QUEUE_PACKETS.to_string());
    let [own, other] = [ADDRESSES[end], ADDRESSES[1 - end]];
    if plan.ends[end] == EndNetns::New {
        ip(ends, end, &["link", "set", "lo", "up"])?;
    }
    ip(ends, end, &["address", "add", own, "peer", other, "dev", name])?;
    // Without a link-local address, the kernel solicits no routers. The setting fails only on
    // machines without IPv6, which `add_ipv6` reports.
    let _ = ip(ends, end, &["link", "set", name, "addrgenmode", "none"]);
    ip(ends, end, &["link", "set", name, "mtu", &mtu, "txqueuelen", &queue, "up"])?;
    if plan.ends[end] == EndNetns::New {
        ip(ends, end, &["route", "add", "default", "dev", name])?;
    }
    Ok(file)
}

/// Assigns the IPv6 addresses of both ends.
///
/// # Errors
///
/// Why the ends have no IPv6 addresses: the machine's reason. IPv4 still works.
pub(super) fn add_ipv6(plan: &LivePlan, ends: &Ends) -> Result<(), Failure> {
    if plan.mtu_bytes < LEAST_IPV6_MTU {
        return Err(format!("an MTU below {LEAST_IPV6_MTU} B"));
    }
    for (end, name) in INTERFACES.iter().enumerate() {
        let [own, other] = [IPV6_ADDRESSES[end], IPV6_ADDRESSES[1 - end]];
        ip(ends, end, &["-6", "address", "add", own, "peer", other, "dev", name, "nodad"])?;
        if plan.ends[end] == EndNetns::New {
            ip(ends, end, &["-6", "route", "add", "default", "dev", name])?;
        }
    }
    Ok(())
}

/// The device's current state from `ip` as JSON: state, MTU, counters.
pub(super) fn shown(ends: &Ends, end: usize) -> Result<Value, Failure> {
    let name = INTERFACES[end];
    let text = ip(ends, end, &["-s", "-j", "link", "show", "dev", name])?;
    let rows: Value = serde_json::from_str(&text).map_err(|e| format!("ip -j: {e}: {text}"))?;
    Ok(rows[0].clone())
}

/// Compares the device with the plan.
pub(super) fn read_back(plan: &LivePlan, ends: &Ends, end: usize) -> Result<Value, Failure> {
    let found = shown(ends, end)?;
    let name = INTERFACES[end];
    let is_up = found["flags"].as_array().is_some_and(|flags| flags.contains(&json!("UP")));
    if !is_up {
        return Err(format!("{name}: is not up: {}", found["flags"]));
    }
    for (key, asked) in [("mtu", plan.mtu_bytes), ("txqlen", QUEUE_PACKETS)] {
        if found[key] != json!(asked) {
            return Err(format!("{name}: {key}: asked for {asked}, found {}", found[key]));
        }
    }
    Ok(found)
}

/// Switches offloads off; returns those that stayed on.
pub(super) fn switch_off_offloads(ends: &Ends) -> Result<Vec<String>, Failure> {
    let mut on = Vec::new();
    for (end, name) in INTERFACES.iter().enumerate() {
        let found = ends.within(end, || sys::switch_off_offloads(name));
        let found = found.map_err(|error| format!("offloads of {name}: {error}"))?;
        on.extend(found.into_iter().map(|offload| format!("{name}: {offload}")));
    }
    Ok(on)
}

/// Packets that the kernel dropped because the router did not read them in time.
pub(super) fn overflowed(shown: &Value) -> u64 {
    shown["stats64"]["tx"]["dropped"].as_u64().unwrap_or(0)
}

fn ip(ends: &Ends, end: usize, arguments: &[&str]) -> Result<String, Failure> {
    let failure = |e: io::Error| format!("ip: {e}; install iproute2");
    let output =
        ends.within(end, || Command::new("ip").args(arguments).output()).map_err(failure)?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`ip {}`: {}", arguments.join(" "), message.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

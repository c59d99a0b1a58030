//! The two TUN devices: made, addressed, read back; what they dropped.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::Command;

use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use super::space::Ends;
use super::{ADDRESSES, Failure, INTERFACES, Live, Place};
use crate::sys::{self, OFFLOADS};
use crate::tun;

/// Packets that wait in a device until the router takes them: what the router must never see full.
const ROOM_PACKETS: u32 = 10_000;

/// Makes the device of an end, up and with its address.
pub fn open(live: &Live, ends: &Ends, end: usize) -> Result<File, Failure> {
    let name = INTERFACES[end];
    let file = ends.within(end, || tun::open(name));
    let file = file.map_err(|e| format!("{}: {name}: {e}", tun::DEVICE))?;
    let (mtu, room) = (live.mtu_bytes.to_string(), ROOM_PACKETS.to_string());
    let [own, other] = [ADDRESSES[end], ADDRESSES[1 - end]];
    if live.places[end] == Place::New {
        ip(ends, end, &["link", "set", "lo", "up"])?;
    }
    ip(ends, end, &["address", "add", own, "peer", other, "dev", name])?;
    ip(ends, end, &["link", "set", name, "mtu", &mtu, "txqueuelen", &room, "up"])?;
    if live.places[end] == Place::New {
        ip(ends, end, &["route", "add", "default", "dev", name])?;
    }
    Ok(file)
}

/// What `ip` says of the device now, as JSON: state, MTU, counters.
pub fn shown(ends: &Ends, end: usize) -> Result<Value, Failure> {
    let name = INTERFACES[end];
    let text = ip(ends, end, &["-s", "-j", "link", "show", "dev", name])?;
    let rows: Value = serde_json::from_str(&text).map_err(|e| format!("ip -j: {e}: {text}"))?;
    Ok(rows[0].clone())
}

/// Compares the device with what was asked for.
pub fn read_back(live: &Live, ends: &Ends, end: usize) -> Result<Value, Failure> {
    let found = shown(ends, end)?;
    let name = INTERFACES[end];
    let is_up = found["flags"].as_array().is_some_and(|flags| flags.contains(&json!("UP")));
    if !is_up {
        return Err(format!("{name}: is not up: {}", found["flags"]));
    }
    for (key, asked) in [("mtu", live.mtu_bytes), ("txqlen", ROOM_PACKETS)] {
        if found[key] != json!(asked) {
            return Err(format!("{name}: {key}: asked for {asked}, found {}", found[key]));
        }
    }
    Ok(found)
}

/// Switches offloads off; returns those that stayed on.
pub fn offloads(ends: &Ends) -> Result<Vec<String>, Failure> {
    let mut on = Vec::new();
    for (end, name) in INTERFACES.iter().enumerate() {
        for offload in OFFLOADS {
            let is_on = ends.within(end, || {
                let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
                sys::switch_off(socket.as_fd(), name, offload)
            });
            match is_on {
                Ok(false) => {}
                Ok(true) => on.push(format!("{name}: {}", offload.name)),
                // A device that does not know an offload has none.
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
                Err(error) => return Err(format!("offloads of {name}: {error}")),
            }
        }
    }
    Ok(on)
}

/// Packets that the kernel dropped because the router did not take them in time.
pub fn overflowed(shown: &Value) -> u64 {
    shown["stats64"]["tx"]["dropped"].as_u64().unwrap_or(0)
}

fn ip(ends: &Ends, end: usize, arguments: &[&str]) -> Result<String, Failure> {
    let said = |e: io::Error| format!("ip: {e}; install iproute2");
    let output = ends.within(end, || Command::new("ip").args(arguments).output()).map_err(said)?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`ip {}`: {}", arguments.join(" "), complaint.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

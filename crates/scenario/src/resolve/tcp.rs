//! The transport of flows over TCP.

use super::checks::packet_bytes;
use super::{Checked, refuse, segment_sizes};
use crate::document::algorithm::AlgorithmSpec;
use crate::document::flows::FlowGroup;
use crate::document::ip_fields::{EcnKey, code_name};
use crate::document::quantities::{Offload, OffloadText, SizeText};
use crate::resolved::{Ecn, ReceiveWindow, Tcp};

/// The congestion controls that work with marks alone (Linux: `TCP_CONG_NEEDS_ECN`).
pub const NEED_ECN: [&str; 2] = ["dctcp", "prague"];
/// The profiles whose TCP requests ECN for these controls (Linux since 4.1).
const ASKING_PROFILES: [&str; 4] = ["linux", "linux-fq", "linux-7.2", "linux-7.2-fq"];

/// The transport of a group over TCP.
pub(super) fn tcp(place: &str, written: &FlowGroup) -> Checked<Tcp> {
    let profile = written.tcp.as_deref().unwrap_or("linux");
    let default = segment_sizes::of(profile);
    let packet = written.packet.unwrap_or(SizeText(default.packet_bytes));
    let header = written.header.unwrap_or(SizeText(default.header_bytes));
    let packet_bytes = packet_bytes(&format!("{place}.packet"), packet)?;
    if header.0 == 0 {
        return refuse(&format!("{place}.header"), "must be positive: it is the size of an ACK");
    }
    if packet.0 <= header.0 {
        let message = format!("{packet} leaves no room for data after a header of {header}");
        return refuse(&format!("{place}.packet"), message + "; write a larger packet");
    }
    let header_bytes = header.0 as u32; // less than the packet
    Ok(Tcp {
        profile: profile.to_owned(),
        cc: congestion_control(&format!("{place}.cc"), written.cc.as_ref())?,
        ecn: ecn(place, written)?,
        payload_bytes: packet_bytes - header_bytes,
        header_bytes,
        initial_window: at_least_one(place, "initial_window", written.initial_window)?,
        ack_every: at_least_one(place, "ack_every", written.ack_every)?,
        receive_window: receive_window(place, written, packet)?,
        offload_bytes: offload(place, written, packet)?,
        super_packets: matches!(written.offload, Some(OffloadText(Some(Offload::Gso(_))))),
    })
}

/// Segmentation offload; a burst must hold at least two packets.
fn offload(place: &str, written: &FlowGroup, packet: SizeText) -> Checked<Option<u32>> {
    let bytes = written.offload.and_then(|offload| offload.0);
    match bytes.map(|(Offload::Tso(bytes) | Offload::Gso(bytes))| bytes) {
        Some(bytes) if u64::from(bytes) < 2 * packet.0 => {
            let message = format!("holds less than two packets of {packet}; write more, or `off`");
            refuse(&format!("{place}.offload"), message)
        }
        bytes => Ok(bytes),
    }
}

/// The feedback of marks; its keys require ECN.
fn ecn(place: &str, written: &FlowGroup) -> Checked<Option<Ecn>> {
    if let EcnKey::Code(code) = written.ecn {
        let message = format!(
            "`{}` is a code point of datagrams, and TCP sends that of its congestion control; \
             write true or false, and cc = \"prague\" for ECT(1)",
            code_name(code)
        );
        return refuse(&format!("{place}.ecn"), message);
    }
    let is_used = written.ecn == EcnKey::Yes || asks_by_itself(written);
    let keys = [
        ("accecn", written.accecn.is_some()),
        ("receiver_ecn", written.receiver_ecn.is_some()),
        ("accecn_option", written.accecn_option.is_some()),
        ("ecn_fallback", written.ecn_fallback.is_some()),
    ];
    match keys.iter().find(|&&(_, is_written)| is_written && !is_used) {
        Some((key, _)) => {
            refuse(&format!("{place}.{key}"), "has no effect without ECN; write `ecn = true` too")
        }
        None => Ok(is_used.then(|| Ecn {
            accecn: written.accecn.unwrap_or_default(),
            receiver: written.receiver_ecn.unwrap_or_default(),
            option: written.accecn_option.unwrap_or_default(),
            fallback: written.ecn_fallback,
        })),
    }
}

/// Whether the group requests ECN regardless of its key `ecn`, as Linux does for a control with
/// `TCP_CONG_NEEDS_ECN` (Linux 6.1 tcp_output.c, `tcp_ecn_send_syn`).
fn asks_by_itself(written: &FlowGroup) -> bool {
    let profile = written.tcp.as_deref().unwrap_or("linux");
    let control = written.cc.as_ref().map(ToString::to_string).unwrap_or_default();
    let name = control.split([':', '@']).next().unwrap_or_default().trim();
    ASKING_PROFILES.contains(&profile) && NEED_ECN.contains(&name)
}

fn receive_window(
    place: &str,
    written: &FlowGroup,
    packet: SizeText,
) -> Checked<Option<ReceiveWindow>> {
    let autotuned = written.autotuning.unwrap_or(false);
    match written.receive_window {
        None if autotuned => {
            let message = "needs a window to grow to; write `receive_window`, for example \"6MB\"";
            refuse(&format!("{place}.autotuning"), message)
        }
        Some(window) if window.0 < packet.0 => {
            let message = format!("{window} does not hold one packet of {packet}; write more");
            refuse(&format!("{place}.receive_window"), message)
        }
        window => Ok(window.map(|window| ReceiveWindow { bytes: window.0, autotuned })),
    }
}

fn congestion_control(place: &str, written: Option<&AlgorithmSpec>) -> Checked<Option<String>> {
    let Some(written) = written else { return Ok(None) };
    match written.to_string().trim() {
        "" => refuse(place, "no congestion control is named; write for example \"cubic\""),
        text => Ok(Some(text.to_owned())),
    }
}

fn at_least_one(place: &str, key: &str, written: Option<u32>) -> Checked<Option<u32>> {
    match written {
        Some(0) => refuse(&format!("{place}.{key}"), "must be at least 1"),
        written => Ok(written),
    }
}

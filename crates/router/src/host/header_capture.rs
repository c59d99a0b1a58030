//! Captures of packets with their headers at both ends of the flows and, for a bottleneck in the
//! kernel, on both sides of its queue.

use std::io;
use std::path::Path;

use nix::net::if_::if_nametoindex;

use super::packet_capture::{CapturedPacket, PacketCapture, WriteRow, mirror};
use super::program_flows::FlowIds;
use crate::captures::{CapturePoint, CapturedHeaders};
use crate::linux::hosts::Hosts;
use crate::plan::{Bottleneck, HeaderCaptures, Netns, Plan};
use crate::run_files::HEADERS;

/// The interface that packets pass when the link has sent their last bit (fact linux-27).
const SENT: &str = "sent";

/// Opens the captures that a plan asks for.
pub(super) fn open_all(
    plan: &Plan,
    hosts: &Hosts,
    ids: &FlowIds,
    folder: &Path,
) -> io::Result<Vec<PacketCapture>> {
    let Some(wanted) = &plan.header_captures else { return Ok(Vec::new()) };
    let all = all(wanted, plan, hosts, ids)?.into_iter();
    let open = |(netns, name, write_row): Capture| {
        PacketCapture::open(hosts, netns, &folder.join(name), write_row)
    };
    all.map(open).collect()
}

/// A capture: its namespace, its file, and what it writes.
type Capture = (Netns, &'static str, Box<WriteRow>);

fn all(
    wanted: &HeaderCaptures,
    plan: &Plan,
    hosts: &Hosts,
    ids: &FlowIds,
) -> io::Result<Vec<Capture>> {
    let [senders, receivers, router, _] = HEADERS;
    let sent_at = mirror(wanted.sent_at, hosts)?;
    let at_sender = move |packet: &CapturedPacket<'_>, to_receiver: bool| {
        let is_there = match packet.leaves {
            true => sent_at.is_none_or(|interface| interface == packet.interface),
            false => true,
        };
        (is_there && packet.leaves == to_receiver).then_some((CapturePoint::Sender, 0))
    };
    let at_receiver = |packet: &CapturedPacket<'_>, to_receiver: bool| {
        (packet.leaves != to_receiver).then_some((CapturePoint::Receiver, 0))
    };
    let mut all = vec![
        (Netns::Senders, senders, row_at(ids, at_sender)),
        (Netns::Receivers, receivers, row_at(ids, at_receiver)),
    ];
    if matches!(plan.bottleneck, Bottleneck::Kernel { .. }) {
        let sent = hosts.within(Netns::Router, || Ok(if_nametoindex(SENT)? as usize))?;
        let link = wanted.link;
        let at_router = move |packet: &CapturedPacket<'_>, to_receiver: bool| match packet.leaves {
            _ if !to_receiver => None,
            false => Some((CapturePoint::Arrived, link)),
            true => (packet.interface == sent).then_some((CapturePoint::Sent, link)),
        };
        all.push((Netns::Router, router, row_at(ids, at_router)));
    }
    Ok(all)
}

/// Writes the row of a packet of a flow if `place` gives it a place and a link; `place` receives
/// whether the packet goes to the receiver.
fn row_at(
    ids: &FlowIds,
    place: impl Fn(&CapturedPacket<'_>, bool) -> Option<(CapturePoint, u16)> + 'static,
) -> Box<WriteRow> {
    let ids = ids.clone();
    Box::new(move |packet, out| {
        let Some((flow, to_receiver)) = ids.of(&packet.header) else { return };
        let Some((point, link)) = place(packet, to_receiver) else { return };
        let (at_ns, bytes) = (packet.at_ns, packet.bytes.to_vec());
        CapturedHeaders { at_ns, flow, link, point, bytes }.write(out);
    })
}

//! Our router between two TUN devices, in the event loop of a run. Packets to receivers pass its
//! forward link, if it has one, and its wire. Returning packets pass its reverse link if the plan
//! has one for their group; otherwise they are forwarded at once. Depending on the plan, the router
//! itself delays both directions, per group of flows, or netem does.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_link::DelayLine;

use super::clock::Clock;
use super::program_flows::FlowIds;
use crate::captures::{CapturePoint, CapturedHeaders};
use crate::forwarding::raw_packet::InFlightPacket;
use crate::forwarding::recorder::{LinkCounts, Recording, Records};
use crate::forwarding::router_link::RouterLink;
use crate::forwarding::wire::{Wire, WireCounts};
use crate::header::{HEADER_BYTES, Header};
use crate::laws::LoadedLaws;
use crate::linux::Failure;
use crate::linux::hosts::Hosts;
use crate::linux::tun::{self, DEVICE, LARGEST};
use crate::plan::{Bottleneck, Netns, Plan, RouterLinkPlan, WirePlan};
use crate::run_files::{HEADERS, PACKET_RECORDS, SIGNAL_STATES, SignalState};

/// The epoll token of both devices; the tokens of sockets are smaller.
pub(super) const TUN_TOKEN: u64 = u64::MAX - 2;
/// The flow number of packets from other programs.
const NO_FLOW: u32 = u32::MAX;

/// The elements that packets pass in one direction.
struct OneWay {
    /// The link; `None` if the bottleneck is in the kernel, or this direction has no link.
    link: Option<RouterLink>,
    /// The wire behind it.
    wire: Wire,
    /// The captures on both sides of the link, if wanted.
    captures: Option<LinkCaptures>,
}

/// Captured headers of the packets of a link.
struct LinkCaptures {
    link: u16,
    rows: Vec<u8>,
}

impl LinkCaptures {
    /// Captures a packet; ignores packets that are not IPv4, as the link does.
    fn see(&mut self, now: Time, point: CapturePoint, packet: &InFlightPacket) {
        if Header::read(&packet.bytes).is_some() {
            let (at_ns, flow, link) = (now.as_nanos() as i64, packet.flow, self.link);
            let bytes = packet.bytes[..packet.bytes.len().min(HEADER_BYTES)].to_vec();
            CapturedHeaders { at_ns, flow, link, point, bytes }.write(&mut self.rows);
        }
    }
}

impl OneWay {
    fn new(
        link: Option<&RouterLinkPlan>,
        wire: Option<&WirePlan>,
        plan: &Plan,
        laws: &LoadedLaws,
    ) -> Result<OneWay, Failure> {
        let is_captured = plan.header_captures.is_some();
        let recording = || Recording::Records(Records::new(is_captured));
        let new = |link| RouterLink::new(link, laws, plan.seed, recording());
        let wire = Wire::new(wire, plan.seed, Time::from_nanos(plan.warmup_ns));
        let captures = link.filter(|_| is_captured);
        let captures = captures.map(|link| LinkCaptures { link: link.index, rows: Vec::new() });
        Ok(OneWay { link: link.map(new).transpose()?, wire, captures })
    }

    fn next_timer(&self) -> Time {
        let link = self.link.as_ref().map_or(Time::NEVER, RouterLink::next_timer);
        link.min(self.wire.next_timer())
    }

    /// Handles a packet that arrives at the link, or at the wire if there is no link.
    fn arrive(&mut self, now: Time, packet: InFlightPacket) {
        if let Some(captures) = &mut self.captures {
            captures.see(now, CapturePoint::Arrived, &packet);
        }
        match &mut self.link {
            Some(link) => link.arrive(now, packet.bytes, packet.flow),
            None => self.wire.enter(now, packet),
        }
    }

    /// The next packet that has left the wire by `now`, with its departure time.
    fn leave(&mut self, now: Time) -> Option<(Time, InFlightPacket)> {
        let OneWay { link, wire, captures } = self;
        if let Some(link) = link {
            link.on_timer(now, |due, packet| {
                if let Some(captures) = captures {
                    captures.see(due, CapturePoint::Sent, &packet);
                }
                wire.enter(due, packet);
            });
        }
        self.wire.leave(now)
    }
}

/// The delay lines of a group of flows.
struct GroupLines {
    /// Before the forward link.
    forward: DelayLine<InFlightPacket>,
    /// On the path back.
    back: DelayLine<InFlightPacket>,
}

/// The router and its devices.
pub(super) struct TunRouter {
    forward: OneWay,
    reverse: OneWay,
    /// For each group, whether its packets use the reverse link.
    uses_reverse: Vec<bool>,
    /// The device towards the senders.
    near: File,
    /// The device towards the receivers.
    far: File,
    /// The delay lines of each group; empty if nothing is delayed here.
    lines: Vec<GroupLines>,
    /// The group of each flow of the scenario.
    groups: Vec<usize>,
    /// The group replaced by programs.
    program_group: Option<usize>,
    ids: FlowIds,
    buffer: Vec<u8>,
}

impl TunRouter {
    /// Creates both devices if the plan has a link or a wire of ours; the plan's commands configure
    /// them afterwards.
    pub(super) fn open(
        plan: &Plan,
        laws: &LoadedLaws,
        hosts: &Hosts,
        ids: &FlowIds,
    ) -> Result<Option<TunRouter>, Failure> {
        let (netns, name, link) = match &plan.bottleneck {
            Bottleneck::Sojourn(link) => (Netns::Router, "out", Some(link)),
            Bottleneck::Kernel { .. } if plan.has_wire() => (Netns::Wire, "near", None),
            Bottleneck::Kernel { .. } => return Ok(None),
        };
        let open = |netns, name: &str| {
            hosts.within(netns, || tun::open(name)).map_err(|e| format!("{DEVICE}: {e}"))
        };
        let (near, far) = (open(netns, name)?, open(Netns::Receivers, plan.receivers_tun())?);
        for file in [&near, &far] {
            hosts.watch_token(file, TUN_TOKEN).map_err(|e| format!("{DEVICE}: {e}"))?;
        }
        let lines = link.iter().flat_map(|link| &link.delays).map(|delays| {
            let rate = Rate::from_bps(delays.access_bps);
            GroupLines {
                forward: DelayLine::new(Span::from_nanos(delays.forward_ns)).with_links([rate]),
                back: DelayLine::new(Span::from_nanos(delays.return_ns)),
            }
        });
        let lines = lines.collect();
        let reverse = plan.reverse.as_ref();
        let reverse_wire = reverse.and_then(|reverse| reverse.wire.as_ref());
        let uses = |group| reverse.is_some_and(|reverse| reverse.groups.contains(&group));
        Ok(Some(TunRouter {
            forward: OneWay::new(link, plan.wire.as_ref(), plan, laws)?,
            reverse: OneWay::new(reverse.map(|reverse| &reverse.link), reverse_wire, plan, laws)?,
            uses_reverse: (0..plan.groups()).map(uses).collect(),
            near,
            far,
            lines,
            groups: plan.flows.iter().map(|flow| flow.group).collect(),
            program_group: plan.programs.as_ref().map(|programs| programs.group),
            ids: ids.clone(),
            buffer: vec![0; LARGEST],
        }))
    }

    /// When it wants [`TunRouter::on_timer`].
    pub(super) fn next_timer(&self) -> Time {
        let lines = self.lines.iter().flat_map(|group| [&group.forward, &group.back]);
        let lines = lines.map(DelayLine::next_arrival);
        lines.chain([self.reverse.next_timer()]).fold(self.forward.next_timer(), Time::min)
    }

    /// Forwards everything due, at the times at which it was due.
    pub(super) fn on_timer(&mut self, now: Time) -> io::Result<()> {
        while let Some(group) = self.first_due(now) {
            let (due, packet) = self.lines[group].forward.pop_due(now).expect("it is due");
            self.send_to_receivers(due)?;
            self.forward.arrive(due, packet);
        }
        self.send_to_receivers(now)?;
        while let Some((due, packet)) = self.reverse.leave(now) {
            self.return_to_sender(due, packet)?;
        }
        for group in &mut self.lines {
            while let Some((_, packet)) = group.back.pop_due(now) {
                self.near.write_all(&packet.bytes)?;
            }
        }
        Ok(())
    }

    /// The group whose packet is the next to leave its forward delay line, if one is due.
    fn first_due(&self, now: Time) -> Option<usize> {
        let due = |group: &usize| self.lines[*group].forward.next_arrival();
        let first = (0..self.lines.len()).min_by_key(due)?;
        (due(&first) <= now).then_some(first)
    }

    /// Writes the packets that have left the forward wire by `now`.
    fn send_to_receivers(&mut self, now: Time) -> io::Result<()> {
        while let Some((_, packet)) = self.forward.leave(now) {
            self.far.write_all(&packet.bytes)?;
        }
        Ok(())
    }

    /// Handles a packet that has passed the reverse link and its wire, or bypassed them.
    fn return_to_sender(&mut self, now: Time, packet: InFlightPacket) -> io::Result<()> {
        match self.lines_of(packet.flow) {
            Some(lines) => packet.enter(now, &mut lines.back),
            None => self.near.write_all(&packet.bytes)?,
        }
        Ok(())
    }

    /// Reads the packets that have arrived at either device.
    pub(super) fn on_ready(&mut self, clock: &Clock) -> io::Result<()> {
        while let Some(bytes) = tun::read(&mut self.near, &mut self.buffer)? {
            let packet = self.packet(bytes);
            // Events due before this packet's arrival are handled first; both use one reading of
            // the clock.
            let now = clock.now()?;
            self.on_timer(now)?;
            match self.lines_of(packet.flow) {
                Some(lines) => packet.enter(now, &mut lines.forward),
                None => {
                    self.forward.arrive(now, packet);
                    self.send_to_receivers(now)?;
                }
            }
        }
        while let Some(bytes) = tun::read(&mut self.far, &mut self.buffer)? {
            let packet = self.packet(bytes);
            let now = clock.now()?;
            if self.group_of(packet.flow).is_some_and(|group| self.uses_reverse[group]) {
                self.on_timer(now)?;
                self.reverse.arrive(now, packet);
                self.on_timer(now)?;
            } else {
                self.return_to_sender(now, packet)?;
            }
        }
        Ok(())
    }

    /// The packet in the buffer; packets from other programs get the flow [`NO_FLOW`].
    fn packet(&self, bytes: usize) -> InFlightPacket {
        let bytes = self.buffer[..bytes].to_vec();
        let flow = Header::read(&bytes).and_then(|header| self.ids.of(&header));
        InFlightPacket { bytes, flow: flow.map_or(NO_FLOW, |f| f.0) }
    }

    /// The delay lines of a flow, if the router delays packets.
    fn lines_of(&mut self, flow: u32) -> Option<&mut GroupLines> {
        let group = self.group_of(flow)?;
        self.lines.get_mut(group)
    }

    /// The group of a flow, if the flow is known.
    fn group_of(&self, flow: u32) -> Option<usize> {
        let of_program = self.program_group.filter(|_| self.ids.is_of_program(flow));
        self.groups.get(flow as usize).copied().or(of_program)
    }

    /// The links, the forward one first.
    fn links(&self) -> impl Iterator<Item = &RouterLink> {
        [&self.forward, &self.reverse].into_iter().filter_map(|one_way| one_way.link.as_ref())
    }

    /// The state variables of their laws, as bits.
    pub(super) fn law_state(&self) -> Vec<u64> {
        self.links().flat_map(RouterLink::law_state).map(f64::to_bits).collect()
    }

    /// Writes the records of all packets at its links; returns the counts of the links.
    pub(super) fn finish(&self, folder: &Path) -> io::Result<Vec<LinkCounts>> {
        let mut rows = Vec::new();
        for record in self.links().flat_map(RouterLink::records) {
            if record.flow != NO_FLOW {
                record.write(&mut rows);
            }
        }
        fs::write(folder.join(PACKET_RECORDS), rows)?;
        self.write_captures(folder)?;
        Ok(self.links().map(RouterLink::counts).collect())
    }

    /// Writes the captures at its links and the states before their drops and marks, if wanted.
    fn write_captures(&self, folder: &Path) -> io::Result<()> {
        let (mut rows, mut states) = (Vec::new(), Vec::new());
        for one_way in [&self.forward, &self.reverse] {
            let (Some(captures), Some(link)) = (&one_way.captures, &one_way.link) else { continue };
            rows.extend(&captures.rows);
            states.extend(link.signal_states().iter().map(|(arrival, values)| SignalState {
                link: captures.link,
                arrival: *arrival,
                bits: values.iter().map(|value| value.to_bits()).collect(),
            }));
        }
        if !rows.is_empty() {
            fs::write(folder.join(HEADERS[3]), rows)?;
            fs::write(folder.join(SIGNAL_STATES), serde_json::to_vec(&states)?)?;
        }
        Ok(())
    }

    /// The counts of its wires at the end, forward and reverse, for wires that lose packets or
    /// delay them unevenly.
    pub(super) fn wire_counts(&mut self, end: Time) -> [Option<WireCounts>; 2] {
        [&mut self.forward, &mut self.reverse].map(|one_way| one_way.wire.counts(end))
    }
}

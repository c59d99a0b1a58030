//! Our router between two TUN devices, inside the loop of a run. Packets to receivers pass its queue, if it
//! has one, and its wire; what comes back passes a queue where the plan has one there, else at once. Where the plan asks for it, the router delays both
//! ways itself, per group of flows; else the kernel's delay elements do.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sojourn_aqm::{Rate, Span, Time};

use super::clock::Clock;
use super::{Failure, Hosts, STREET};
use crate::chronicle::{Counts, Memory};
use crate::header::Header;
use crate::line::{Line, Passenger};
use crate::plan::{self, Bottleneck, Plan, Space, flow_of};
use crate::record_files::STORIES;
use crate::street::Street;
use crate::tun::{self, DEVICE, LARGEST};
use crate::wire::{Wire, WireCounts};

/// What packets pass in one direction.
struct Pass {
    /// The queue; none: the bottleneck is the kernel's, or there is none.
    street: Option<Street>,
    /// What lies behind it.
    wire: Wire,
}

impl Pass {
    fn new(
        street: Option<&plan::Street>,
        wire: Option<&plan::Wire>,
        plan: &Plan,
    ) -> Result<Pass, Failure> {
        let new = |street| Street::new(street, plan.seed, Memory::Stories(Vec::new()));
        let wire = Wire::new(wire, plan.seed, Time::from_nanos(plan.warmup_ns));
        Ok(Pass { street: street.map(new).transpose()?, wire })
    }

    fn next_timer(&self) -> Time {
        let street = self.street.as_ref().map_or(Time::NEVER, Street::next_timer);
        street.min(self.wire.next_timer())
    }

    /// A packet comes to the queue, or to the wire where there is none.
    fn arrive(&mut self, packet: Passenger) {
        match &mut self.street {
            Some(street) => street.arrive(packet.due, packet.bytes, packet.flow),
            None => self.wire.enter(packet),
        }
    }

    /// The next packet that is through by `now`.
    fn leave(&mut self, now: Time) -> Option<Passenger> {
        if let Some(street) = &mut self.street {
            street.on_timer(now, &mut |packet| self.wire.enter(packet));
        }
        self.wire.leave(now)
    }
}

/// The router and its devices.
pub struct StreetHost {
    forward: Pass,
    back: Pass,
    /// Whether each group's packets come back over a queue.
    queues_back: Vec<bool>,
    near: File,
    far: File,
    /// The lines of each group, before the queue and on the way back; none: nothing is delayed here.
    lines: Vec<[Line; 2]>,
    groups: Vec<usize>,
    buffer: Vec<u8>,
}

/// Which of a group's lines.
const FORWARD: usize = 0;
const BACK: usize = 1;

impl StreetHost {
    /// Makes both devices, if the plan has a router or a wire of ours; they are set up by its commands
    /// afterwards.
    pub fn open(plan: &Plan, hosts: &Hosts) -> Result<Option<StreetHost>, Failure> {
        let (space, name, street) = match &plan.bottleneck {
            Bottleneck::Sojourn(street) => (Space::Router, "out", Some(street)),
            Bottleneck::Kernel { .. } if plan.has_wire() => (Space::Wire, "near", None),
            Bottleneck::Kernel { .. } => return Ok(None),
        };
        let open = |space, name: &str| {
            hosts.within(space, || tun::open(name)).map_err(|e| format!("{DEVICE}: {e}"))
        };
        let (near, far) = (open(space, name)?, open(Space::Receivers, "in")?);
        for file in [&near, &far] {
            hosts.watch_number(file, STREET).map_err(|e| format!("{DEVICE}: {e}"))?;
        }
        let groups = street.iter().flat_map(|street| &street.lines);
        let lines = groups.map(|group| {
            let rate = Rate::from_bps(group.access_bps);
            let forward = Line::new(Span::from_nanos(group.forward_ns), Some(rate));
            [forward, Line::new(Span::from_nanos(group.return_ns), None)]
        });
        let lines = lines.collect();
        let back = plan.back.as_ref();
        let back_wire = back.and_then(|back| back.wire.as_ref());
        let flows = plan.flows.iter();
        let groups = flows.clone().map(|flow| flow.group + 1).max().unwrap_or(0);
        let queues = |group| back.is_some_and(|back| back.groups.contains(&group));
        Ok(Some(StreetHost {
            forward: Pass::new(street, plan.wire.as_ref(), plan)?,
            back: Pass::new(back.map(|back| &back.street), back_wire, plan)?,
            queues_back: (0..groups).map(queues).collect(),
            near,
            far,
            lines,
            groups: flows.map(|flow| flow.group).collect(),
            buffer: vec![0; LARGEST],
        }))
    }

    /// When it wants [`StreetHost::on_timer`].
    pub fn next_timer(&self) -> Time {
        let lines = self.lines.iter().flatten().map(Line::next_timer);
        lines.chain([self.back.next_timer()]).fold(self.forward.next_timer(), Time::min)
    }

    /// Passes on what is due, at the times when it was due.
    pub fn on_timer(&mut self, now: Time) -> io::Result<()> {
        while let Some(group) = self.first_due(now) {
            let packet = self.lines[group][FORWARD].leave(now).expect("it is due");
            self.serve(packet.due)?;
            self.forward.arrive(packet);
        }
        self.serve(now)?;
        while let Some(packet) = self.back.leave(now) {
            self.return_to_sender(packet)?;
        }
        for [_, back] in &mut self.lines {
            while let Some(packet) = back.leave(now) {
                self.near.write_all(&packet.bytes)?;
            }
        }
        Ok(())
    }

    /// The group whose packet comes out of its line first, if one is due.
    fn first_due(&self, now: Time) -> Option<usize> {
        let due = |lines: &[Line; 2]| lines[FORWARD].next_timer();
        let first = (0..self.lines.len()).min_by_key(|&group| due(&self.lines[group]))?;
        (due(&self.lines[first]) <= now).then_some(first)
    }

    /// What is through goes to the receivers.
    fn serve(&mut self, now: Time) -> io::Result<()> {
        while let Some(packet) = self.forward.leave(now) {
            self.far.write_all(&packet.bytes)?;
        }
        Ok(())
    }

    /// What no queue on the way back holds any longer.
    fn return_to_sender(&mut self, packet: Passenger) -> io::Result<()> {
        match self.line(packet.flow, BACK) {
            Some(line) => line.enter(packet.due, packet.bytes, packet.flow),
            None => self.near.write_all(&packet.bytes)?,
        }
        Ok(())
    }

    /// Takes what has come at either device.
    pub fn on_ready(&mut self, clock: &Clock) -> io::Result<()> {
        while let Some(bytes) = tun::read(&mut self.near, &mut self.buffer)? {
            let (packet, flow) = (self.buffer[..bytes].to_vec(), self.flow(bytes));
            // What was due before this packet came is done before, at one reading of the clock.
            let now = clock.now()?;
            self.on_timer(now)?;
            match self.line(flow, FORWARD) {
                Some(line) => line.enter(now, packet, flow),
                None => {
                    self.forward.arrive(Passenger { due: now, bytes: packet, flow });
                    self.serve(now)?;
                }
            }
        }
        while let Some(bytes) = tun::read(&mut self.far, &mut self.buffer)? {
            let flow = self.flow(bytes);
            let now = clock.now()?;
            let packet = Passenger { due: now, bytes: self.buffer[..bytes].to_vec(), flow };
            let group = self.groups.get(flow as usize);
            if group.is_some_and(|&group| self.queues_back[group]) {
                self.on_timer(now)?;
                self.back.arrive(packet);
                self.on_timer(now)?;
            } else {
                self.return_to_sender(packet)?;
            }
        }
        Ok(())
    }

    /// The flow of the packet in the buffer; the largest number for one that is not ours.
    fn flow(&self, bytes: usize) -> u32 {
        let header = Header::read(&self.buffer[..bytes]);
        header.and_then(|h| flow_of(h.ports, self.groups.len())).map_or(u32::MAX, |f| f.0)
    }

    fn line(&mut self, flow: u32, way: usize) -> Option<&mut Line> {
        let group = *self.groups.get(flow as usize)?;
        self.lines.get_mut(group).map(|lines| &mut lines[way])
    }

    /// The queues, the forward one first.
    fn streets(&self) -> impl Iterator<Item = &Street> {
        [&self.forward, &self.back].into_iter().filter_map(|pass| pass.street.as_ref())
    }

    /// The variables of their laws, by their bits.
    pub fn law(&self) -> Vec<u64> {
        self.streets().flat_map(Street::law).map(f64::to_bits).collect()
    }

    /// Writes down what became of every packet in its queues, if it has any.
    pub fn finish(&self, folder: &Path) -> io::Result<Vec<Counts>> {
        let mut rows = Vec::new();
        for story in self.streets().flat_map(Street::stories) {
            if story.flow != u32::MAX {
                story.write(&mut rows);
            }
        }
        fs::write(folder.join(STORIES), rows)?;
        Ok(self.streets().map(Street::counts).collect())
    }

    /// What its wires have counted by the end, forward and back, where they do anything to packets.
    pub fn wires(&mut self, end: Time) -> [Option<WireCounts>; 2] {
        [&mut self.forward, &mut self.back].map(|pass| pass.wire.counts(end))
    }
}

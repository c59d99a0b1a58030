//! Our router between two TUN devices, inside the loop of a run. Packets to receivers pass its queue;
//! what comes back passes at once. Where the plan asks for it, the router delays both ways itself, per
//! group of flows; else the kernel's delay elements do.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use sojourn_aqm::{Rate, Span, Time};

use super::clock::Clock;
use super::{Failure, Hosts, STREET};
use crate::chronicle::{Counts, Memory};
use crate::header::Header;
use crate::line::Line;
use crate::plan::{self, Plan, Space, flow_of};
use crate::record_files::STORIES;
use crate::street::Street;
use crate::tun::{self, DEVICE, LARGEST};

/// The router and its devices.
pub struct StreetHost {
    street: Street,
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
    /// Makes both devices; they are set up by the plan's commands afterwards.
    pub fn open(street: &plan::Street, plan: &Plan, hosts: &Hosts) -> Result<StreetHost, Failure> {
        let open = |space, name: &str| {
            hosts.within(space, || tun::open(name)).map_err(|e| format!("{DEVICE}: {e}"))
        };
        let (near, far) = (open(Space::Router, "out")?, open(Space::Receivers, "in")?);
        for file in [&near, &far] {
            hosts.watch_number(file, STREET).map_err(|e| format!("{DEVICE}: {e}"))?;
        }
        let lines = street.lines.iter().map(|group| {
            let rate = Rate::from_bps(group.access_bps);
            let forward = Line::new(Span::from_nanos(group.forward_ns), Some(rate));
            [forward, Line::new(Span::from_nanos(group.return_ns), None)]
        });
        Ok(StreetHost {
            street: Street::new(street, plan.seed, Memory::Stories(Vec::new()))?,
            near,
            far,
            lines: lines.collect(),
            groups: plan.flows.iter().map(|flow| flow.group).collect(),
            buffer: vec![0; LARGEST],
        })
    }

    /// When it wants [`StreetHost::on_timer`].
    pub fn next_timer(&self) -> Time {
        let lines = self.lines.iter().flatten().map(Line::next_timer);
        lines.chain([self.street.next_timer()]).min().expect("there is a street")
    }

    /// Passes on what is due, at the times when it was due.
    pub fn on_timer(&mut self, now: Time) -> io::Result<()> {
        while let Some(group) = self.first_due(now) {
            let packet = self.lines[group][FORWARD].leave(now).expect("it is due");
            self.serve(packet.due)?;
            self.street.arrive(packet.due, packet.bytes, packet.flow);
        }
        self.serve(now)?;
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

    fn serve(&mut self, now: Time) -> io::Result<()> {
        let far = &mut self.far;
        let mut failed = None;
        self.street.on_timer(now, &mut |_, bytes| {
            if let Err(error) = far.write_all(&bytes) {
                failed = Some(error);
            }
        });
        failed.map_or(Ok(()), Err)
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
                None => self.street.arrive(now, packet, flow),
            }
        }
        while let Some(bytes) = tun::read(&mut self.far, &mut self.buffer)? {
            let flow = self.flow(bytes);
            let (now, packet) = (clock.now()?, self.buffer[..bytes].to_vec());
            match self.line(flow, BACK) {
                Some(line) => line.enter(now, packet, flow),
                None => self.near.write_all(&packet)?,
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

    /// The variables of its law, by their bits.
    pub fn law(&self) -> Vec<u64> {
        self.street.law().into_iter().map(f64::to_bits).collect()
    }

    /// Writes down what became of every packet.
    pub fn finish(&mut self, folder: &Path) -> io::Result<Counts> {
        let mut rows = Vec::new();
        for story in self.street.stories().iter().filter(|story| story.flow != u32::MAX) {
            story.write(&mut rows);
        }
        fs::write(folder.join(STORIES), rows)?;
        Ok(self.street.counts())
    }
}

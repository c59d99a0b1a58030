//! Our router between two TUN devices, inside the loop of a run. Packets to receivers pass its queue;
//! what comes back passes at once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sojourn_aqm::Time;

use super::clock::Clock;
use super::{Failure, Hosts, STREET};
use crate::header::Header;
use crate::plan::{self, Plan, Space, flow_of};
use crate::record_files::STORIES;
use crate::street::{Counts, Street};
use crate::sys;

const DEVICE: &str = "/dev/net/tun";
const LARGEST: usize = 1 << 16;

/// The router and its devices.
pub struct StreetHost {
    street: Street,
    near: File,
    far: File,
    flows: usize,
    buffer: Vec<u8>,
}

impl StreetHost {
    /// Makes both devices; they are set up by the plan's commands afterwards.
    pub fn open(street: &plan::Street, plan: &Plan, hosts: &Hosts) -> Result<StreetHost, Failure> {
        let open = |space, name: &str| {
            let act = || {
                let file = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .custom_flags(libc::O_NONBLOCK)
                    .open(DEVICE)?;
                sys::make_tun(file.as_fd(), name)?;
                Ok(file)
            };
            hosts.within(space, act).map_err(|e| format!("{DEVICE}: {e}"))
        };
        let (near, far) = (open(Space::Router, "out")?, open(Space::Receivers, "in")?);
        for file in [&near, &far] {
            hosts.watch_number(file, STREET).map_err(|e| format!("{DEVICE}: {e}"))?;
        }
        Ok(StreetHost {
            street: Street::new(street, plan.seed, true)?,
            near,
            far,
            flows: plan.flows.len(),
            buffer: vec![0; LARGEST],
        })
    }

    /// When it wants [`StreetHost::on_timer`].
    pub fn next_timer(&self) -> Time {
        self.street.next_timer()
    }

    /// Sends what is due.
    pub fn on_timer(&mut self, now: Time) -> io::Result<()> {
        let far = &mut self.far;
        let mut failed = None;
        self.street.on_timer(now, &mut |bytes| {
            if let Err(error) = far.write_all(bytes) {
                failed = Some(error);
            }
        });
        failed.map_or(Ok(()), Err)
    }

    /// Takes what has come at either device.
    pub fn on_ready(&mut self, clock: &Clock) -> io::Result<()> {
        while let Some(bytes) = read(&mut self.near, &mut self.buffer)? {
            let packet = &self.buffer[..bytes];
            let flow = Header::read(packet).and_then(|h| flow_of(h.ports, self.flows));
            let (packet, flow) = (packet.to_vec(), flow.map_or(u32::MAX, |f| f.0));
            // What was due before this packet came is done before, at one reading of the clock.
            let now = clock.now()?;
            self.on_timer(now)?;
            self.street.arrive(now, packet, flow);
        }
        while let Some(bytes) = read(&mut self.far, &mut self.buffer)? {
            self.near.write_all(&self.buffer[..bytes])?;
        }
        Ok(())
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

fn read(file: &mut File, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    match file.read(buffer) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

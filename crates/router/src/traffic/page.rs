//! A user who reads web pages, as the simulator's [`WebUser`] wants them. The user is at the receiving end:
//! a request travels the way back as a datagram, the server answers over a new connection that it opens
//! itself, as in the simulator. Requests are not lost: nothing queues on the way back.

use std::io;
use std::net::UdpSocket;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::{Rng, Time};
use sojourn_scenario::resolved::Web;
use sojourn_sim::app::web_user::{Fetch, WebUser};

use super::connection::{Connection, Door};
use super::{End, Program, UDP_HEADER, receiver, sender, stop, unless_waiting};
use crate::host::{Hosts, Key};
use crate::plan::{self, Space};
use crate::record_files::{Account, Count, Diary, Transfer};

/// Lane and size of what is wanted.
const REQUEST_BYTES: usize = 9;

/// Both ends.
pub struct Page {
    flow: plan::Flow,
    key: Key,
    reader: WebUser,
    door: Door,
    lanes: Vec<Connection>,
    /// Where the user asks, and where the server hears it.
    asking: UdpSocket,
    hearing: UdpSocket,
    request: Vec<u8>,
    stop: Time,
}

impl Page {
    /// Opens the doors of both.
    pub fn new(
        flow: &plan::Flow,
        web: &Web,
        key: Key,
        rng: Rng,
        hosts: &Hosts,
    ) -> io::Result<Page> {
        let datagrams = || Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP));
        let hearing: UdpSocket = hosts
            .within(Space::Senders, || {
                let socket = datagrams()?;
                socket.bind(&sender(flow, flow.port).into())?;
                Ok(socket)
            })?
            .into();
        let asking: UdpSocket = hosts
            .within(Space::Receivers, || {
                let socket = datagrams()?;
                socket.bind(&receiver(flow).into())?;
                socket.connect(&sender(flow, flow.port).into())?;
                Ok(socket)
            })?
            .into();
        hearing.set_nonblocking(true)?;
        asking.set_nonblocking(true)?;
        hosts.watch(&hearing, Key { end: End::Server, ..key })?;
        let lanes = (0..web.parallel as u8).map(|lane| Connection::new(Key { lane, ..key }));
        let request = (web.request_bytes - UDP_HEADER) as usize;
        Ok(Page {
            flow: flow.clone(),
            key,
            reader: WebUser::new(web.clone(), Time::from_nanos(flow.start_ns), rng),
            door: Door::open(flow, key, hosts)?,
            lanes: lanes.collect(),
            asking,
            hearing,
            request: vec![0; request.max(REQUEST_BYTES)],
            stop: stop(flow),
        })
    }

    fn ask(&mut self, Fetch { lane, bytes }: Fetch) -> io::Result<()> {
        self.request[0] = lane as u8;
        self.request[1..REQUEST_BYTES].copy_from_slice(&bytes.to_le_bytes());
        self.asking.send(&self.request).map(drop)
    }

    /// The server hears requests and answers.
    fn serve(&mut self, hosts: &Hosts) -> io::Result<()> {
        while unless_waiting(self.hearing.recv(&mut self.request))?.is_some() {
            let bytes = self.request[1..REQUEST_BYTES].try_into().expect("8 bytes");
            let lane = &mut self.lanes[usize::from(self.request[0])];
            lane.open(&self.flow, Some(u64::from_le_bytes(bytes)), hosts)?;
        }
        Ok(())
    }

    /// An object has come whole.
    fn complete(&mut self, now: Time, lane: u8, diary: &mut Diary) -> io::Result<()> {
        self.lanes[usize::from(lane)].close();
        let (next, page) = self.reader.on_object(now, usize::from(lane));
        if let Some(page) = page {
            diary.transfers.push(Transfer::of(self.key.flow, &page, now));
        }
        next.map_or(Ok(()), |fetch| self.ask(fetch))
    }
}

impl Program for Page {
    fn next_timer(&self) -> Time {
        self.reader.next_timer().min(self.stop)
    }

    fn on_timer(&mut self, now: Time, _hosts: &Hosts) -> io::Result<()> {
        if self.stop <= now {
            self.stop = Time::NEVER;
            self.reader.stop();
            return self.lanes.iter_mut().try_for_each(Connection::abandon);
        }
        for fetch in self.reader.on_timer(now) {
            self.ask(fetch)?;
        }
        Ok(())
    }

    fn on_ready(
        &mut self,
        now: Time,
        key: Key,
        hosts: &Hosts,
        diary: &mut Diary,
    ) -> io::Result<()> {
        let lane = usize::from(key.lane);
        match key.end {
            End::Listener => {
                while let Some((socket, port)) = self.door.accept()? {
                    // A connection that was abandoned meanwhile belongs to no lane.
                    let lane = self.lanes.iter_mut().find(|lane| lane.port() == Some(port));
                    lane.map_or(Ok(()), |lane| lane.accepted(socket, hosts))?;
                }
            }
            End::Server => self.serve(hosts)?,
            End::Sender => self.lanes[lane].write()?,
            End::Receiver => {
                if self.lanes[lane].read()? {
                    self.complete(now, key.lane, diary)?;
                }
            }
        }
        Ok(())
    }

    fn count(&self) -> Count {
        let delivered_bytes = self.lanes.iter().map(|lane| lane.delivered_bytes).sum();
        Count { delivered_bytes, ..Count::default() }
    }

    fn account(&self) -> Option<Account> {
        let mut account = Account::default();
        self.lanes.iter().for_each(|lane| account.add(lane));
        Some(account)
    }
}

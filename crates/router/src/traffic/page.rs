//! A user who reads web pages: a [`WebUser`] over sockets. The user is at the receiving end: a
//! request is a datagram to the server, which opens a new connection for its response, as in the
//! simulator. Requests are not lost, because nothing queues in that direction. The server's port
//! differs from all receivers' ports, so that a request counts as a packet on the return path
//! (`flow_of`).

use std::io;
use std::net::UdpSocket;

use socket2::{Domain, Protocol, Socket, Type};
use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_measure::EcnConnections;
use sojourn_scenario::resolved::Web;
use sojourn_traffic::{Fetch, UDP_HEADER_BYTES, WebUser};

use super::connection::{Connection, Listener};
use super::program::{
    Program, receiver, seen_for, sender, set_ip_fields, stop, transfer, unless_blocking,
};
use crate::linux::hosts::{Hosts, SocketKey, SocketRole};
use crate::plan::{Flow, Netns};
use crate::run_files::{ProgramCounts, ProgramLog, TcpTotals};

/// Lane and size of the requested object.
const REQUEST_BYTES: usize = 9;

/// Both ends of a flow.
pub(super) struct Page {
    flow: Flow,
    key: SocketKey,
    reader: WebUser,
    listener: Listener,
    lanes: Vec<Connection>,
    /// The socket from which the user sends requests.
    client: UdpSocket,
    /// The socket at which the server receives them.
    server: UdpSocket,
    request: Vec<u8>,
    stop: Time,
}

impl Page {
    /// Opens the sockets of user and server.
    pub(super) fn new(
        flow: &Flow,
        web: &Web,
        key: SocketKey,
        rng: Rng,
        hosts: &Hosts,
    ) -> io::Result<Page> {
        let datagrams = || Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP));
        let server: UdpSocket = hosts
            .within(Netns::Senders, || {
                let socket = datagrams()?;
                socket.bind(&sender(flow, 0).into())?;
                Ok(socket)
            })?
            .into();
        let served = server.local_addr()?;
        let client: UdpSocket = hosts
            .within(Netns::Receivers, || {
                let socket = datagrams()?;
                socket.bind(&receiver(flow).into())?;
                set_ip_fields(&socket, flow.dscp, Ecn::NotEct)?;
                socket.connect(&served.into())?;
                Ok(socket)
            })?
            .into();
        server.set_nonblocking(true)?;
        client.set_nonblocking(true)?;
        hosts.watch(&server, SocketKey { role: SocketRole::Server, ..key })?;
        let lanes = (0..web.parallel as u8).map(|lane| Connection::new(SocketKey { lane, ..key }));
        let request = (web.request_bytes - UDP_HEADER_BYTES) as usize;
        Ok(Page {
            flow: flow.clone(),
            key,
            reader: WebUser::new(web.clone(), Time::from_nanos(flow.start_ns), rng),
            listener: Listener::open(flow, key, hosts)?,
            lanes: lanes.collect(),
            client,
            server,
            request: vec![0; request.max(REQUEST_BYTES)],
            stop: stop(flow),
        })
    }

    fn request(&mut self, Fetch { lane, bytes }: Fetch) -> io::Result<()> {
        self.request[0] = lane as u8;
        self.request[1..REQUEST_BYTES].copy_from_slice(&bytes.to_le_bytes());
        self.client.send(&self.request).map(drop)
    }

    /// Lets the server receive requests and respond to them.
    fn serve(&mut self, hosts: &Hosts) -> io::Result<()> {
        while unless_blocking(self.server.recv(&mut self.request))?.is_some() {
            let bytes = self.request[1..REQUEST_BYTES].try_into().expect("8 bytes");
            let lane = &mut self.lanes[usize::from(self.request[0])];
            lane.open(&self.flow, Some(u64::from_le_bytes(bytes)), hosts)?;
        }
        Ok(())
    }

    /// Handles the completion of an object.
    fn complete(&mut self, now: Time, lane: u8, log: &mut ProgramLog) -> io::Result<()> {
        self.lanes[usize::from(lane)].close();
        let (next, page) = self.reader.on_object(now, usize::from(lane));
        if let Some(page) = page {
            log.transfers.push(transfer(self.key.flow, &page, now));
        }
        next.map_or(Ok(()), |fetch| self.request(fetch))
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
            return self.lanes.iter_mut().try_for_each(Connection::abort);
        }
        for fetch in self.reader.on_timer(now) {
            self.request(fetch)?;
        }
        Ok(())
    }

    fn on_ready(
        &mut self,
        now: Time,
        key: SocketKey,
        hosts: &Hosts,
        log: &mut ProgramLog,
    ) -> io::Result<()> {
        let lane = usize::from(key.lane);
        match key.role {
            SocketRole::Listener => {
                while let Some((socket, port)) = self.listener.accept()? {
                    // If the connection was aborted in the meantime, its port matches no lane.
                    let lane = self.lanes.iter_mut().find(|lane| lane.port() == Some(port));
                    lane.map_or(Ok(()), |lane| lane.accepted(socket, hosts))?;
                }
            }
            SocketRole::Server => self.serve(hosts)?,
            SocketRole::Sender => self.lanes[lane].write()?,
            SocketRole::Receiver => {
                if self.lanes[lane].read()? {
                    self.complete(now, key.lane, log)?;
                }
            }
        }
        Ok(())
    }

    fn counts(&self) -> ProgramCounts {
        let delivered_bytes = self.lanes.iter().map(|lane| lane.delivered_bytes()).sum();
        ProgramCounts { delivered_bytes, ..ProgramCounts::default() }
    }

    fn tcp_totals(&self) -> Option<TcpTotals> {
        let mut totals = TcpTotals::default();
        self.lanes.iter().for_each(|lane| lane.add_to(&mut totals));
        Some(totals)
    }

    fn ecn_connections(&self) -> EcnConnections {
        let mut all = EcnConnections::default();
        self.lanes.iter().for_each(|lane| all.add(lane.ecn_connections()));
        all
    }

    fn under_way(&self, end: Time) -> Option<(Time, Span)> {
        self.reader.under_way_since().map(|start| seen_for(start, &self.flow, end))
    }
}

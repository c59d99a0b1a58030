//! Streams: bulk data, users who fetch short files, and players that fetch chunks of video. Each
//! transfer uses a new connection; its completion time runs from opening the connection to the
//! arrival of the last byte.

use std::io;

use sojourn_aqm::{Rng, Span, Time};
use sojourn_measure::EcnConnections;
use sojourn_traffic::{FinishedTransfer, TransferPlan};

use super::connection::{Connection, Listener};
use super::program::{Program, seen_for, stop, transfer};
use crate::linux::hosts::{Hosts, SocketKey, SocketRole};
use crate::plan::Flow;
use crate::run_files::{ProgramCounts, ProgramLog, TcpTotals};

/// Both ends of a flow.
pub(super) struct Stream {
    flow: Flow,
    key: SocketKey,
    rng: Rng,
    plan: TransferPlan,
    listener: Listener,
    connection: Connection,
    next_start: Time,
    stop: Time,
    /// The current transfer.
    transfer: Option<FinishedTransfer>,
}

impl Stream {
    /// Opens the receiver's listening socket.
    pub(super) fn new(
        flow: &Flow,
        plan: TransferPlan,
        key: SocketKey,
        rng: Rng,
        hosts: &Hosts,
    ) -> io::Result<Stream> {
        Ok(Stream {
            flow: flow.clone(),
            key,
            rng,
            plan,
            listener: Listener::open(flow, key, hosts)?,
            connection: Connection::new(key),
            next_start: Time::from_nanos(flow.start_ns),
            stop: stop(flow),
            transfer: None,
        })
    }

    fn complete(&mut self, now: Time, log: &mut ProgramLog) {
        let Some(finished) = self.transfer.take() else { return };
        log.transfers.push(transfer(self.key.flow, &finished, now));
        self.connection.close();
        self.next_start = self.plan.next_start(&finished, now, &mut self.rng);
    }
}

impl Program for Stream {
    fn next_timer(&self) -> Time {
        self.next_start.min(self.stop)
    }

    fn on_timer(&mut self, now: Time, hosts: &Hosts) -> io::Result<()> {
        if self.stop <= now {
            // The interrupted transfer is kept, so that it counts as unfinished.
            (self.stop, self.next_start) = (Time::NEVER, Time::NEVER);
            return self.connection.abort();
        }
        if self.next_start <= now {
            self.next_start = Time::NEVER;
            let bytes = self.plan.next_bytes(now, &mut self.rng);
            self.transfer = bytes.map(|bytes| FinishedTransfer { start: now, bytes });
            return self.connection.open(&self.flow, bytes, hosts);
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
        match key.role {
            SocketRole::Listener => {
                while let Some((socket, _)) = self.listener.accept()? {
                    self.connection.accepted(socket, hosts)?;
                }
            }
            SocketRole::Sender => self.connection.write()?,
            SocketRole::Receiver => {
                if self.connection.read()? {
                    self.complete(now, log);
                }
            }
            SocketRole::Server => unreachable!("a stream has no requests"),
        }
        Ok(())
    }

    fn counts(&self) -> ProgramCounts {
        ProgramCounts {
            delivered_bytes: self.connection.delivered_bytes(),
            ..ProgramCounts::default()
        }
    }

    fn tcp_totals(&self) -> Option<TcpTotals> {
        let mut totals = TcpTotals::default();
        self.connection.add_to(&mut totals);
        Some(totals)
    }

    fn ecn_connections(&self) -> EcnConnections {
        self.connection.ecn_connections()
    }

    fn under_way(&self, end: Time) -> Option<(Time, Span)> {
        self.transfer.map(|transfer| seen_for(transfer.start, &self.flow, end))
    }
}

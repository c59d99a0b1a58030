//! Streams: unlimited or given data, users who fetch short files, and players who fetch chunks of video,
//! each over a new connection. Completion counts from its opening to the last byte's arrival.

use std::io;

use sojourn_aqm::{Rng, Time};
use sojourn_sim::app::stream::{Finished, Plan};

use super::connection::{Connection, Door};
use super::{End, Program, stop};
use crate::host::{Hosts, Key};
use crate::plan;
use crate::record_files::{Account, Count, Diary, Transfer};

/// Both ends of a flow.
pub struct Stream {
    flow: plan::Flow,
    key: Key,
    rng: Rng,
    plan: Plan,
    door: Door,
    connection: Connection,
    next_start: Time,
    stop: Time,
    /// The transfer under way.
    transfer: Option<Finished>,
}

impl Stream {
    /// Opens the receiver's door.
    pub fn new(
        flow: &plan::Flow,
        plan: Plan,
        key: Key,
        rng: Rng,
        hosts: &Hosts,
    ) -> io::Result<Stream> {
        Ok(Stream {
            flow: flow.clone(),
            key,
            rng,
            plan,
            door: Door::open(flow, key, hosts)?,
            connection: Connection::new(key),
            next_start: Time::from_nanos(flow.start_ns),
            stop: stop(flow),
            transfer: None,
        })
    }

    fn complete(&mut self, now: Time, diary: &mut Diary) {
        let Some(finished) = self.transfer.take() else { return };
        diary.transfers.push(Transfer::of(self.key.flow, &finished, now));
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
            (self.stop, self.next_start, self.transfer) = (Time::NEVER, Time::NEVER, None);
            return self.connection.abandon();
        }
        if self.next_start <= now {
            self.next_start = Time::NEVER;
            let bytes = self.plan.ask(&mut self.rng);
            self.transfer = bytes.map(|bytes| Finished { start: now, bytes });
            return self.connection.open(&self.flow, bytes, hosts);
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
        match key.end {
            End::Listener => {
                while let Some((socket, _)) = self.door.accept()? {
                    self.connection.accepted(socket, hosts)?;
                }
            }
            End::Sender => self.connection.write()?,
            End::Receiver => {
                if self.connection.read()? {
                    self.complete(now, diary);
                }
            }
            End::Server => unreachable!("a stream serves nobody"),
        }
        Ok(())
    }

    fn count(&self) -> Count {
        Count { delivered_bytes: self.connection.delivered_bytes, ..Count::default() }
    }

    fn account(&self) -> Option<Account> {
        let mut account = Account::default();
        account.add(&self.connection);
        Some(account)
    }
}

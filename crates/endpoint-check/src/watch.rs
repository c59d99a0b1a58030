//! Records the datagrams of a library's servers, and the values that the library reports with each.

use std::sync::{Arc, Mutex};

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{
    Carries, ConnectionEvent, Datagram, Endpoint, HostSettings, MediaFrame, Peer, Read, Stack,
    Stats, StreamNumber, Transmit,
};

/// A datagram that a server has sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentDatagram {
    /// When it leaves.
    pub(crate) at: Time,
    /// Its payload of UDP, or its IP packet.
    pub(crate) bytes: u64,
    pub(crate) ecn: Ecn,
    /// The pacing rate in bit/s, as the library reported it after this datagram.
    pub(crate) pacing_bps: Option<f64>,
    /// Its quantum.
    pub(crate) quantum_bytes: Option<u64>,
}

/// The record of all servers of a run.
#[derive(Debug, Default)]
pub(crate) struct ServerLog {
    pub(crate) departures: Vec<SentDatagram>,
    /// The largest difference between the data taken from the application and the bytes sent, with
    /// the congestion window at that time.
    pub(crate) most_ahead: (u64, Option<u64>),
    written: u64,
    sent: u64,
    /// Datagrams with CE that arrived at clients.
    pub(crate) marked: u64,
}

/// A library whose endpoints are recorded.
#[derive(Debug)]
pub(crate) struct Watched {
    stack: Arc<dyn Stack>,
    log: Arc<Mutex<ServerLog>>,
}

impl Watched {
    pub(crate) fn new(stack: Arc<dyn Stack>) -> (Watched, Arc<Mutex<ServerLog>>) {
        let log = Arc::<Mutex<ServerLog>>::default();
        (Watched { stack, log: Arc::clone(&log) }, log)
    }
}

impl Stack for Watched {
    fn describe(&self) -> String {
        self.stack.describe()
    }

    fn carries(&self) -> Carries {
        self.stack.carries()
    }

    fn has_ecn(&self) -> bool {
        self.stack.has_ecn()
    }

    fn carries_video(&self) -> bool {
        self.stack.carries_video()
    }

    fn has_streams(&self) -> bool {
        self.stack.has_streams()
    }

    fn carries_voice(&self) -> bool {
        self.stack.carries_voice()
    }

    fn unrepeatable(&self) -> Option<&'static str> {
        self.stack.unrepeatable()
    }

    fn open(&self, host: HostSettings, now: Time) -> Result<Box<dyn Endpoint>, String> {
        let (end, log) = (self.stack.open(host, now)?, Arc::clone(&self.log));
        Ok(Box::new(WatchedEnd { end, role: host.role, log }))
    }
}

struct WatchedEnd {
    end: Box<dyn Endpoint>,
    role: Peer,
    log: Arc<Mutex<ServerLog>>,
}

impl WatchedEnd {
    fn note(&self, of: Peer, note: impl FnOnce(&mut ServerLog, Stats)) {
        if self.role == of {
            let mut log = self.log.lock().expect("nobody panics while holding it");
            note(&mut log, self.end.stats());
        }
    }
}

impl Endpoint for WatchedEnd {
    fn connect(&mut self, now: Time) {
        self.end.connect(now);
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        if datagram.ecn == Ecn::Ce {
            self.note(Peer::Client, |log, _| log.marked += 1);
        }
        self.end.input(now, datagram);
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = self.end.output(now, buffer)?;
        let (at, bytes) = (transmit.earliest.max(now), buffer.len() as u64);
        self.note(Peer::Server, |log, stats| {
            log.sent += bytes;
            log.departures.push(SentDatagram {
                at,
                bytes,
                ecn: transmit.ecn,
                pacing_bps: stats.pacing_bps,
                quantum_bytes: stats.quantum_bytes,
            });
        });
        Some(transmit)
    }

    fn deadline(&mut self) -> Time {
        self.end.deadline()
    }

    fn expire(&mut self, now: Time) {
        self.end.expire(now);
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        self.end.event()
    }

    fn write(&mut self, now: Time, stream: StreamNumber, bytes: u64, finish: bool) -> u64 {
        let taken = self.end.write(now, stream, bytes, finish);
        self.note(Peer::Server, |log, stats| {
            log.written += taken;
            let ahead = log.written.saturating_sub(log.sent);
            if ahead > log.most_ahead.0 {
                log.most_ahead = (ahead, stats.cwnd_bytes);
            }
        });
        taken
    }

    fn send_frame(&mut self, now: Time, frame: MediaFrame) -> u64 {
        self.end.send_frame(now, frame)
    }

    fn read(&mut self, now: Time, stream: StreamNumber) -> Read {
        self.end.read(now, stream)
    }

    fn close(&mut self, now: Time) {
        self.end.close(now);
    }

    fn stats(&self) -> Stats {
        self.end.stats()
    }

    fn failure(&mut self) -> Option<String> {
        self.end.failure()
    }
}

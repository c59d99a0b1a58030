//! Requests and responses over a connection: each is a stream.

use sojourn_aqm::Time;
use sojourn_endpoint::{ConnectionEvent, Peer, Read, StreamNumber};
use sojourn_record::rows::StreamRow;

use super::requests::Exchange;
use super::{Application, ClientState, EndpointFlow};
use crate::app::{Outbox, record_transfer};

/// Bytes offered at one time if the amount of data is unlimited.
const MOST_OFFERED: u64 = 1 << 20;

/// The most bytes that a library may accept at one instant; it could not send more.
const MOST_TAKEN: u64 = 256 << 20;

impl EndpointFlow {
    /// When the unfinished transfer or page was asked for; `None` if nothing with an end is in
    /// progress.
    pub(crate) fn under_way_since(&self) -> Option<Time> {
        match &self.application {
            Application::Requests(requests) => requests.under_way_since(),
            Application::Video(_) | Application::Voice(_) => None,
        }
    }

    /// The rows of the streams that are incomplete at the end of the run or of the flow.
    pub(crate) fn unfinished_streams(&self, end: Time) -> Vec<StreamRow> {
        match &self.application {
            Application::Requests(requests) => {
                requests.unfinished(end.min(self.stopped), self.flow)
            }
            Application::Video(_) | Application::Voice(_) => Vec::new(),
        }
    }

    /// Sends requests that are due, over a new connection if the old one has ended.
    pub(super) fn request(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        match self.client_state {
            ClientState::Connected => {
                self.write_requests(now);
                self.act(Peer::Client, out);
                self.client.set_due(now);
            }
            ClientState::Closed => match self.reopen(now) {
                Ok(()) => self.connect(out),
                Err(why) => self.client.end.fail(now, "open", &why),
            },
            ClientState::Idle | ClientState::Connecting(_) => {}
        }
    }

    /// Replaces both ends by new ones.
    fn reopen(&mut self, now: Time) -> Result<(), String> {
        self.opener.next_connection();
        for role in [Peer::Client, Peer::Server] {
            let end = self.opener.open(role, now)?;
            self.side(role).replace(end);
        }
        if let Application::Requests(requests) = &mut self.application {
            requests.begin_connection();
        }
        Ok(())
    }

    /// Lets the client write the requests that it has not yet written.
    fn write_requests(&mut self, now: Time) {
        let Application::Requests(requests) = &mut self.application else { return };
        let base = requests.base;
        for exchange in requests.exchanges.iter_mut().filter(|it| it.request_left > 0) {
            let (number, left) = (exchange.stream - base, exchange.request_left);
            let asked =
                self.client.end.call(now, "write", |end| end.write(now, number, left, true));
            let Some(taken) = asked else { return };
            if taken > left || (taken < left && number == 0) {
                let why = format!("it took {taken} of the {left} bytes of a request");
                return self.client.end.fail(now, "write", &why);
            }
            exchange.request_left -= taken;
            if taken < left {
                return; // the library reports when the stream takes data
            }
        }
    }

    /// Handles an event; returns the stream that is complete with it.
    pub(super) fn on_event(
        &mut self,
        role: Peer,
        event: ConnectionEvent,
        now: Time,
    ) -> Option<StreamNumber> {
        match (role, event) {
            (Peer::Client, ConnectionEvent::Connected | ConnectionEvent::Writable(_)) => {
                self.write_requests(now);
                None
            }
            (Peer::Client, ConnectionEvent::Readable(number)) => {
                let stream = self.stream(number)?;
                let Read { bytes, is_finished } = self.client.read(now, number);
                self.delivered_bytes += bytes;
                self.exchange(stream)?.received += bytes;
                is_finished.then_some(stream)
            }
            (Peer::Server, ConnectionEvent::Readable(number)) => {
                let stream = self.stream(number)?;
                let read = self.server.read(now, number);
                let exchange = self.exchange(stream)?;
                if read.is_finished && exchange.to_write.is_none() {
                    exchange.to_write = Some(exchange.bytes.unwrap_or(u64::MAX));
                    self.pour(now, number);
                }
                None
            }
            (Peer::Server, ConnectionEvent::Writable(number)) => {
                self.pour(now, number);
                None
            }
            (role, ConnectionEvent::Closed(reason)) => {
                self.on_closed(role, reason, now);
                None
            }
            _ => None,
        }
    }

    fn on_closed(&mut self, role: Peer, reason: String, now: Time) {
        let is_waiting = match &self.application {
            Application::Requests(requests) => !requests.exchanges.is_empty(),
            Application::Video(_) | Application::Voice(_) => true,
        };
        if is_waiting {
            self.lost.get_or_insert((now, reason));
        } else if role == Peer::Client {
            self.client_state = ClientState::Closed;
        }
    }

    /// The stream that has this number in the current connection, if the client has asked on it.
    /// Video counts as stream 0.
    fn stream(&self, number: StreamNumber) -> Option<StreamNumber> {
        match &self.application {
            Application::Requests(requests) => requests.stream(number),
            Application::Video(_) => (number == 0).then_some(0),
            Application::Voice(_) => None,
        }
    }

    /// The incomplete exchange on a stream.
    fn exchange(&mut self, stream: StreamNumber) -> Option<&mut Exchange> {
        match &mut self.application {
            Application::Requests(requests) => requests.on(stream),
            Application::Video(_) | Application::Voice(_) => None,
        }
    }

    /// Records a complete stream, and the transfer or page that is complete with it.
    pub(super) fn complete(&mut self, stream: StreamNumber, out: &mut Outbox<'_>) {
        let (now, flow) = (out.now, self.flow);
        let Application::Requests(requests) = &mut self.application else { return };
        let Some((row, finished)) = requests.complete(now, flow, stream) else { return };
        out.probe.streams.push(row);
        if let Some(finished) = finished {
            record_transfer((now, self.warmup), flow, finished, out);
        }
        self.write_requests(now);
    }

    /// Lets the server write as much of a response as its library accepts.
    fn pour(&mut self, now: Time, number: StreamNumber) {
        let mut all = 0;
        let stream = self.stream(number);
        let Application::Requests(requests) = &mut self.application else { return };
        let Some(exchange) = stream.and_then(|stream| requests.on(stream)) else { return };
        while let Some(left) = exchange.to_write.filter(|left| *left > 0) {
            let offered = left.min(MOST_OFFERED);
            let last = exchange.bytes.is_some() && offered == left;
            let end = &mut self.server.end;
            let written = end.call(now, "write", |end| end.write(now, number, offered, last));
            let taken = written.unwrap_or(0);
            if taken > offered {
                let why = format!("it took {taken} of {offered} bytes");
                return self.server.end.fail(now, "write", &why);
            }
            all += taken;
            if all > MOST_TAKEN {
                let why = format!(
                    "it took {all} bytes at one instant; a few congestion windows are enough"
                );
                return self.server.end.fail(now, "write", &why);
            }
            exchange.to_write = Some(if exchange.bytes.is_some() { left - taken } else { left });
            if taken < offered {
                return;
            }
        }
    }
}

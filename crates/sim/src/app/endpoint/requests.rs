//! What the client of a flow asks for: one transfer after the other, or the objects of pages. Each
//! request and its response are a stream of the connection.

use sojourn_aqm::{Rng, Time};
use sojourn_endpoint::StreamNumber;
use sojourn_record::rows::StreamRow;
use sojourn_traffic::{Fetch, FinishedTransfer, TransferPlan, WebUser};

/// Who asks.
pub(crate) enum User {
    /// A user with one transfer at a time.
    Transfers {
        /// The transfers.
        plan: TransferPlan,
        /// Randomness for their sizes and the think times.
        rng: Rng,
        /// When the next one is asked for.
        next: Time,
    },
    /// A reader of web pages.
    Web(Box<WebUser>),
}

/// A request and its response.
pub(super) struct Exchange {
    /// Its stream.
    pub(super) stream: StreamNumber,
    /// The index of the object among those that are fetched at a time.
    lane: usize,
    asked: Time,
    /// Bytes of the response; `None` if unlimited.
    pub(super) bytes: Option<u64>,
    /// Bytes of the request that the client has not yet written.
    pub(super) request_left: u64,
    /// Bytes that the server has not yet written; `None` before the request has arrived.
    pub(super) to_write: Option<u64>,
    /// Bytes of the response that have arrived.
    pub(super) received: u64,
}

/// The requests of a flow.
pub(crate) struct Requests {
    user: User,
    request_bytes: u64,
    /// Incomplete exchanges, in the order of their streams.
    pub(super) exchanges: Vec<Exchange>,
    /// The number of streams so far.
    streams: StreamNumber,
    /// The number of streams before the current connection.
    pub(super) base: StreamNumber,
}

impl Requests {
    pub(crate) fn new(user: User, request_bytes: u64) -> Requests {
        Requests { user, request_bytes, exchanges: Vec::new(), streams: 0, base: 0 }
    }

    /// When the user asks again.
    pub(super) fn next_timer(&self) -> Time {
        match &self.user {
            User::Transfers { next, .. } => *next,
            User::Web(user) => user.next_timer(),
        }
    }

    /// Asks for what is due.
    pub(super) fn on_timer(&mut self, now: Time) {
        match &mut self.user {
            User::Transfers { plan, rng, next } => {
                *next = Time::NEVER;
                let bytes = plan.next_bytes(now, rng);
                self.ask(now, 0, bytes);
            }
            User::Web(user) => {
                for Fetch { lane, bytes } in user.on_timer(now) {
                    self.ask(now, lane, Some(bytes));
                }
            }
        }
    }

    fn ask(&mut self, asked: Time, lane: usize, bytes: Option<u64>) {
        let (stream, request_left) = (self.streams, self.request_bytes);
        self.streams += 1;
        let (to_write, received) = (None, 0);
        let exchange = Exchange { stream, lane, asked, bytes, request_left, to_write, received };
        self.exchanges.push(exchange);
    }

    /// The user asks for nothing more.
    pub(super) fn stop(&mut self) {
        match &mut self.user {
            User::Transfers { next, .. } => *next = Time::NEVER,
            User::Web(user) => user.stop(),
        }
    }

    /// When the incomplete transfer or page was asked for; `None` also if it has no end.
    pub(super) fn under_way_since(&self) -> Option<Time> {
        match &self.user {
            User::Transfers { .. } => {
                self.exchanges.iter().find(|it| it.bytes.is_some()).map(|it| it.asked)
            }
            User::Web(user) => user.under_way_since(),
        }
    }

    /// All incomplete exchanges belong to a new connection.
    pub(super) fn begin_connection(&mut self) {
        self.base = self.exchanges.first().map_or(self.streams, |it| it.stream);
    }

    /// The stream that has this number in the current connection, if the user has asked on it.
    pub(super) fn stream(&self, number: StreamNumber) -> Option<StreamNumber> {
        self.base.checked_add(number).filter(|stream| *stream < self.streams)
    }

    /// The incomplete exchange on a stream.
    pub(super) fn on(&mut self, stream: StreamNumber) -> Option<&mut Exchange> {
        self.exchanges.iter_mut().find(|it| it.stream == stream)
    }

    /// The response on a stream is complete. Returns its row, and the transfer or page that is
    /// complete with it.
    pub(super) fn complete(
        &mut self,
        now: Time,
        flow: u32,
        stream: StreamNumber,
    ) -> Option<(StreamRow, Option<FinishedTransfer>)> {
        let place = self.exchanges.iter().position(|it| it.stream == stream)?;
        let exchange = self.exchanges.remove(place);
        let row = exchange.row(now, flow, true);
        let finished = match &mut self.user {
            User::Transfers { plan, rng, next } => {
                let finished = FinishedTransfer { start: exchange.asked, bytes: exchange.received };
                *next = plan.next_start(&finished, now, rng);
                Some(finished)
            }
            User::Web(user) => {
                let (fetch, page) = user.on_object(now, exchange.lane);
                if let Some(Fetch { lane, bytes }) = fetch {
                    self.ask(now, lane, Some(bytes));
                }
                page
            }
        };
        Some((row, finished))
    }

    /// The rows of the streams that are incomplete at `end`.
    pub(super) fn unfinished(&self, end: Time, flow: u32) -> Vec<StreamRow> {
        self.exchanges.iter().map(|it| it.row(end, flow, false)).collect()
    }
}

impl Exchange {
    fn row(&self, end: Time, flow: u32, is_complete: bool) -> StreamRow {
        let Exchange { stream, asked: start, received: bytes, .. } = *self;
        StreamRow { flow, stream, start, bytes, duration: end.since(start), is_complete }
    }
}

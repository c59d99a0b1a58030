//! How a link transmits.

use std::sync::Arc;

use sojourn_aqm::{Departure, Packet, Time};
use sojourn_scenario::resolved::{Capacity, Device, Link as LinkPlan, Trace};

use crate::queue::Queue;
use crate::{Line, LinkObserver, Opportunities, Shaper, TokenBucket, TxRing};

/// The server of a link.
#[derive(Debug)]
pub enum Server<P> {
    /// Sends packets one after the other at the rate of a line.
    Steady(Steady<P>),
    /// Sends at recorded delivery opportunities.
    Recorded(Recorded<P>),
    /// Sends through a token bucket, a device, or both.
    Shaped(Box<Shaper<P>>),
    /// Sends over a medium that several transmitters share. The host decides when the packet at the
    /// head of the ring is sent, and then takes it with
    /// [`Link::take_head`](crate::Link::take_head).
    SharedMedium(Box<TxRing<P>>),
}

impl<P: Packet> Server<P> {
    /// The server of a scenario's link.
    pub fn of_plan(link: &LinkPlan) -> Server<P> {
        let (line, bucket) = match &link.capacity {
            Capacity::Trace(trace) => return Server::recorded(Arc::clone(trace)),
            Capacity::Wireless { .. } => return Server::shared_medium(link.device),
            Capacity::Constant(rate) => (Line::from(*rate), None),
            Capacity::Schedule(schedule) => (Line::from(schedule), None),
            Capacity::Bucket(bucket) => (Line::from(bucket.line), Some(TokenBucket::new(bucket))),
        };
        match (bucket, link.device) {
            (None, None) => Server::steady(line),
            (bucket, device) => Server::shaped(Shaper::new(bucket, device, line)),
        }
    }

    /// A server with a fixed rate or a schedule of rates. The discipline learns of a change when
    /// the next packet starts. In an outage no packet is taken from the queue.
    pub fn steady(line: impl Into<Line>) -> Server<P> {
        Server::Steady(Steady { line: line.into(), in_service: None, ahead: Ahead::No })
    }

    /// A server at the delivery opportunities of a recording.
    pub fn recorded(trace: Arc<Trace>) -> Server<P> {
        Server::Recorded(Recorded { opportunities: Opportunities::new(trace), in_service: None })
    }

    /// A server through a token bucket, a device, or both.
    pub fn shaped(shaper: Shaper<P>) -> Server<P> {
        Server::Shaped(Box::new(shaper))
    }

    /// A server on a shared medium.
    pub fn shared_medium(device: Option<Device>) -> Server<P> {
        Server::SharedMedium(Box::new(TxRing::new(device)))
    }
}

/// Serialises one packet after the other.
#[derive(Debug)]
pub struct Steady<P> {
    line: Line,
    /// The packet in service, in the form that the discipline returns, which saves a copy.
    in_service: Option<Departure<P>>,
    ahead: Ahead,
}

impl Line {
    /// Reports a packet that starts now; returns when it will have left. Inlined, because the calls
    /// cost 1 % of a run.
    #[inline(always)]
    fn begin<P: Packet, O: LinkObserver<P>>(
        &mut self,
        now: Time,
        (packet, enqueued): (&P, Time),
        observer: &mut O,
    ) -> Time {
        observer.departed(packet, enqueued);
        let bytes = packet.bytes();
        let left = self.send(now, bytes);
        observer.busy(bytes, 0, left.since(now));
        left
    }
}

/// A packet that the host has received before its departure time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ahead {
    /// No packet has been sent ahead.
    No,
    /// No packet is queued behind it: its service ends without a call.
    Alone(Time),
    /// Another packet was queued behind it: its service ends with a call, even if the queue is
    /// empty by then.
    Followed,
}

impl<P: Packet> Steady<P> {
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.in_service.is_none() && self.ahead == Ahead::No
    }

    /// Whether a packet may pass through an empty queue.
    #[inline]
    pub(crate) fn lets_pass(&self) -> bool {
        self.is_idle() && self.line.is_settled()
    }

    /// Whether its service ends with a call, so that no arrival needs to wake it.
    #[inline]
    pub(crate) fn is_followed(&self) -> bool {
        self.ahead == Ahead::Followed
    }

    /// Records that a packet is queued behind one sent ahead. If this is the first packet behind
    /// it, returns when the packet sent ahead will have left.
    #[inline]
    pub(crate) fn follow(&mut self) -> Option<Time> {
        let Ahead::Alone(left) = self.ahead else { return None };
        self.ahead = Ahead::Followed;
        Some(left)
    }

    /// When a packet sent ahead left; `None` if it has not left by now.
    #[inline]
    pub(crate) fn left_ahead(&mut self, now: Time) -> Option<Time> {
        let Ahead::Alone(left) = self.ahead else { return None };
        (left <= now).then_some(left)
    }

    /// Called when a packet sent ahead has left and the queue is empty.
    #[inline]
    pub(crate) fn forget_ahead(&mut self) {
        self.ahead = Ahead::No;
    }

    /// The packet that has been sent, if one was in service.
    #[inline]
    pub(crate) fn sent(&mut self) -> Option<P> {
        self.in_service.take().map(|departure| departure.packet)
    }

    /// Takes the next packet into service; returns when to call again.
    #[inline(always)]
    pub(crate) fn start<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        queue: &mut Queue<P>,
        observer: &mut O,
    ) -> Time {
        self.ahead = Ahead::No;
        if let Some(end) = self.outage_end(now, queue) {
            return end;
        }
        self.in_service = queue.depart(now, observer);
        match &self.in_service {
            Some(Departure { packet, enqueued }) => {
                self.line.begin(now, (packet, *enqueued), observer)
            }
            // A shaping discipline may hold packets back; then the server tries again later.
            None => queue.held_until(),
        }
    }

    /// Hands the next packet to `forward` with its departure time; returns when to call again.
    #[inline(always)]
    pub(crate) fn start_ahead<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        queue: &mut Queue<P>,
        observer: &mut O,
        mut forward: impl FnMut(Time, &mut P),
    ) -> Time {
        if let Some(end) = self.outage_end(now, queue) {
            self.ahead = Ahead::No;
            return end;
        }
        // The packet is not copied out of the discipline's return value.
        let mut departure = queue.depart(now, observer);
        let Some(Departure { packet, enqueued }) = &mut departure else {
            self.ahead = Ahead::No;
            return queue.held_until();
        };
        let left = self.line.begin(now, (packet, *enqueued), observer);
        forward(left, packet);
        let is_alone = queue.is_empty();
        self.ahead = if is_alone { Ahead::Alone(left) } else { Ahead::Followed };
        if is_alone { Time::NEVER } else { left }
    }

    /// Takes a packet that passes through an empty queue into service; returns when to call again.
    #[inline]
    pub(crate) fn pass<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        packet: P,
        observer: &mut O,
    ) -> Time {
        debug_assert!(self.lets_pass(), "one packet is in service");
        let departure = self.in_service.insert(Departure { packet, enqueued: now });
        self.line.begin(now, (&departure.packet, now), observer)
    }

    /// Sends a packet ahead that passes through an empty queue; returns when it will have left.
    // Inlined in native code only, because the web page must stay small.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn pass_ahead<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        packet: &P,
        observer: &mut O,
    ) -> Time {
        debug_assert!(self.lets_pass(), "one packet is in service");
        let left = self.line.begin(now, (packet, now), observer);
        self.ahead = Ahead::Alone(left);
        left
    }

    /// Makes the due changes of rate. In an outage, returns when to call again.
    #[inline]
    fn outage_end(&mut self, now: Time, queue: &mut Queue<P>) -> Option<Time> {
        if self.line.is_settled() {
            return None;
        }
        self.line.change(now, |rate| queue.on_rate(now, rate));
        let end = self.line.outage_end()?;
        Some(if queue.is_empty() { Time::NEVER } else { end })
    }
}

/// Sends at delivery opportunities, each of which carries a number of bytes.
#[derive(Debug)]
pub struct Recorded<P> {
    opportunities: Opportunities,
    /// The packet being sent, and the number of its remaining bytes.
    in_service: Option<(P, u32)>,
}

impl<P: Packet> Recorded<P> {
    /// When to call a server after its first packet has arrived.
    pub(crate) fn wake(&mut self, now: Time) -> Option<Time> {
        self.in_service.is_none().then(|| self.opportunities.after(now))
    }

    /// Handles an opportunity, which carries bytes of the packet in service and of those behind it;
    /// unused capacity is lost (Mahimahi, src/frontend/link_queue.cc). Returns when to call again.
    pub(crate) fn on_opportunity<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        queue: &mut Queue<P>,
        observer: &mut O,
        mut forward: impl FnMut(P),
    ) -> Time {
        let mut room = self.opportunities.bytes();
        self.opportunities.advance();
        while room > 0 {
            let served = self.in_service.take().or_else(|| {
                let packet = queue.take(now, observer)?;
                let bytes = packet.bytes();
                Some((packet, bytes))
            });
            let Some((packet, left)) = served else { break };
            let carried = left.min(room);
            room -= carried;
            observer.carried(carried);
            match left - carried {
                0 => forward(packet),
                rest => self.in_service = Some((packet, rest)),
            }
        }
        let is_idle = self.in_service.is_none() && queue.is_empty();
        if is_idle { Time::NEVER } else { self.opportunities.next() }
    }
}

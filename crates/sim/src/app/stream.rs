//! Data over TCP: bulk transfers with or without a size limit, users who download short files,
//! video in chunks.
//!
//! A connection opens with a SYN that passes the queues; its round trip gives the first RTT sample.
//! The sender opens the connection, as in ns-2. A user of files opens a new connection for each
//! file.

mod soon;
mod timers;

use sojourn_aqm::{Ecn, Packet as _, Rng, Span, Time};
use sojourn_measure::EcnConnections;
use sojourn_traffic::{FinishedTransfer, TransferPlan};

pub(crate) use self::soon::Needed;
use super::Outbox;
use super::observer::{Observer, seen_by};
use super::setup::Setup;
use crate::packet::{Packet, PacketKind, SUPER_PACKETS};
use crate::tcp::negotiation::Flags;
use crate::tcp::rtt::{stamp, stamped_rtt};
use crate::tcp::sender::BusyTimes;
use crate::tcp::{Answer, Profile, Receiver, Segments, Sender};

#[derive(Debug)]
struct Opening {
    since: Time,
    /// SYNs sent.
    syns: u32,
    /// When the SYN is retransmitted; the timeout doubles (RFC 6298 §2.1).
    due: Time,
    timeout: Span,
}

/// A SYN-ACK. Until the handshake completes, it is retransmitted by a timer and for every duplicate
/// of the SYN (Linux 6.1 `reqsk_timer_handler`, `tcp_check_req`).
#[derive(Clone, Copy, Debug)]
struct SynAnswer {
    /// The timestamp of the first SYN to arrive, echoed in the SYN-ACK.
    stamp: Time,
    /// Its ECN field and flags.
    field: Ecn,
    flags: Flags,
    /// How often the timer has expired, and when it expires next.
    expired: u8,
    due: Time,
}

/// Both ends of one flow. Every packet reads the first fields and those of the end that it reaches;
/// this field order keeps them in few cache lines.
#[repr(C)]
pub struct Stream {
    next_start: Time,
    stop: Time,
    opening: Option<Box<Opening>>,
    /// The SYN-ACK, until the handshake completes.
    answer: Option<Box<SynAnswer>>,
    observer: Option<Box<Observer>>,
    setup: Setup,
    receiver: Receiver,
    sender: Option<Sender>,
    /// Payload received with CE.
    pub ce_bytes: u64,
    plan: TransferPlan,
    rng: Rng,
    /// The current transfer: its request time and its size.
    transfer: Option<FinishedTransfer>,
    /// The transfer cut off when the flow stopped: its request time, and how long it had been
    /// running.
    cut_off: Option<(Time, Span)>,
    /// Payload sent and retransmitted by earlier connections.
    past_bytes: (u64, u64),
    past_times: BusyTimes,
    /// Payload delivered in order by earlier connections.
    past_delivered_bytes: u64,
}

impl Stream {
    /// A flow that opens its first connection at `start` and stops at `stop`.
    pub fn new(setup: Setup, plan: TransferPlan, (start, stop): (Time, Time), rng: Rng) -> Stream {
        let receiver = setup.receiver();
        let setup_observes = setup.observed;
        let starts = start < stop && !matches!(plan, TransferPlan::OnDemand);
        Stream {
            setup,
            plan,
            rng,
            next_start: if starts { start } else { Time::NEVER },
            stop,
            opening: None,
            sender: None,
            receiver,
            answer: None,
            transfer: None,
            cut_off: None,
            past_bytes: (0, 0),
            past_times: BusyTimes::default(),
            past_delivered_bytes: 0,
            observer: setup_observes.then(Box::default),
            ce_bytes: 0,
        }
    }

    /// Stops the application and abandons the current transfer.
    fn finish(&mut self, now: Time) {
        self.close(now);
        self.opening = None;
        self.answer = None;
        self.cut_off = self.transfer.take().map(|cut| (cut.start, now.since(cut.start)));
        self.next_start = Time::NEVER;
        self.stop = Time::NEVER;
        self.setup.next_connection();
    }

    fn close(&mut self, now: Time) {
        if let Some(sender) = self.sender.take() {
            let (sent, again) = sender.bytes_sent();
            self.past_bytes.0 += sent;
            self.past_bytes.1 += again;
            self.past_times = self.past_times + sender.times(now);
        }
    }

    fn open(&mut self, out: &mut Outbox<'_>) {
        let bytes = self.plan.next_bytes(out.now, &mut self.rng);
        self.connect(bytes, out);
    }

    /// Sends an object of `bytes` over a new connection.
    pub fn serve(&mut self, bytes: u64, out: &mut Outbox<'_>) {
        self.connect(Some(bytes), out);
    }

    fn connect(&mut self, bytes: Option<u64>, out: &mut Outbox<'_>) {
        let now = out.now;
        self.close(now);
        self.past_delivered_bytes = self.delivered_bytes();
        self.setup.next_connection();
        let segments = &mut self.setup.segments;
        let payload = u64::from(segments.payload_bytes);
        (segments.count, segments.last_payload_bytes) = match bytes {
            None => (u32::MAX, segments.payload_bytes),
            Some(bytes) => {
                let count = bytes.div_ceil(payload);
                (count as u32, (bytes - (count - 1) * payload) as u32)
            }
        };
        self.receiver = self.setup.receiver();
        self.answer = None;
        self.transfer = bytes.map(|bytes| FinishedTransfer { start: now, bytes });
        let timeout = self.setup.profile.rto.initial;
        let due = self.setup.profile.expiry(now, now + timeout);
        self.opening = Some(Box::new(Opening { since: now, syns: 1, due, timeout }));
        out.send(self.syn(0, now));
    }

    /// A SYN sent after `before` others.
    fn syn(&self, before: u32, now: Time) -> Packet {
        let mut syn = self.control_packet(PacketKind::Syn, now);
        syn.rehashes = self.rehashes(before);
        (syn.ace, syn.ecn) = self.setup.request(before);
        syn
    }

    /// How often the connection has changed its hash after `syns` SYNs, not counting the first.
    fn rehashes(&self, syns: u32) -> u8 {
        if self.setup.profile.rehash { syns as u8 } else { 0 }
    }

    fn control_packet(&self, kind: PacketKind, now: Time) -> Packet {
        let Segments { flow, connection, header_bytes, .. } = self.setup.segments;
        let options = match kind {
            PacketKind::Syn | PacketKind::SynAck => self.setup.profile.syn_option_bytes,
            _ => 0,
        };
        Packet::new(kind, flow, connection, 0, header_bytes + options, now)
    }

    /// Whether a packet belongs to a connection that is over.
    fn is_stale(&self, packet: &Packet) -> bool {
        packet.connection != self.setup.segments.connection
    }

    /// Handles a packet at the receiver. Returns the transfer if this packet completes it.
    #[inline]
    pub fn on_data(&mut self, packet: &Packet, out: &mut Outbox<'_>) -> Option<FinishedTransfer> {
        if self.is_stale(packet) {
            return None;
        }
        if packet.kind != PacketKind::Data {
            return self.on_control(packet, out);
        }
        if self.answer.is_some() {
            self.answer = None;
        }
        if let Some(observer) = &mut self.observer {
            observer.on_data(out.now, packet);
        }
        if self.receiver.must_answer_before(packet) {
            self.acknowledge(out);
        }
        let segments = &self.setup.segments;
        if packet.ecn == Ecn::Ce {
            self.ce_bytes += u64::from(segments.payload(packet.seq));
        }
        let answer = self.receiver.on_data(out.now, packet);
        let complete = self.receiver.next() == segments.count;
        if answer == Answer::Now || complete {
            self.acknowledge(out);
        }
        if complete { self.complete(out.now) } else { None }
    }

    /// Handles a packet other than one segment of data at the receiver.
    #[cold]
    fn on_control(&mut self, packet: &Packet, out: &mut Outbox<'_>) -> Option<FinishedTransfer> {
        match packet.kind {
            PacketKind::SuperPacket if SUPER_PACKETS => return self.on_segments(*packet, out),
            PacketKind::Syn => self.answer_syn(packet, out),
            PacketKind::WindowProbe => self.acknowledge(out),
            PacketKind::HandshakeAck => {
                self.answer = None;
                self.receiver.on_established(out.now, packet.stamp);
            }
            PacketKind::Data
            | PacketKind::Ack
            | PacketKind::SynAck
            | PacketKind::Datagram
            | PacketKind::Request
            | PacketKind::Echo
            | PacketKind::SuperPacket => unreachable!("no receiver gets these"),
        }
        None
    }

    /// Handles a super-packet: its segments one by one (no GRO).
    #[inline(never)]
    fn on_segments(&mut self, mut rest: Packet, out: &mut Outbox<'_>) -> Option<FinishedTransfer> {
        let mut finished = None;
        while let Some(first) = rest.split_first() {
            finished = finished.or(self.on_data(&first, out));
        }
        finished.or(self.on_data(&rest, out))
    }

    /// Answers a SYN, or a duplicate of it.
    fn answer_syn(&mut self, syn: &Packet, out: &mut Outbox<'_>) {
        let first = self.answer.take();
        let (field, flags) = self.receiver.on_syn(syn);
        let (stamp, expired) = first.map_or((syn.sent, 0), |first| (first.stamp, first.expired));
        self.send_answer(SynAnswer { stamp, field, flags, expired, due: Time::NEVER }, out);
    }

    fn send_answer(&mut self, answer: SynAnswer, out: &mut Outbox<'_>) {
        let mut packet = self.control_packet(PacketKind::SynAck, answer.stamp);
        (packet.ecn, packet.ace) = (answer.field, answer.flags);
        (packet.window, packet.stamp) = (self.receiver.window(), stamp(out.now));
        self.receiver.on_syn_ack(out.now);
        out.reply(&mut packet);
        let Profile { rto, answers_again, .. } = *self.setup.profile;
        if answers_again {
            // Retransmission never gives up, as in the Linux guest (fact linux-29).
            let doubled = rto.initial.as_nanos() << answer.expired.min(16);
            let wait = Span::from_nanos(doubled).min(rto.max);
            let due = self.setup.profile.expiry(out.now, out.now + wait);
            self.answer = Some(Box::new(SynAnswer { due, ..answer }));
        }
    }

    fn complete(&mut self, now: Time) -> Option<FinishedTransfer> {
        let finished = self.transfer.take()?;
        self.next_start = self.plan.next_start(&finished, now, &mut self.rng);
        Some(finished)
    }

    /// The transfer unfinished at the end of the run or of the flow: its request time, and how long
    /// it had been running by then.
    pub fn under_way(&self, end: Time) -> Option<(Time, Span)> {
        let transfer = self.transfer.map(|transfer| (transfer.start, end.since(transfer.start)));
        transfer.or(self.cut_off)
    }

    #[inline]
    fn acknowledge(&mut self, out: &mut Outbox<'_>) {
        self.acknowledge_once(out);
        if self.receiver.owes_window() {
            self.acknowledge_once(out);
        }
    }

    /// The code from an acknowledgement to the next wire is inlined here; otherwise the packet is
    /// copied four more times.
    #[inline(never)]
    fn acknowledge_once(&mut self, out: &mut Outbox<'_>) {
        let Segments { flow, connection, header_bytes, .. } = self.setup.segments;
        let mut ack = Packet::new(PacketKind::Ack, flow, connection, 0, header_bytes, out.now);
        self.receiver.write_ack(out.now, &mut ack);
        if let Some(observer) = &mut self.observer {
            observer.on_answer(out.now, &ack);
        }
        out.reply(&mut ack);
    }

    /// Handles a packet at the sender.
    #[inline]
    pub fn on_ack(&mut self, packet: &Packet, out: &mut Outbox<'_>) {
        if self.is_stale(packet) {
            return;
        }
        if let Some(observer) = &mut self.observer {
            observer.on_ack(packet, out);
        }
        if packet.kind == PacketKind::Ack {
            if let Some(sender) = &mut self.sender {
                sender.on_ack(out.now, packet, &mut seen_by(&mut self.observer, out));
            }
        } else if packet.kind == PacketKind::SynAck
            && let Some(opening) = self.opening.take()
        {
            // For a duplicate SYN-ACK `opening` is `None`.
            self.establish(&opening, packet, out);
        }
    }

    /// Opens the connection with the first SYN-ACK. If the stack acknowledges the SYN-ACK, it does
    /// so in a separate packet ahead of the data (Linux `tcp_rcv_synsent_state_process`).
    #[cold]
    fn establish(&mut self, opening: &Opening, answer: &Packet, out: &mut Outbox<'_>) {
        let now = out.now;
        let Profile { timestamps, handshake_ack, .. } = *self.setup.profile;
        // Karn: if the SYN was sent more than once, only its timestamp gives an RTT sample.
        let rtt = match opening.syns {
            1 => Some(now.since(opening.since)),
            _ => timestamps.then(|| stamped_rtt(now, answer.sent)),
        };
        let needless = timestamps && answer.sent == opening.since;
        let lost = if needless { 0 } else { opening.syns - 1 };
        let agreed = self.setup.agree(answer.ace, opening.syns);
        if handshake_ack {
            let mut ack = self.control_packet(PacketKind::HandshakeAck, now);
            (ack.stamp, ack.rehashes) = (answer.stamp, self.rehashes(opening.syns - 1));
            ack.ecn = self.setup.handshake_field(&agreed);
            out.send(ack);
        }
        let mut sender = self.setup.sender(now, rtt, &agreed, lost);
        sender.set_receive_window(answer.window, answer.stamp);
        sender.set_rehashes(self.rehashes(opening.syns - 1));
        sender.send(now, &mut seen_by(&mut self.observer, out));
        self.sender = Some(sender);
    }

    /// Connections so far that requested ECN.
    pub fn ecn_connections(&self) -> EcnConnections {
        self.setup.ecn
    }

    /// The sender, while a connection is open.
    pub fn sender(&self) -> Option<&Sender> {
        self.sender.as_ref()
    }

    /// Payload bytes sent, including retransmissions, and payload bytes retransmitted.
    pub fn bytes_sent(&self) -> (u64, u64) {
        let (sent, again) = self.sender.as_ref().map_or((0, 0), Sender::bytes_sent);
        (self.past_bytes.0 + sent, self.past_bytes.1 + again)
    }

    /// Payload delivered in order.
    pub fn delivered_bytes(&self) -> u64 {
        self.past_delivered_bytes + self.setup.segments.bytes_below(self.receiver.next())
    }

    /// How long its connections have been busy, and how long the receive window limited them.
    pub fn times(&self, now: Time) -> BusyTimes {
        self.past_times
            + self.sender.as_ref().map_or(BusyTimes::default(), |sender| sender.times(now))
    }

    /// Payload of a full segment.
    pub fn payload_bytes(&self) -> u32 {
        self.setup.segments.payload_bytes
    }
}

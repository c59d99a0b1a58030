//! Segments that arrive at the host.

use sojourn_aqm::{Ecn, Span, Time};
use sojourn_sim::packet::{Block, Packet, PacketKind, SACK_BLOCKS};
use sojourn_sim::tcp::Answer;
use sojourn_sim::tcp::negotiation::Mode;

use super::{Stage, StepError, TestedHost};
use crate::read::{Field, Segment, TcpOption};

/// Size of IP and TCP headers without options; no rule of the sender or receiver depends on it.
pub(super) const HEADER_BYTES: u32 = 40;

/// Delay of the acknowledgement of a FIN (Linux 7.2 `TCP_ATO_MIN`).
const FIN_DELAY: Span = Span::from_millis(40);

/// The ECN field of an arriving segment; Not-ECT unless the script says otherwise.
pub(super) fn field(field: Field) -> Ecn {
    match field {
        Field::Unsaid | Field::NotEct => Ecn::NotEct,
        Field::Ect0 | Field::Ect => Ecn::Ect0,
        Field::Ect1 => Ecn::Ect1,
        Field::Ce => Ecn::Ce,
    }
}

impl TestedHost {
    /// Handles an arriving segment.
    pub(crate) fn arrive(&mut self, now: Time, segment: &Segment) -> Result<(), StepError> {
        if let Some(ports) = &segment.ports {
            return Err(StepError::not_modelled(format!("ports {ports}: one connection only")));
        }
        if let Some(ip) = &segment.ip {
            return Err(StepError::not_modelled(format!("IP header [{ip}]")));
        }
        self.peer_option |= segment.options.iter().flatten().any(is_counters);
        if segment.flags.rst {
            self.stage = Stage::Reset;
            return Ok(());
        }
        let flags = segment.flags;
        match &self.stage {
            Stage::Listening | Stage::Opening(_) if flags.syn && !flags.ack => {
                if segment.payload > 0 {
                    return Err(StepError::not_modelled("data on a SYN (RFC 7413)"));
                }
                self.on_syn(now, segment)
            }
            Stage::Opening(_) if flags.syn => self.on_syn_ack(now, segment),
            Stage::Opening(_) if flags.ack => {
                self.on_established(now, segment);
                self.take(now, segment)
            }
            Stage::Open(_) if flags.syn => {
                // A challenge ACK (RFC 5961 §4), or the response to a retransmitted SYN-ACK.
                self.answer_syn_ack(now, segment);
                Ok(())
            }
            Stage::Open(_) => self.take(now, segment),
            Stage::Closed | Stage::Listening | Stage::Opening(_) | Stage::Reset => {
                Err(StepError::not_modelled("a segment without a connection (its answer is a RST)"))
            }
        }
    }

    /// Handles a segment of an established connection.
    fn take(&mut self, now: Time, segment: &Segment) -> Result<(), StepError> {
        if segment.ack.is_none() || !segment.flags.ack {
            return Err(StepError::not_modelled("a segment without an acknowledgement"));
        }
        for option in segment.options.iter().flatten() {
            if let TcpOption::Other(option) = option {
                return Err(StepError::not_modelled(format!("TCP option {option}")));
            }
        }
        self.take_ack(now, segment)?;
        if segment.payload > 0 || segment.flags.fin {
            self.take_data(now, segment);
            return Ok(());
        }
        if segment.field == Field::Ce {
            self.receiver.count_marked_control();
        }
        if let Some((value, _)) = stamp(segment) {
            self.peer_stamp = self.peer_stamp.max(value);
        }
        Ok(())
    }

    fn take_ack(&mut self, now: Time, segment: &Segment) -> Result<(), StepError> {
        let echo = stamp(segment).map(|(_, echo)| self.time_of(echo));
        let Stage::Open(ends) = &mut self.stage else { return Ok(()) };
        let byte = segment.ack.unwrap_or_default().wrapping_sub(1);
        let acked = ends.outgoing.below(byte).map_err(|_| {
            StepError::not_modelled(
                "an acknowledgement of part of a segment: segments are whole here",
            )
        })?;
        let (una, nxt) = ends.sender.unacknowledged();
        if acked > nxt {
            return Err(StepError::not_modelled("an acknowledgement of data that was not sent"));
        }
        let mut ack = Packet::new(PacketKind::Ack, 0, 1, acked, HEADER_BYTES, now);
        let window = segment.window.unwrap_or_default() << ends.shift;
        ack.window = ends.outgoing.within(byte.saturating_add(window)).saturating_sub(acked);
        ack.sent = echo.unwrap_or(now);
        ack.stamp = stamp(segment).map_or(0, |(value, _)| value);
        ack.ace = segment.flags.ace;
        ack.signal = segment.flags.ace & 0b001 != 0 && ends.sender.ecn_mode() == Mode::Classic;
        take_blocks(&mut ack, segment, |range| ends.outgoing.inside(range.0, range.1));
        // RFC 5681 §2: a segment with data or a FIN is not a duplicate acknowledgement.
        let duplicate = segment.payload == 0 && !segment.flags.fin;
        if acked <= una && !duplicate && ack.sack[0].is_empty() {
            return Ok(());
        }
        let released = ends.outgoing.released(acked.max(una), nxt);
        ends.sender.append(released);
        self.step(now, |sender, out| sender.on_ack(now, &ack, &mut |packet| out.push(packet)));
        Ok(())
    }

    fn take_data(&mut self, now: Time, segment: &Segment) {
        let start = segment.seq.saturating_sub(1);
        let end = start + segment.payload;
        if segment.flags.fin {
            self.peer_fin_at = Some(end);
        }
        let mut packet = Packet::new(PacketKind::Data, 0, 1, 0, HEADER_BYTES, now);
        packet.ecn = field(segment.field);
        packet.sent = stamp(segment).map_or(Time::ZERO, |(value, _)| time_of_peer(value));
        let Stage::Open(ends) = &self.stage else { return };
        packet.signal = segment.flags.ace & 0b010 != 0 && ends.sender.ecn_mode() == Mode::Classic;
        let mut at_once = segment.flags.fin;
        let before = self.receiver.next();
        let mut copies = Block::default();
        for number in self.incoming.number(start)..self.incoming.number(end) {
            let is_copy = number < self.receiver.next();
            if is_copy && copies.is_empty() {
                copies = Block::one(number);
            } else if is_copy && copies.end == number {
                copies.end += 1;
            }
            packet.seq = number;
            let bytes = self.incoming.byte(number + 1) - self.incoming.byte(number);
            packet.ip_bytes = HEADER_BYTES + bytes;
            if self.receiver.must_answer_before(&packet) {
                self.acknowledge(now);
            }
            at_once |= self.receiver.on_data(now, &packet) == Answer::Now;
        }
        if !copies.is_empty() {
            self.receiver.report_copies(copies);
        }
        let brought = self.receiver.next() > before;
        if self.take_fin() && !brought {
            self.fin_due = now + FIN_DELAY;
            at_once = false;
        }
        if at_once {
            self.acknowledge(now);
        }
    }

    /// Records a FIN that completes the stream. Returns whether its acknowledgement is delayed. In
    /// state ESTABLISHED the FIN starts the mode in which ACKs wait for our data (Linux 7.2
    /// `tcp_fin`), for the duration of the last delay, which is zero before any data
    /// (`tcp_send_delayed_ack`). A full buffer is announced immediately (`tcp_data_queue`). In our
    /// host, the acknowledgement of new data with a FIN is never delayed.
    fn take_fin(&mut self) -> bool {
        let arrived = self.incoming.byte(self.receiver.next());
        let Stage::Open(ends) = &mut self.stage else { return false };
        let is_first = !ends.peer_fin && self.peer_fin_at == Some(arrived);
        ends.peer_fin |= is_first;
        let has_room = arrived - ends.read < self.settings.receive_buffer;
        is_first && !ends.outgoing.closes() && arrived > 0 && has_room
    }

    /// When we sent the echoed timestamp.
    pub(super) fn time_of(&self, echo: u32) -> Time {
        let written = self.written_stamps.iter().rfind(|(value, _)| *value == echo);
        if let Some((_, taken)) = written {
            return *taken;
        }
        let Some((value, since)) = self.clock else { return Time::ZERO };
        let nanos = i64::from(echo.wrapping_sub(value) as i32) * 1_000_000;
        Time::from_nanos(since.as_nanos().saturating_add_signed(nanos))
    }
}

fn is_counters(option: &TcpOption) -> bool {
    matches!(option, TcpOption::AccEcn(_))
}

/// The peer's timestamp in the form in which the receiver stores it.
fn time_of_peer(value: u32) -> Time {
    Time::from_nanos(u64::from(value))
}

/// Value and echo of a segment's timestamp option.
pub(super) fn stamp(segment: &Segment) -> Option<(u32, u32)> {
    segment.options.iter().flatten().find_map(|option| match option {
        TcpOption::Stamps { value, echo } => Some((*value, *echo)),
        _ => None,
    })
}

/// Reads the SACK blocks as whole segments. A block within one segment reports nothing.
fn take_blocks(ack: &mut Packet, segment: &Segment, inside: impl Fn((u32, u32)) -> (u32, u32)) {
    let ranges = segment.options.iter().flatten().find_map(|option| match option {
        TcpOption::Sack(ranges) => Some(ranges.as_slice()),
        _ => None,
    });
    let mut found = [Block::default(); SACK_BLOCKS];
    let blocks = ranges
        .unwrap_or_default()
        .iter()
        .map(|(from, to)| inside((from.wrapping_sub(1), to.wrapping_sub(1))));
    let whole = blocks.filter(|(start, end)| start < end);
    for (place, (start, end)) in found.iter_mut().zip(whole) {
        *place = Block { start, end };
    }
    ack.sack = found;
}

//! Settings shared by the connections of a flow, and connection setup: SYN, ECN negotiation, sender
//! and receiver.

use std::sync::Arc;

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_measure::EcnConnections;

use crate::cc::{ConfiguredControl, Start};
use crate::tcp::negotiation::{Flags, Mode, is_mangled, syn_arrived};
use crate::tcp::receive_window::WindowRule;
use crate::tcp::receiver::EcnAbility;
use crate::tcp::{Profile, Receiver, Segments, Sender};

/// Settings shared by all connections of a flow. The first fields are read for every packet.
#[repr(C)]
pub struct Setup {
    /// Segments; `connection`, `count`, `last_payload_bytes` and ECN are set per connection.
    pub segments: Segments,
    /// The congestion control of every connection.
    pub cc: Arc<ConfiguredControl>,
    /// The rules of both ends.
    pub profile: Arc<Profile>,
    /// The ECN feedback mode that the sender requests.
    pub asks: Mode,
    /// The receiver's ECN abilities.
    pub ability: EcnAbility,
    /// Randomness for congestion controls.
    pub rng: Rng,
    /// The receive window.
    pub window: WindowRule,
    /// Whether an observer measures round trips.
    pub observed: bool,
    /// Difference between the numbers of successive connections.
    pub stride: u16,
    /// Connections that requested ECN when they were opened.
    pub ecn: EcnConnections,
}

impl Setup {
    /// Moves on to the next connection; packets of the current one become stale.
    pub(super) fn next_connection(&mut self) {
        self.segments.connection = self.segments.connection.wrapping_add(self.stride);
    }

    /// The receiver of a new connection.
    pub(super) fn receiver(&self) -> Receiver {
        let Profile { ack, sack, timer_wheel, timestamps, .. } = *self.profile;
        Receiver::new(ack, sack)
            .with_timer_wheel(ack, timer_wheel)
            .with_timestamps(timestamps)
            .with_ecn(self.ability)
            .with_window(self.window)
    }
}

/// The outcome of ECN negotiation at the client.
pub(super) struct Agreed {
    mode: Mode,
    /// Data is ECN-capable.
    capable: bool,
    /// The SYN arrived with CE.
    syn_marked: bool,
}

impl Setup {
    /// How many SYNs request ECN; later SYNs do not (RFC 9768 §3.1.4.1 requests accurate feedback
    /// twice).
    fn requests(&self) -> u32 {
        match self.asks {
            Mode::Accurate => 2,
            Mode::Classic | Mode::NotEcn if self.profile.ecn_fallback => 1,
            Mode::Classic | Mode::NotEcn => u32::MAX,
        }
    }

    /// The flags and the ECN field of a SYN sent after `before` others.
    pub(super) fn request(&self, before: u32) -> (Flags, Ecn) {
        match before < self.requests() {
            true => (self.asks.request(), self.syn_field()),
            false => (Mode::NotEcn.request(), Ecn::NotEct),
        }
    }

    /// The ECN field of a SYN that requests ECN.
    fn syn_field(&self) -> Ecn {
        let capable = self.ability.needs_ecn && self.asks != Mode::NotEcn;
        if capable { self.ability.ect } else { Ecn::NotEct }
    }

    /// The outcome of the first SYN-ACK that arrives (RFC 9768 §3.1.4.1), after `syns` SYNs.
    pub(super) fn agree(&self, answer: Flags, syns: u32) -> Agreed {
        let mode = match self.asks.settled(answer) {
            // Linux `TCP_CONG_NO_FALLBACK_RFC3168`.
            Mode::Classic if self.ability.ect == Ecn::Ect1 => Mode::NotEcn,
            mode => mode,
        };
        let sent = self.syn_field();
        let arrived = syn_arrived(answer, sent);
        let reported = mode == Mode::Accurate && syns <= self.requests();
        let mangled = reported && is_mangled(sent, arrived);
        let syn_marked = reported && !mangled && arrived == Ecn::Ce;
        Agreed { mode, capable: mode != Mode::NotEcn && !mangled, syn_marked }
    }

    /// The ECN field of the acknowledgement that completes a handshake: ECT, as on every packet, if
    /// the congestion control needs ECN (Linux `tcp_ecn_send`).
    pub(super) fn handshake_field(&self, agreed: &Agreed) -> Ecn {
        let capable = self.ability.needs_ecn && agreed.capable;
        if capable { self.ability.ect } else { Ecn::NotEct }
    }

    /// The sender of a connection just established. `rtt` is the sample from the handshake, `lost`
    /// the number of SYNs lost.
    pub(super) fn sender(
        &mut self,
        now: Time,
        rtt: Option<Span>,
        agreed: &Agreed,
        lost: u32,
    ) -> Sender {
        self.ecn.established += u32::from(self.asks != Mode::NotEcn);
        self.ecn.capable += u32::from(agreed.capable);
        // RFC 9768 §3.2.2.2 demands a reaction to a marked SYN; we react as RFC 5562 §3 prescribes
        // for a marked SYN-ACK.
        let starts_over = agreed.syn_marked || lost > self.profile.forgiven_syns;
        let initial_window = if starts_over { 1 } else { self.segments.initial_window };
        let segments = Segments {
            ecn: agreed.capable,
            accurate: agreed.mode == Mode::Accurate,
            initial_window,
            ..self.segments
        };
        let Segments { flow, connection, payload_bytes, header_bytes, .. } = segments;
        let rng = Rng::stream(self.rng.next_u64(), "connection", u64::from(connection));
        let mut cc = (self.cc.factory)();
        cc.on_start(&Start {
            now,
            flow,
            initial_window,
            payload_bytes,
            packet_bytes: payload_bytes + header_bytes,
            rtt,
            ecn: agreed.mode != Mode::NotEcn,
            rng,
        });
        let mut sender = Sender::new(segments, Arc::clone(&self.profile), cc);
        if let Some(rtt) = rtt {
            sender.on_established(rtt);
        }
        sender
    }
}

//! What the connections of a flow have in common, and how the ends of one come about: its SYN, what the
//! client makes of the answer, its sender and its receiver.

use std::sync::Arc;

use sojourn_aqm::{Ecn, Rng, Span, Time};

use crate::cc::{Chosen, Start};
use crate::tcp::negotiation::{Flags, Mode, is_mangled, syn_arrived};
use crate::tcp::offer::WindowRule;
use crate::tcp::receiver::EcnAbility;
use crate::tcp::{Profile, Receiver, Segments, Sender};

/// What the connections of a flow have in common.
pub struct Setup {
    /// The congestion control of every connection.
    pub cc: Arc<Chosen>,
    /// Segments; `connection`, `count`, `last_payload_bytes` and ECN are set per connection.
    pub segments: Segments,
    /// The rules of both ends.
    pub profile: Profile,
    /// The feedback of marks that the sender asks for.
    pub asks: Mode,
    /// What the receiver can do with marks.
    pub ability: EcnAbility,
    /// Randomness for congestion controls.
    pub rng: Rng,
    /// What the receiver offers.
    pub window: WindowRule,
    /// Whether an observer measures round trips.
    pub observed: bool,
    /// How far the numbers of connections are apart.
    pub stride: u16,
}

impl Setup {
    /// Packets of the present connection belong to no one any more.
    pub(super) fn next_connection(&mut self) {
        self.segments.connection = self.segments.connection.wrapping_add(self.stride);
    }

    /// The receiver of a new connection.
    pub(super) fn receiver(&self) -> Receiver {
        let Profile { ack, sack, tick, .. } = self.profile;
        Receiver::new(ack, sack).ticking(ack, tick).able(self.ability).offering(self.window)
    }
}

/// What the client of a connection makes of the answer to its SYN.
pub(super) struct Agreed {
    mode: Mode,
    /// Data is ECN-capable.
    capable: bool,
    /// The SYN arrived with CE.
    syn_marked: bool,
}

impl Setup {
    /// SYNs that ask for ECN; those after them ask for none (RFC 9768 §3.1.4.1: accurate feedback is asked
    /// for twice).
    fn requests(&self) -> u32 {
        match self.asks {
            Mode::Accurate => 2,
            Mode::Classic | Mode::NotEcn if self.profile.ecn_fallback => 1,
            Mode::Classic | Mode::NotEcn => u32::MAX,
        }
    }

    /// The flags and the ECN field of a SYN, after so many others.
    pub(super) fn request(&self, before: u32) -> (Flags, Ecn) {
        match before < self.requests() {
            true => (self.asks.request(), self.syn_field()),
            false => (Mode::NotEcn.request(), Ecn::NotEct),
        }
    }

    /// The ECN field of a SYN that asks for ECN.
    fn syn_field(&self) -> Ecn {
        let capable = self.ability.needs_ecn && self.asks != Mode::NotEcn;
        if capable { self.ability.ect } else { Ecn::NotEct }
    }

    /// The first answer that arrives decides (RFC 9768 §3.1.4.1), after so many SYNs.
    pub(super) fn agree(&self, answer: Flags, syns: u32) -> Agreed {
        let mode = match self.asks.settled(answer) {
            // Linux `TCP_CONG_NO_FALLBACK_RFC3168`.
            Mode::Classic if self.ability.ect == Ecn::Ect1 => Mode::NotEcn,
            mode => mode,
        };
        let sent = self.syn_field();
        let arrived = syn_arrived(answer, sent);
        let told = mode == Mode::Accurate && syns <= self.requests();
        let mangled = told && is_mangled(sent, arrived);
        let syn_marked = told && !mangled && arrived == Ecn::Ce;
        Agreed { mode, capable: mode != Mode::NotEcn && !mangled, syn_marked }
    }

    /// The sender of a connection that is just established; `rtt` is the sample of the handshake.
    pub(super) fn sender(&mut self, now: Time, rtt: Option<Span>, agreed: &Agreed) -> Sender {
        // RFC 9768 §3.2.2.2: marks on a SYN call for a reaction; that of RFC 5562 §3 to a marked SYN-ACK.
        let initial_window = if agreed.syn_marked { 1 } else { self.segments.initial_window };
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
        let mut sender = Sender::new(segments, self.profile, cc);
        if let Some(rtt) = rtt {
            sender.on_established(rtt);
        }
        sender
    }
}

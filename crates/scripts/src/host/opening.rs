//! The handshake, as client and as server.

use sojourn_aqm::{Ecn, Rng, Span, Time};
use sojourn_sim::cc::{CongestionControl, Start, configure};
use sojourn_sim::packet::{Packet, PacketKind};
use sojourn_sim::tcp::accecn::OptionRule;
use sojourn_sim::tcp::accecn_option::{FULL_BYTES, STAMP_BYTES};
use sojourn_sim::tcp::negotiation::{Flags as Feedback, Mode, is_mangled, syn_arrived};
use sojourn_sim::tcp::receiver::EcnAbility;
use sojourn_sim::tcp::{Receiver, Segments, Sender};

use super::arriving::HEADER_BYTES;
use super::bytes::Outgoing;
use super::leaving::fields_of;
use super::{Ends, Stage, StepError, TestedHost};
use crate::read::{Segment, TcpOption};

/// RFC 9293 §3.7.1: the MSS assumed for a peer that sends none.
const DEFAULT_MSS: u32 = 536;

/// The smallest MSS: smaller segments would have no room for options.
const LEAST_MSS: u32 = 64;
/// RFC 7323 §2.3: larger values from a peer are reduced to this one.
const LARGEST_SHIFT: u32 = 14;

/// A handshake in progress.
pub(super) struct Opening {
    /// Whether the host is the server and has received a SYN.
    answers: bool,
    since: Time,
    /// When the last SYN or SYN-ACK was sent, and how many were sent.
    attempts: u32,
    pub(super) due: Time,
    timeout: Span,
    peer: Peer,
    /// ECN field and flags of the SYN-ACK.
    answer: (Ecn, Feedback),
    mode: Mode,
    /// Whether a SYN that requested ECN was followed by one that did not.
    lost_ecn: bool,
}

/// The options of the peer's SYN.
#[derive(Clone, Copy, Default)]
struct Peer {
    mss: u32,
    shift: Option<u32>,
    window: u32,
    sack: bool,
    stamp: Option<u32>,
}

impl Peer {
    fn new(segment: &Segment) -> Result<Peer, StepError> {
        let mut peer = Peer { mss: DEFAULT_MSS, ..Peer::default() };
        peer.window = segment.window.unwrap_or_default();
        for option in segment.options.iter().flatten() {
            match option {
                TcpOption::Mss(mss) if *mss < LEAST_MSS => {
                    return Err(StepError::not_modelled(format!("mss {mss}, below {LEAST_MSS}")));
                }
                TcpOption::Mss(mss) => peer.mss = *mss,
                TcpOption::WindowScale(shift) => peer.shift = Some((*shift).min(LARGEST_SHIFT)),
                TcpOption::SackPermitted => peer.sack = true,
                TcpOption::Stamps { value, .. } => peer.stamp = Some(*value),
                TcpOption::Padding | TcpOption::AccEcn(_) | TcpOption::Sack(_) => {}
                TcpOption::Other(option) => {
                    return Err(StepError::not_modelled(format!("TCP option {option}")));
                }
            }
        }
        Ok(peer)
    }
}

impl TestedHost {
    /// Opens a connection for the application.
    pub(super) fn connect(&mut self, now: Time) {
        let timeout = self.settings.profile.rto.initial;
        self.stamps = self.settings.profile.timestamps;
        self.stage = Stage::Opening(Box::new(Opening {
            answers: false,
            since: now,
            attempts: 0,
            due: now + timeout,
            timeout,
            peer: Peer::default(),
            answer: (Ecn::NotEct, 0),
            mode: self.settings.asks,
            lost_ecn: false,
        }));
        self.send_opening(now);
    }

    /// Handles a SYN, first or repeated, while listening.
    pub(super) fn on_syn(&mut self, now: Time, segment: &Segment) -> Result<(), StepError> {
        let peer = Peer::new(segment)?;
        let timeout = self.settings.profile.rto.initial;
        let earlier = match &self.stage {
            Stage::Opening(opening) => Some((opening.since, opening.attempts, opening.due)),
            Stage::Closed | Stage::Listening | Stage::Open(_) | Stage::Reset => None,
        };
        if earlier.is_none() {
            self.agree_options(peer);
            self.receiver = self.new_receiver();
        }
        let mut syn = Packet::new(PacketKind::Syn, 0, 1, 0, HEADER_BYTES, now);
        (syn.ace, syn.ecn) = (segment.flags.ace, super::arriving::field(segment.field));
        let answer = self.receiver.on_syn(&syn);
        let (since, attempts, due) = earlier.unwrap_or((now, 0, now + timeout));
        // The first SYN decides (RFC 9768 §3.1.4.2).
        let (mode, lost_ecn) = match &self.stage {
            Stage::Opening(opening) => (opening.mode, opening.lost_ecn || segment.flags.ace == 0),
            _ => (self.settings.grants.granted(segment.flags.ace), false),
        };
        self.stage = Stage::Opening(Box::new(Opening {
            answers: true,
            since,
            attempts,
            due,
            timeout,
            peer,
            answer,
            mode,
            lost_ecn,
        }));
        self.send_opening(now);
        Ok(())
    }

    fn agree_options(&mut self, peer: Peer) {
        self.sack = peer.sack && self.settings.profile.sack;
        self.stamps = peer.stamp.is_some() && self.settings.profile.timestamps;
        self.peer_stamp = peer.stamp.unwrap_or_default();
    }

    fn new_receiver(&self) -> Receiver {
        let profile = self.settings.profile;
        let needs = self.control().needs();
        let ability = EcnAbility {
            speaks: self.settings.grants,
            runs: needs.feedback == sojourn_sim::cc::Feedback::Runs,
            ect: needs.ect(),
            needs_ecn: needs.needs_ecn,
            option: self.settings.option,
            header_bytes: HEADER_BYTES,
        };
        Receiver::new(profile.ack, self.sack)
            .with_timer_wheel(profile.ack, profile.timer_wheel)
            .with_timestamps(self.stamps)
            .with_ecn(ability)
    }

    pub(super) fn control(&self) -> Box<dyn CongestionControl> {
        let control = configure(&self.settings.cc).expect("the settings were checked");
        (control.factory)()
    }

    /// Handles the expired timer of the handshake: the timeout doubles (RFC 6298 §5.5), for a SYN
    /// only after some retransmissions (Linux 7.2 tcp_timer.c, `tcp_retransmit_timer`).
    pub(super) fn open_again(&mut self, now: Time) {
        if let Stage::Opening(opening) = &mut self.stage {
            if opening.answers || opening.attempts > self.settings.syn_linear_timeouts {
                opening.timeout = opening.timeout + opening.timeout;
            }
            opening.due = now + opening.timeout;
            self.send_opening(now);
        }
    }

    fn send_opening(&mut self, now: Time) {
        let Stage::Opening(opening) = &mut self.stage else { return };
        opening.attempts += 1;
        let (answers, attempts, answer) = (opening.answers, opening.attempts, opening.answer);
        let mode = opening.mode;
        let mut sent = self.handshake(now, answers);
        if answers {
            self.receiver.on_syn_ack(now);
            (sent.ecn, sent.ace) = answer;
            if mode == Mode::Accurate {
                // RFC 9768 §3.2.3.2.1, §3.1.4.2: a retransmitted SYN-ACK has no option, and the
                // third SYN-ACK and later ones have no flags.
                if attempts == 1 && self.settings.option != OptionRule::Never {
                    sent.accurate = fields_of([1, 0, 1]);
                }
                sent.ace = if attempts > 2 { 0 } else { sent.ace };
            }
        } else {
            (sent.ace, sent.ecn) = self.request(attempts);
        }
        self.sent.push_back(sent);
    }

    /// The flags and the ECN field of a SYN: accurate feedback is requested twice (RFC 9768
    /// §3.1.4.1), classic feedback once (RFC 3168 §6.1.1.1).
    fn request(&self, attempt: u32) -> (Feedback, Ecn) {
        let asks = self.settings.asks;
        let times = match asks {
            Mode::Accurate => 2,
            Mode::Classic if self.settings.profile.ecn_fallback => 1,
            Mode::Classic | Mode::NotEcn => u32::MAX,
        };
        let needs = self.control().needs();
        match attempt <= times {
            true if needs.needs_ecn && asks != Mode::NotEcn => (asks.request(), needs.ect()),
            true => (asks.request(), Ecn::NotEct),
            false => (Mode::NotEcn.request(), Ecn::NotEct),
        }
    }

    /// Handles the SYN-ACK.
    pub(super) fn on_syn_ack(&mut self, now: Time, segment: &Segment) -> Result<(), StepError> {
        let peer = Peer::new(segment)?;
        self.agree_options(peer);
        self.receiver = self.new_receiver();
        let Stage::Opening(opening) = &mut self.stage else { return Ok(()) };
        opening.peer = peer;
        opening.mode = self.settings.asks.settled(segment.flags.ace);
        let mode = opening.mode;
        self.receiver.agree(mode);
        let (needs, fallback) = (self.control().needs(), self.settings.profile.ecn_fallback);
        let sent = if needs.needs_ecn { needs.ect() } else { Ecn::NotEct };
        let arrived = syn_arrived(segment.flags.ace, sent);
        let mangled = mode == Mode::Accurate && fallback && is_mangled(sent, arrived);
        self.establish(now, (peer.window, peer.stamp), !mangled);
        self.answer_syn_ack(now, segment);
        Ok(())
    }

    /// Acknowledges a SYN-ACK; in accurate mode this reports the ECN field with which it arrived
    /// (RFC 9768 §3.2.2.1, Table 3).
    pub(super) fn answer_syn_ack(&mut self, now: Time, segment: &Segment) {
        let accurate = match &self.stage {
            Stage::Open(ends) => ends.sender.ecn_mode() == Mode::Accurate,
            _ => false,
        };
        let arrived = super::arriving::field(segment.field);
        if accurate && arrived == Ecn::Ce {
            self.receiver.count_marked_control();
        }
        self.acknowledge(now);
        if let Some(sent) = self.sent().back_mut().filter(|_| accurate) {
            sent.ace = Mode::Accurate.answer(arrived);
        }
    }

    /// Handles the last acknowledgement of the handshake.
    pub(super) fn on_established(&mut self, now: Time, segment: &Segment) {
        let Stage::Opening(opening) = &self.stage else { return };
        let shift = opening.peer.shift.unwrap_or_default();
        let (accurate, ace) = (opening.mode == Mode::Accurate, segment.flags.ace);
        // RFC 9768 §3.2.2.1: the field of the SYN-ACK; zero if the path clears the flags.
        let arrived = syn_arrived(ace, Ecn::NotEct);
        let reports = accurate && segment.payload == 0;
        let fallback = self.settings.profile.ecn_fallback;
        let mangled = reports && (ace == 0 || fallback && is_mangled(Ecn::NotEct, arrived))
            || accurate && opening.lost_ecn;
        let window = segment.window.unwrap_or_default() << shift;
        let stamp = super::arriving::stamp(segment);
        let echo = stamp.map_or(0, |(_, echo)| self.time_of(echo).as_nanos() / 1_000_000);
        self.receiver.on_established(now, echo as u32);
        self.establish(now, (window, stamp.map(|s| s.0)), !mangled);
        if let Stage::Open(ends) = &mut self.stage
            && reports
            && arrived == Ecn::Ce
        {
            ends.sender.on_marked_handshake();
        }
    }

    fn establish(&mut self, now: Time, (bytes, stamp): (u32, Option<u32>), capable: bool) {
        let Stage::Opening(opening) = &self.stage else { return };
        let Opening { answers, since, attempts, peer, mode, .. } = **opening;
        let stamps = if self.stamps { STAMP_BYTES } else { 0 };
        let sends_option =
            mode == Mode::Accurate && self.peer_option && self.settings.option != OptionRule::Never;
        let counters = if sends_option { FULL_BYTES } else { 0 };
        let mss = peer.mss.min(self.settings.mss) - stamps - counters;
        let rtt = (attempts == 1).then(|| now.since(since));
        let mut sender = self.new_sender(now, mss, (mode, capable), rtt);
        let outgoing = Outgoing::new(mss);
        sender.set_receive_window(outgoing.within(bytes), stamp.unwrap_or_default());
        self.stage = Stage::Open(Box::new(Ends {
            sender,
            outgoing,
            shift: peer.shift.unwrap_or_default(),
            read: 0,
            peer_fin: false,
            accepted: !answers,
        }));
    }

    /// `capable`: whether the path leaves the ECN field of data unchanged.
    fn new_sender(
        &self,
        now: Time,
        mss: u32,
        (mode, capable): (Mode, bool),
        rtt: Option<Span>,
    ) -> Sender {
        let profile = sojourn_sim::tcp::Profile {
            sack: self.sack,
            timestamps: self.stamps,
            ..self.settings.profile
        };
        let header_bytes = HEADER_BYTES + if self.stamps { STAMP_BYTES } else { 0 };
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: mss,
            header_bytes,
            ecn: mode != Mode::NotEcn && capable,
            accurate: mode == Mode::Accurate,
            count: 0,
            last_payload_bytes: mss,
            initial_window: profile.initial_window.packets(mss),
        };
        let mut cc = self.control();
        cc.on_start(&Start {
            now,
            flow: 0,
            initial_window: segments.initial_window,
            payload_bytes: mss,
            packet_bytes: mss + header_bytes,
            rtt,
            ecn: segments.ecn,
            rng: Rng::stream(1, "connection", 0),
        });
        let mut sender = Sender::new(segments, profile, cc);
        if let Some(rtt) = rtt {
            sender.on_established(rtt);
        }
        sender
    }
}

//! Tests of the sender against hand-written acknowledgements. Segments are numbered from 1 as in
//! packetdrill; the sender counts from 0.

mod fast_paths;
mod growth;
mod marks;
mod old_stacks;
mod probes;
mod recovery;
mod sending;
mod timeouts;
mod undo;
mod without_sack;

use sojourn_aqm::{Span, Time};

use super::*;
use crate::cc::configure;
use crate::packet::{Block, PacketKind};
use crate::tcp::profile::{self, Idle, LINUX_2_6, NEWRENO, RENO, SACK, TAHOE};

/// Exact timers, so that times are exactly those of the rules.
const LINUX: Profile = Profile { timer_wheel: false, ..profile::LINUX };

/// A sender whose acknowledgements are written by hand.
struct Script {
    sender: Sender,
    now: Time,
    /// The timestamp that acknowledgements echo.
    stamp: Time,
    sent: Vec<u32>,
}

impl Script {
    /// A connection of `count` segments with a window of `window`, which sends at time zero and
    /// receives nothing before `rtt_ms`.
    fn start(cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        Script::with(LINUX, cc, window, count, rtt_ms)
    }

    /// [`Script::start`] without tail loss probes.
    fn without_probes(cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        let profile = Profile { tail_probes: false, ..LINUX };
        Script::with(profile, cc, window, count, rtt_ms)
    }

    /// Without timestamps, as in packetdrill's scripts.
    fn with(profile: Profile, cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        let profile = Profile { timestamps: false, ..profile };
        Script::with_timestamps(profile, cc, window, count, rtt_ms)
    }

    fn with_timestamps(profile: Profile, cc: &str, window: u32, count: u32, rtt_ms: u64) -> Script {
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: true,
            accurate: false,
            count,
            last_payload_bytes: 1000,
            initial_window: window,
        };
        let mut sender = Sender::new(segments, profile, (configure(cc).unwrap().factory)());
        sender.on_established(Span::from_millis(rtt_ms));
        let mut script = Script { sender, now: Time::ZERO, stamp: Time::ZERO, sent: Vec::new() };
        script.sender.send(Time::ZERO, &mut |packet: Packet| script.sent.push(packet.seq + 1));
        script.now = Time::ZERO + Span::from_millis(rtt_ms);
        script
    }

    /// Delivers an acknowledgement of everything up to `ack`, with SACK for the ranges; returns the
    /// segments sent in response.
    fn ack(&mut self, ack: u32, sack: &[(u32, u32)]) -> Vec<u32> {
        self.ack_with_echo(ack, sack, false)
    }

    fn ack_with_echo(&mut self, ack: u32, sack: &[(u32, u32)], echo: bool) -> Vec<u32> {
        let mut packet = Packet::new(PacketKind::Ack, 0, 1, ack, 52, self.stamp);
        for (block, &(from, to)) in packet.sack.iter_mut().zip(sack) {
            *block = Block { start: from - 1, end: to };
        }
        packet.signal = echo;
        let mut sent = Vec::new();
        self.sender.on_ack(self.now, &packet, &mut |packet: Packet| sent.push(packet.seq + 1));
        self.sent.extend(&sent);
        sent
    }

    /// Lets the next timer expire; returns its time in milliseconds and the segments sent.
    fn expire(&mut self) -> (f64, Vec<u32>) {
        self.now = self.sender.next_timer();
        let mut sent = Vec::new();
        self.sender.on_timer(self.now, &mut |packet: Packet| sent.push(packet.seq + 1));
        self.sent.extend(&sent);
        (self.now.as_secs() * 1e3, sent)
    }

    fn cwnd(&self) -> u32 {
        self.sender.window.cwnd
    }
}

const NOTHING: [u32; 0] = [];

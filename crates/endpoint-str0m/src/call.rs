//! One end of a call.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{
    ConnectionEvent, Datagram, Endpoint, MediaFrame, Peer, Read, Stats, StreamNumber, Transmit,
};
use str0m::bwe::{Bitrate, BweKind};
use str0m::format::Codec;
use str0m::media::{MediaKind, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::{RtpPacket, RtpWrite};
use str0m::{
    Candidate, Event, IceConnectionState, IceCreds, Input, Output, Rtc, RtcConfig, RtcError,
};

use crate::jitter_buffer::JitterBuffer;
use crate::payload::{self, LARGEST_FRAME, Part};
use crate::plain;
use crate::settings::Str0mSettings;

/// The streams: media, and its retransmissions.
const MEDIA_SSRC: u32 = 42;
const REPEATED_SSRC: u32 = 44;
const MEDIA: &str = "vid";
/// The clock of video (RFC 3551 §5).
const TICKS_PER_SECOND: u64 = 90_000;
/// The estimate at the start: libwebrtc api/transport/bitrate_settings.h, kDefaultStartBitrateBps.
const START: Bitrate = Bitrate::kbps(300);

/// One end of a call.
pub(crate) struct RtcEnd {
    role: Peer,
    share: f64,
    /// An arbitrary origin: only differences between times matter.
    epoch: Instant,
    /// None before the call begins.
    rtc: Option<Rtc>,
    /// When str0m is due.
    due: Time,
    leaving: VecDeque<Vec<u8>>,
    events: VecDeque<ConnectionEvent>,
    failure: Option<String>,
    is_connected: bool,
    estimate: Bitrate,
    /// The rate of the best quality so far.
    desired: Bitrate,
    /// Packets of media sent.
    sent: u64,
    buffer: JitterBuffer,
    /// Payload that has arrived since the host read.
    unread_bytes: u64,
}

fn address(peer: Peer) -> SocketAddr {
    let last = if peer == Peer::Client { 1 } else { 2 };
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)), 3478)
}

/// ICE requires at least 4 and 22 characters.
fn credentials(peer: Peer) -> IceCreds {
    let name = if peer == Peer::Client { "client" } else { "server" };
    IceCreds { ufrag: name.to_owned(), pass: format!("password-of-the-{name}") }
}

fn candidate(peer: Peer) -> Candidate {
    Candidate::host(address(peer), "udp").expect("the address suits a host")
}

/// An end with all information that signalling would exchange.
fn rtc(role: Peer, now: Instant) -> Result<Rtc, RtcError> {
    let config = RtcConfig::new()
        .set_crypto_provider(plain::provider())
        .set_local_ice_credentials(credentials(role))
        .clear_codecs()
        .enable_vp8(true)
        .set_rtp_mode(true);
    let is_server = role == Peer::Server;
    let config = if is_server { config.enable_bwe(Some(START)) } else { config };
    let mut rtc = config.build(now);
    rtc.add_local_candidate(candidate(role));
    rtc.add_remote_candidate(candidate(role.other()));
    let mut direct = rtc.direct_api();
    direct.set_remote_ice_credentials(credentials(role.other()));
    direct.set_ice_controlling(!is_server);
    direct.declare_media(MEDIA.into(), MediaKind::Video);
    let (media, repeated) = (MEDIA_SSRC.into(), Some(REPEATED_SSRC.into()));
    if is_server {
        direct.declare_stream_tx(media, repeated, MEDIA.into(), None);
    } else {
        direct.expect_stream_rx(media, repeated, MEDIA.into(), None);
        direct.enable_twcc_feedback();
    }
    direct.start_dtls(!is_server)?;
    Ok(rtc)
}

fn payload_type(rtc: &Rtc) -> Pt {
    let vp8 = rtc.codec_config().find(|params| params.spec().codec == Codec::Vp8);
    vp8.expect("it is enabled").pt()
}

impl RtcEnd {
    /// One end, before the call.
    pub(crate) fn new(role: Peer, settings: &Str0mSettings) -> RtcEnd {
        RtcEnd {
            role,
            share: settings.share,
            epoch: Instant::now(),
            rtc: None,
            due: Time::NEVER,
            leaving: VecDeque::new(),
            events: VecDeque::new(),
            failure: None,
            is_connected: false,
            estimate: START,
            desired: Bitrate::ZERO,
            sent: 0,
            buffer: JitterBuffer::new(settings.wait),
            unread_bytes: 0,
        }
    }

    fn instant(&self, now: Time) -> Instant {
        self.epoch + Duration::from_nanos(now.as_nanos())
    }

    /// The call begins.
    fn begin(&mut self, now: Time) {
        match rtc(self.role, self.instant(now)) {
            Ok(rtc) => self.rtc = Some(rtc),
            Err(error) => self.fail(&error),
        }
    }

    fn fail(&mut self, error: &RtcError) {
        self.failure.get_or_insert(error.to_string());
        self.rtc = None;
    }

    /// Applies one change, then handles all resulting outputs, as str0m requires.
    fn change(&mut self, now: Time, change: impl FnOnce(&mut Rtc) -> Result<(), RtcError>) {
        let Some(rtc) = &mut self.rtc else { return };
        let outcome = change(rtc);
        if let Err(error) = outcome.and_then(|()| self.drain(now)) {
            self.fail(&error);
        }
    }

    fn pass_time(&mut self, now: Time) {
        let at = self.instant(now);
        self.change(now, |rtc| rtc.handle_input(Input::Timeout(at)));
    }

    fn drain(&mut self, now: Time) -> Result<(), RtcError> {
        while let Some(rtc) = &mut self.rtc {
            match rtc.poll_output()? {
                Output::Transmit(datagram) => self.leaving.push_back(datagram.contents.into()),
                Output::Event(event) => self.on_event(now, event),
                Output::Timeout(due) => {
                    let ahead = due.saturating_duration_since(self.epoch).as_nanos();
                    self.due = Time::from_nanos(u64::try_from(ahead).unwrap_or(u64::MAX));
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::IceConnectionStateChange(
                IceConnectionState::Connected | IceConnectionState::Completed,
            ) if !self.is_connected => {
                self.is_connected = true;
                self.events.push_back(ConnectionEvent::Connected);
            }
            Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) => {
                self.estimate = estimate;
            }
            Event::RtpPacket(packet) => self.on_packet(now, &packet),
            _ => {}
        }
    }

    fn on_packet(&mut self, now: Time, packet: &RtpPacket) {
        let Some(part) = Part::read(&packet.payload) else { return };
        if self.buffer.on_part(now, part) {
            self.unread_bytes += packet.payload.len() as u64;
        }
    }

    /// Shows the frames that are ready.
    fn show(&mut self, now: Time) {
        while let Some(number) = self.buffer.show(now) {
            self.events.push_back(ConnectionEvent::FrameComplete(number));
        }
    }

    /// The size of a frame at the current estimate.
    fn frame_bytes(&self, frame: MediaFrame) -> u64 {
        let share = self.share * self.estimate.as_f64() / 8.0 * frame.interval.as_secs();
        frame.most_bytes.min(LARGEST_FRAME).min(share as u64)
    }

    /// Gives str0m the rate of the best quality, for which it probes.
    fn desire(&mut self, now: Time, frame: MediaFrame) {
        let bps = frame.most_bytes as f64 * 8.0 / frame.interval.as_secs();
        let desired = Bitrate::bps(bps as u64);
        if desired > self.desired {
            self.desired = desired;
            self.change(now, |rtc| {
                rtc.bwe().set_bitrate(Bitrate::ZERO, desired);
                Ok(())
            });
        }
    }
}

impl Endpoint for RtcEnd {
    fn connect(&mut self, now: Time) {
        self.begin(now);
        self.pass_time(now);
    }

    fn input(&mut self, now: Time, datagram: Datagram<'_>) {
        if self.rtc.is_none() && self.failure.is_none() {
            self.begin(now);
        }
        let (at, from, to) = (self.instant(now), address(self.role.other()), address(self.role));
        // Anything else that reaches the port is ignored.
        if let Ok(received) = Receive::new(Protocol::Udp, from, to, datagram.bytes) {
            self.change(now, |rtc| rtc.handle_input(Input::Receive(at, received)));
        }
        if self.unread_bytes > 0 {
            self.events.push_back(ConnectionEvent::Readable(0));
        }
        self.show(now);
    }

    fn output(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        *buffer = self.leaving.pop_front()?;
        Some(Transmit { ecn: Ecn::NotEct, earliest: now })
    }

    fn deadline(&mut self) -> Time {
        self.due.min(self.buffer.due())
    }

    fn expire(&mut self, now: Time) {
        if self.due <= now {
            self.pass_time(now);
        }
        self.show(now);
    }

    fn event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    /// It has no streams.
    fn write(&mut self, _now: Time, _stream: StreamNumber, _bytes: u64, _finish: bool) -> u64 {
        0
    }

    fn send_frame(&mut self, now: Time, frame: MediaFrame) -> u64 {
        if !self.is_connected {
            return 0;
        }
        self.desire(now, frame);
        let bytes = self.frame_bytes(frame);
        if bytes == 0 {
            return 0;
        }
        let at = self.instant(now);
        let ticks = u128::from(now.as_nanos()) * u128::from(TICKS_PER_SECOND) / 1_000_000_000;
        for (part, payload) in payload::split(frame.number, bytes) {
            self.sent += 1;
            let number = self.sent;
            self.change(now, |rtc| {
                let kind = payload_type(rtc);
                let packet = RtpWrite::new(kind, number.into(), ticks as u32, at, payload);
                let packet = packet.marker(part.is_last()).nackable(true);
                let mut direct = rtc.direct_api();
                direct.stream_tx(&MEDIA_SSRC.into()).expect("it is declared").write_rtp(packet);
                Ok(())
            });
        }
        self.pass_time(now);
        bytes
    }

    fn read(&mut self, _now: Time, _stream: StreamNumber) -> Read {
        Read { bytes: std::mem::take(&mut self.unread_bytes), is_finished: false }
    }

    fn close(&mut self, now: Time) {
        self.change(now, Rtc::close);
    }

    /// str0m does not report its pacing rate and its losses.
    fn stats(&self) -> Stats {
        Stats { estimate_bps: Some(self.estimate.as_f64()), ..Stats::default() }
    }

    fn failure(&mut self) -> Option<String> {
        self.failure.clone()
    }
}

//! The sending side of a TCP connection, in packets: the acknowledgement path of Linux 6.1
//! (`tcp_ack`, `tcp_fastretrans_alert`). Where stacks differ, the [`Profile`] decides: which events
//! count as a loss, how the window comes down, how it grows, how a timeout is handled.
//!
//! There is one file per step of [`Sender::on_ack`]. In order: `sack` and `undo` read the
//! acknowledgement, `loss_detection` marks losses, `episode` and `timeout` change the state,
//! `cwnd` sets the window, `transmit` sends. `control` is the interface to the congestion
//! control.

mod bursts;
mod busy_time;
mod control;
mod cwnd;
mod cwnd_validation;
mod ecn;
mod episode;
mod held_by_pacing;
mod loss_detection;
mod plain_ack;
mod plain_duplicate;
mod sack;
mod segments;
mod send_buffer;
mod send_window;
mod status;
mod tail_loss_probe;
mod timeout;
mod timers;
mod transmit;
mod undo;
mod writes;

use std::sync::Arc;

use sojourn_aqm::{Span, Time};

use self::busy_time::BusyTime;
pub use self::busy_time::BusyTimes;
use self::control::LossCounts;
use self::cwnd_validation::CwndUsage;
use self::ecn::EcnState;
use self::episode::Episode;
pub use self::episode::State;
use self::plain_ack::PlainAcks;
pub use self::segments::Segments;
use self::send_buffer::SendBuffer;
use self::send_window::SendWindow;
pub use self::status::SegmentCounts;
use self::tail_loss_probe::TailLossProbe;
use self::timeout::TimeoutState;
use self::timers::Timer;
pub(crate) use self::timers::Timers;
use self::transmit::Sent;
use self::writes::Writes;
use super::delivery_rate::DeliveryRate;
use super::memory;
use super::pacing::Pacer;
use super::profile::{Profile, Style};
use super::reordering::Reordering;
use super::rtt::RttEstimator;
use super::scoreboard::{Delivery, Scoreboard};
use crate::cc::{CongestionControl, Needs, Window, WindowControl};
use crate::packet::Packet;
use crate::prefetch::{Prefetch, prefetch};

/// The sender of one connection.
pub struct Sender {
    segments: Segments,
    profile: Arc<Profile>,
    cc: Box<dyn CongestionControl>,
    needs: Needs,
    window: Window,
    /// Whether only the congestion window limits sending, in every state.
    cwnd_only: bool,
    /// To which acknowledgements [`plain_ack`] applies, and whether [`plain_duplicate`] applies.
    plain_acks: PlainAcks,
    plain_duplicates: bool,
    usage: CwndUsage,
    board: Scoreboard,
    rtt: RttEstimator,
    reordering: Reordering,
    episode: Episode,
    timeouts: TimeoutState,
    timers: Timers,
    tail_probe: Option<TailLossProbe>,
    send_window: SendWindow,
    /// The receiver's timestamp, echoed by data.
    echo: u32,
    ecn: EcnState,
    pacer: Option<Box<Pacer>>,
    rate: Option<Box<DeliveryRate>>,
    busy: BusyTime,
    sent: Sent,
    /// The program's writes, if their ends are marked.
    writes: Option<Writes>,
}

/// State before an acknowledgement is processed.
#[derive(Clone, Copy)]
struct Before {
    una: u32,
    in_flight: u32,
    state: State,
}

impl Sender {
    /// The sender of a connection that has just been established.
    pub fn new(
        segments: Segments,
        profile: impl Into<Arc<Profile>>,
        cc: Box<dyn CongestionControl>,
    ) -> Sender {
        let profile: Arc<Profile> = profile.into();
        let held_back = matches!(profile.recovery, Style::Pipe | Style::AtOnce | Style::SlowStart);
        let needs = cc.needs();
        let mut board = Scoreboard::new(profile.sack);
        if needs.rate_samples {
            board.keep_fresh_losses();
        }
        let most = bursts::most(&profile, segments.payload_bytes);
        let segment_bytes = segments.payload_bytes + segments.header_bytes - memory::IP_AND_TCP;
        let windows = cc.windows_to_buffer();
        let provided = |rule| SendBuffer::new(rule, profile.buffer, segment_bytes, windows);
        let memory = profile.send_buffer.map(provided);
        let writes = Writes::new(segments.payload_bytes, most, memory, segments.bytes());
        let plain_acks = PlainAcks::of(&needs, &segments);
        let burst = needs.pacing.or(profile.pacing.then_some(Span::ZERO));
        Sender {
            segments,
            cc,
            needs,
            window: Window { old: profile.growth, ..Window::new(segments.initial_window) },
            cwnd_only: profile.limited_transmit && !held_back,
            plain_acks,
            plain_duplicates: plain_acks != PlainAcks::None
                && plain_duplicate::are_usual(&profile, &segments),
            usage: CwndUsage::default(),
            board,
            rtt: RttEstimator::new(&profile.rto),
            reordering: Reordering::new(profile.max_reordering),
            episode: Episode::default(),
            timeouts: TimeoutState::default(),
            timers: Timers::new(profile.timer_wheel),
            tail_probe: None,
            send_window: SendWindow::default(),
            echo: 0,
            ecn: EcnState::new(&segments),
            pacer: burst.map(|burst| Box::new(Pacer::new(burst))),
            rate: needs.rate_samples.then(Box::default),
            busy: BusyTime::default(),
            sent: Sent::default(),
            writes: profile.ack.answers_push.then_some(writes),
            profile,
        }
    }

    /// The part of memory that holds its timers.
    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Takes the round-trip sample of the handshake.
    pub fn on_established(&mut self, rtt: Span) {
        self.rtt.observe_min(rtt);
        self.rtt.sample(rtt, 0, 0);
        self.set_pacing_rate();
    }

    /// The earliest of its timers.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timers.next()
    }

    /// Processes an acknowledgement and sends the data that it allows.
    pub fn on_ack(&mut self, now: Time, ack: &Packet, emit: &mut impl FnMut(Packet)) {
        if ack.seq > self.board.nxt() {
            return; // acknowledges data never sent: left over from an earlier connection
        }
        self.update_send_window(ack.seq, ack.window);
        self.note_window(ack.window, ack.window_rest);
        let restart = if self.take_plain_ack(now, ack) {
            true
        } else if self.is_plain_duplicate(ack) {
            self.take_plain_duplicate(now, ack)
        } else {
            self.take_ack(now, ack)
        };
        self.echo = self.echo.max(ack.stamp);
        match self.pacer.is_some() {
            true => self.send_paced(now, restart, emit),
            false => self.send_allowed(now, restart, emit),
        }
    }

    /// Processes an acknowledgement. Returns whether it restarts the timer.
    #[inline(never)]
    fn take_ack(&mut self, now: Time, ack: &Packet) -> bool {
        if self.take_plain_ack_by_control(now, ack) {
            return true;
        }
        let is_newer = ack.stamp > self.echo;
        let before = Before {
            una: self.board.una(),
            in_flight: self.board.in_flight(),
            state: self.episode.state,
        };
        let echo = self.profile.timestamps.then_some(ack.sent);
        let mut delivery = Delivery::default();
        let dsack = self.process_sack(now, ack, echo, &mut delivery);
        let acked = self.sample_rtt(now, &delivery, echo);
        if !self.profile.sack && !delivery.advanced {
            self.count_duplicate_ack(&mut delivery);
        }
        let marks = self.process_ecn_feedback(ack, &acked, delivery.packets, is_newer);
        let probe_arrived_twice = self.process_tail_probe(ack.seq, &delivery, dsack);
        let restarted = self.judge_episode(now, &delivery, ack.sent, before.una);
        if let Some(block) = dsack {
            self.process_dsack(block, probe_arrived_twice);
        }
        let dubious = self.is_dubious(&before, &delivery, dsack.is_some());
        let marked =
            if dubious { self.detect_losses(now, delivery.advanced) } else { <_>::default() };
        self.report_losses(now);
        let echoed = marks > 0 && self.needs.window_control != WindowControl::Window;
        self.enter_episode(now, echoed, marked);
        if dubious {
            self.moderate_cwnd();
            self.try_keep_open();
        }
        if self.leaves_cwnd_to_control() {
            let prior_in_flight = before.in_flight;
            let counts = LossCounts { prior_in_flight, lost: marked.segments, marks };
            self.let_control_set_cwnd(&delivery, &acked, counts);
        } else {
            let was_reducing = matches!(before.state, State::Recovery | State::Cwr);
            self.adjust_cwnd(&delivery, &acked, marked.segments, was_reducing || restarted);
        }
        self.set_pacing_rate();
        // Linux `tcp_identify_packet_loss` leaves the reordering timer alone.
        self.note_partial_ack(delivery.advanced);
        let kept = marked.waits || self.episode.keeps_timer;
        !kept && (delivery.advanced || self.confirms_head(&delivery))
    }

    /// Handles expired timers.
    pub fn on_timer(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        if self.timers.pacing_due() <= now {
            self.send_allowed(now, false, emit);
        }
        if self.timers.due() <= now {
            match self.timers.pending() {
                Timer::Off => unreachable!("a timer that is off is never due"),
                Timer::Retransmission if self.send_window.is_probing() => {
                    self.probe_zero_window(now, emit);
                }
                Timer::Retransmission => self.on_timeout(now, emit),
                Timer::TailLossProbe => self.send_tail_probe(now, emit),
                Timer::Reordering => self.on_reordering_timeout(now, emit),
            }
        }
        debug_assert!(self.next_timer() > now, "an expired timer is set again or stopped");
    }
}

impl Prefetch for Sender {
    fn far(&self) {
        prefetch(&*self.cc);
        self.board.far();
    }
}

#[cfg(test)]
mod scripts;
#[cfg(test)]
mod tests;

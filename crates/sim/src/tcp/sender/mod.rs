//! The sending side: a simplified Linux sender in packets (endpoints sheet §1.2, §1.3, §1.21). What
//! differs between stacks is asked of the [`Profile`]: what stands for a loss, how the window comes
//! down, how it grows, what silence means. What a congestion control takes into its own hands is in
//! [`steered`].
//!

mod chrono;
mod episode;
mod losses;
mod persist;
mod probe;
mod segments;
mod status;
mod steered;
mod timeout;
mod transmit;
mod undo;
mod usage;

use sojourn_aqm::{Span, Time};

use self::chrono::Chrono;
pub use self::chrono::Times;
use self::probe::Probe;
pub use self::segments::Segments;
use self::steered::Tally;
use self::undo::Undo;
use self::usage::Usage;
use super::accecn::Reader;
use super::delivery_rate::DeliveryRate;
use super::descent::Descent;
use super::pacing::Pacer;
use super::profile::{Detection, Profile, Style};
use super::reordering::{DUPLICATES, Reordering};
use super::rtt::{RttEstimator, stamped_rtt};
use super::scoreboard::{Arrival, Delivery, Marked, Scoreboard};
use super::wheel;
use crate::cc::{Ack, CongestionControl, Feedback, Needs, Steers, Window};
use crate::packet::{Block, Packet};

/// Where a connection stands.
///
/// ```text
/// Open --SACK--> Disorder --loss found--> Recovery --point acknowledged--> Open
///   |               |                     ^      ^
///   +----- ECE -----+----> Cwr --loss-----+      +--retransmission lost-- Loss --point acked--> Open
///                                                        any --timeout--> Loss
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum State {
    /// Nothing odd.
    Open,
    /// Something was SACKed, nothing is judged lost.
    Disorder,
    /// The window comes down because of marks.
    Cwr,
    /// The window comes down because of a loss, and losses are repaired.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// What the timer of a connection rings for: there is one, as in Linux (`icsk_pending`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Alarm {
    /// Nothing.
    Rest,
    /// The retransmission timeout; of a closed window, the next probe of it.
    Timeout,
    /// A tail loss probe.
    Probe,
    /// Segments that something overtook, when that can no longer be reordering.
    Reordering,
}

/// Why the window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Loss,
    Mark,
    Timeout,
}

/// The sender of one connection.
pub struct Sender {
    segments: Segments,
    profile: Profile,
    /// The window alone says what may be sent, in every state.
    plain: bool,
    board: Scoreboard,
    window: Window,
    cc: Box<dyn CongestionControl>,
    needs: Needs,
    pacer: Option<Pacer>,
    /// When a packet that was held back may leave.
    release: Time,
    rate: Option<Box<DeliveryRate>>,
    accurate: Option<Reader>,
    state: State,
    /// What had been sent when the present reduction began.
    point: u32,
    descent: Descent,
    rtt: RttEstimator,
    /// What the timer rings for, and when.
    alarm: Alarm,
    due: Time,
    probe: Option<Probe>,
    /// One past the highest segment that the receiver's window lets go.
    offered: u32,
    /// While that window is closed: how long the next probe waits.
    persist: Option<Span>,
    reordering: Reordering,
    undo: Option<Undo>,
    /// When the first retransmission of the present trouble left; never, before it has.
    first_retransmission: Time,
    frto: bool,
    /// What had been sent when the trouble began in which F-RTO judges a timeout: it may have been an
    /// earlier loss or timeout (Linux `frto_highmark`).
    frto_mark: u32,
    /// F-RTO sends new data on this acknowledgement instead of what was marked lost.
    only_new: bool,
    /// Timeouts since the acknowledgement number last advanced.
    timeouts: u32,
    /// The next new segment tells the receiver that the window was reduced.
    tell_reduced: bool,
    usage: Usage,
    chrono: Chrono,
    last_sent: Time,
    retransmitted_bytes: u64,
    sent_bytes: u64,
}

impl Sender {
    /// The sender of a connection that is just established.
    pub fn new(segments: Segments, profile: Profile, cc: Box<dyn CongestionControl>) -> Sender {
        let held_back = matches!(profile.recovery, Style::Pipe | Style::AtOnce);
        let needs = cc.needs();
        let mut board = Scoreboard::new(profile.sack);
        if needs.rate_samples {
            board.keep_fresh_losses();
        }
        let burst = needs.pacing.or(profile.pacing.then_some(Span::ZERO));
        Sender {
            segments,
            plain: profile.limited_transmit && !held_back,
            board,
            window: Window { old: profile.growth, ..Window::new(segments.initial_window) },
            needs,
            pacer: burst.map(Pacer::new),
            release: Time::NEVER,
            rate: needs.rate_samples.then(Box::default),
            accurate: segments.accurate.then(|| Reader::new(segments.payload_bytes)),
            cc,
            state: State::Open,
            point: 0,
            descent: Descent::AtOnce { due: false },
            rtt: RttEstimator::new(&profile.rto),
            profile,
            alarm: Alarm::Rest,
            due: Time::NEVER,
            probe: None,
            offered: u32::MAX,
            persist: None,
            reordering: Reordering::new(profile.max_reordering),
            undo: None,
            first_retransmission: Time::NEVER,
            frto: false,
            frto_mark: 0,
            only_new: false,
            timeouts: 0,
            tell_reduced: false,
            usage: Usage::default(),
            chrono: Chrono::default(),
            last_sent: Time::ZERO,
            retransmitted_bytes: 0,
            sent_bytes: 0,
        }
    }

    /// Takes the sample of the handshake.
    pub fn on_established(&mut self, rtt: Span) {
        self.rtt.observe_min(rtt);
        self.rtt.sample(rtt, 0, 0);
        self.set_pace();
    }

    /// The next of its timers.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.due.min(self.release)
    }

    /// Takes in an acknowledgement and sends what it allows.
    pub fn on_ack(&mut self, now: Time, ack: &Packet, emit: &mut impl FnMut(Packet)) {
        if ack.seq > self.board.nxt() {
            return; // of data never sent: from an earlier connection
        }
        self.take_offer(ack.seq, ack.window);
        let sack = self.blocks(ack);
        let before = self.board.una();
        let reducing = matches!(self.state, State::Recovery | State::Cwr);
        let was_odd = self.state != State::Open;
        let prior_in_flight = self.board.in_flight();
        let echo = self.profile.timestamps.then_some(ack.sent);
        let point = if self.frto { self.frto_mark } else { self.point };
        let arrival = Arrival { now, point, min_rtt: self.rtt.min(), echo };
        let mut delivery = self.board.acknowledge(ack.seq, sack, &arrival);
        if let Some(distance) = delivery.reordered {
            self.reordering.observe(distance);
        }
        let duplicated = !sack.is_empty() && undo::is_duplicate(ack);
        delivery.packets += u32::from(duplicated); // Linux `tcp_dsack_seen`: the copy was delivered
        if delivery.advanced {
            self.timeouts = 0;
        }
        let news = self.take_sample(now, &delivery, echo);
        if !self.profile.sack && !delivery.advanced {
            self.take_duplicate(&mut delivery);
        }
        if self.segments.ecn && self.needs.feedback == Feedback::Runs {
            self.cc.on_echo(&news, ack.signal);
        }
        let marks = self.read_marks(ack, delivery.packets);
        let of_probe = duplicated && self.probe.is_some_and(|probe| probe.is_answered_by(sack[0]));
        if self.probe.is_some() {
            self.judge_probe(ack.seq, &delivery, of_probe);
        }
        if let Some(undo) = self.undo.as_mut().filter(|_| self.segments.ecn && marks > 0) {
            undo.forbid(); // what reduced the window was congestion
        }
        let restarted = self.judge_episode(now, &delivery, ack.sent, before);
        if duplicated {
            self.take_needless(sack[0], of_probe);
        }
        // Linux `tcp_ack_is_dubious` asks before the acknowledgement ends an episode: what it shows to be
        // lost beyond the end starts the next one (`tcp_fastretrans_alert`).
        let odd = was_odd
            || self.state != State::Open
            || delivery.sacked > 0
            || self.board.sacked() > 0
            || duplicated;
        let marked =
            if odd { self.detect_losses(now, delivery.advanced) } else { Marked::default() };
        self.tell_losses(now);
        self.enter_episode(marks > 0 && self.needs.steers != Steers::Window, marked);
        if odd {
            self.moderate();
            self.keep_open();
        }
        if self.is_steered() {
            let tally = Tally { prior_in_flight, lost: marked.segments, marks };
            self.steer(&delivery, &news, tally);
        } else {
            self.adjust_window(&delivery, &news, marked.segments, reducing || restarted);
        }
        self.set_pace();
        // Linux `tcp_identify_packet_loss`: not while the timer waits for reordered segments.
        let restart = !marked.waits && (delivery.advanced || self.confirms_head(&delivery));
        self.send_allowed(now, restart, emit);
    }

    /// The blocks of an acknowledgement, if SACK was negotiated (RFC 2018 §2).
    fn blocks<'a>(&self, ack: &'a Packet) -> &'a [Block] {
        let count = ack.sack.iter().position(|block| block.is_empty()).unwrap_or(ack.sack.len());
        if self.profile.sack { &ack.sack[..count] } else { &[] }
    }

    /// What the acknowledgement tells of the present episode: that it was not called for, that it is
    /// over, or that the timeout was spurious. Returns whether the window was set anew.
    fn judge_episode(&mut self, now: Time, delivery: &Delivery, echo: Time, before: u32) -> bool {
        if self.state == State::Open {
            self.first_retransmission = Time::NEVER;
        }
        // Linux 2.6 does not ask timestamps while F-RTO is on: its state is Disorder (`tcp_enter_frto`).
        let waits = self.frto && self.profile.frto_starts_over;
        if delivery.advanced && self.state >= State::Recovery && !waits {
            self.judge_echo(echo, before);
        }
        let restarted = self.state == State::Loss && self.judge_timeout(now, delivery);
        self.leave_finished_episode();
        restarted
    }

    /// Karn's rule: a segment that was sent more than once gives no sample, unless the timestamp that
    /// came back tells which transmission was acknowledged.
    fn take_sample(&mut self, now: Time, delivery: &Delivery, echo: Option<Time>) -> Ack {
        let since = |sent: Time| now.since(sent);
        let echoed = echo.filter(|_| delivery.advanced && delivery.oldest_sent.is_none());
        let echoed = echoed.map(|echo| stamped_rtt(now, echo));
        let news = Ack {
            now,
            delivered: delivery.packets,
            rtt: delivery.newest_sent.map(since).or(echoed),
            una: self.board.una(),
            nxt: self.board.nxt(),
            paced: self.pacer.is_some(),
        };
        if let Some(newest) = news.rtt {
            self.rtt.observe_min(newest);
        }
        if let Some(rtt) = delivery.oldest_sent.map(since).or(echoed) {
            self.rtt.sample(rtt, news.una, news.nxt);
            self.cc.on_rtt(&news, &mut self.window);
        }
        news
    }

    /// `reducing`: before the acknowledgement, or it set the window itself.
    fn adjust_window(&mut self, delivery: &Delivery, news: &Ack, marked: u32, reducing: bool) {
        let ends = reducing && self.profile.growth.not_at_end;
        if matches!(self.state, State::Recovery | State::Cwr) {
            self.descend(delivery.packets, delivery.advanced, marked);
        } else if !ends && self.may_grow(delivery) && self.is_window_limited() {
            let starting = self.window.in_slow_start();
            let Profile { slow_start_per_ack, avoidance_per_ack, .. } = self.profile;
            let most = if starting { slow_start_per_ack } else { avoidance_per_ack };
            let counted = Ack { delivered: news.delivered.min(most), ..*news };
            self.cc.grow(&counted, &mut self.window);
        }
    }

    /// Growth is for what is acknowledged; where much was reordered, also for what is SACKed (Linux
    /// `tcp_may_raise_cwnd`).
    fn may_grow(&self, delivery: &Delivery) -> bool {
        let by_sack =
            self.profile.detection == Detection::Rack && self.reordering.metric() > DUPLICATES;
        delivery.packets > 0 && (delivery.advanced || by_sack)
    }

    /// SACK of what was sent before the head was last sent: the head may still be on its way. SACK of
    /// later data must not restart the timer, or it would never expire in a long recovery (Linux
    /// `tcp_clean_rtx_queue`).
    fn confirms_head(&mut self, delivery: &Delivery) -> bool {
        delivery.sacked > 0
            && delivery.oldest_sent.is_some_and(|sent| sent < self.board.head_sent())
    }

    /// One of the timers is due.
    pub fn on_timer(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        if self.release <= now {
            self.send_allowed(now, false, emit);
        }
        if self.due <= now {
            match self.alarm {
                Alarm::Rest => unreachable!("what is at rest is never due"),
                Alarm::Timeout if self.persist.is_some() => self.probe_window(now, emit),
                Alarm::Timeout => self.on_timeout(now, emit),
                Alarm::Probe => self.send_probe(now, emit),
                Alarm::Reordering => self.on_patience_spent(now, emit),
            }
        }
        debug_assert!(self.next_timer() > now, "a timer that has rung is set anew or at rest");
    }

    /// What was overtaken has had its time (Linux `tcp_rack_reo_timeout`).
    fn on_patience_spent(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        let recovering = self.state == State::Recovery;
        let marked = self.detect_losses(now, false);
        self.tell_losses(now);
        // After a timeout too this is a loss of its own, whether or not of a retransmission.
        self.enter_episode(false, Marked { again: marked.segments, ..marked });
        if marked.segments > 0 && self.state == State::Recovery && !recovering {
            self.descend(1, false, marked.segments);
        }
        self.send_allowed(now, false, emit);
        if self.alarm == Alarm::Reordering {
            self.restart_timer(now);
        }
    }

    fn set_alarm(&mut self, now: Time, alarm: Alarm, due: Time) {
        let due = self.profile.tick.map_or(due, |tick| wheel::rings(now, due, tick));
        (self.alarm, self.due) = (alarm, due);
    }

    fn rest(&mut self) {
        (self.alarm, self.due) = (Alarm::Rest, Time::NEVER);
    }
}

#[cfg(test)]
mod scripts;
#[cfg(test)]
mod tests;

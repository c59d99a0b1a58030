//! The sending side: a simplified Linux sender in packets (endpoints sheet §1.2, §1.3, §1.21). What
//! differs between stacks is asked of the [`Profile`]: what stands for a loss, how the window comes
//! down, how it grows, what silence means. What a congestion control takes into its own hands is in
//! [`steered`].
//!
//! Not yet here: receive windows.

mod losses;
mod probe;
mod steered;
mod timeout;
mod transmit;
mod undo;

use sojourn_aqm::{Span, Time};

use self::probe::Probe;
use self::steered::Tally;
use self::undo::Undo;
use super::accecn::Reader;
use super::delivery_rate::DeliveryRate;
use super::descent::{Descent, Step};
use super::pacing::Pacer;
use super::profile::{Profile, Style};
use super::rtt::RttEstimator;
use super::scoreboard::{Delivery, Scoreboard};
use crate::cc::{Ack, CongestionControl, Feedback, Needs, Steers, Window};
use crate::packet::Packet;

/// Where a connection stands.
///
/// ```text
/// Open --SACK--> Disorder --loss found--> Recovery --point acknowledged--> Open
///   |               |                        ^
///   +----- ECE -----+----> Cwr --loss--------+      any --timeout--> Loss --point acked--> Open
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

/// Why the window is reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Loss,
    Mark,
    Timeout,
}

/// What does not change during a connection.
#[derive(Clone, Copy, Debug)]
pub struct Segments {
    /// The flow.
    pub flow: u32,
    /// The connection of the flow.
    pub connection: u16,
    /// Payload of a full segment.
    pub payload_bytes: u32,
    /// IP and TCP headers.
    pub header_bytes: u32,
    /// Whether data is ECN-capable.
    pub ecn: bool,
    /// Segments to send; `u32::MAX` for no end.
    pub count: u32,
    /// Payload of the last segment.
    pub last_payload_bytes: u32,
    /// Initial window.
    pub initial_window: u32,
}

impl Segments {
    /// Payload of a segment.
    pub fn payload(&self, seq: u32) -> u32 {
        if seq.wrapping_add(1) == self.count { self.last_payload_bytes } else { self.payload_bytes }
    }
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
    /// When the timer rings, for a probe or for a timeout.
    timeout: Time,
    probing: bool,
    probe: Option<Probe>,
    reorder_timer: Time,
    undo: Option<Undo>,
    frto: bool,
    /// F-RTO sends new data on this acknowledgement instead of what was marked lost.
    only_new: bool,
    /// The lowest outstanding segment when the timer last expired.
    una_at_timeout: u32,
    /// The next new segment tells the receiver that the window was reduced.
    tell_reduced: bool,
    usage: Usage,
    last_sent: Time,
    retransmitted_bytes: u64,
    sent_bytes: u64,
}

/// How much of the window the application uses: growth is for flows that are limited by it.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    most_outstanding: u32,
    limited: bool,
    round_end: u32,
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
        let accurate = segments.ecn && needs.feedback == Feedback::Accurate;
        Sender {
            segments,
            plain: profile.limited_transmit && !held_back,
            board,
            window: Window::new(segments.initial_window),
            needs,
            pacer: burst.map(Pacer::new),
            release: Time::NEVER,
            rate: needs.rate_samples.then(Box::default),
            accurate: accurate.then(|| Reader::new(segments.payload_bytes)),
            cc,
            state: State::Open,
            point: 0,
            descent: Descent::AtOnce { due: false },
            rtt: RttEstimator::new(&profile.rto),
            profile,
            timeout: Time::NEVER,
            probing: false,
            probe: None,
            reorder_timer: Time::NEVER,
            undo: None,
            frto: false,
            only_new: false,
            una_at_timeout: 0,
            tell_reduced: false,
            usage: Usage::default(),
            last_sent: Time::ZERO,
            retransmitted_bytes: 0,
            sent_bytes: 0,
        }
    }

    /// Takes the sample of the handshake.
    pub fn on_established(&mut self, rtt: Span) {
        self.rtt.sample(rtt, 0, 0);
        self.set_pace();
    }

    /// The next of its timers.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timeout.min(self.reorder_timer).min(self.release)
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Packets believed in the network.
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }

    /// The congestion control, for its state variables.
    pub fn control(&self) -> &dyn CongestionControl {
        &*self.cc
    }

    /// Smoothed round-trip time.
    pub fn smoothed_rtt(&self) -> Span {
        self.rtt.smoothed()
    }

    /// Payload sent, and payload sent again.
    pub fn bytes_sent(&self) -> (u64, u64) {
        (self.sent_bytes, self.retransmitted_bytes)
    }

    /// Whether everything has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.board.una() >= self.segments.count
    }

    /// Takes in an acknowledgement and sends what it allows.
    pub fn on_ack(&mut self, now: Time, ack: &Packet, emit: &mut impl FnMut(Packet)) {
        if ack.seq > self.board.nxt() {
            return; // of data never sent: from an earlier connection
        }
        let blocks = ack.sack.iter().position(|b| b.is_empty()).unwrap_or(ack.sack.len());
        let sack = &ack.sack[..blocks];
        let prior_in_flight = self.board.in_flight();
        let mut delivery = self.board.acknowledge(now, ack.seq, sack, self.point, self.rtt.min());
        let news = Ack {
            now,
            delivered: delivery.packets,
            rtt: delivery.newest_sent.map(|sent| now.since(sent)),
            una: self.board.una(),
            nxt: self.board.nxt(),
            paced: self.pacer.is_some(),
        };
        self.take_sample(&delivery, &news, ack.sent);
        if !self.profile.sack && !delivery.advanced {
            self.take_duplicate(&mut delivery);
        }
        if self.segments.ecn && self.needs.feedback == Feedback::Runs {
            self.cc.on_echo(&news, ack.signal);
        }
        let marks = self.read_marks(ack);
        let duplicated = blocks > 0 && undo::is_duplicate(ack);
        if self.probe.is_some() {
            self.judge_probe(ack.seq, &delivery, duplicated);
        }
        self.leave_finished_episode();
        if self.state == State::Loss {
            self.judge_timeout(&delivery);
        }
        if duplicated {
            self.take_needless(sack[0].start);
        }
        let odd = self.state != State::Open || delivery.sacked > 0 || self.board.sacked() > 0;
        let marked = if odd { self.detect_losses(now, delivery.advanced) } else { 0 };
        self.tell_losses();
        self.enter_episode(marks > 0 && self.needs.steers != Steers::Window);
        if self.is_steered() {
            self.steer(&delivery, &news, Tally { prior_in_flight, lost: marked, marks });
        } else {
            self.adjust_window(&delivery, &news, marked);
        }
        self.set_pace();
        let restart = delivery.advanced || self.confirms_head(&delivery);
        self.send_allowed(now, restart, emit);
    }

    /// Karn's rule: a segment that was sent more than once gives no sample, unless the timestamp that
    /// came back tells which transmission was acknowledged.
    fn take_sample(&mut self, delivery: &Delivery, news: &Ack, echo: Time) {
        let echo = delivery.advanced.then_some(echo);
        if let Some(sent) = delivery.oldest_sent.or(echo) {
            self.rtt.sample(news.now.since(sent), news.una, news.nxt);
            self.cc.on_rtt(news, &mut self.window);
        }
    }

    /// Recovery and Loss end when the point is acknowledged, Cwr when something beyond it is. Without
    /// SACK all wait for something beyond, so that late duplicates are not taken for a new loss (RFC
    /// 6582 §3.2 step 2).
    fn leave_finished_episode(&mut self) {
        let una = self.board.una();
        let repaired = una > self.point || self.profile.sack && una == self.point;
        match self.state {
            State::Recovery if repaired => self.leave_reduction(),
            State::Cwr if una > self.point => self.leave_reduction(),
            State::Loss if repaired => {
                self.state = State::Open;
                self.frto = false;
                self.undo = None;
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    fn leave_reduction(&mut self) {
        self.window.cwnd = self.descent.final_window(&self.window);
        self.state = State::Open; // the undo stays: duplicates are told a round trip later
    }

    /// Starts a reduction when a loss was found or a mark was echoed, once per window.
    fn enter_episode(&mut self, echoed: bool) {
        let lost = self.board.lost() > 0;
        match self.state {
            State::Open | State::Disorder if lost => {
                self.start_reduction(self.profile.recovery, Reason::Loss);
                self.state = State::Recovery;
            }
            State::Cwr if lost => self.state = State::Recovery,
            State::Open | State::Disorder if echoed => {
                self.start_reduction(self.profile.on_mark, Reason::Mark);
                self.undo = None;
                self.state = State::Cwr;
            }
            State::Open if self.board.sacked() > 0 => self.state = State::Disorder,
            State::Disorder if self.board.sacked() == 0 => self.state = State::Open,
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    fn start_reduction(&mut self, style: Style, reason: Reason) {
        self.undo = Some(Undo::of(&self.window, self.board.una()));
        self.window.ssthresh = self.reduced(reason);
        self.descent = match self.needs.steers {
            Steers::Everything => Descent::Steered,
            _ => Descent::start(style, &mut self.window, self.board.outstanding()),
        };
        self.window.credit = 0;
        self.probe = None;
        self.point = self.board.nxt();
        self.tell_reduced = self.segments.ecn;
    }

    /// The threshold after a reduction of what the profile reduces: the window, or what is in flight.
    fn reduced(&mut self, reason: Reason) -> u32 {
        let mut base = self.window;
        if self.profile.reduce_in_flight {
            base.cwnd = self.board.outstanding().max(1);
        }
        match reason {
            Reason::Mark => self.cc.reduce_on_mark(&base),
            Reason::Loss => self.cc.reduce(&base),
            Reason::Timeout => self.cc.reduce_on_timeout(&base),
        }
    }

    fn adjust_window(&mut self, delivery: &Delivery, news: &Ack, marked: u32) {
        if matches!(self.state, State::Recovery | State::Cwr) {
            self.descend(delivery.packets, delivery.advanced, marked);
        } else if delivery.advanced && delivery.packets > 0 && self.is_window_limited() {
            let starting = self.window.in_slow_start();
            let Profile { slow_start_per_ack, avoidance_per_ack, .. } = self.profile;
            let most = if starting { slow_start_per_ack } else { avoidance_per_ack };
            let counted = Ack { delivered: news.delivered.min(most), ..*news };
            self.cc.grow(&counted, &mut self.window);
        }
    }

    fn descend(&mut self, delivered: u32, advanced: bool, marked: u32) {
        let in_flight = self.board.in_flight();
        let safe = advanced && marked == 0;
        let step = Step { delivered, in_flight, advanced, safe };
        self.descent.on_ack(&step, &mut self.window);
    }

    fn is_window_limited(&self) -> bool {
        let starting = self.window.in_slow_start();
        self.usage.limited
            || !self.profile.validation
            || starting && self.window.cwnd < 2 * self.usage.most_outstanding
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
            self.send(now, emit);
        }
        if self.reorder_timer <= now {
            self.reorder_timer = Time::NEVER;
            let marked = self.detect_losses(now, false);
            self.tell_losses();
            self.enter_episode(false);
            if marked > 0 && self.state == State::Recovery {
                self.descend(1, false, marked);
            }
            self.send(now, emit);
        }
        if self.timeout <= now {
            if self.probing {
                self.send_probe(now, emit);
            } else {
                self.on_timeout(now, emit);
            }
        }
    }
}

#[cfg(test)]
mod scripts;
#[cfg(test)]
mod tests;

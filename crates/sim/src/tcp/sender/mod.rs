//! The sending side: a simplified Linux sender in packets (endpoints sheet §1.2, §1.3, §1.21). SACK
//! recovery with RACK and proportional rate reduction, timeouts with F-RTO and undo, ECN.
//!
//! Not yet here: tail loss probes, pacing, D-SACK, receive windows.

mod timeout;
mod transmit;

use sojourn_aqm::{Span, Time};

use super::prr::Prr;
use super::rtt::RttEstimator;
use super::scoreboard::{Delivery, Scoreboard};
use crate::cc::{Ack, CongestionControl, Window};
use crate::packet::Packet;

/// Segments SACKed that stand for a loss without waiting (Linux `tcp_reordering`).
const REORDERING: u32 = 3;
/// Linux gives the reordering timer at least this (two jiffies).
const REORDER_SLACK: Span = Span::from_millis(2);

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

/// To withdraw a reduction that turns out to have been unnecessary.
#[derive(Clone, Copy, Debug)]
struct Undo {
    cwnd: u32,
    ssthresh: u32,
}

/// The sender of one connection.
pub struct Sender {
    segments: Segments,
    board: Scoreboard,
    window: Window,
    cc: Box<dyn CongestionControl>,
    state: State,
    /// What had been sent when the present reduction began.
    point: u32,
    prr: Prr,
    rtt: RttEstimator,
    timeout: Time,
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
    pub fn new(segments: Segments, cc: Box<dyn CongestionControl>) -> Sender {
        Sender {
            segments,
            board: Scoreboard::new(),
            window: Window::new(segments.initial_window),
            cc,
            state: State::Open,
            point: 0,
            prr: Prr::default(),
            rtt: RttEstimator::default(),
            timeout: Time::NEVER,
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
    }

    /// The next of its timers.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timeout.min(self.reorder_timer)
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
        let delivery = self.board.acknowledge(now, ack.seq, sack, self.point, self.rtt.min());
        let news = Ack {
            now,
            delivered: delivery.packets,
            rtt: delivery.newest_sent.map(|sent| now.since(sent)),
            una: self.board.una(),
            nxt: self.board.nxt(),
        };
        self.take_sample(&delivery, &news, ack.sent);
        self.leave_finished_episode();
        if self.state == State::Loss {
            self.judge_timeout(&delivery);
        }
        let odd = self.state != State::Open || delivery.sacked > 0 || self.board.sacked() > 0;
        let marked = if odd { self.detect_losses(now) } else { 0 };
        self.enter_episode(ack.signal);
        self.adjust_window(&delivery, &news, marked);
        if delivery.advanced || self.confirms_head(&delivery) {
            self.restart_timer(now);
        }
        self.send(now, emit);
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

    /// Recovery and Loss end when the point is acknowledged, Cwr when something beyond it is.
    fn leave_finished_episode(&mut self) {
        let una = self.board.una();
        match self.state {
            State::Recovery if una >= self.point => self.leave_reduction(),
            State::Cwr if una > self.point => self.leave_reduction(),
            State::Loss if una >= self.point => {
                self.state = State::Open;
                self.frto = false;
                self.undo = None;
            }
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    fn leave_reduction(&mut self) {
        self.window.cwnd = self.window.ssthresh;
        self.state = State::Open;
        self.undo = None;
    }

    fn detect_losses(&mut self, now: Time) -> u32 {
        let at_once = self.state >= State::Recovery || self.board.sacked() >= REORDERING;
        let window = match self.rtt.min() {
            Some(min) if !at_once => Span::from_nanos(min.as_nanos() / 4).min(self.rtt.smoothed()),
            _ => Span::ZERO,
        };
        let (marked, due) = self.board.detect_lost(now, window);
        self.reorder_timer = due.map_or(Time::NEVER, |due| due + REORDER_SLACK);
        marked
    }

    /// Starts a reduction when a loss was found or a mark was echoed, once per window.
    fn enter_episode(&mut self, echoed: bool) {
        let lost = self.board.lost() > 0;
        match self.state {
            State::Open | State::Disorder | State::Cwr if lost => {
                if self.state != State::Cwr {
                    self.start_reduction();
                }
                self.state = State::Recovery;
            }
            State::Open | State::Disorder if echoed => {
                self.start_reduction();
                self.undo = None;
                self.state = State::Cwr;
            }
            State::Open if self.board.sacked() > 0 => self.state = State::Disorder,
            State::Disorder if self.board.sacked() == 0 => self.state = State::Open,
            State::Open | State::Disorder | State::Cwr | State::Recovery | State::Loss => {}
        }
    }

    fn start_reduction(&mut self) {
        self.undo = Some(Undo { cwnd: self.window.cwnd, ssthresh: self.window.ssthresh });
        self.prr = Prr::start(self.window.cwnd);
        self.window.ssthresh = self.cc.reduce(&self.window);
        self.window.credit = 0;
        self.point = self.board.nxt();
        self.tell_reduced = self.segments.ecn;
    }

    fn adjust_window(&mut self, delivery: &Delivery, news: &Ack, marked: u32) {
        if matches!(self.state, State::Recovery | State::Cwr) {
            if delivery.packets > 0 {
                self.reduce_proportionally(delivery.packets, delivery.advanced && marked == 0);
            }
        } else if delivery.advanced && delivery.packets > 0 && self.is_window_limited() {
            self.cc.grow(news, &mut self.window);
        }
    }

    fn reduce_proportionally(&mut self, delivered: u32, safe: bool) {
        let in_flight = self.board.in_flight();
        let allowance = self.prr.allowance(delivered, in_flight, self.window.ssthresh, safe);
        self.window.cwnd = (in_flight + allowance).max(1);
    }

    fn is_window_limited(&self) -> bool {
        let starting = self.window.in_slow_start();
        self.usage.limited || starting && self.window.cwnd < 2 * self.usage.most_outstanding
    }

    /// SACK of what was sent before the head was last sent: the head may still be on its way. SACK of
    /// later data must not restart the timer, or it would never expire in a long recovery (Linux
    /// `tcp_clean_rtx_queue`).
    fn confirms_head(&mut self, delivery: &Delivery) -> bool {
        delivery.sacked > 0
            && delivery.oldest_sent.is_some_and(|sent| sent < self.board.head_sent())
    }

    fn restart_timer(&mut self, now: Time) {
        let idle = self.board.outstanding() == 0;
        self.timeout = if idle { Time::NEVER } else { now + self.rtt.timeout() };
    }

    /// One of the timers is due.
    pub fn on_timer(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        if self.reorder_timer <= now {
            self.reorder_timer = Time::NEVER;
            let marked = self.detect_losses(now);
            self.enter_episode(false);
            if marked > 0 && self.state == State::Recovery {
                self.reduce_proportionally(1, false);
            }
            self.send(now, emit);
        }
        if self.timeout <= now {
            self.on_timeout(now, emit);
        }
    }
}

#[cfg(test)]
mod tests;

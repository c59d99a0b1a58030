//! The sending side: a simplified Linux sender in packets (endpoints sheet §1.2, §1.3, §1.21). SACK
//! recovery with RACK and proportional rate reduction, timeouts with F-RTO and undo, ECN.
//!
//! Not yet here: tail loss probes, pacing, D-SACK, receive windows.

use sojourn_aqm::{Ecn, Span, Time};

use super::prr::Prr;
use super::rtt::RttEstimator;
use super::scoreboard::{Delivery, Scoreboard};
use crate::cc::{Ack, CongestionControl, Window};
use crate::packet::{Kind, Packet};

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
        if let Some(sent) = delivery.oldest_sent {
            self.rtt.sample(now.since(sent), news.una, news.nxt);
            self.cc.on_rtt(&news, &mut self.window);
        }
        self.leave_finished_episode();
        if self.state == State::Loss {
            self.judge_timeout(&delivery);
        }
        let odd = self.state != State::Open || delivery.sacked > 0 || self.board.sacked() > 0;
        let marked = if odd { self.detect_losses(now) } else { 0 };
        self.enter_episode(ack.signal);
        self.adjust_window(&delivery, &news, marked);
        if delivery.advanced || delivery.packets > 0 {
            self.restart_timer(now);
        }
        self.send(now, emit);
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

    /// F-RTO (RFC 5682 with SACK): was the timeout spurious?
    fn judge_timeout(&mut self, delivery: &Delivery) {
        if !self.frto {
            return;
        }
        if delivery.original {
            // What was sent before the timeout has arrived: nothing was lost.
            if let Some(undo) = self.undo.take() {
                self.window.cwnd = self.window.cwnd.max(undo.cwnd);
                self.window.ssthresh = self.window.ssthresh.max(undo.ssthresh);
                self.cc.undo();
            }
            self.board.forget_losses();
            self.state = State::Open;
            self.frto = false;
        } else if self.board.nxt() > self.point {
            // New data went out and the answer is a duplicate: the loss was real.
            self.frto &= delivery.advanced && delivery.sacked == 0;
        } else if delivery.advanced {
            self.point = self.board.nxt();
            self.frto = self.board.nxt() < self.segments.count;
            self.only_new = self.frto;
        }
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

    /// The retransmission timer has expired (endpoints sheet §1.11).
    fn on_timeout(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        debug_assert!(
            self.board.outstanding() > 0,
            "the timer runs only while data is outstanding"
        );
        self.board.mark_all_lost(now);
        let una = self.board.una();
        let progressed = self.state == State::Loss && una > self.una_at_timeout;
        let fresh = self.state < State::Cwr || una >= self.point || progressed;
        let before_recovery = self.state < State::Recovery;
        if fresh {
            self.undo = Some(Undo { cwnd: self.window.cwnd, ssthresh: self.window.ssthresh });
            self.window.ssthresh = self.cc.reduce(&self.window);
        }
        self.cc.on_timeout();
        self.frto = before_recovery || !fresh && self.state == State::Loss;
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.credit = 0;
        self.state = State::Loss;
        self.point = self.board.nxt();
        self.tell_reduced = self.segments.ecn;
        self.reorder_timer = Time::NEVER;
        self.rtt.back_off();
        self.timeout = now + self.rtt.timeout();
        self.una_at_timeout = una;
        self.retransmit(now, una, emit);
    }

    /// Sends what the window allows: first what was lost, then new data.
    pub fn send(&mut self, now: Time, emit: &mut impl FnMut(Packet)) {
        self.restart_after_idle(now);
        let only_new = std::mem::take(&mut self.only_new);
        if self.board.lost() > 0 && self.state >= State::Recovery && !only_new {
            while self.board.in_flight() < self.window.cwnd
                && let Some(seq) = self.board.next_lost()
            {
                self.retransmit(now, seq, emit);
            }
        }
        let mut room = self.window.cwnd.saturating_sub(self.board.in_flight());
        let left = self.segments.count - self.board.nxt();
        let held_back = left > room;
        room = room.min(left);
        for _ in 0..room {
            let seq = self.board.send_new(now);
            let packet = self.new_packet(now, seq);
            emit(packet);
            self.count_in_episode();
        }
        if room > 0 {
            self.last_sent = now;
            if self.timeout == Time::NEVER {
                self.restart_timer(now);
            }
        }
        self.note_usage(held_back);
    }

    /// After an idle period the window is halved for every timeout that has passed (RFC 2861, Linux
    /// `tcp_cwnd_restart`).
    fn restart_after_idle(&mut self, now: Time) {
        let idle = now.since(self.last_sent);
        if self.board.outstanding() > 0 || self.board.nxt() == 0 || idle <= self.rtt.timeout() {
            return;
        }
        let floor = self.segments.initial_window.min(self.window.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(self.window.cwnd / 4 * 3);
        let mut left = idle;
        while left > self.rtt.timeout() && self.window.cwnd > floor {
            left = left - self.rtt.timeout();
            self.window.cwnd = (self.window.cwnd / 2).max(floor);
        }
        self.cc.on_idle(now, idle);
    }

    fn note_usage(&mut self, held_back: bool) {
        let outstanding = self.board.outstanding();
        let new_round = self.board.una() >= self.usage.round_end;
        if new_round
            || held_back
            || !self.usage.limited && outstanding > self.usage.most_outstanding
        {
            let round_end = self.board.nxt();
            self.usage = Usage { most_outstanding: outstanding, limited: held_back, round_end };
        }
    }

    fn new_packet(&mut self, now: Time, seq: u32) -> Packet {
        let mut packet = self.packet(now, seq);
        if self.segments.ecn {
            // RFC 3168 §6.1.5: retransmissions are not ECN-capable, new data is.
            packet.ecn = Ecn::Ect0;
            packet.signal = std::mem::take(&mut self.tell_reduced);
        }
        packet
    }

    fn retransmit(&mut self, now: Time, seq: u32, emit: &mut impl FnMut(Packet)) {
        self.board.retransmit(now, seq);
        self.retransmitted_bytes += u64::from(self.segments.payload(seq));
        self.last_sent = now;
        self.count_in_episode();
        let packet = self.packet(now, seq);
        emit(packet);
    }

    fn packet(&mut self, now: Time, seq: u32) -> Packet {
        let Segments { flow, connection, header_bytes, .. } = self.segments;
        let payload = self.segments.payload(seq);
        self.sent_bytes += u64::from(payload);
        Packet::new(Kind::Data, flow, connection, seq, payload + header_bytes, now)
    }

    fn count_in_episode(&mut self) {
        if matches!(self.state, State::Recovery | State::Cwr) {
            self.prr.on_sent();
        }
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;

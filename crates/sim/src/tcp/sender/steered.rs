//! What a congestion control may take into its own hands: the window, marks, the pace; and what it is told
//! for that.

use sojourn_aqm::Time;

use super::{Sender, State};
use crate::cc::{Ack, Progress, Stage, Steers};
use crate::packet::Packet;
use crate::tcp::pacing;
use crate::tcp::scoreboard::Delivery;

/// What an acknowledgement brought beside deliveries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    pub(super) prior_in_flight: u32,
    pub(super) lost: u32,
    pub(super) marks: u32,
}

impl Sender {
    /// Packets that an acknowledgement reports as marked; with classic feedback one or none. So many packets
    /// it reports as delivered.
    #[inline]
    pub(super) fn read_marks(&mut self, ack: &Packet, delivered: u32) -> u32 {
        match &mut self.accurate {
            Some(reader) => reader.read(ack.ace, ack.ce_bytes, delivered),
            None => u32::from(ack.signal),
        }
    }

    /// Whether the present acknowledgement is left to the congestion control.
    #[inline]
    pub(super) fn is_steered(&self) -> bool {
        match self.needs.steers {
            Steers::Growth => false,
            Steers::Window => self.state != State::Recovery,
            Steers::Everything => true,
        }
    }

    /// Tells the congestion control of an acknowledgement; it sets the window.
    pub(super) fn steer(&mut self, delivery: &Delivery, news: &Ack, tally: Tally) {
        let min_rtt = self.rtt.min();
        let rate = self.rate.as_mut().and_then(|rate| {
            rate.on_delivered(news.now, delivery.packets, delivery.newest, min_rtt)
        });
        let totals = self.rate.as_ref().map_or((0, 0), |rate| (rate.delivered(), rate.lost()));
        let progress = Progress {
            ack: *news,
            in_flight: self.board.in_flight(),
            prior_in_flight: tally.prior_in_flight,
            lost: tally.lost,
            marks: tally.marks,
            limited: self.is_window_limited(),
            stage: match self.state {
                State::Open | State::Disorder | State::Cwr => Stage::Open,
                State::Recovery => Stage::Recovery,
                State::Loss => Stage::Loss,
            },
            srtt: self.rtt.smoothed(),
            delivered_total: totals.0,
            lost_total: totals.1,
            rate,
        };
        self.cc.on_progress(&progress, &mut self.window);
        if let Some(rate) = self.rate.as_mut().filter(|_| self.cc.holds_back()) {
            rate.mark_app_limited(self.board.in_flight());
        }
    }

    /// Tells the congestion control of every packet judged lost.
    pub(super) fn tell_losses(&mut self, now: Time) {
        let Some(rate) = &mut self.rate else { return };
        for seq in self.board.take_fresh_losses() {
            self.cc.on_lost(now, &rate.on_lost(seq), &mut self.window);
        }
    }

    /// The application has nothing more to send, and the window would allow it.
    pub(super) fn note_end_of_data(&mut self) {
        let in_flight = self.board.in_flight();
        let repaired = self.board.next_lost().is_none();
        if let Some(rate) = self.rate.as_mut().filter(|_| repaired && in_flight < self.window.cwnd)
        {
            rate.mark_app_limited(in_flight);
        }
    }

    /// Sets the rate of sending.
    #[inline]
    pub(super) fn set_pace(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            let outstanding = self.board.outstanding();
            let usual = || pacing::rate_of_window(&self.window, outstanding, self.rtt.smoothed());
            pacer.set_rate(self.cc.pacing_rate().or_else(usual));
        }
    }

    /// Whether the pace lets a packet leave now.
    #[inline]
    pub(super) fn may_leave(&self, now: Time) -> bool {
        self.pacer.as_ref().is_none_or(|pacer| pacer.allows(now))
    }

    /// A packet is on its way; the scoreboard has counted it.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Time, seq: u32) {
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now);
        }
        if let Some(rate) = &mut self.rate {
            rate.on_sent(now, seq, self.board.una(), self.board.in_flight());
        }
    }

    /// Sets the alarm for what only the pace holds back.
    #[inline]
    pub(super) fn set_release(&mut self, now: Time) {
        let Some(pacer) = &self.pacer else { return };
        let next = pacer.next();
        let waits = !pacer.allows(now) && self.room() > 0 && self.has_something_to_send();
        self.release = if waits { next } else { Time::NEVER };
    }

    fn has_something_to_send(&mut self) -> bool {
        let again = self.state >= State::Recovery && self.board.next_lost().is_some();
        again || self.board.nxt() < self.segments.count
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Span;

    use super::*;
    use crate::cc::choose;
    use crate::packet::Kind;
    use crate::tcp::profile::{LINUX, Profile};
    use crate::tcp::sender::Segments;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn script_24_a_paced_window_grows_as_an_unpaced_one_and_leaves_in_steps() {
        let segments = Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: false,
            accurate: false,
            count: 30,
            last_payload_bytes: 1000,
            initial_window: 10,
        };
        let cc = (choose("cubic").unwrap().factory)();
        let mut sender = Sender::new(segments, Profile { pacing: true, ..LINUX }, cc);
        sender.on_established(Span::from_millis(100));
        let mut times = Vec::new();
        let (mut now, mut acked) = (Time::ZERO, 0);
        sender.send(now, &mut |_| times.push(now));
        assert_eq!(times, [Time::ZERO; 10], "the first ten leave at once");
        // One acknowledgement per two packets, all at 100 ms.
        while acked < 10 {
            (now, acked) = (ms(100), acked + 2);
            let ack = Packet::new(Kind::Ack, 0, 1, acked, 52, Time::ZERO);
            sender.on_ack(now, &ack, &mut |_| times.push(now));
        }
        assert_eq!(sender.window().cwnd, 20);
        while sender.board.nxt() < 30 {
            now = sender.next_timer();
            sender.on_timer(now, &mut |_| times.push(now));
        }
        // Twice twenty packets per 100 ms: one every 2.5 ms.
        let gaps: Vec<Span> = times[14..].windows(2).map(|pair| pair[1].since(pair[0])).collect();
        assert!(gaps.iter().all(|&gap| gap == Span::from_micros(2500)), "{gaps:?}");
    }
}

//! The interface to the congestion control: windows set by the control itself, losses,
//! delivery-rate samples, and pacing.

use sojourn_aqm::{Span, Time};

use super::{Sender, State};
use crate::cc::{Ack, Progress, RecoveryStage, WindowControl};
use crate::tcp::scoreboard::Delivery;

/// Losses and marks revealed by an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossCounts {
    /// Packets in flight before the acknowledgement.
    pub(super) prior_in_flight: u32,
    /// Packets newly marked lost.
    pub(super) lost: u32,
    /// Packets reported as marked.
    pub(super) marks: u32,
}

impl Sender {
    /// Whether the congestion control sets the window in the current state.
    #[inline]
    pub(super) fn leaves_cwnd_to_control(&self) -> bool {
        match self.needs.window_control {
            WindowControl::Growth => false,
            WindowControl::Window => self.episode.state != State::Recovery,
            WindowControl::Full => true,
        }
    }

    /// Reports an acknowledgement to the congestion control, which sets the window.
    pub(super) fn let_control_set_cwnd(
        &mut self,
        delivery: &Delivery,
        acked: &Ack,
        counts: LossCounts,
    ) {
        let min_rtt = self.rtt.min();
        let rate = self.rate.as_mut().and_then(|rate| {
            rate.on_delivered(acked.now, delivery.packets, delivery.newest, min_rtt)
        });
        let totals = self.rate.as_ref().map_or((0, 0), |rate| (rate.delivered(), rate.lost()));
        let progress = Progress {
            ack: *acked,
            in_flight: self.board.in_flight(),
            prior_in_flight: counts.prior_in_flight,
            lost: counts.lost,
            marks: counts.marks,
            limited: self.is_cwnd_limited(),
            recovery: match self.episode.state {
                State::Open | State::Disorder | State::Cwr => RecoveryStage::Open,
                State::Recovery => RecoveryStage::Recovery,
                State::Loss => RecoveryStage::Loss,
            },
            pacing_wait: self.pacer.as_ref().map_or(Span::ZERO, |pacer| pacer.wait(acked.now)),
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

    /// Reports a round-trip sample to the congestion control.
    #[inline]
    pub(super) fn tell_rtt(&mut self, acked: &Ack) {
        if self.needs.rtt_samples {
            self.cc.on_rtt(acked, &mut self.window);
        }
    }

    /// Reports every packet newly marked lost to the congestion control.
    #[inline]
    pub(super) fn report_losses(&mut self, now: Time) {
        if self.board.has_fresh_losses() {
            self.report_fresh_losses(now);
        }
    }

    fn report_fresh_losses(&mut self, now: Time) {
        let Some(rate) = &mut self.rate else { return };
        for seq in self.board.take_fresh_losses() {
            self.cc.on_lost(now, &rate.on_lost(seq), &mut self.window);
        }
    }

    /// Records that the application has nothing more to send although the window would allow it
    /// (Linux `tcp_rate_check_app_limited`).
    pub(super) fn mark_app_limited(&mut self) {
        let in_flight = self.board.in_flight();
        let repaired = self.board.next_lost().is_none();
        if let Some(rate) = self.rate.as_mut().filter(|_| repaired && in_flight < self.window.cwnd)
        {
            rate.mark_app_limited(in_flight);
        }
    }

    /// Reports that sending resumes with nothing in flight. For a control that samples the delivery
    /// rate, an idle period counts only if the application was the limit (Linux `bbr_cwnd_event`).
    pub(super) fn tell_idle(&mut self, now: Time) {
        if self.rate.as_ref().is_none_or(|rate| rate.is_app_limited()) {
            self.cc.on_idle(now, now.since(self.sent.last_at), &mut self.window);
        }
    }

    /// Sets the pacing rate of the congestion control, or Linux's.
    #[inline]
    pub(super) fn set_pacing_rate(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            let outstanding = self.board.outstanding();
            let usual = || self.window.pacing_rate(outstanding, self.rtt.smoothed());
            pacer.set_rate(self.cc.pacing_rate().or_else(usual));
        }
    }

    /// Whether pacing allows a packet to leave now.
    #[inline]
    pub(super) fn pacing_allows(&self, now: Time) -> bool {
        self.pacer.as_ref().is_none_or(|pacer| pacer.allows(now))
    }

    /// Sets when the next segment may leave, after a burst of `segments`.
    #[inline]
    pub(super) fn pace(&mut self, now: Time, segments: u32) {
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(now, segments);
        }
    }

    /// Records that a packet leaves, for the first time or again; the scoreboard has counted it.
    #[inline]
    pub(super) fn note_sent(&mut self, now: Time, seq: u32, is_new: bool) {
        if let Some(rate) = &mut self.rate {
            if is_new && self.board.outstanding() == 1 {
                rate.restart(now);
            }
            rate.on_sent(seq, self.board.una(), self.board.in_flight());
        }
    }

    /// Sets the timer for a packet held back only by pacing.
    #[inline]
    pub(super) fn set_pacing_timer(&mut self, now: Time) {
        let Some(pacer) = &self.pacer else { return };
        let next = pacer.next();
        let waits = !pacer.allows(now) && self.room() > 0 && self.has_data_to_send();
        self.timers.set_pacing(if waits { next } else { Time::NEVER });
    }

    fn has_data_to_send(&mut self) -> bool {
        let lost = self.episode.state >= State::Recovery && self.board.next_lost().is_some();
        lost || self.unsent() > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::cc::{CongestionControl, Needs, RateSample, Window, configure};
    use crate::packet::{Packet, PacketKind};
    use crate::tcp::profile::{LINUX, Profile};
    use crate::tcp::sender::Segments;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn segments(count: u32) -> Segments {
        Segments {
            flow: 0,
            connection: 1,
            payload_bytes: 1000,
            header_bytes: 52,
            ecn: false,
            accurate: false,
            count,
            last_payload_bytes: 1000,
            initial_window: 10,
        }
    }

    /// packetdrill `slow_start/slow-start-fq-ack-per-2pkt`.
    #[test]
    fn a_paced_window_grows_like_an_unpaced_one_and_its_packets_leave_evenly() {
        let cc = (configure("cubic").unwrap().factory)();
        let mut sender = Sender::new(segments(30), Profile { pacing: true, ..LINUX }, cc);
        sender.on_established(Span::from_millis(100));
        let mut times = Vec::new();
        let (mut now, mut acked) = (Time::ZERO, 0);
        sender.send(now, &mut |_| times.push(now));
        assert_eq!(times, [Time::ZERO; 10], "the first ten leave at once");
        // One acknowledgement per two packets, all at 100 ms.
        while acked < 10 {
            (now, acked) = (ms(100), acked + 2);
            let ack = Packet::new(PacketKind::Ack, 0, 1, acked, 52, Time::ZERO);
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

    /// Linux `tcp_write_xmit` behind `tcp_pacing_check` (fact tcp-56).
    #[test]
    fn a_window_that_pacing_has_not_filled_yet_does_not_limit() {
        let cc = (configure("cubic").unwrap().factory)();
        let mut sender = Sender::new(segments(100), Profile { pacing: true, ..LINUX }, cc);
        sender.on_established(Span::from_millis(100));
        sender.send(Time::ZERO, &mut |_| ());
        sender.window = Window::above(10, 5);
        let ack = Packet::new(PacketKind::Ack, 0, 1, 10, 52, Time::ZERO);
        sender.on_ack(ms(100), &ack, &mut |_| ());
        while sender.board.in_flight() < 10 {
            assert!(!sender.is_cwnd_limited(), "{} in flight", sender.board.in_flight());
            let now = sender.next_timer();
            sender.on_timer(now, &mut |_| ());
        }
        assert!(sender.is_cwnd_limited());
    }

    /// A control that records its inputs: samples of the delivery rate, and idle periods.
    #[derive(Default)]
    struct Recorded {
        samples: Vec<RateSample>,
        idle: Vec<Time>,
    }

    #[derive(Clone, Default)]
    struct Samples(Arc<Mutex<Recorded>>);

    impl CongestionControl for Samples {
        fn needs(&self) -> Needs {
            let window_control = WindowControl::Full;
            Needs { window_control, rate_samples: true, ..Needs::default() }
        }
        fn reduce(&mut self, window: &Window) -> u32 {
            window.cwnd
        }
        fn on_progress(&mut self, progress: &Progress, _: &mut Window) {
            self.0.lock().unwrap().samples.extend(progress.rate);
        }
        fn on_idle(&mut self, now: Time, _: Span, _: &mut Window) {
            self.0.lock().unwrap().idle.push(now);
        }
    }

    fn sampling(count: u32) -> (Sender, Samples) {
        let recorded = Samples::default();
        let mut sender = Sender::new(segments(count), LINUX, Box::new(recorded.clone()));
        sender.on_established(Span::from_millis(100));
        (sender, recorded)
    }

    fn acknowledge(sender: &mut Sender, at: u64, seq: u32) {
        let ack = Packet::new(PacketKind::Ack, 0, 1, seq, 52, Time::ZERO);
        sender.on_ack(ms(at), &ack, &mut |_| {});
    }

    /// Linux `tcp_rate_check_app_limited`, which the first write calls too.
    #[test]
    fn the_application_limits_samples_of_its_first_flight_and_after_it_ran_out_of_data() {
        let (mut sender, recorded) = sampling(15);
        sender.send(Time::ZERO, &mut |_| {}); // ten
        acknowledge(&mut sender, 100, 5);
        acknowledge(&mut sender, 110, 10); // the last five have left
        sender.append(20);
        sender.send(ms(150), &mut |_| {});
        acknowledge(&mut sender, 200, 15);
        acknowledge(&mut sender, 250, 20);
        let samples = &recorded.0.lock().unwrap().samples;
        let limited: Vec<bool> = samples.iter().map(|sample| sample.app_limited).collect();
        assert_eq!(limited, [true, true, false, true]);
    }

    /// Linux `bbr_cwnd_event`.
    #[test]
    fn an_empty_path_is_an_idle_period_only_if_the_application_was_the_limit() {
        let (mut sender, recorded) = sampling(20);
        sender.send(Time::ZERO, &mut |_| {});
        acknowledge(&mut sender, 100, 10); // nothing is in flight, and there is more to send
        acknowledge(&mut sender, 200, 20);
        sender.append(30);
        sender.send(ms(300), &mut |_| {});
        let idle = recorded.0.lock().unwrap().idle.clone();
        assert!(idle.iter().all(|&at| at != ms(100)), "{idle:?}");
        assert!(idle.contains(&Time::ZERO) && idle.contains(&ms(300)), "{idle:?}");
    }

    /// Linux `tcp_rate_skb_sent` checks for outstanding segments, not for segments in flight.
    #[test]
    fn a_timeout_does_not_shorten_the_interval_of_the_next_sample() {
        let (mut sender, recorded) = sampling(100);
        sender.send(Time::ZERO, &mut |_| {});
        let mut due = sender.next_timer();
        while sender.state() != State::Loss {
            due = sender.next_timer();
            sender.on_timer(due, &mut |_| {});
        }
        assert_eq!(sender.in_flight(), 1);
        let mut ack = Packet::new(PacketKind::Ack, 0, 1, 1, 52, due);
        ack.sent = due;
        let back = due + Span::from_millis(100);
        sender.on_ack(back, &ack, &mut |_| {});
        let samples = &recorded.0.lock().unwrap().samples;
        assert_eq!((samples[0].delivered, samples[0].interval), (1, back.since(Time::ZERO)));
    }
}

//! Delivery-rate estimation (draft-ietf-ccwg-bbr §4.1, Linux `tcp_rate.c`).
//!
//! Each packet records the amount delivered when the packet left. When it is acknowledged, the
//! amount delivered since then, divided by the longer of the sending and the acknowledging
//! interval, is a sample; neither a burst of packets nor a burst of acknowledgements can make it
//! too large.

use sojourn_aqm::{Span, Time};

use super::scoreboard::Transmission;
use crate::cc::RateSample;

/// The SYN has been delivered before the first segment (Linux `tcp_clean_rtx_queue`; fact tcp-40).
const SYN: u64 = 1;

/// State recorded with a packet when it left.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

/// The estimator of one connection.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    /// A ring indexed by segment number; its length is the largest number of segments that were
    /// ever outstanding.
    records: Vec<Record>,
    /// Packets delivered, and the time of the last delivery (Linux `tp->delivered`).
    delivered: u64,
    delivered_at: Time,
    /// When the most recently delivered packet left: the start of the next sending interval.
    first_sent: Time,
    lost: u64,
    /// Until this many packets are delivered, samples are application-limited.
    app_limited_until: Option<u64>,
}

impl Default for DeliveryRate {
    /// The estimator before anything was sent.
    fn default() -> DeliveryRate {
        DeliveryRate {
            records: vec![Record::default(); 16],
            delivered: SYN,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            app_limited_until: None,
        }
    }
}

impl DeliveryRate {
    /// Total packets delivered, including the SYN.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Total packets lost.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Restarts the intervals when nothing is outstanding and new data is about to leave. "Nothing
    /// in flight" would not suffice, because segments marked lost may still arrive (Linux
    /// `tcp_rate_skb_sent`).
    pub(crate) fn restart(&mut self, now: Time) {
        (self.first_sent, self.delivered_at) = (now, now);
    }

    /// Records a packet that leaves; `una` is the lowest outstanding number, and `in_flight`
    /// includes this packet.
    pub(crate) fn on_sent(&mut self, seq: u32, una: u32, in_flight: u32) {
        while (seq - una) as usize >= self.records.len() {
            self.grow(una);
        }
        let place = self.place(seq);
        self.records[place] = Record {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight,
            app_limited: self.is_app_limited(),
        };
    }

    fn place(&self, seq: u32) -> usize {
        seq as usize & (self.records.len() - 1)
    }

    fn grow(&mut self, una: u32) {
        let len = self.records.len();
        let mut records = vec![Record::default(); 2 * len];
        for seq in una..una + len as u32 {
            records[seq as usize & (2 * len - 1)] = self.records[seq as usize & (len - 1)];
        }
        self.records = records;
    }

    /// Counts a packet as lost; returns the rate sample since that packet was sent, without an
    /// interval.
    pub(crate) fn on_lost(&mut self, seq: u32) -> RateSample {
        self.lost += 1;
        self.since(&self.records[self.place(seq)])
    }

    fn since(&self, record: &Record) -> RateSample {
        RateSample {
            delivered: self.delivered - record.delivered,
            interval: Span::ZERO,
            prior_delivered: record.delivered,
            in_flight: record.in_flight,
            lost: self.lost - record.lost,
            app_limited: record.app_limited,
        }
    }

    /// Handles an acknowledgement that delivered `packets` packets, of which `newest` was sent
    /// last. An interval shorter than the minimum round-trip time gives no sample: the packet was a
    /// retransmission whose original arrived.
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        packets: u32,
        newest: Option<Transmission>,
        min_rtt: Option<Span>,
    ) -> Option<RateSample> {
        if packets == 0 {
            return None;
        }
        self.delivered += u64::from(packets);
        self.delivered_at = now;
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let newest = newest?; // a duplicate without SACK does not say which packet arrived
        let record = self.records[self.place(newest.seq)];
        let sending = newest.sent.since(record.first_sent);
        let acknowledging = now.since(record.delivered_at);
        self.first_sent = newest.sent;
        let sample = RateSample { interval: sending.max(acknowledging), ..self.since(&record) };
        let possible = min_rtt.is_none_or(|min| sample.interval >= min);
        Some(sample).filter(|sample| possible && sample.interval > Span::ZERO)
    }

    /// Called when the application has nothing more to send: samples of the data in flight are then
    /// application-limited.
    pub(crate) fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some(self.delivered + u64::from(in_flight));
    }

    /// Whether segments sent now give application-limited samples.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn sent_at(seq: u32, millis: u64) -> Option<Transmission> {
        Some(Transmission { sent: ms(millis), seq })
    }

    #[test]
    fn a_steady_flight_is_measured_at_its_rate() {
        // One packet every 10 ms, acknowledged 100 ms later.
        let mut rate = DeliveryRate::default();
        let mut samples = Vec::new();
        for n in 0..60u32 {
            let now = u64::from(n) * 10;
            if n >= 10 {
                let seq = n - 10;
                let min_rtt = Some(Span::from_millis(100));
                samples.push(rate.on_delivered(ms(now), 1, sent_at(seq, now - 100), min_rtt));
            }
            rate.on_sent(n, n.saturating_sub(9), (n + 1).min(10));
        }
        let last = samples.last().unwrap().expect("a full flight gives a sample");
        assert_eq!((last.delivered, last.interval), (10, Span::from_millis(100)));
        assert!((last.rate() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn compressed_acknowledgements_do_not_raise_the_rate() {
        // Ten packets leave over 90 ms; all their acknowledgements arrive at once.
        let mut rate = DeliveryRate::default();
        (0..10u32).for_each(|n| rate.on_sent(n, 0, n + 1));
        let sample = rate.on_delivered(ms(200), 10, sent_at(9, 90), None).unwrap();
        assert_eq!((sample.delivered, sample.interval), (10, Span::from_millis(200)));
    }

    #[test]
    fn an_interval_below_the_smallest_round_trip_is_not_a_sample() {
        let mut rate = DeliveryRate::default();
        rate.restart(ms(0));
        rate.on_sent(0, 0, 1);
        assert_eq!(rate.on_delivered(ms(50), 1, sent_at(0, 0), Some(Span::from_millis(60))), None);
    }

    #[test]
    fn samples_are_limited_by_the_application_until_its_flight_is_delivered() {
        let mut rate = DeliveryRate::default();
        rate.on_sent(0, 0, 1);
        rate.mark_app_limited(1);
        rate.on_sent(1, 0, 2);
        let first = rate.on_delivered(ms(100), 1, sent_at(0, 0), None).unwrap();
        assert!(!first.app_limited, "it left before");
        rate.on_sent(2, 1, 2);
        assert!(rate.on_delivered(ms(110), 1, sent_at(1, 10), None).unwrap().app_limited);
        rate.on_sent(3, 2, 2);
        let last = rate.on_delivered(ms(210), 2, sent_at(3, 110), None).unwrap();
        assert!(!last.app_limited);
    }

    #[test]
    fn the_sample_of_a_lost_packet_has_the_losses_since_it_left() {
        let mut rate = DeliveryRate::default();
        (0..40u32).for_each(|n| rate.on_sent(n, 0, n + 1));
        let lost: Vec<RateSample> = [7, 8, 9].map(|seq| rate.on_lost(seq)).to_vec();
        assert_eq!(
            lost.iter().map(|s| (s.in_flight, s.lost)).collect::<Vec<_>>(),
            [(8, 1), (9, 2), (10, 3)]
        );
    }
}

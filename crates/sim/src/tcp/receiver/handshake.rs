//! The round trip of the handshake at the end that receives data (Linux 6.1
//! `tcp_synack_rtt_meas`).

use std::mem;

use sojourn_aqm::Time;

use super::Receiver;
use crate::tcp::rtt::rtt_of_echo;

impl Receiver {
    /// Records that a SYN-ACK is sent, for the first time or again, for a duplicate SYN or by the
    /// timer (Linux `tcp_check_req` counts both).
    pub fn on_syn_ack(&mut self, now: Time) {
        if self.syn_acks == 0 {
            self.opened = now;
        }
        self.syn_acks = self.syn_acks.saturating_add(1);
    }

    /// Handles a packet with this timestamp echo, in milliseconds; the first acknowledges the
    /// SYN-ACK.
    #[inline]
    pub fn on_established(&mut self, now: Time, echo: u32) {
        if self.opened != Time::NEVER {
            self.complete_handshake(now, echo);
        }
    }

    /// With several SYN-ACKs, only an echo tells which was acknowledged (RFC 6298 §3).
    #[cold]
    fn complete_handshake(&mut self, now: Time, echo: u32) {
        let opened = mem::replace(&mut self.opened, Time::NEVER);
        let rtt = match self.syn_acks {
            1 => Some(now.since(opened)),
            _ => self.timestamps.then(|| rtt_of_echo(now, echo)),
        };
        self.acks.on_established(rtt);
        self.window.on_established(now);
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Span;

    use super::*;
    use crate::tcp::profile::LINUX;
    use crate::tcp::rtt::stamp;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// A receiver that sent SYN-ACKs at these times and received the acknowledgement at 900.3 ms.
    fn answered(sent_us: &[u64], timestamps: bool, echo: u32) -> Receiver {
        let mut receiver = Receiver::new(LINUX.ack, true).with_timestamps(timestamps);
        sent_us.iter().for_each(|&us| receiver.on_syn_ack(at(us)));
        receiver.on_established(at(900_300), echo);
        receiver
    }

    fn rtt(sent_us: &[u64], timestamps: bool, echoed_us: u64) -> Option<Span> {
        answered(sent_us, timestamps, stamp(at(echoed_us))).acks.rtt()
    }

    #[test]
    fn one_syn_ack_gives_a_round_trip_to_the_microsecond() {
        for timestamps in [true, false] {
            let rtt = rtt(&[500_900], timestamps, 500_900);
            assert_eq!(rtt, Some(Span::from_micros(399_400)));
        }
    }

    /// Fact tcp-39.
    #[test]
    fn of_several_syn_acks_the_one_whose_timestamp_is_echoed_gives_a_round_trip_in_ticks() {
        assert_eq!(rtt(&[500_900, 899_000], true, 500_900), Some(Span::from_millis(400)));
        assert_eq!(rtt(&[500_900, 900_100], true, 900_100), Some(Span::from_millis(1)));
        assert_eq!(rtt(&[500_900, 899_000], false, 0), None, "nothing tells which");
    }

    #[test]
    fn an_old_copy_of_the_syn_begins_no_other_handshake() {
        let mut receiver = answered(&[500_900], true, 0);
        receiver.on_syn_ack(at(950_000));
        receiver.on_established(at(951_000), stamp(at(950_000)));
        assert_eq!(receiver.acks.rtt(), Some(Span::from_micros(399_400)));
    }
}

//! The path as BBR v1 and v3 see it: bandwidth-delay products, the pace, and bursts of the host (Linux 6.1
//! `bbr_bdp`, `bbr_set_pacing_rate`, `bbr_tso_segs_goal`; endpoints sheet §2.7).

use sojourn_aqm::Span;

use super::Start;

/// What the host sends at once: 2^-10 s at the pace (Linux `sk_pacing_shift`).
pub const BURST: Span = Span::from_nanos(1_000_000_000 >> 10);
/// The pace stays 1 % below the bandwidth (Linux `bbr_pacing_margin_percent`).
pub const MARGIN: f64 = 0.99;
/// The window never falls below (Linux `bbr_cwnd_min_target`).
pub const MIN_CWND: u32 = 4;
/// Assumed before the first sample.
const NOMINAL_RTT: Span = Span::from_millis(1);
/// Below this rate the host sends single segments (Linux `bbr_min_tso_rate`), in bit/s.
const MIN_BURST_RATE: f64 = 1_200_000.0;
/// The most bytes of one burst.
const MAX_BURST_BYTES: f64 = 65_536.0;

/// The path of one connection.
#[derive(Clone, Debug, Default)]
pub struct Pipe {
    /// The smallest round-trip time, while it holds.
    pub min_rtt: Option<Span>,
    /// Packets per second to send at.
    pub pace: f64,
    /// Initial window in packets.
    pub initial_window: u32,
    /// Payload of a full segment.
    pub payload_bytes: u32,
    has_rtt: bool,
}

impl Pipe {
    /// At the start the pace is `gain` initial windows per round trip.
    pub fn new(start: &Start, gain: f64) -> Pipe {
        let mut pipe = Pipe {
            min_rtt: start.rtt,
            pace: 0.0,
            initial_window: start.initial_window,
            payload_bytes: start.payload_bytes,
            has_rtt: start.rtt.is_some(),
        };
        pipe.pace = pace_of_window(start.initial_window, start.rtt.unwrap_or(NOMINAL_RTT), gain);
        pipe
    }

    /// Sets the pace to `gain` times `bw`. Before the pipe is full it only rises.
    pub fn set_pace(&mut self, bw: f64, gain: f64, is_full: bool) {
        let pace = gain * bw * MARGIN;
        if is_full || pace > self.pace {
            self.pace = pace;
        }
    }

    /// The first round-trip sample of a connection whose handshake gave none.
    pub fn take_first_rtt(&mut self, srtt: Span, cwnd: u32, gain: f64) {
        if !self.has_rtt && srtt > Span::ZERO {
            self.has_rtt = true;
            self.pace = pace_of_window(cwnd, srtt, gain);
        }
    }

    /// Packets that the host sends in one burst.
    pub fn burst(&self) -> u32 {
        let payload = f64::from(self.payload_bytes);
        let least = if self.pace * payload * 8.0 < MIN_BURST_RATE { 1 } else { 2 };
        let packets = (self.pace * BURST.as_secs()).min(MAX_BURST_BYTES / payload);
        (packets as u32).max(least)
    }

    /// `gain` bandwidth-delay products, rounded up.
    pub fn products(&self, bw: f64, gain: f64) -> u32 {
        match self.min_rtt {
            Some(min_rtt) => libm::ceil(bw * min_rtt.as_secs() * gain) as u32,
            None => self.initial_window,
        }
    }
}

fn pace_of_window(cwnd: u32, rtt: Span, gain: f64) -> f64 {
    gain * f64::from(cwnd) / rtt.as_secs() * MARGIN
}

/// Rounds that the maximum of the bandwidth is taken over (Linux `bbr_bw_rtts`).
const ROUNDS: usize = 10;

/// The largest value of the last ten rounds, the present one included.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundMax {
    of_round: [f64; ROUNDS],
    round: usize,
}

impl RoundMax {
    /// A round begins, and the oldest is forgotten.
    pub fn start_round(&mut self) {
        self.round = (self.round + 1) % ROUNDS;
        self.of_round[self.round] = 0.0;
    }

    /// Takes in a value.
    pub fn take(&mut self, value: f64) {
        self.of_round[self.round] = self.of_round[self.round].max(value);
    }

    /// The largest; zero without values.
    pub fn max(&self) -> f64 {
        self.of_round.iter().fold(0.0, |max, &value| max.max(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_is_forgotten_after_ten_rounds() {
        let mut bw = RoundMax::default();
        bw.take(5.0);
        for _ in 0..9 {
            bw.start_round();
            bw.take(3.0);
            assert_eq!(bw.max(), 5.0);
        }
        bw.start_round();
        assert_eq!(bw.max(), 3.0);
    }
}

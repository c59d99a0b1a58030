//! A player that fetches video in chunks over TCP and chooses the rate of each chunk.

use sojourn_aqm::{Rate, Time};
use sojourn_scenario::resolved::{Adaptation, Chunks};

use crate::FinishedTransfer;

/// The state of a player between two chunks.
#[derive(Debug)]
pub struct Player {
    chunks: Chunks,
    /// Index of the current rate in the ladder.
    rung: usize,
    /// When playback runs out of the chunks that have arrived.
    dry: Time,
}

/// With `throughput`, at most this fraction of the last chunk's throughput (our choice, a margin
/// for variations).
const SAFETY_MARGIN: f64 = 0.8;
/// The rate map of BBA-0, as shares of the buffer: the lowest rate up to a level of 90 s, the
/// highest from 216 s on, in a buffer of 240 s (Huang et al. 2014 §4).
const RESERVOIR: f64 = 90.0 / 240.0;
const CUSHION_END: f64 = 216.0 / 240.0;

impl Player {
    /// A player before its first chunk, which has the lowest rate.
    pub fn new(chunks: Chunks) -> Player {
        debug_assert!(!chunks.rates.is_empty(), "the scenario was checked");
        Player { chunks, rung: 0, dry: Time::ZERO }
    }

    /// The size in bytes of the next chunk.
    pub fn next_bytes(&self) -> u64 {
        self.chunks.rates[self.rung].bytes_in(self.chunks.every).max(1)
    }

    /// When the next chunk is requested, after one that arrives now; picks its rate.
    pub fn next_start(&mut self, finished: &FinishedTransfer, now: Time) -> Time {
        let every = self.chunks.every;
        self.dry = self.dry.max(now) + every;
        let next = match self.chunks.buffer {
            None => now.max(finished.start + every),
            Some(buffer) => {
                let full_ns = (buffer - every).as_nanos();
                now.max(Time::from_nanos(self.dry.as_nanos().saturating_sub(full_ns)))
            }
        };
        self.rung = match (self.chunks.adaptation, self.chunks.buffer) {
            (Adaptation::Buffer, Some(buffer)) => {
                self.by_level(self.dry.since(next).as_secs() / buffer.as_secs())
            }
            _ => self.by_throughput(finished, now),
        };
        next
    }

    /// The highest rate that the last chunk's throughput affords.
    fn by_throughput(&self, finished: &FinishedTransfer, now: Time) -> usize {
        let seconds = now.since(finished.start).as_secs();
        let affordable = SAFETY_MARGIN * finished.bytes as f64 * 8.0 / seconds;
        let fits = |rate: &&Rate| rate.as_bps() as f64 <= affordable;
        self.chunks.rates.iter().take_while(fits).count().saturating_sub(1)
    }

    /// The rate for a fill level of the buffer, from 0 to 1 (Huang et al. 2014, Algorithm 1): it
    /// changes only if the map's rate passes the next rate of the ladder.
    fn by_level(&self, level: f64) -> usize {
        let (rates, last) = (&self.chunks.rates, self.chunks.rates.len() - 1);
        let bps = |rung: usize| rates[rung].as_bps() as f64;
        if level <= RESERVOIR {
            return 0;
        }
        if level >= CUSHION_END {
            return last;
        }
        let mapped =
            bps(0) + (bps(last) - bps(0)) * (level - RESERVOIR) / (CUSHION_END - RESERVOIR);
        let found = if mapped >= bps((self.rung + 1).min(last)) {
            (0..=last).rev().find(|&rung| bps(rung) < mapped)
        } else if mapped <= bps(self.rung.saturating_sub(1)) {
            (0..=last).find(|&rung| bps(rung) > mapped)
        } else {
            None
        };
        found.unwrap_or(self.rung)
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::Span;

    use super::*;

    /// A player of chunks of 2 s at 1, 2 or 4 Mbit/s.
    fn player(buffer: Option<u64>, adaptation: Adaptation) -> Player {
        let rates = [1, 2, 4].map(|mbit| Rate::from_bps(mbit * 1_000_000)).to_vec();
        let (every, buffer) = (Span::from_secs(2), buffer.map(Span::from_secs));
        Player::new(Chunks { every, rates, buffer, adaptation })
    }

    fn secs(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    #[test]
    fn a_player_begins_at_the_lowest_rate_and_requests_what_the_last_chunk_could_afford() {
        let mut player = player(None, Adaptation::Throughput);
        let bytes = player.next_bytes();
        assert_eq!(bytes, 250_000);
        // 250 kB in 1 s are 2 Mbit/s; 0.8 of that suffices only for 1 Mbit/s.
        let chunk = FinishedTransfer { start: Time::ZERO, bytes };
        assert_eq!(player.next_start(&chunk, secs(1)), secs(2));
        assert_eq!(player.next_bytes(), 250_000);
        // 250 kB in 0.5 s are 4 Mbit/s; 0.8 of that suffices for 2 Mbit/s.
        let half = Time::ZERO + Span::from_millis(500);
        assert_eq!(player.next_start(&chunk, half), secs(2));
        assert_eq!(player.next_bytes(), 500_000);
    }

    #[test]
    fn a_player_that_is_late_requests_at_once() {
        let mut player = player(None, Adaptation::Throughput);
        let chunk = FinishedTransfer { start: Time::ZERO, bytes: 250_000 };
        assert_eq!(player.next_start(&chunk, secs(5)), secs(5));
        assert_eq!(player.next_bytes(), 250_000);
    }

    /// A buffer of 6 s has room for a chunk of 2 s while it holds at most 4 s. The first two chunks
    /// last until 2 s and 4 s, so the next are requested at once. The third and fourth last until 6
    /// s and 8 s, so the next are requested at 2 s and 4 s.
    #[test]
    fn a_player_fetches_ahead_until_its_buffer_has_no_room_for_a_chunk() {
        let mut player = player(Some(6), Adaptation::Throughput);
        let chunk = |start| FinishedTransfer { start: secs(start), bytes: 250_000 };
        let starts = [chunk(0), chunk(1), chunk(1), chunk(3)]
            .map(|chunk| player.next_start(&chunk, chunk.start + Span::from_nanos(1)).as_nanos());
        let second = 1_000_000_000;
        assert_eq!(starts, [1, second + 1, 2 * second + 1, 4 * second + 1]);
    }

    /// In a buffer of 40 s the map rises from 1 Mbit/s at 15 s to 4 Mbit/s at 36 s, and is 2 Mbit/s
    /// at 22 s. When the level falls below 22 s, the lowest rate above the map's rate is 2 Mbit/s.
    #[test]
    fn a_buffer_based_player_follows_the_map_with_hysteresis() {
        let mut player = player(Some(40), Adaptation::Buffer);
        let mut rungs = Vec::new();
        for level_s in [15.0, 21.9, 22.1, 35.0, 36.0, 23.0, 22.1, 21.9, 16.0, 15.0] {
            player.rung = player.by_level(level_s / 40.0);
            rungs.push(player.rung);
        }
        assert_eq!(rungs, [0, 0, 1, 1, 2, 2, 2, 1, 1, 0]);
    }

    #[test]
    fn a_ladder_of_one_rate_has_one_choice() {
        let rates = vec![Rate::from_bps(1_000_000)];
        let (every, buffer) = (Span::from_secs(2), Some(Span::from_secs(40)));
        let chunks = Chunks { every, rates, buffer, adaptation: Adaptation::Buffer };
        let player = Player::new(chunks);
        assert_eq!([0.0, 0.5, 1.0].map(|level| player.by_level(level)), [0; 3]);
    }
}

//! Delays of TCP's packets from what was seen at its ends: one way from the sender's interface to the
//! receiver, and the round trip that the simulator's observer finds beside a sender.

use std::collections::BTreeMap;
use std::path::Path;

use sojourn_aqm::Time;
use sojourn_measure::{ClassStats, RoundTrips};

use super::counts;
use super::stories::rows;
use crate::plan::Plan;
use crate::record_files::{AT_RECEIVERS, BESIDE_SENDERS};
use crate::seen::{SIGHTING_BYTES, Sight, Sighting};

/// Positions of a connection begin here, so that none is negative.
const ORIGIN: u64 = 1 << 32;

/// Adds what was seen after the warm-up to the classes of the flows.
///
/// # Errors
/// A sentence, where a file is missing or not whole.
pub fn add(
    folder: &Path,
    plan: &Plan,
    class_of: &[usize],
    classes: &mut [ClassStats],
) -> Result<(), String> {
    if plan.watch.is_none() {
        return Ok(());
    }
    let read = Sighting::read as fn(&[u8; SIGHTING_BYTES]) -> Option<Sighting>;
    let mut sightings = rows(folder, BESIDE_SENDERS, read)?;
    sightings.extend(rows(folder, AT_RECEIVERS, read)?);
    sightings.sort_by_key(|seen| (seen.at_ns, seen.sight));
    add_all(&sightings, plan, class_of, classes);
    Ok(())
}

/// A packet as its sender named it, and the connection that it belongs to.
type Connection = (u32, u16);
type Name = (Connection, u16, u32);

fn add_all(sightings: &[Sighting], plan: &Plan, class_of: &[usize], classes: &mut [ClassStats]) {
    let mut watched: BTreeMap<Connection, Watched> = BTreeMap::new();
    let mut on_the_way: BTreeMap<Name, Time> = BTreeMap::new();
    let in_run = |seen: &&Sighting| seen.at_ns >= 0 && (seen.at_ns as u64) < plan.duration_ns;
    for seen in sightings.iter().filter(in_run) {
        let now = Time::from_nanos(seen.at_ns as u64);
        let connection = (seen.flow, seen.port);
        let name = (connection, seen.ident, seen.number);
        let class = &mut classes[class_of[seen.flow as usize]];
        match seen.sight {
            Sight::Opened => drop(watched.remove(&connection)),
            Sight::Sent => {
                on_the_way.insert(name, now);
                watched.entry(connection).or_insert_with(|| Watched::new(seen)).sent(now, seen);
            }
            Sight::Received => {
                if let Some(sent) = on_the_way.remove(&name).filter(|_| counts(now, plan)) {
                    class.one_way.add(now.since(sent).as_nanos());
                }
            }
            Sight::Acknowledged => {
                let Some(watched) = watched.get_mut(&connection) else { continue };
                watched.acknowledged(now, seen);
                for rtt in watched.observer.take_samples().filter(|_| counts(now, plan)) {
                    class.rtt.add(rtt.as_nanos());
                }
            }
        }
    }
}

/// A connection with its observer. TCP's numbers of 32 bits become positions that only grow.
struct Watched {
    observer: RoundTrips,
    first: u32,
    latest: u64,
}

impl Watched {
    fn new(seen: &Sighting) -> Watched {
        Watched { observer: RoundTrips::default(), first: seen.number, latest: ORIGIN }
    }

    fn sent(&mut self, now: Time, seen: &Sighting) {
        let start = self.position(seen.number);
        let end = start + u64::from(seen.bytes);
        self.latest = self.latest.max(end);
        self.observer.sent(now, seen.port, start..end);
    }

    fn acknowledged(&mut self, now: Time, seen: &Sighting) {
        let before = self.position(seen.number);
        self.observer.acknowledged(now, seen.port, before);
    }

    /// The position of a number: the one that is nearest to the latest.
    fn position(&self, number: u32) -> u64 {
        let offset = number.wrapping_sub(self.first).wrapping_sub(self.latest as u32);
        self.latest.wrapping_add_signed(i64::from(offset as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::sample::plan;

    fn seen(ms: i64, sight: Sight, number: u32, ident: u16) -> Sighting {
        let at_ns = ms * 1_000_000;
        Sighting { at_ns, flow: 0, port: 40_000, number, bytes: 1448, ident, sight }
    }

    /// Milliseconds of one-way delays and round trips: how many, and the largest.
    fn delays(sightings: &[Sighting]) -> [(u64, u64); 2] {
        let mut classes = [ClassStats::default()];
        add_all(sightings, &plan(), &[0], &mut classes);
        let all = [&classes[0].one_way, &classes[0].rtt];
        all.map(|delays| (delays.count(), delays.max_ns().unwrap_or(0) / 1_000_000))
    }

    #[test]
    fn a_packet_is_timed_to_its_receiver_and_back_across_the_end_of_the_numbers() {
        let first = u32::MAX - 2000;
        let second = first.wrapping_add(1448);
        let (third, behind) = (second.wrapping_add(1448), second.wrapping_add(2 * 1448));
        let mut sightings = vec![
            seen(1000, Sight::Sent, first, 1),
            seen(1001, Sight::Sent, second, 2),
            seen(1002, Sight::Sent, third, 3),
            seen(1021, Sight::Received, first, 1),
            seen(1022, Sight::Received, second, 2),
            seen(1023, Sight::Received, third, 3),
            seen(1043, Sight::Acknowledged, behind, 9),
        ];
        assert_eq!(delays(&sightings), [(3, 21), (3, 43)]);
        // Sent again: both copies have a way, neither has a round trip.
        sightings.insert(3, seen(1010, Sight::Sent, second, 4));
        sightings.insert(7, seen(1031, Sight::Received, second, 4));
        assert_eq!(delays(&sightings), [(4, 21), (2, 43)]);
    }

    #[test]
    fn what_comes_in_the_warm_up_or_after_the_end_does_not_count() {
        let early = [seen(900, Sight::Sent, 7, 1), seen(999, Sight::Received, 7, 1)];
        let late = [seen(1990, Sight::Sent, 7, 1), seen(2000, Sight::Received, 7, 1)];
        assert_eq!(delays(&[early, late].concat()), [(0, 0), (0, 0)]);
    }

    #[test]
    fn a_port_that_opens_again_is_another_connection() {
        let sightings = [
            seen(1000, Sight::Sent, 7, 1),
            seen(1100, Sight::Opened, 4_000_000, 0),
            seen(1110, Sight::Sent, 4_000_001, 1),
            seen(1150, Sight::Acknowledged, 4_001_449, 2),
        ];
        assert_eq!(delays(&sightings)[1], (1, 40));
    }
}

//! Delays of TCP packets from captures at the ends of their connections: the one-way delay from the
//! sender's interface to the receiver, and the RTT that the simulator's observer measures at the
//! sender.

use std::collections::BTreeMap;
use std::path::Path;

use sojourn_aqm::Time;
use sojourn_measure::{ClassStats, RoundTrips};

use super::packet_records::rows;
use super::tables::is_counted;
use crate::captures::{ENDPOINT_CAPTURE_BYTES, EndpointCapture, EndpointEvent};
use crate::plan::Plan;
use crate::run_files::{RECEIVER_CAPTURES, SENDER_CAPTURES};

/// Stream positions start here, so that none becomes negative.
const ORIGIN: u64 = 1 << 32;

/// Adds the delays after the warm-up to the classes of the flows.
///
/// # Errors
/// Returns a sentence if a file is missing or incomplete.
pub(super) fn add(
    folder: &Path,
    plan: &Plan,
    class_of: &[usize],
    classes: &mut [ClassStats],
) -> Result<(), String> {
    if plan.sender_capture.is_none() {
        return Ok(());
    }
    let read =
        EndpointCapture::read as fn(&[u8; ENDPOINT_CAPTURE_BYTES]) -> Option<EndpointCapture>;
    let mut captures = rows(folder, SENDER_CAPTURES, read)?;
    captures.extend(rows(folder, RECEIVER_CAPTURES, read)?);
    captures.sort_by_key(|capture| (capture.at_ns, capture.event));
    add_all(&captures, plan, class_of, classes);
    Ok(())
}

/// Flow and sender's port.
type ConnectionId = (u32, u16);
/// Connection, IP identification and sequence number.
type PacketId = (ConnectionId, u16, u32);

fn add_all(
    captures: &[EndpointCapture],
    plan: &Plan,
    class_of: &[usize],
    classes: &mut [ClassStats],
) {
    let mut observed: BTreeMap<ConnectionId, ObservedConnection> = BTreeMap::new();
    let mut in_flight: BTreeMap<PacketId, Time> = BTreeMap::new();
    let in_run = |capture: &&EndpointCapture| {
        capture.at_ns >= 0 && (capture.at_ns as u64) < plan.duration_ns
    };
    for capture in captures.iter().filter(in_run) {
        let now = Time::from_nanos(capture.at_ns as u64);
        let connection = (capture.flow, capture.port);
        let packet = (connection, capture.ident, capture.number);
        let class = &mut classes[class_of[capture.flow as usize]];
        match capture.event {
            EndpointEvent::Opened => drop(observed.remove(&connection)),
            EndpointEvent::Sent => {
                in_flight.insert(packet, now);
                let observed = observed.entry(connection);
                observed.or_insert_with(|| ObservedConnection::new(capture)).sent(now, capture);
            }
            EndpointEvent::Received => {
                if let Some(sent) = in_flight.remove(&packet).filter(|_| is_counted(now, plan)) {
                    class.one_way.add(now.since(sent).as_nanos());
                }
            }
            EndpointEvent::Acknowledged => {
                let Some(observed) = observed.get_mut(&connection) else { continue };
                observed.acknowledged(now, capture);
                for rtt in observed.observer.take_samples().filter(|_| is_counted(now, plan)) {
                    class.rtt.add(rtt.as_nanos());
                }
            }
        }
    }
}

/// A connection with its observer. Extends 32-bit sequence numbers to stream positions, which never
/// wrap.
struct ObservedConnection {
    observer: RoundTrips,
    first: u32,
    latest: u64,
}

impl ObservedConnection {
    fn new(capture: &EndpointCapture) -> ObservedConnection {
        let first = capture.number;
        ObservedConnection { observer: RoundTrips::default(), first, latest: ORIGIN }
    }

    fn sent(&mut self, now: Time, capture: &EndpointCapture) {
        let start = self.position(capture.number);
        let end = start + u64::from(capture.bytes);
        self.latest = self.latest.max(end);
        self.observer.sent(now, capture.port, start..end);
    }

    fn acknowledged(&mut self, now: Time, capture: &EndpointCapture) {
        let before = self.position(capture.number);
        self.observer.acknowledged(now, capture.port, before);
    }

    /// The position of a sequence number: the candidate nearest to the latest position.
    fn position(&self, number: u32) -> u64 {
        let offset = number.wrapping_sub(self.first).wrapping_sub(self.latest as u32);
        self.latest.wrapping_add_signed(i64::from(offset as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::test_plan::plan;

    fn capture(ms: i64, event: EndpointEvent, number: u32, ident: u16) -> EndpointCapture {
        let at_ns = ms * 1_000_000;
        EndpointCapture { at_ns, flow: 0, port: 40_000, number, bytes: 1448, ident, event }
    }

    /// One-way delays and RTTs: the number of each, and the largest in milliseconds.
    fn delays(captures: &[EndpointCapture]) -> [(u64, u64); 2] {
        let mut classes = [ClassStats::default()];
        add_all(captures, &plan(), &[0], &mut classes);
        let all = [&classes[0].one_way, &classes[0].rtt];
        all.map(|delays| (delays.count(), delays.max_ns().unwrap_or(0) / 1_000_000))
    }

    #[test]
    fn one_way_delay_and_round_trip_survive_a_wrap_of_the_sequence_numbers() {
        let first = u32::MAX - 2000;
        let second = first.wrapping_add(1448);
        let (third, behind) = (second.wrapping_add(1448), second.wrapping_add(2 * 1448));
        let mut captures = vec![
            capture(1000, EndpointEvent::Sent, first, 1),
            capture(1001, EndpointEvent::Sent, second, 2),
            capture(1002, EndpointEvent::Sent, third, 3),
            capture(1021, EndpointEvent::Received, first, 1),
            capture(1022, EndpointEvent::Received, second, 2),
            capture(1023, EndpointEvent::Received, third, 3),
            capture(1043, EndpointEvent::Acknowledged, behind, 9),
        ];
        assert_eq!(delays(&captures), [(3, 21), (3, 43)]);
        // A retransmission: both copies have a one-way delay, and neither has an RTT.
        captures.insert(3, capture(1010, EndpointEvent::Sent, second, 4));
        captures.insert(7, capture(1031, EndpointEvent::Received, second, 4));
        assert_eq!(delays(&captures), [(4, 21), (2, 43)]);
    }

    #[test]
    fn packets_in_the_warm_up_or_after_the_end_do_not_count() {
        let early =
            [capture(900, EndpointEvent::Sent, 7, 1), capture(999, EndpointEvent::Received, 7, 1)];
        let late = [
            capture(1990, EndpointEvent::Sent, 7, 1),
            capture(2000, EndpointEvent::Received, 7, 1),
        ];
        assert_eq!(delays(&[early, late].concat()), [(0, 0), (0, 0)]);
    }

    #[test]
    fn a_port_that_is_reused_is_another_connection() {
        let captures = [
            capture(1000, EndpointEvent::Sent, 7, 1),
            capture(1100, EndpointEvent::Opened, 4_000_000, 0),
            capture(1110, EndpointEvent::Sent, 4_000_001, 1),
            capture(1150, EndpointEvent::Acknowledged, 4_001_449, 2),
        ];
        assert_eq!(delays(&captures)[1], (1, 40));
    }
}

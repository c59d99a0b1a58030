//! Frames of a wireless LAN, as written by the runner of ns-3.

use std::collections::VecDeque;
use std::path::Path;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_measure::LinkProbe;
use sojourn_scenario::Resolved;
use sojourn_scenario::wlan_timing::OfdmRate;

use super::packet_records::rows;
use crate::plan::Plan;
use crate::run_files::FRAMES;

/// Bytes of a [`Frame`] in its file.
const FRAME_BYTES: usize = 20;
/// The unit of a frame's rate, in bit/s.
const RATE_UNIT: u64 = 100_000;

/// One transmission of a frame that carries a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    start: Time,
    /// How long it kept the medium busy, including its acknowledgement.
    busy: Span,
    rate_bps: u64,
    /// Size of the packet.
    bytes: u32,
    /// The index of its link in the plan.
    link: usize,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Failed,
    Received,
    GivenUp,
}

impl Frame {
    fn read(row: &[u8; FRAME_BYTES]) -> Option<Frame> {
        let start = u64::from_le_bytes(row[..8].try_into().expect("8 bytes"));
        let busy = u32::from_le_bytes(row[8..12].try_into().expect("4 bytes"));
        let short = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        Some(Frame {
            start: Time::from_nanos(start),
            busy: Span::from_nanos(u64::from(busy)),
            rate_bps: u64::from(short(12)) * RATE_UNIT,
            bytes: u32::from(short(14)),
            link: usize::from(short(16)),
            outcome: *[Outcome::Failed, Outcome::Received, Outcome::GivenUp]
                .get(usize::from(row[18]))?,
        })
    }

    /// When its exchange ends.
    pub(super) fn end(&self) -> Time {
        self.start + self.busy
    }

    /// Reports it at its end.
    pub(super) fn report(&self, mut probe: LinkProbe<'_, true>) {
        let received = (self.outcome == Outcome::Received).then_some(self.bytes);
        match OfdmRate::new(Rate::from_bps(self.rate_bps)) {
            Some(rate) => probe.sent_frame(self.busy, rate, received),
            None => probe.sent_other_frame(self.busy, received),
        }
        if self.outcome == Outcome::GivenUp {
            probe.gave_up_counted();
        }
    }
}

/// The frames of each link of the scenario, ordered by their ends; empty without a wireless LAN.
///
/// # Errors
/// Returns a sentence if the file is missing or incomplete.
pub(super) fn read(
    folder: &Path,
    scenario: &Resolved,
    plan: &Plan,
) -> Result<Vec<VecDeque<Frame>>, String> {
    let mut of_link = vec![VecDeque::new(); scenario.links.len()];
    if plan.stations.is_empty() {
        return Ok(of_link);
    }
    let links: Vec<usize> = plan.router_links().map(|link| usize::from(link.index)).collect();
    let read = Frame::read as fn(&[u8; FRAME_BYTES]) -> Option<Frame>;
    for frame in rows(folder, FRAMES, read)? {
        let link = links.get(frame.link).ok_or_else(|| format!("{FRAMES}: no such link"))?;
        of_link[*link].push_back(frame);
    }
    Ok(of_link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_the_runner_writes_it() {
        let mut row = [0; FRAME_BYTES];
        row[..8].copy_from_slice(&5_000_u64.to_le_bytes());
        row[8..12].copy_from_slice(&298_000_u32.to_le_bytes());
        row[12..14].copy_from_slice(&540_u16.to_le_bytes());
        row[14..16].copy_from_slice(&1500_u16.to_le_bytes());
        (row[16], row[18]) = (1, 2);
        let frame = Frame::read(&row).unwrap();
        assert_eq!(frame.end(), Time::from_nanos(303_000));
        assert_eq!((frame.rate_bps, frame.bytes, frame.link), (54_000_000, 1500, 1));
        assert_eq!(frame.outcome, Outcome::GivenUp);
        row[18] = 3;
        assert_eq!(Frame::read(&row), None);
    }
}

//! Puts frames together at the client, and shows them in order.

use std::collections::BTreeMap;

use sojourn_aqm::{Span, Time};
use sojourn_endpoint::FrameNumber;

use crate::payload::Part;

/// The frames that may still be shown.
#[derive(Debug)]
pub(crate) struct JitterBuffer {
    frames: BTreeMap<FrameNumber, Arriving>,
    /// The first frame that may still be shown.
    next: FrameNumber,
    wait: Span,
}

/// A frame of which at least one part has arrived.
#[derive(Debug)]
struct Arriving {
    has_arrived: Vec<bool>,
    missing: u16,
    complete_at: Time,
}

impl JitterBuffer {
    /// A buffer in which a complete frame waits at most `wait` for earlier ones.
    pub(crate) fn new(wait: Span) -> JitterBuffer {
        JitterBuffer { frames: BTreeMap::new(), next: 0, wait }
    }

    /// Handles the arrival of a part; returns whether it is neither a duplicate nor too late.
    pub(crate) fn on_part(&mut self, now: Time, part: Part) -> bool {
        if part.frame < self.next {
            return false;
        }
        let frame = self.frames.entry(part.frame).or_insert_with(|| Arriving {
            has_arrived: vec![false; usize::from(part.of)],
            missing: part.of,
            complete_at: Time::NEVER,
        });
        let Some(has_arrived) = frame.has_arrived.get_mut(usize::from(part.number)) else {
            return false;
        };
        if std::mem::replace(has_arrived, true) {
            return false;
        }
        frame.missing -= 1;
        if frame.missing == 0 {
            frame.complete_at = now;
        }
        true
    }

    /// The frame that is shown now, if one is.
    pub(crate) fn show(&mut self, now: Time) -> Option<FrameNumber> {
        let (number, due) = self.first_complete()?;
        if due > now {
            return None;
        }
        self.frames = self.frames.split_off(&(number + 1));
        self.next = number + 1;
        Some(number)
    }

    /// When the next frame is shown if nothing else arrives.
    pub(crate) fn due(&self) -> Time {
        self.first_complete().map_or(Time::NEVER, |(_, due)| due)
    }

    /// The first complete frame, and when it is shown.
    fn first_complete(&self) -> Option<(FrameNumber, Time)> {
        let (&number, frame) = self.frames.iter().find(|(_, frame)| frame.missing == 0)?;
        let wait = if number == self.next { Span::ZERO } else { self.wait };
        Some((number, frame.complete_at + wait))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn part(frame: FrameNumber, number: u16) -> Part {
        Part { frame, number, of: 2 }
    }

    #[test]
    fn a_frame_is_shown_when_all_its_parts_have_arrived_once() {
        let mut buffer = JitterBuffer::new(Span::from_millis(500));
        assert!(buffer.on_part(ms(1), part(0, 1)));
        assert!(!buffer.on_part(ms(2), part(0, 1)), "a repetition");
        assert_eq!((buffer.show(ms(2)), buffer.due()), (None, Time::NEVER));
        assert!(buffer.on_part(ms(3), part(0, 0)));
        assert_eq!(buffer.show(ms(3)), Some(0));
        assert!(!buffer.on_part(ms(4), part(0, 0)), "too late");
    }

    #[test]
    fn a_complete_frame_waits_for_those_before_it_but_not_for_ever() {
        let mut buffer = JitterBuffer::new(Span::from_millis(500));
        let arrive = |buffer: &mut JitterBuffer, at, frame| {
            (0..2).for_each(|number| _ = buffer.on_part(ms(at), part(frame, number)));
        };
        arrive(&mut buffer, 10, 1);
        arrive(&mut buffer, 20, 2);
        assert_eq!((buffer.show(ms(20)), buffer.due()), (None, ms(510)));
        arrive(&mut buffer, 30, 0);
        let shown: Vec<FrameNumber> = std::iter::from_fn(|| buffer.show(ms(30))).collect();
        assert_eq!(shown, [0, 1, 2]);
        arrive(&mut buffer, 40, 5);
        arrive(&mut buffer, 50, 6);
        assert_eq!(buffer.show(ms(539)), None);
        let shown: Vec<FrameNumber> = std::iter::from_fn(|| buffer.show(ms(540))).collect();
        assert_eq!(shown, [5, 6]);
    }
}

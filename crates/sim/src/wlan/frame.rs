//! A frame and the attempts to send it.

use sojourn_aqm::Span;
use sojourn_scenario::resolved::FrameErrors;
use sojourn_scenario::wlan_timing::OfdmRate;

use super::minstrel::{Chain, STAGES};

/// The rate and the durations of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    pub(super) rate: OfdmRate,
    /// The airtime of the frame.
    pub(super) airtime: Span,
    /// The SIFS and the acknowledgement that follow a frame that was received.
    pub(super) answer: Span,
}

impl Timing {
    pub(super) fn new(rate: usize, packet_bytes: u32) -> Timing {
        let rate = OfdmRate::all()[rate];
        Timing { rate, airtime: rate.data_frame(packet_bytes), answer: rate.sifs_and_ack() }
    }
}

/// The last attempt at each rate, because most frames of a station have equal sizes.
#[derive(Debug, Default)]
pub(super) struct Attempts([Option<Known>; OfdmRate::COUNT]);

#[derive(Clone, Copy, Debug)]
struct Known {
    packet_bytes: u32,
    radio: u32,
    timing: Timing,
    /// Probability that it is lost without a collision.
    error: f64,
}

impl Attempts {
    /// The timing of the next attempt of a frame, and the probability that it is lost without a
    /// collision.
    #[inline]
    pub(super) fn of(&mut self, frame: &Frame, errors: &[FrameErrors]) -> (Timing, f64) {
        let Frame { packet_bytes, radio, .. } = *frame;
        let known = &mut self.0[frame.rate()];
        match known {
            Some(known) if (known.packet_bytes, known.radio) == (packet_bytes, radio) => {
                (known.timing, known.error)
            }
            _ => {
                let timing = Timing::new(frame.rate(), packet_bytes);
                let error = errors[radio as usize].at(timing.rate, packet_bytes);
                *known = Some(Known { packet_bytes, radio, timing, error });
                (timing, error)
            }
        }
    }
}

/// A frame that a station sends until it is received or its attempts are used up.
#[derive(Debug)]
pub(super) struct Frame {
    packet_bytes: u32,
    /// The pair of stations, as an index into the radios.
    radio: u32,
    chain: Chain,
    /// The current stage of the rate chain.
    stage: usize,
    tried: [u32; STAGES],
    /// Whether the chain has a deferred sample, which counts once it was sent.
    has_deferred_sample: bool,
}

impl Frame {
    /// A frame not sent yet.
    pub(super) fn new(
        packet_bytes: u32,
        radio: u32,
        chain: Chain,
        has_deferred_sample: bool,
    ) -> Frame {
        Frame { packet_bytes, radio, chain, stage: 0, tried: [0; STAGES], has_deferred_sample }
    }

    /// The rate of the next attempt, as an index.
    fn rate(&self) -> usize {
        self.chain[self.stage].rate as usize
    }

    /// Records an attempt; returns whether it was the frame's last one.
    pub(super) fn was_tried(&mut self, is_received: bool) -> bool {
        self.tried[self.stage] = self.tried[self.stage].saturating_add(1);
        if is_received {
            return true;
        }
        if self.tried[self.stage] < self.chain[self.stage].attempts {
            return false;
        }
        match self.chain.get(self.stage + 1) {
            Some(next) if next.attempts > 0 => {
                self.stage += 1;
                false
            }
            _ => true,
        }
    }

    pub(super) fn radio(&self) -> usize {
        self.radio as usize
    }

    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Attempts so far, per stage of the chain.
    pub(super) fn tried(&self) -> [u32; STAGES] {
        self.tried
    }

    pub(super) fn has_deferred_sample(&self) -> bool {
        self.has_deferred_sample
    }
}

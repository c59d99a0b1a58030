//! A frame and the attempts to send it.

use sojourn_aqm::Span;
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
    fn new(rate: usize, packet_bytes: u32) -> Timing {
        let rate = OfdmRate::all()[rate];
        Timing { rate, airtime: rate.data_frame(packet_bytes), answer: rate.sifs_and_ack() }
    }
}

/// A frame that a station sends until it is received or its attempts are used up.
#[derive(Debug)]
pub(super) struct Frame {
    packet_bytes: u32,
    /// The pair of stations, as an index into the radios.
    radio: usize,
    chain: Chain,
    /// The current stage of the rate chain.
    stage: usize,
    /// The timing at this stage.
    timing: Timing,
    tried: [u32; STAGES],
    /// Whether the chain has a deferred sample, which counts once it was sent.
    has_deferred_sample: bool,
}

impl Frame {
    /// A frame not sent yet.
    pub(super) fn new(
        packet_bytes: u32,
        radio: usize,
        chain: Chain,
        has_deferred_sample: bool,
    ) -> Frame {
        let (stage, tried) = (0, [0; STAGES]);
        let timing = Timing::new(chain[stage].rate, packet_bytes);
        Frame { packet_bytes, radio, chain, stage, timing, tried, has_deferred_sample }
    }

    /// The timing of the next attempt.
    pub(super) fn timing(&self) -> &Timing {
        &self.timing
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
                self.timing = Timing::new(next.rate, self.packet_bytes);
                false
            }
            _ => true,
        }
    }

    pub(super) fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    pub(super) fn radio(&self) -> usize {
        self.radio
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

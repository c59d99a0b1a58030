//! The rates at which a station tries its frames.

use sojourn_aqm::{Rng, Time};
use sojourn_scenario::resolved::RateControl;
use sojourn_scenario::wlan_timing::OfdmRate;

use super::frame::Frame;
use super::minstrel::{Chain, Minstrel, STAGES, Stage};

/// How the rates of a station's frames to another are chosen.
#[derive(Debug)]
pub(super) enum RateChoice {
    /// A constant rate, with a fixed number of attempts.
    Constant(Stage),
    /// Minstrel.
    Minstrel(Box<Minstrel>),
}

impl RateChoice {
    /// As configured in a scenario; `attempts` applies to a constant rate.
    pub(super) fn new(control: RateControl, attempts: u32, samples: &mut Rng) -> RateChoice {
        match control {
            RateControl::Minstrel => RateChoice::Minstrel(Box::new(Minstrel::new(samples))),
            RateControl::Constant(rate) => {
                let place = OfdmRate::all().into_iter().position(|known| known == rate);
                let rate = place.expect("a rate is one of all") as u32;
                RateChoice::Constant(Stage { rate, attempts })
            }
        }
    }

    /// The next frame, with its rates.
    pub(super) fn frame(&mut self, packet_bytes: u32, radio: u32) -> Frame {
        let (chain, has_deferred_sample) = match self {
            RateChoice::Constant(stage) => (only(*stage), false),
            RateChoice::Minstrel(minstrel) => minstrel.next_frame(),
        };
        Frame::new(packet_bytes, radio, chain, has_deferred_sample)
    }

    /// Reports the outcome of a frame.
    pub(super) fn learn(&mut self, now: Time, frame: &Frame, was_received: bool) {
        if let RateChoice::Minstrel(minstrel) = self {
            let (chain, tried) = (frame.chain(), frame.tried());
            minstrel.report(now, chain, tried, was_received, frame.has_deferred_sample());
        }
    }
}

/// A chain of one stage.
fn only(stage: Stage) -> Chain {
    let mut chain = [Stage::default(); STAGES];
    chain[0] = stage;
    chain
}

//! How the window comes down to its new size: one variant per style of a profile.

use super::halving::Halving;
use super::pipe::Pipe;
use super::profile::Style;
use super::prr::Prr;
use crate::cc::Window;

/// One reduction under way.
#[derive(Clone, Copy, Debug)]
pub enum Descent {
    /// In proportion to what is delivered.
    Proportional {
        /// The count.
        prr: Prr,
        /// One packet more on every acknowledgement, not only on safe ones.
        eager: bool,
    },
    /// One packet for every second acknowledgement.
    Halving(Halving),
    /// At once, held back by a pipe count.
    Pipe(Pipe),
    /// By the congestion control itself.
    Steered,
    /// At once.
    AtOnce {
        /// A retransmission that does not wait for the window.
        due: bool,
    },
}

/// What an acknowledgement means to a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Packets newly delivered.
    pub delivered: u32,
    /// Packets believed in the network.
    pub in_flight: u32,
    /// It advanced the acknowledgement number.
    pub advanced: bool,
    /// It advanced that number and marked nothing lost.
    pub safe: bool,
    /// Where rate halving stops.
    pub lowest: u32,
}

impl Descent {
    /// Starts a reduction; the threshold has its new value, the window not yet. `outstanding`: sent
    /// and not acknowledged.
    pub fn start(style: Style, window: &mut Window, outstanding: u32) -> Descent {
        let prior = window.cwnd;
        match style {
            Style::Proportional | Style::ProportionalEager => {
                let eager = style == Style::ProportionalEager;
                return Descent::Proportional { prr: Prr::start(prior), eager };
            }
            Style::Halving => return Descent::Halving(Halving::default()),
            Style::Pipe | Style::AtOnce => window.cwnd = window.ssthresh,
        }
        match style {
            Style::Pipe => Descent::Pipe(Pipe::start(outstanding)),
            _ => Descent::AtOnce { due: true },
        }
    }

    /// Adjusts the window on an acknowledgement.
    pub fn on_ack(&mut self, step: &Step, window: &mut Window) {
        match self {
            Descent::Proportional { prr, eager } if step.delivered > 0 => {
                let Step { delivered, in_flight, safe, .. } = *step;
                let one_more = safe || *eager;
                let allowance = prr.allowance(delivered, in_flight, window.ssthresh, one_more);
                window.cwnd = (in_flight + allowance).max(1);
            }
            Descent::Halving(halving) => halving.on_ack(step, window),
            Descent::Pipe(pipe) => pipe.on_ack(step.advanced),
            // RFC 6582 §3.2 step 3: a partial acknowledgement lets the new head go out at once.
            Descent::AtOnce { due } => *due |= step.advanced && !step.safe,
            Descent::Proportional { .. } | Descent::Steered => {}
        }
    }

    /// Counts a packet sent.
    #[inline]
    pub fn on_sent(&mut self) {
        match self {
            Descent::Proportional { prr, .. } => prr.on_sent(),
            Descent::Pipe(pipe) => pipe.on_sent(),
            Descent::AtOnce { due } => *due = false,
            Descent::Halving(_) | Descent::Steered => {}
        }
    }

    /// How many packets may be sent, where the window alone would allow `room`.
    pub fn room(&self, room: u32, cwnd: u32) -> u32 {
        match self {
            Descent::Pipe(pipe) => pipe.room(cwnd),
            Descent::AtOnce { due } => room.max(u32::from(*due)),
            Descent::Proportional { .. } | Descent::Halving(_) | Descent::Steered => room,
        }
    }

    /// The window after the reduction.
    pub fn final_window(&self, window: &Window) -> u32 {
        match self {
            Descent::Halving(_) => window.cwnd.min(window.ssthresh),
            Descent::Steered => window.cwnd,
            Descent::Proportional { .. } | Descent::Pipe(_) | Descent::AtOnce { .. } => {
                window.ssthresh
            }
        }
    }
}

//! How a reduction brings the window down to its new size, as selected by the profile.

use super::pipe::Pipe;
use super::profile::Style;
use super::prr::Prr;
use super::rate_halving::RateHalving;
use crate::cc::Window;

/// One reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CwndReduction {
    /// Proportional rate reduction (RFC 9937).
    Proportional {
        /// Its counters.
        prr: Prr,
        /// Whether every acknowledgement, not only a safe one, allows one packet more (RFC 6937,
        /// PRR-SSRB).
        eager: bool,
    },
    /// Rate halving: one packet for every second acknowledgement.
    Halving(RateHalving),
    /// Immediately, with sending limited by a pipe count.
    Pipe(Pipe),
    /// By the congestion control itself.
    LeftToControl,
    /// Immediately.
    AtOnce {
        /// Whether a retransmission is due regardless of the window.
        due: bool,
    },
}

/// An acknowledgement that arrives during a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInReduction {
    /// Packets newly delivered (RFC 9937 `DeliveredData`).
    pub(crate) delivered: u32,
    /// Packets in flight (RFC 9937 `inflight`).
    pub(crate) in_flight: u32,
    /// Whether it advanced the acknowledgement number.
    pub(crate) advanced: bool,
    /// Whether it advanced that number and revealed no loss (RFC 9937 `SafeACK`).
    pub(crate) safe: bool,
}

impl CwndReduction {
    /// Starts a reduction. The threshold already has its new value, the window does not.
    /// `outstanding` counts packets sent and not acknowledged.
    pub(crate) fn start(style: Style, window: &mut Window, outstanding: u32) -> CwndReduction {
        let prior = window.cwnd;
        match style {
            Style::Proportional | Style::ProportionalEager => {
                let eager = style == Style::ProportionalEager;
                return CwndReduction::Proportional { prr: Prr::start(prior), eager };
            }
            Style::Halving => return CwndReduction::Halving(RateHalving::default()),
            Style::Pipe | Style::AtOnce => window.cwnd = window.ssthresh,
            Style::SlowStart => window.cwnd = 1,
        }
        match style {
            Style::Pipe => CwndReduction::Pipe(Pipe::start(outstanding)),
            Style::SlowStart => CwndReduction::AtOnce { due: false },
            _ => CwndReduction::AtOnce { due: true },
        }
    }

    /// Adjusts the window on an acknowledgement. `min_cwnd` is where rate halving stops.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        ack: &AckInReduction,
        min_cwnd: impl Fn() -> u32,
        window: &mut Window,
    ) {
        match self {
            CwndReduction::Proportional { prr, eager } if ack.delivered > 0 => {
                let AckInReduction { delivered, in_flight, safe, .. } = *ack;
                let safe = safe || *eager;
                let snd_cnt = prr.on_ack(delivered, in_flight, window.ssthresh, safe);
                window.cwnd = (in_flight + snd_cnt).max(1);
            }
            CwndReduction::Halving(halving) => {
                halving.on_ack(ack.in_flight, min_cwnd(), window);
            }
            CwndReduction::Pipe(pipe) => pipe.on_ack(ack.advanced),
            // RFC 6582 §3.2 step 3: a partial acknowledgement retransmits the new head at once, and
            // deflates the window by the segments acknowledged beyond that hole and the duplicates.
            CwndReduction::AtOnce { due } if ack.advanced && !ack.safe => {
                *due = true;
                window.cwnd = window.cwnd.saturating_sub(ack.delivered.saturating_sub(1)).max(1);
            }
            CwndReduction::Proportional { .. }
            | CwndReduction::LeftToControl
            | CwndReduction::AtOnce { .. } => {}
        }
    }

    /// Counts a packet sent.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        match self {
            CwndReduction::Proportional { prr, .. } => prr.on_sent(),
            CwndReduction::Pipe(pipe) => pipe.on_sent(),
            CwndReduction::AtOnce { due } => *due = false,
            CwndReduction::Halving(_) | CwndReduction::LeftToControl => {}
        }
    }

    /// How many packets may be sent when the window alone would allow `room`.
    pub(crate) fn room(&self, room: u32, cwnd: u32) -> u32 {
        match self {
            CwndReduction::Pipe(pipe) => pipe.room(cwnd),
            CwndReduction::AtOnce { due } => room.max(u32::from(*due)),
            CwndReduction::Proportional { .. }
            | CwndReduction::Halving(_)
            | CwndReduction::LeftToControl => room,
        }
    }

    /// Whether the window came down at the start of the reduction, as in RFC 6582.
    pub(crate) fn is_at_once(&self) -> bool {
        matches!(self, CwndReduction::AtOnce { .. })
    }

    /// The window after the reduction.
    pub(crate) fn final_cwnd(&self, window: &Window) -> u32 {
        match self {
            CwndReduction::Halving(_) => window.cwnd.min(window.ssthresh),
            CwndReduction::LeftToControl => window.cwnd,
            CwndReduction::Proportional { .. }
            | CwndReduction::Pipe(_)
            | CwndReduction::AtOnce { .. } => window.ssthresh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(delivered: u32, in_flight: u32) -> AckInReduction {
        AckInReduction { delivered, in_flight, advanced: false, safe: false }
    }

    #[test]
    fn a_style_says_how_far_the_window_falls_at_the_start_and_at_the_end() {
        for (style, at_start, at_end) in [
            (Style::Proportional, 20, 10),
            (Style::ProportionalEager, 20, 10),
            (Style::Halving, 20, 10),
            (Style::Pipe, 10, 10),
            (Style::AtOnce, 10, 10),
        ] {
            let mut window = Window::above(20, 10);
            let reduction = CwndReduction::start(style, &mut window, 20);
            assert_eq!((window.cwnd, reduction.final_cwnd(&window)), (at_start, at_end));
        }
        let halving = CwndReduction::Halving(RateHalving::default());
        assert_eq!(halving.final_cwnd(&Window::above(8, 10)), 8, "already below the threshold");
        assert_eq!(CwndReduction::LeftToControl.final_cwnd(&Window::above(8, 10)), 8);
    }

    #[test]
    fn eager_reduction_sends_one_packet_more_on_an_unsafe_acknowledgement() {
        for (style, cwnd) in [(Style::Proportional, 6), (Style::ProportionalEager, 7)] {
            let mut window = Window::above(20, 10);
            let mut reduction = CwndReduction::start(style, &mut window, 20);
            reduction.on_sent();
            reduction.on_ack(&ack(1, 5), || 0, &mut window);
            assert_eq!(window.cwnd, cwnd);
            reduction.on_ack(&ack(0, 5), || 0, &mut window);
            assert_eq!(window.cwnd, cwnd, "nothing was delivered");
        }
    }

    #[test]
    fn a_reduction_at_once_retransmits_beyond_the_window_at_its_start_and_on_partial_acks() {
        let mut window = Window::above(20, 10);
        let mut reduction = CwndReduction::start(Style::AtOnce, &mut window, 20);
        assert_eq!([reduction.room(0, 10), reduction.room(3, 10)], [1, 3]);
        reduction.on_sent();
        reduction.on_ack(&ack(1, 15), || 0, &mut window);
        assert_eq!(reduction.room(0, 10), 0, "a duplicate retransmits nothing");
        let full = AckInReduction { advanced: true, safe: true, ..ack(1, 15) };
        reduction.on_ack(&full, || 0, &mut window);
        assert_eq!(reduction.room(0, 10), 0, "it shows no loss");
        reduction.on_ack(&AckInReduction { safe: false, ..full }, || 0, &mut window);
        assert_eq!(reduction.room(0, 10), 1);
    }
}

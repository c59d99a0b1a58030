//! Rate halving, as in Linux before 3.2 (`tcp_cwnd_down`): the window falls by one packet on every
//! second acknowledgement, down to a bound from the congestion control.

use crate::cc::Window;

/// One reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateHalving {
    odd: bool,
}

impl RateHalving {
    /// Processes an acknowledgement.
    pub(crate) fn on_ack(&mut self, in_flight: u32, min_cwnd: u32, window: &mut Window) {
        self.odd = !self.odd;
        if !self.odd && window.cwnd > min_cwnd {
            window.cwnd -= 1;
        }
        // At most one packet per acknowledgement.
        window.cwnd = window.cwnd.min(in_flight + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_acknowledgements_take_the_window_from_20_to_10() {
        let mut window = Window::above(20, 10);
        let mut halving = RateHalving::default();
        let windows: Vec<u32> = (0..20)
            .map(|_| {
                halving.on_ack(19, 4, &mut window);
                window.cwnd
            })
            .collect();
        assert_eq!(windows[..4], [20, 19, 19, 18]);
        assert_eq!(windows[19], 10);
        halving.on_ack(4, 4, &mut window);
        assert_eq!(window.cwnd, 5);
        (0..9).for_each(|_| halving.on_ack(4, 4, &mut window));
        assert_eq!(window.cwnd, 4, "not below the bound");
    }
}

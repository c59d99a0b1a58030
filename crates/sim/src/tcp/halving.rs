//! Rate halving, as Linux had it before proportional rate reduction (endpoints sheet §1.19): the window
//! falls by one packet on every second acknowledgement, down to a bound that the congestion control gives.

use super::descent::Step;
use crate::cc::Window;

/// One reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Halving {
    odd: bool,
}

impl Halving {
    /// Takes in an acknowledgement.
    pub fn on_ack(&mut self, step: &Step, window: &mut Window) {
        self.odd = !self.odd;
        if !self.odd && window.cwnd > step.lowest {
            window.cwnd -= 1;
        }
        // Never more than one packet per acknowledgement.
        window.cwnd = window.cwnd.min(step.in_flight + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(in_flight: u32) -> Step {
        Step { delivered: 1, in_flight, advanced: false, safe: false, lowest: 4 }
    }

    #[test]
    fn t25_twenty_acknowledgements_take_the_window_from_20_to_10() {
        let mut window = Window::above(20, 10);
        let mut halving = Halving::default();
        let windows: Vec<u32> = (0..20)
            .map(|_| {
                halving.on_ack(&step(19), &mut window);
                window.cwnd
            })
            .collect();
        assert_eq!(windows[..4], [20, 19, 19, 18]);
        assert_eq!(windows[19], 10);
        halving.on_ack(&step(4), &mut window);
        assert_eq!(window.cwnd, 5);
        (0..9).for_each(|_| halving.on_ack(&step(4), &mut window));
        assert_eq!(window.cwnd, 4, "not below the bound");
    }
}

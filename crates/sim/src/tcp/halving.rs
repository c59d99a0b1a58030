//! Rate halving, as Linux had it before proportional rate reduction (endpoints sheet §1.19): the window
//! falls by one packet on every second acknowledgement, down to the threshold.

use crate::cc::Window;

/// One reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Halving {
    odd: bool,
}

impl Halving {
    /// Takes in an acknowledgement.
    pub fn on_ack(&mut self, in_flight: u32, window: &mut Window) {
        self.odd = !self.odd;
        if !self.odd && window.cwnd > window.ssthresh {
            window.cwnd -= 1;
        }
        // Never more than one packet per acknowledgement.
        window.cwnd = window.cwnd.min(in_flight + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t25_twenty_acknowledgements_take_the_window_from_20_to_10() {
        let mut window = Window { cwnd: 20, ssthresh: 10, credit: 0 };
        let mut halving = Halving::default();
        let windows: Vec<u32> = (0..20)
            .map(|_| {
                halving.on_ack(19, &mut window);
                window.cwnd
            })
            .collect();
        assert_eq!(windows[..4], [20, 19, 19, 18]);
        assert_eq!(windows[19], 10);
        halving.on_ack(4, &mut window);
        assert_eq!(window.cwnd, 5);
    }
}

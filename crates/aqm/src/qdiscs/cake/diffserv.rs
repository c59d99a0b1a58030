//! How CAKE assigns packets to tins, and what share of the bandwidth each tin has.

use alloc::vec::Vec;

use crate::time::Rate;

crate::words! {
    /// How packets are assigned to tins by their DSCP.
    pub enum Diffserv {
        /// One tin for all.
        Besteffort = "besteffort",
        /// Eight tins by the upper three bits of the DSCP.
        Precedence = "precedence",
        /// Best effort, bulk and latency-sensitive.
        Diffserv3 = "diffserv3",
        /// Best effort, bulk, streaming media and latency-sensitive.
        Diffserv4 = "diffserv4",
        /// Eight tins of related classes of RFC 4594.
        Diffserv8 = "diffserv8",
    }
}

/// A tin's share of the bandwidth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TinShare {
    /// The rate up to which the tin has priority over tins with lower numbers.
    pub(super) threshold: Option<Rate>,
    /// The tin's weight if no bandwidth is set, in bytes per round.
    pub(super) quantum: i64,
}

impl Diffserv {
    /// The shares of the tins (Linux 6.1 sch_cake.c, cake_config_besteffort to
    /// cake_config_diffserv3).
    pub(super) fn shares(self, bandwidth: Option<Rate>) -> Vec<TinShare> {
        (0..self.names().len()).map(|tin| self.share(tin, bandwidth)).collect()
    }

    /// The share of one tin.
    pub(super) fn share(self, tin: usize, bandwidth: Option<Rate>) -> TinShare {
        // The kernel counts bytes per second.
        let whole = bandwidth.map_or(0, |rate| rate.as_bps() / 8);
        let shifted = |by: u32| (whole >> by, 1024 >> by);
        let (bytes, quantum) = match self {
            Diffserv::Besteffort => return TinShare { threshold: bandwidth, quantum: 65_535 },
            Diffserv::Diffserv3 => shifted([0, 4, 2][tin]),
            Diffserv::Diffserv4 => shifted([0, 4, 1, 2][tin]),
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                let less = |(bytes, quantum), _| ((bytes * 7) >> 3, (quantum * 7) >> 3);
                (0..tin).fold((whole, 256), less)
            }
        };
        TinShare { threshold: bandwidth.map(|_| Rate::from_bps(bytes * 8)), quantum }
    }

    /// The names of the tins as tc shows them (iproute2 q_cake.c, cake_print_xstats).
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Diffserv::Besteffort => &[""],
            Diffserv::Diffserv3 => &["Best Effort", "Bulk", "Voice"],
            Diffserv::Diffserv4 => &["Best Effort", "Bulk", "Video", "Voice"],
            Diffserv::Precedence | Diffserv::Diffserv8 => {
                &["Tin 0", "Tin 1", "Tin 2", "Tin 3", "Tin 4", "Tin 5", "Tin 6", "Tin 7"]
            }
        }
    }

    /// The tin of each DSCP (Linux 6.1 sch_cake.c, `precedence`, `diffserv3`, `diffserv4` and
    /// `diffserv8`). Names are those of RFC 2474 (CS), 2597 (AF), 3246 (EF), 5865 (VA) and 8622
    /// (LE), and of two older types of service.
    pub(super) fn table(self) -> [u8; 64] {
        const LE: u8 = 1;
        const TOS2: u8 = 2;
        const TOS4: u8 = 4;
        const VA: u8 = 44;
        const EF: u8 = 46;
        const fn cs(class: u8) -> u8 {
            8 * class
        }
        const fn af(class: u8, precedence: u8) -> u8 {
            8 * class + 2 * precedence
        }
        let mut tins = [0; 64];
        let mut put = |tin: u8, dscps: &[u8]| {
            dscps.iter().for_each(|&dscp| tins[usize::from(dscp)] = tin);
        };
        match self {
            Diffserv::Besteffort => {}
            Diffserv::Precedence => (0..64).for_each(|dscp| put(dscp / 8, &[dscp])),
            Diffserv::Diffserv3 => {
                put(1, &[LE, cs(1)]);
                put(2, &[TOS4, VA, EF, cs(6), cs(7)]);
            }
            Diffserv::Diffserv4 => {
                put(1, &[LE, cs(1)]);
                put(2, &[TOS4, cs(2), cs(3)]);
                (2..=4).for_each(|class| put(2, &[1, 2, 3].map(|n| af(class, n))));
                put(3, &[cs(4), cs(5), VA, EF, cs(6), cs(7)]);
            }
            Diffserv::Diffserv8 => {
                (0..64).for_each(|dscp| put(2, &[dscp]));
                put(0, &[LE]);
                put(1, &[TOS2, cs(1), af(1, 1), af(1, 2), af(1, 3)]);
                put(3, &[cs(3), af(3, 1), af(3, 2), af(3, 3), af(4, 1), af(4, 2), af(4, 3)]);
                put(4, &[TOS4, af(2, 1), af(2, 2), af(2, 3)]);
                put(5, &[cs(2)]);
                put(6, &[cs(4), cs(5), VA, EF]);
                put(7, &[cs(6), cs(7)]);
            }
        }
        tins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.1 sch_cake.c, cake_config_diffserv4 and cake_config_diffserv8: 10 Mbit/s are
    /// 1,250,000 bytes per second; seven eighths of that are 1,093,750.
    #[test]
    fn thresholds_are_cut_off_as_by_the_kernel() {
        let of = |mode: Diffserv| {
            let shares = mode.shares(Some(Rate::from_bps(10_000_000)));
            let all = shares.iter().map(|share| share.threshold.map_or(0, Rate::as_bps) / 8);
            all.collect::<Vec<u64>>()
        };
        assert_eq!(of(Diffserv::Besteffort), [1_250_000]);
        assert_eq!(of(Diffserv::Diffserv4), [1_250_000, 78_125, 625_000, 312_500]);
        assert_eq!(of(Diffserv::Diffserv8)[..3], [1_250_000, 1_093_750, 957_031]);
    }

    /// The examples of tc-cake(8).
    #[test]
    fn each_class_has_its_tin() {
        let [cs1, af41, ef, cs7] = [8, 34, 46, 56];
        let tins = |mode: Diffserv| [0, cs1, af41, ef, cs7].map(|dscp| mode.table()[dscp]);
        assert_eq!(tins(Diffserv::Diffserv3), [0, 1, 0, 2, 2]);
        assert_eq!(tins(Diffserv::Diffserv4), [0, 1, 2, 3, 3]);
        assert_eq!(tins(Diffserv::Diffserv8), [2, 1, 3, 6, 7]);
        assert_eq!(tins(Diffserv::Precedence), [0, 1, 4, 5, 7]);
    }
}

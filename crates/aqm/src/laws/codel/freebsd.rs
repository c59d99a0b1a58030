//! CoDel in the arithmetic of FreeBSD's dummynet: time in ticks of its clock, 1/sqrt(count) in 16
//! bits, improved by one Newton step at every signal.
//!
//! Source: FreeBSD 14 sys/netpfil/ipfw, `dn_aqm_codel.c` (`control_law`), `dn_aqm_codel.h`
//! (`codel_dequeue`, `codel_dodequeue`), `dn_sched_fq_codel_helper.h`.
//! [`super::exact`] has the routine, which is the draft's.
//!
//! Deviations: those of [`crate::parts::dummynet`]; a packet that finds no room does not raise the
//! largest size.

use crate::time::Span;

/// 1/sqrt(count), in units of 2^-16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Root(u16);

impl Root {
    /// The time to the next signal; the first is at a whole interval.
    pub(super) fn spacing(&mut self, count: u32, interval: Span) -> Span {
        if count == 1 {
            *self = Root(45_875); // 0.7, the first estimate of 1/sqrt(2)
            return interval;
        }
        let x = u64::from(self.0);
        let rest = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(x * x)) >> 9;
        let root = x.wrapping_mul(rest) >> 24;
        *self = Root(root as u16);
        Span::from_micros((interval.as_nanos() / 1_000).wrapping_mul(root) >> 16)
    }
}

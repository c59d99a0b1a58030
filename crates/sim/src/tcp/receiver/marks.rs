//! How a receiver processes the marks of segments (RFC 3168 §6.1.3, RFC 8257 §3.2, RFC 9768; Linux
//! 6.1 `tcp_ecn_check_ce`).

use sojourn_aqm::Ecn;

use super::Receiver;
use crate::packet::Packet;

impl Receiver {
    /// Processes the ECN field of a segment. Returns whether to report it at once.
    #[inline(always)]
    pub(super) fn take_ecn(&mut self, packet: &Packet) -> bool {
        // Without ECN no segment was ever marked.
        let has_ecn = packet.ecn != Ecn::NotEct || self.ect_seen || self.accurate.is_some();
        has_ecn && self.take_ecn_field(packet)
    }

    #[inline(never)]
    fn take_ecn_field(&mut self, packet: &Packet) -> bool {
        if let Some(counters) = &mut self.accurate {
            return counters.count(packet.ecn, packet.ip_bytes);
        }
        let echoed = self.echo;
        self.take_mark(packet);
        self.echoes_runs && echoed != self.echo
    }

    /// CWR clears the echo before a mark on the same segment sets it again (RFC 3168 §6.1.3).
    fn take_mark(&mut self, packet: &Packet) {
        let marked = packet.ecn == Ecn::Ce;
        if packet.ecn != Ecn::NotEct {
            self.ect_seen = true;
        } else if self.ect_seen {
            self.acks.on_mark(self.window.segments()); // a retransmission (RFC 3168 §6.1.5)
        }
        if !marked && !self.echo {
            return;
        }
        if packet.signal || self.echoes_runs {
            self.echo = false;
        }
        if marked {
            if !self.echo && !self.echoes_runs {
                self.acks.on_mark(self.window.segments());
            }
            self.echo = true;
        }
    }
}

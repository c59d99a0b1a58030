//! Fast path: an acknowledgement while pacing holds every packet back. It performs only those steps
//! of [`Sender::send_allowed`] that change something in this case.

use sojourn_aqm::Time;

use super::{Sender, State};
use crate::packet::Packet;

impl Sender {
    /// [`Sender::send_allowed`] for a paced sender. Out of line, so that unpaced ones need not
    /// spill registers.
    #[inline(never)]
    pub(super) fn send_paced(&mut self, now: Time, restart: bool, emit: &mut impl FnMut(Packet)) {
        if self.is_held_by_pacing(now) {
            self.wait_for_pacing(now, restart);
        } else {
            self.send_allowed(now, restart, emit);
        }
    }

    /// Whether nothing can leave now because of pacing, and the program will not write more.
    #[inline]
    fn is_held_by_pacing(&self, now: Time) -> bool {
        let next = self.board.nxt();
        self.pacer.as_ref().is_some_and(|pacer| !pacer.allows(now))
            && self.board.in_flight() > 0
            && self.writes.as_ref().is_none_or(|writes| !writes.is_awaited(next))
    }

    /// [`Sender::send_allowed`] while pacing holds every packet back.
    #[inline]
    fn wait_for_pacing(&mut self, now: Time, restart: bool) {
        self.take_frto_sends_new();
        let (room, unsent, allowed) = (self.room(), self.unsent(), self.allowed());
        match &mut self.writes {
            Some(writes) if room > 0 => writes.provide_for(self.window.cwnd),
            None if self.needs.rate_samples && unsent == 0 => self.mark_app_limited(),
            _ => {}
        }
        let lost = self.episode.state >= State::Recovery && self.board.next_lost().is_some();
        let waits = room > 0 && (unsent > 0 || lost);
        let next = self.pacer.as_ref().map_or(Time::NEVER, |pacer| pacer.next());
        self.timers.set_pacing(if waits { next } else { Time::NEVER });
        self.stop_zero_window_probes();
        if restart {
            self.restart_timer(now);
        }
        self.note_limit(now, (unsent, allowed, 0), room);
        if allowed >= room && room <= self.queued_in_fq() {
            self.validate_cwnd(now, true);
        }
    }
}

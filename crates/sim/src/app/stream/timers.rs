//! The timers of a flow over TCP.

use sojourn_aqm::Time;

use super::{Stream, SynAnswer, seen_by};
use crate::app::{FlowTimers, Outbox};
use crate::tcp::Sender;

impl Stream {
    /// The earliest of its timers.
    pub fn next_timer(&self) -> Time {
        self.timers().next()
    }

    /// The earliest timer at each end.
    #[inline]
    pub(crate) fn timers(&self) -> FlowTimers {
        let opening = self.opening.as_ref().map_or(Time::NEVER, |opening| opening.due);
        FlowTimers {
            receiver: self.receiver_timer(),
            sender: self.sender_timer(),
            rest: self.stop.min(opening),
        }
    }

    /// The earliest timer that a packet at the sender may set.
    #[inline]
    pub(crate) fn sender_timer(&self) -> Time {
        self.sender.as_ref().map_or(Time::NEVER, Sender::next_timer)
    }

    /// The earliest timer that a packet at the receiver may set.
    #[inline]
    pub(crate) fn receiver_timer(&self) -> Time {
        let answer = self.answer.as_ref().map_or(Time::NEVER, |answer| answer.due);
        self.receiver.delayed_ack().min(self.next_start).min(answer)
    }

    /// Handles expired timers.
    pub fn on_timer(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        if self.stop <= now {
            self.finish(now);
        }
        if self.next_start <= now {
            self.next_start = Time::NEVER;
            self.open(out);
        }
        if let Some(opening) = self.opening.as_mut().filter(|opening| opening.due <= now) {
            if opening.syns > u32::from(self.setup.profile.linear_syns) {
                opening.timeout = opening.timeout + opening.timeout;
            }
            opening.due = self.setup.profile.expiry(now, now + opening.timeout);
            opening.syns += 1;
            let before = opening.syns - 1;
            out.send(self.syn(before, now));
        }
        if let Some(answer) = self.answer.take_if(|answer| answer.due <= now) {
            let expired = answer.expired.saturating_add(1);
            self.send_answer(SynAnswer { expired, ..*answer }, out);
        }
        if self.receiver.delayed_ack() <= now {
            self.receiver.on_timer(now);
            self.acknowledge(out);
        }
        self.on_sender_timer(out);
    }

    /// Handles expired timers of the sender.
    #[inline]
    pub(crate) fn on_sender_timer(&mut self, out: &mut Outbox<'_>) {
        let now = out.now;
        if let Some(sender) = self.sender.as_mut().filter(|sender| sender.next_timer() <= now) {
            sender.on_timer(now, &mut seen_by(&mut self.observer, out));
        }
    }
}

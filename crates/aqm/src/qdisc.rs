//! The discipline: *which* queue, *which* order, *who* is evicted. Packets go in and come out.

use alloc::boxed::Box;

use crate::law::{Cause, Env, Evidence, Stage, Var};
use crate::packet::{Backlog, Packet};
use crate::params::Params;
use crate::rng::Rng;
use crate::time::{Rate, Time};

/// The host's ear: it is handed every dropped packet and told of every mark.
pub trait Sink<P> {
    /// `packet` is gone. `enqueued` is when it had been accepted (now, if it never was).
    fn dropped(&mut self, packet: P, enqueued: Time, stage: Stage, cause: Cause);
    /// `packet` was just marked CE and stays in the queue or is about to leave; the host may note that
    /// on it.
    fn marked(&mut self, packet: &mut P, stage: Stage, cause: Cause);
    /// How the state variables stood when the decision was made that the next call tells of. Only a
    /// discipline made by [`crate::registry::build_watched`] says so.
    fn evidence(&mut self, evidence: Evidence<'_>) {
        let _ = evidence;
    }
}

/// A packet that leaves, with the time at which it had been accepted.
#[derive(Clone, Copy, Debug)]
pub struct Departure<P> {
    /// The packet, marked or not.
    pub packet: P,
    /// When it was accepted; the sojourn time is now minus this.
    pub enqueued: Time,
}

/// A queueing discipline. Object-safe: a host holds `Box<dyn Qdisc<P>>`.
///
/// Every packet offered leaves exactly once: as a departure or through [`Sink::dropped`].
pub trait Qdisc<P: Packet>: Send {
    /// Offers a packet.
    fn enqueue(&mut self, now: Time, packet: P, rng: &mut Rng, sink: &mut dyn Sink<P>);
    /// Takes the next packet to send, or none. Packets may be dropped on the way.
    fn dequeue(&mut self, now: Time, rng: &mut Rng, sink: &mut dyn Sink<P>)
    -> Option<Departure<P>>;
    /// When the discipline wants [`Qdisc::on_timer`]. It changes only in `on_timer`, and in
    /// `enqueue` when nothing was waiting: a host need ask again only then.
    fn next_timer(&self) -> Option<Time> {
        None
    }
    /// The announced timer is due.
    fn on_timer(&mut self, now: Time) {
        let _ = now;
    }
    /// After a [`Qdisc::dequeue`] that gave nothing although packets wait: when to ask again. Only a
    /// discipline that shapes (CAKE with a rate) ever holds packets back.
    fn held_until(&self) -> Option<Time> {
        None
    }
    /// The rate of the link has changed.
    fn on_rate(&mut self, now: Time, rate: Rate) {
        let _ = (now, rate);
    }
    /// What waits now.
    fn backlog(&self) -> Backlog;
    /// The state variables that [`Qdisc::observe`] writes.
    fn vars(&self) -> &'static [Var];
    /// Writes one value for each of [`Qdisc::vars`].
    fn observe(&self, out: &mut [f64]);
}

/// A discipline of its own kind, which is more than one law in one queue or under flow queues: what the
/// registry knows of it. The implementing type is a name only; [`Scheme::build`] makes the thing.
pub trait Scheme: 'static {
    /// Its parameters; `limit` is one of them.
    type Params: Params;
    /// Its name: `dualpi2`.
    const NAME: &'static str;
    /// One line: what it does and where it comes from.
    const DOC: &'static str;
    /// The state variables written by [`Qdisc::observe`].
    const VARS: &'static [Var];
    /// The discipline, empty, at time zero. `params` have passed [`Params::check`].
    fn build<P: Packet + Send + 'static>(params: &Self::Params, env: &Env) -> Box<dyn Qdisc<P>>;
}

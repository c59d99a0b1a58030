//! One queue under one law: the piece that every discipline here is built of.

use crate::law::{Aqm, Cause, Stage, Verdict};
use crate::packet::{Backlog, Head, Packet};
use crate::qdisc::{Departure, Sink};
use crate::qdiscs::line::{Line, mark};
use crate::rng::Rng;
use crate::time::Time;

/// Packets in the order of their arrival, and the law that watches them.
#[derive(Debug)]
pub(crate) struct LawQueue<P, L> {
    pub(crate) law: L,
    line: Line<P>,
}

impl<P: Packet, L: Aqm> LawQueue<P, L> {
    pub(crate) fn new(law: L) -> Self {
        LawQueue { law, line: Line::default() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.line.bytes()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    pub(crate) fn packets(&self) -> u32 {
        self.line.packets()
    }

    /// What waits here, while `elsewhere` bytes wait for the same link in other queues.
    pub(crate) fn backlog(&self, elsewhere: u64) -> Backlog {
        let bytes = self.bytes();
        Backlog { packets: self.packets(), bytes, link_bytes: bytes + elsewhere }
    }

    /// Offers a packet to the law and, unless it is dropped, appends it. Returns whether it stays.
    /// `full`: the discipline has no room for it.
    pub(crate) fn offer(
        &mut self,
        now: Time,
        mut packet: P,
        full: bool,
        elsewhere: u64,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> bool {
        let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued: now };
        let queue = self.backlog(elsewhere);
        if !(full && self.law.is_limit_first()) {
            match self.law.on_enqueue(now, head, queue, rng) {
                Verdict::Pass => {}
                Verdict::Mark(_) if full => {} // dropped below, and a mark with it
                Verdict::Mark(cause) => {
                    self.testify(sink);
                    mark(&mut packet, now, Stage::Enqueue, cause, sink);
                }
                Verdict::Drop(cause) => {
                    self.testify(sink);
                    sink.dropped(packet, now, Stage::Enqueue, cause);
                    return false;
                }
            }
        }
        if full {
            self.law.on_overflow(now, queue);
            self.testify(sink);
            sink.dropped(packet, now, Stage::Enqueue, Cause::Overflow);
            return false;
        }
        self.line.push(now, packet);
        true
    }

    /// Takes the next packet that the law lets pass, or none.
    pub(crate) fn take(
        &mut self,
        now: Time,
        elsewhere: u64,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<Departure<P>> {
        while let Some((enqueued, mut packet)) = self.line.pop() {
            let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued };
            match self.law.on_dequeue(now, head, self.backlog(elsewhere), rng) {
                Verdict::Pass => {}
                Verdict::Mark(cause) => {
                    self.testify(sink);
                    mark(&mut packet, enqueued, Stage::Dequeue, cause, sink);
                }
                Verdict::Drop(cause) => {
                    self.testify(sink);
                    sink.dropped(packet, enqueued, Stage::Dequeue, cause);
                    continue;
                }
            }
            return Some(Departure { packet, enqueued });
        }
        self.law.on_empty(now);
        None
    }

    /// The timer of the law is due.
    pub(crate) fn on_timer(&mut self, now: Time, elsewhere: u64) {
        self.law.on_head(self.line.head_enqueued());
        self.law.on_timer(now, self.backlog(elsewhere));
    }

    /// Tells how a watched law stood when it decided; of others there is nothing to tell.
    fn testify(&self, sink: &mut dyn Sink<P>) {
        if let Some(evidence) = self.law.evidence() {
            sink.evidence(evidence);
        }
    }

    /// Drops the head to make room. Returns its size, or none if nothing waits.
    pub(crate) fn evict(
        &mut self,
        now: Time,
        elsewhere: u64,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        let (enqueued, packet) = self.line.pop()?;
        let bytes = packet.bytes();
        self.law.on_eviction(now, self.backlog(elsewhere));
        self.testify(sink);
        sink.dropped(packet, enqueued, Stage::Queued, Cause::Overflow);
        Some(bytes)
    }
}

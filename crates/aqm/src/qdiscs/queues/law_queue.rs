//! One queue under one law: the building block of disciplines with laws.

use crate::law::{Aqm, Cause, Stage, Verdict};
use crate::packet::{Backlog, Head, Packet};
use crate::qdisc::{Departure, Sink, mark};
use crate::qdiscs::queues::packet_fifo::PacketQueue;
use crate::rng::Rng;
use crate::time::Time;

/// The law's verdict on a head that was judged alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HeadVerdict {
    /// The head passed and is still queued; its size in bytes.
    Passes(u32),
    /// The head was dropped; its size in bytes.
    Dropped(u32),
}

/// Packets in the order of their arrival, and the law that judges them.
pub(crate) struct LawQueue<'a, L, W> {
    pub(crate) law: &'a mut L,
    pub(crate) waiting: W,
    /// Bytes queued for the same link elsewhere.
    pub(crate) elsewhere: u64,
}

impl<P: Packet, L: Aqm, W: PacketQueue<Packet = P>> LawQueue<'_, L, W> {
    /// The backlog of this queue.
    pub(crate) fn backlog(&self) -> Backlog {
        let (packets, bytes) = (self.waiting.packets(), self.waiting.bytes());
        Backlog { packets, bytes, link_bytes: bytes + self.elsewhere }
    }

    /// The law's verdict on an arrival. `full`: the discipline has no room for it. The caller acts
    /// on the verdict: passing the packet through this function would copy it once more.
    #[inline]
    pub(crate) fn judge_arrival(
        &mut self,
        now: Time,
        packet: &P,
        full: bool,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Verdict {
        let mut verdict = Verdict::Pass;
        if !(full && self.law.is_limit_first()) {
            let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued: now };
            // Built in the argument list: copying a newly written backlog stalls on its stores (5
            // ns).
            let queue = self.backlog();
            verdict = self.law.on_enqueue(now, head, queue, rng);
        }
        if full && !matches!(verdict, Verdict::Drop(_)) {
            self.law.on_overflow(now, self.backlog());
            verdict = Verdict::Drop(Cause::Overflow);
        }
        if !matches!(verdict, Verdict::Pass) {
            report_state(self.law, sink);
        }
        verdict
    }

    /// Appends a packet after marking it. Out of line, because inlining the change of a packet
    /// would cost two more copies.
    #[inline(never)]
    pub(crate) fn push_marked(
        &mut self,
        now: Time,
        mut packet: P,
        cause: Cause,
        sink: &mut dyn Sink<P>,
    ) {
        mark(&mut packet, now, Stage::Enqueue, cause, sink);
        self.waiting.push(now, packet);
    }

    /// Drops heads until the law passes (or marks) one. Returns its size, or `None` if the queue is
    /// empty. The head is judged in place: passing it between functions would cost 3 of 25 ns under
    /// CoDel.
    #[inline]
    pub(crate) fn judge(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        loop {
            match self.judge_head(now, rng, sink)? {
                HeadVerdict::Passes(bytes) => return Some(bytes),
                HeadVerdict::Dropped(_) => {}
            }
        }
    }

    /// Lets the law judge only the head; `None` if the queue is empty.
    #[inline]
    pub(crate) fn judge_head(
        &mut self,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<HeadVerdict> {
        let (packets, bytes) = (self.waiting.packets(), self.waiting.bytes());
        let Some(Departure { packet, enqueued }) = self.waiting.head() else {
            self.law.on_empty(now);
            return None;
        };
        let head = Head { bytes: packet.bytes(), ecn: packet.ecn(), enqueued: *enqueued };
        let (packets, bytes) = (packets - 1, bytes - u64::from(head.bytes));
        let behind = Backlog { packets, bytes, link_bytes: bytes + self.elsewhere };
        match self.law.on_dequeue(now, head, behind, rng) {
            Verdict::Pass => {}
            Verdict::Mark(cause) => {
                report_state(self.law, sink);
                mark(packet, *enqueued, Stage::Dequeue, cause, sink);
            }
            Verdict::Drop(cause) => {
                self.drop_head(cause, sink);
                return Some(HeadVerdict::Dropped(head.bytes));
            }
        }
        Some(HeadVerdict::Passes(head.bytes))
    }

    /// Drops the judged head. Out of line: drops are rare, and then the path of departing packets
    /// need not save registers.
    #[inline(never)]
    fn drop_head(&mut self, cause: Cause, sink: &mut dyn Sink<P>) {
        report_state(self.law, sink);
        let Departure { packet, enqueued } = self.waiting.pop().expect("it was judged");
        sink.dropped(packet, enqueued, Stage::Dequeue, cause);
    }

    /// The timer of the law is due.
    pub(crate) fn on_timer(&mut self, now: Time) {
        self.law.on_head(self.waiting.head().map(|head| head.enqueued));
        self.law.on_timer(now, self.backlog());
    }

    /// Drops the head to make room. Returns its size, or `None` if the queue is empty.
    pub(crate) fn evict(&mut self, now: Time, sink: &mut dyn Sink<P>) -> Option<u32> {
        let Departure { packet, enqueued } = self.waiting.pop()?;
        let bytes = packet.bytes();
        self.law.on_eviction(now, self.backlog());
        report_state(self.law, sink);
        sink.dropped(packet, enqueued, Stage::Queued, Cause::Overflow);
        Some(bytes)
    }
}

/// Reports the state behind a watched law's decision.
fn report_state<P>(law: &impl Aqm, sink: &mut dyn Sink<P>) {
    if let Some(evidence) = law.evidence() {
        sink.evidence(evidence);
    }
}

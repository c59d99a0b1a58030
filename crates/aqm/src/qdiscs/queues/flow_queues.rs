//! Flow queues: many queues, each under its own law, with a shared packet pool and a total backlog.
//! The disciplines `fq` and `cake` schedule them.

use alloc::vec::Vec;

use crate::law::{Aqm, Cause, Stage, Verdict};
use crate::packet::Packet;
use crate::qdisc::{Departure, Sink};
use crate::qdiscs::queues::law_queue::{HeadVerdict, LawQueue};
use crate::qdiscs::queues::packet_fifo::PacketQueue;
use crate::qdiscs::queues::pool::{Chain, Pool};
use crate::qdiscs::queues::total::{BufferMemory, Total};
use crate::rng::Rng;
use crate::time::Time;

/// The queues, numbered from zero.
#[derive(Debug)]
pub(crate) struct FlowQueues<P, L> {
    flows: Vec<Flow<L>>,
    packets: Counted<P>,
}

/// The packets of all queues, and their totals.
#[derive(Debug)]
struct Counted<P> {
    pool: Pool<P>,
    total: Total,
    buffers: BufferMemory,
}

/// A queue starts at a cache line, and the fields that every packet uses come first: with 1,000
/// flows, `fq(codel)` has 5.7 first-level cache misses per packet, but 8.1 in the compiler's field
/// order.
#[derive(Debug)]
#[repr(C, align(64))]
struct Flow<L> {
    chain: Chain,
    law: L,
}

/// One of the queues.
struct FlowQueue<'a, P> {
    chain: &'a mut Chain,
    packets: &'a mut Counted<P>,
}

impl<P: Packet> FlowQueue<'_, P> {
    /// Takes the head, which has `bytes` bytes.
    // Inlined in native code only, because the web page must stay small.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    fn pop_sized(&mut self, bytes: u32) -> Option<Departure<P>> {
        let Counted { pool, total, buffers } = &mut *self.packets;
        total.remove(bytes);
        if buffers.is_counted() {
            let head = pool.head(self.chain)?;
            buffers.remove(buffers.of(&head.packet));
        }
        pool.pop_sized(self.chain, bytes)
    }
}

impl<P: Packet> PacketQueue for FlowQueue<'_, P> {
    type Packet = P;

    fn packets(&self) -> u32 {
        self.chain.packets()
    }

    fn bytes(&self) -> u64 {
        self.chain.bytes()
    }

    #[inline]
    fn head(&mut self) -> Option<&mut Departure<P>> {
        self.packets.pool.head(self.chain)
    }

    /// Appends a packet; [`FlowQueues::offer`] counts it, because counting it here would copy it
    /// once more.
    #[inline]
    fn push(&mut self, enqueued: Time, packet: P) {
        self.packets.pool.push(self.chain, enqueued, packet);
    }

    #[inline]
    fn pop(&mut self) -> Option<Departure<P>> {
        let bytes = self.head()?.packet.bytes();
        self.pop_sized(bytes)
    }
}

impl<P: Packet, L: Aqm> FlowQueues<P, L> {
    /// Empty queues, each with a law made by `law`. If `memory_limit` is given, buffer memory is
    /// counted.
    pub(crate) fn new(count: usize, memory_limit: Option<u64>, mut law: impl FnMut() -> L) -> Self {
        FlowQueues::numbered(count, memory_limit, |_| law())
    }

    /// Like [`FlowQueues::new`], with laws that depend on the number of the queue.
    pub(crate) fn numbered(
        count: usize,
        memory_limit: Option<u64>,
        mut law: impl FnMut(usize) -> L,
    ) -> Self {
        let flow = |number| Flow { chain: Chain::default(), law: law(number) };
        let buffers = BufferMemory::new(memory_limit);
        FlowQueues {
            flows: (0..count).map(flow).collect(),
            packets: Counted { pool: Pool::new(), total: Total::default(), buffers },
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.flows.len()
    }

    /// The backlog of all queues.
    pub(crate) fn total(&self) -> Total {
        self.packets.total
    }

    /// The memory of the buffers of all queues.
    pub(crate) fn buffers(&self) -> &BufferMemory {
        &self.packets.buffers
    }

    /// Changes the limit of the memory of the buffers; returns the old one.
    pub(crate) fn set_memory_limit(&mut self, bytes: u64) -> u64 {
        self.packets.buffers.set_limit(bytes)
    }

    /// The head of a queue.
    pub(crate) fn head(&mut self, index: u32) -> Option<&P> {
        let chain = &self.flows[index as usize].chain;
        self.packets.pool.head(chain).map(|head| &head.packet)
    }

    /// The size of the last packet of a queue.
    pub(crate) fn last_bytes(&self, index: u32) -> Option<u32> {
        let chain = &self.flows[index as usize].chain;
        self.packets.pool.split_last(chain).map(|(_, last)| last.bytes())
    }

    pub(crate) fn is_empty(&self, index: u32) -> bool {
        self.flows[index as usize].chain.is_empty()
    }

    pub(crate) fn packets(&self, index: u32) -> u32 {
        self.flows[index as usize].chain.packets()
    }

    pub(crate) fn bytes(&self, index: u32) -> u64 {
        self.flows[index as usize].chain.bytes()
    }

    pub(crate) fn law(&self, index: u32) -> &L {
        &self.flows[index as usize].law
    }

    pub(crate) fn law_mut(&mut self, index: u32) -> &mut L {
        &mut self.flows[index as usize].law
    }

    /// The queue with most bytes among `queues`; ties go to the lowest number.
    pub(crate) fn fattest(&self, some: impl Iterator<Item = u32>) -> Option<u32> {
        some.max_by_key(|&index| (self.bytes(index), !index))
    }

    /// A queue under its law.
    #[inline]
    fn queue(&mut self, index: u32) -> LawQueue<'_, L, FlowQueue<'_, P>> {
        let FlowQueues { flows, packets } = self;
        let Flow { chain, law } = &mut flows[index as usize];
        let elsewhere = packets.total.bytes - chain.bytes();
        LawQueue { law, waiting: FlowQueue { chain, packets }, elsewhere }
    }

    /// Offers a packet to the law of a queue and appends it unless it is dropped. Returns whether
    /// it was appended. `full`: the discipline has no room for it.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        index: u32,
        now: Time,
        packet: P,
        full: bool,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> bool {
        let (bytes, buffer) = (packet.bytes(), self.packets.buffers.of(&packet));
        let mut queue = self.queue(index);
        match queue.judge_arrival(now, &packet, full, rng, sink) {
            Verdict::Pass => queue.waiting.push(now, packet),
            Verdict::Mark(cause) => queue.push_marked(now, packet, cause, sink),
            Verdict::Drop(cause) => {
                sink.dropped(packet, now, Stage::Enqueue, cause);
                return false;
            }
        }
        self.packets.total.add(bytes);
        self.packets.buffers.add(buffer);
        true
    }

    /// Drops heads of a queue until its law passes one. Returns the size of that head, still
    /// queued, or `None` if the queue is empty.
    #[inline]
    pub(crate) fn judge(
        &mut self,
        index: u32,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        self.queue(index).judge(now, rng, sink)
    }

    /// Lets the law of a queue judge only the head; `None` if the queue is empty.
    #[inline]
    pub(crate) fn judge_head(
        &mut self,
        index: u32,
        now: Time,
        rng: &mut Rng,
        sink: &mut dyn Sink<P>,
    ) -> Option<HeadVerdict> {
        self.queue(index).judge_head(now, rng, sink)
    }

    /// Takes the head of a queue, which has been judged and has `bytes` bytes.
    #[inline]
    pub(crate) fn pop(&mut self, index: u32, bytes: u32) -> Option<Departure<P>> {
        self.queue(index).waiting.pop_sized(bytes)
    }

    /// Drops the head of a queue to make room. Returns its size, or `None` if the queue is empty.
    pub(crate) fn evict(&mut self, index: u32, now: Time, sink: &mut dyn Sink<P>) -> Option<u32> {
        self.queue(index).evict(now, sink)
    }

    /// Drops the packet of a queue that `find` chooses by its key. `find` gets all packets but the
    /// last, from the head on. Returns the size of the dropped packet.
    pub(crate) fn remove(
        &mut self,
        index: u32,
        find: impl FnOnce(&mut dyn Iterator<Item = (u32, &P)>, &P) -> Option<u32>,
        sink: &mut dyn Sink<P>,
    ) -> Option<u32> {
        let chain = &mut self.flows[index as usize].chain;
        let Counted { pool, total, buffers } = &mut self.packets;
        let place = {
            let (mut older, latest) = pool.split_last(chain)?;
            find(&mut older, latest)?
        };
        let Departure { packet, enqueued } = pool.unlink(chain, place)?;
        let bytes = packet.bytes();
        total.remove(bytes);
        buffers.remove(buffers.of(&packet));
        sink.dropped(packet, enqueued, Stage::Queued, Cause::Deterministic);
        Some(bytes)
    }

    /// The timer of the law of a queue is due.
    pub(crate) fn on_timer(&mut self, index: u32, now: Time) {
        self.queue(index).on_timer(now);
    }
}

//! A shaper: a token bucket releases packets from the queue, a device below holds a few packets,
//! and a line sends them one after the other.
//!
//! As in Linux, a packet that lacks tokens has already left the queue (sch_tbf.c, tbf_dequeue:
//! peeking at a child takes its packet), and the device takes packets until it holds more than its
//! limit (include/linux/dynamic_queue_limits.h, dql_avail), so one packet may exceed it. The
//! sojourn time of a packet ends when it leaves the queue, even if it still lacks tokens.

use sojourn_aqm::{Packet, Time};
use sojourn_scenario::resolved::Device;

use crate::queue::Queue;
use crate::{Line, LinkObserver, TokenBucket, TokenReserve, TxRing};

/// Bucket, device and line; a bucket or a device may be missing.
#[derive(Debug)]
pub struct Shaper<P> {
    bucket: Option<TokenBucket>,
    /// The packet that lacks tokens.
    waiting: Option<P>,
    /// The packets in the device; the first one is being sent.
    ring: TxRing<P>,
    /// Bytes that the line adds to the size counted by the queue.
    overhead_bytes: u32,
    line: Line,
    /// When the packet being sent will have left.
    done: Option<Time>,
}

impl<P: Packet> Shaper<P> {
    /// An idle shaper, in front of a line.
    pub fn new(
        bucket: Option<TokenBucket>,
        device: Option<Device>,
        line: impl Into<Line>,
    ) -> Shaper<P> {
        Shaper {
            bucket,
            waiting: None,
            ring: TxRing::new(device),
            overhead_bytes: device.map_or(0, |device| device.overhead_bytes),
            line: line.into(),
            done: None,
        }
    }

    /// The contents of the bucket at `now`, and the bytes that have passed it; `None` without a
    /// bucket.
    pub(crate) fn reserve(&self, now: Time) -> Option<TokenReserve> {
        let bucket = self.bucket.as_ref()?;
        let mut sizes = self.ring.sizes().map(|bytes| bucket.bytes_of(bytes));
        let sending_bytes = self.done.and_then(|_| sizes.next()).unwrap_or(0);
        Some(TokenReserve {
            tokens: bucket.tokens_at(now),
            taken_bytes: bucket.taken_bytes(),
            passed_bytes: sizes.sum(),
            sending_bytes,
        })
    }

    /// Whether a super-packet of `bytes` must be split to pass the bucket at all.
    pub(crate) fn splits(&self, bytes: u32) -> bool {
        self.bucket.as_ref().is_some_and(|bucket| bucket.never_holds(bytes))
    }

    /// The packet that has left by now, if one has.
    pub(crate) fn sent(&mut self, now: Time) -> Option<P> {
        self.done.take_if(|done| *done <= now)?;
        Some(self.ring.pop())
    }

    /// Advances every packet that can move; returns when to call again.
    pub(crate) fn advance<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        queue: &mut Queue<P>,
        observer: &mut O,
    ) -> Time {
        if self.done.is_none() && !self.line.is_settled() {
            self.line.change(now, |rate| queue.on_rate(now, rate));
        }
        let look_again = self.fill(now, queue, observer);
        if let (None, Some(head)) = (self.done, self.ring.head()) {
            let (bytes, overhead) = (head.bytes(), self.overhead_bytes * head.segments());
            let done = self.line.send(now, bytes + overhead);
            observer.busy(bytes, overhead, done.since(now));
            self.done = Some(done);
        }
        look_again.min(self.done.unwrap_or(Time::NEVER))
    }

    /// Passes packets down while the device has room and tokens suffice; returns when tokens will
    /// suffice for the next.
    fn fill<O: LinkObserver<P>>(
        &mut self,
        now: Time,
        queue: &mut Queue<P>,
        observer: &mut O,
    ) -> Time {
        while self.ring.has_room() {
            if self.waiting.is_none() {
                // Only a debt holds the next packet in the queue.
                let ready = self.bucket.as_mut().map_or(now, |bucket| bucket.ready(now, 0));
                if ready > now {
                    return ready;
                }
                // `Queue::take` would copy the packet once more.
                let Some(departure) = queue.depart(now, observer) else {
                    return queue.held_until();
                };
                observer.departed(&departure.packet, departure.enqueued);
                self.waiting = Some(departure.packet);
            }
            if let (Some(bucket), Some(packet)) = (&mut self.bucket, &self.waiting) {
                let ready = bucket.ready(now, packet.bytes());
                if ready > now {
                    return ready;
                }
                bucket.take(now, packet.bytes());
            }
            if let Some(packet) = self.waiting.take() {
                self.ring.push(packet);
            }
        }
        Time::NEVER // the next departure will make room
    }
}

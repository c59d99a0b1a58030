//! A server of two stages: a token bucket lets packets out of the queue, a device holds a few of them
//! below it, and a line sends them one after the other (endpoints sheet §5.3, §5.4).
//!
//! As in Linux, a packet that lacks tokens has left the queue already and waits in the shaper's hand;
//! and the device takes packets until it holds more than its limit, so that one packet may exceed it.

use std::collections::VecDeque;

use sojourn_aqm::{Limit, Qdisc, Rate, Rng, Time};
use sojourn_scenario::resolved::Device;

use crate::bucket::TokenBucket;
use crate::packet::Packet;
use crate::probe::Ear;
use crate::transmitter::Transmitter;

/// Bucket, device and line.
#[derive(Debug)]
pub struct Staged {
    bucket: Option<TokenBucket>,
    /// Rate of the tokens; without a bucket that of the line counts.
    shaped: Option<Rate>,
    /// Waits for tokens.
    in_hand: Option<Packet>,
    device: Device,
    /// In the device; the first is being sent.
    ring: VecDeque<Packet>,
    ring_bytes: u64,
    line: Transmitter,
    /// Rates of the line to come, the next one last.
    changes: Vec<(Time, Rate)>,
    /// When the packet being sent has left.
    done: Option<Time>,
}

/// The queue above, as the server uses it.
pub struct Above<'a> {
    /// The discipline.
    pub queue: &'a mut dyn Qdisc<Packet>,
    /// Its random stream.
    pub rng: &'a mut Rng,
}

/// A device that takes one packet at a time.
const NO_DEVICE: Device = Device { limit: Limit::Packets(1), overhead_bytes: 0 };

impl Staged {
    /// An idle server. `shaped` is the bucket and the rate of its tokens.
    pub fn new(
        shaped: Option<(TokenBucket, Rate)>,
        device: Option<Device>,
        line: Rate,
        changes: Vec<(Time, Rate)>,
    ) -> Staged {
        let (bucket, shaped) = shaped.unzip();
        Staged {
            bucket,
            shaped,
            in_hand: None,
            device: device.unwrap_or(NO_DEVICE),
            ring: VecDeque::new(),
            ring_bytes: 0,
            line: Transmitter::new(line),
            changes,
            done: None,
        }
    }

    /// The rate of the tokens, if there is a bucket.
    pub fn shaped(&self) -> Option<Rate> {
        self.shaped
    }

    /// The packet that has left by now, if one has.
    pub fn sent(&mut self, now: Time) -> Option<Packet> {
        self.done.take_if(|done| *done <= now)?;
        let packet = self.ring.pop_front().expect("what was sent was in the device");
        self.ring_bytes -= u64::from(packet.link_bytes);
        Some(packet)
    }

    /// Moves on what can move; returns when to look again.
    pub fn advance<const PACKETS: bool>(
        &mut self,
        now: Time,
        above: &mut Above<'_>,
        ear: &mut Ear<'_, PACKETS>,
    ) -> Time {
        while let Some((_, rate)) = self.changes.pop_if(|&mut (at, _)| at <= now) {
            self.line = Transmitter::new(rate);
            above.queue.on_rate(now, rate);
        }
        let look_again = self.fill(now, above, ear);
        if let (None, Some(packet)) = (self.done, self.ring.front()) {
            let span = self.line.next(packet.link_bytes + self.device.overhead_bytes);
            ear.busy(span);
            self.done = Some(now + span);
        }
        look_again.min(self.done.unwrap_or(Time::NEVER))
    }

    /// Hands packets down while device and tokens allow; returns when tokens will allow more.
    fn fill<const PACKETS: bool>(
        &mut self,
        now: Time,
        above: &mut Above<'_>,
        ear: &mut Ear<'_, PACKETS>,
    ) -> Time {
        while self.ring.is_empty() || self.has_room() {
            let ready = self.bucket.as_mut().map_or(now, |bucket| match &self.in_hand {
                Some(packet) => bucket.ready(now, packet.link_bytes),
                None => bucket.ready(now, 0),
            });
            if ready > now {
                return ready;
            }
            let Some(packet) = self.in_hand.take().or_else(|| take(now, above, ear)) else {
                return above.queue.held_until().unwrap_or(Time::NEVER);
            };
            let bucket = self.bucket.as_mut();
            if bucket.is_some_and(|bucket| bucket.ready(now, packet.link_bytes) > now) {
                self.in_hand = Some(packet);
                continue;
            }
            if let Some(bucket) = &mut self.bucket {
                bucket.take(now, packet.link_bytes);
            }
            self.ring_bytes += u64::from(packet.link_bytes);
            self.ring.push_back(packet);
        }
        Time::NEVER // the next departure makes room
    }

    fn has_room(&self) -> bool {
        match self.device.limit {
            Limit::Bytes(bytes) => self.ring_bytes <= bytes,
            Limit::Packets(packets) => (self.ring.len() as u64) < packets,
        }
    }
}

/// Takes the next packet out of the queue above.
pub(crate) fn take<const PACKETS: bool>(
    now: Time,
    above: &mut Above<'_>,
    ear: &mut Ear<'_, PACKETS>,
) -> Option<Packet> {
    let departure = above.queue.dequeue(now, above.rng, ear)?;
    ear.departed(&departure);
    Some(departure.packet)
}

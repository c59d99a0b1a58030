//! Packets of many short queues in one place, so that nothing is allocated however the queues change,
//! once as much has waited as ever will.

use alloc::vec::Vec;

use crate::packet::Packet;
use crate::time::Time;

/// The packets of all queues.
#[derive(Debug)]
pub(crate) struct Pool<P> {
    nodes: Vec<Node<P>>,
    free: Option<u32>,
}

#[derive(Debug)]
struct Node<P> {
    /// None while the node is free.
    packet: Option<(Time, P)>,
    /// The one behind it, or the next free one.
    next: Option<u32>,
    previous: Option<u32>,
}

/// One queue of the pool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chain {
    ends: Option<(u32, u32)>,
    packets: u32,
    bytes: u64,
}

impl Chain {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<P: Packet> Pool<P> {
    pub(crate) fn new() -> Self {
        Pool { nodes: Vec::new(), free: None }
    }

    /// Appends a packet.
    pub(crate) fn push(&mut self, chain: &mut Chain, enqueued: Time, packet: P) {
        chain.packets += 1;
        chain.bytes += u64::from(packet.bytes());
        let previous = chain.ends.map(|(_, last)| last);
        let index = self.place(Node { packet: Some((enqueued, packet)), next: None, previous });
        if let Some(last) = previous {
            self.nodes[last as usize].next = Some(index);
        }
        chain.ends = Some((chain.ends.map_or(index, |(first, _)| first), index));
    }

    /// Takes the head.
    pub(crate) fn pop(&mut self, chain: &mut Chain) -> Option<(Time, P)> {
        let (first, last) = chain.ends?;
        let next = self.nodes[first as usize].next;
        if let Some(next) = next {
            self.nodes[next as usize].previous = None;
        }
        chain.ends = next.map(|next| (next, last));
        Some(self.release(chain, first))
    }

    /// Takes the tail.
    pub(crate) fn pop_tail(&mut self, chain: &mut Chain) -> Option<(Time, P)> {
        let (first, last) = chain.ends?;
        let previous = self.nodes[last as usize].previous;
        if let Some(previous) = previous {
            self.nodes[previous as usize].next = None;
        }
        chain.ends = previous.map(|previous| (first, previous));
        Some(self.release(chain, last))
    }

    pub(crate) fn head_mut(&mut self, chain: &Chain) -> Option<(Time, &mut P)> {
        let (first, _) = chain.ends?;
        self.nodes[first as usize].packet.as_mut().map(|(enqueued, packet)| (*enqueued, packet))
    }

    fn place(&mut self, node: Node<P>) -> u32 {
        match self.free {
            Some(index) => {
                self.free = self.nodes[index as usize].next;
                self.nodes[index as usize] = node;
                index
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    fn release(&mut self, chain: &mut Chain, index: u32) -> (Time, P) {
        let node = &mut self.nodes[index as usize];
        let (enqueued, packet) = node.packet.take().expect("a listed node holds a packet");
        node.next = self.free.replace(index);
        chain.packets -= 1;
        chain.bytes -= u64::from(packet.bytes());
        (enqueued, packet)
    }
}

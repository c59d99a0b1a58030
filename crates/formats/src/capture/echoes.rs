//! Round trips of ping in a capture: echo requests of ICMP and their replies.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::packet::{Echo, Packet};

/// Requests kept of all hosts together.
const MOST: usize = 1 << 17;

/// Echo requests from one host to another.
#[derive(Default)]
pub(super) struct Requests {
    /// When each was sent, and the time until its reply.
    pub(super) sent: Vec<(u64, Option<u64>)>,
    /// The unanswered ones, by identifier and sequence number.
    open: HashMap<u32, usize>,
}

/// All echo requests, by the hosts that sent and received them.
#[derive(Default)]
pub(super) struct Echoes {
    pub(super) all: BTreeMap<(IpAddr, IpAddr), Requests>,
    kept: usize,
    /// Requests that were not kept.
    pub(super) left_out: u64,
}

impl Echoes {
    pub(super) fn on_packet(&mut self, t: u64, packet: &Packet) {
        let (from, to) = (packet.source.ip(), packet.destination.ip());
        match packet.echo {
            None => {}
            Some(Echo { is_reply: false, .. }) if self.kept == MOST => self.left_out += 1,
            Some(Echo { is_reply: false, number }) => {
                self.kept += 1;
                let requests = self.all.entry((from, to)).or_default();
                requests.open.insert(number, requests.sent.len());
                requests.sent.push((t, None));
            }
            Some(Echo { is_reply: true, number }) => {
                let Some(requests) = self.all.get_mut(&(to, from)) else { return };
                let Some(index) = requests.open.remove(&number) else { return };
                let request = &mut requests.sent[index];
                request.1 = t.checked_sub(request.0);
            }
        }
    }
}

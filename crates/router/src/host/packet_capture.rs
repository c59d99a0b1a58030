//! Packet captures. Each socket sees every packet at the interfaces of a namespace, with the
//! kernel's time stamps, and writes rows for some of them: at the router for packets on their way
//! to a receiver, at the ends of TCP connections for data sent, received and acknowledged.

use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, MultiHeaders, RecvMsg, SockFlag,
    SockProtocol, SockType, recvmmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;
use socket2::{SockFilter, SockRef};

use super::clock::Clock;
use super::program_flows::FlowIds;
use crate::captures::{CapturedKind, EndpointCapture, EndpointEvent, InterfaceCapture};
use crate::header::{HEADER_BYTES, Header, datagram_number, payload_hash};
use crate::linux::hosts::Hosts;
use crate::linux::sys::packets_lost;
use crate::plan::{Bottleneck, MIRROR, Netns, Plan, SenderCapture, flow_of};
use crate::run_files::{INTERFACE_CAPTURES, PROGRAM_CAPTURES, RECEIVER_CAPTURES, SENDER_CAPTURES};

/// Packets read at a time.
const BATCH: usize = 64;
/// Size of a socket's buffer, which holds the packets that arrive between two reads.
const BUFFER_BYTES: usize = 64 << 20;
/// The interface whose root is the shaper.
const SHAPED: &str = "out";
/// The packet-filter instruction that accepts a given number of bytes (`BPF_RET | BPF_K`,
/// linux/bpf_common.h).
const ACCEPT: u16 = 0x06;
/// `PACKET_HOST` and `PACKET_OUTGOING` (linux/if_packet.h).
const PACKET_HOST: u8 = 0;
const PACKET_OUTGOING: u8 = 4;

/// A packet socket and the file that it fills.
pub(super) struct PacketCapture {
    socket: OwnedFd,
    file: BufWriter<File>,
    write_row: Box<WriteRow>,
}

/// Appends the row of a packet, if the packet gets one.
pub(super) type WriteRow = dyn Fn(&CapturedPacket<'_>, &mut Vec<u8>);

/// A packet at an interface.
pub(super) struct CapturedPacket<'a> {
    pub(super) at_ns: i64,
    /// Its first bytes.
    pub(super) bytes: &'a [u8],
    pub(super) header: Header,
    /// The number that our program wrote into a datagram.
    number: Option<u32>,
    /// A hash of a datagram's first bytes.
    hash: u32,
    /// Whether it leaves the namespace at this interface; otherwise it arrives.
    pub(super) leaves: bool,
    /// The index of the interface.
    pub(super) interface: usize,
}

/// Opens all captures that a plan needs.
pub(super) fn open_all(
    plan: &Plan,
    hosts: &Hosts,
    ids: &FlowIds,
    folder: &Path,
) -> io::Result<Vec<PacketCapture>> {
    let mut captures = Vec::new();
    let mut open = |netns, name, write_row: Box<WriteRow>| {
        captures.push(PacketCapture::open(hosts, netns, &folder.join(name), write_row)?);
        io::Result::Ok(())
    };
    if matches!(plan.bottleneck, Bottleneck::Kernel { .. }) {
        let shaped = hosts.within(Netns::Router, || Ok(if_nametoindex(SHAPED)? as usize))?;
        let ids = ids.clone();
        let write_row = move |packet: &CapturedPacket<'_>, out: &mut Vec<u8>| {
            at_router(packet, shaped, &ids).iter().for_each(|row| row.write(out));
        };
        open(Netns::Router, INTERFACE_CAPTURES, Box::new(write_row))?;
    }
    if plan.programs.is_some() {
        let ids = ids.clone();
        let observe = move |packet: &CapturedPacket<'_>, _: &mut Vec<u8>| {
            if !packet.leaves {
                ids.observe(packet.at_ns, &packet.header);
            }
        };
        open(Netns::Receivers, PROGRAM_CAPTURES, Box::new(observe))?;
    }
    if let Some(sender_capture) = plan.sender_capture {
        let flows = plan.flows.len();
        let interface = mirror(sender_capture, hosts)?;
        let write_row = move |packet: &CapturedPacket<'_>, out: &mut Vec<u8>| {
            at_sender(packet, interface, flows).iter().for_each(|row| row.write(out));
        };
        open(Netns::Senders, SENDER_CAPTURES, Box::new(write_row))?;
        let write_row = move |packet: &CapturedPacket<'_>, out: &mut Vec<u8>| {
            at_receiver(packet, flows).iter().for_each(|row| row.write(out));
        };
        open(Netns::Receivers, RECEIVER_CAPTURES, Box::new(write_row))?;
    }
    Ok(captures)
}

/// The interface where packets are captured as they are sent; `None` for the senders' interfaces.
pub(super) fn mirror(sent_at: SenderCapture, hosts: &Hosts) -> io::Result<Option<usize>> {
    let index = || Ok(if_nametoindex(MIRROR)? as usize);
    match sent_at {
        SenderCapture::Interface => Ok(None),
        SenderCapture::Mirror => hosts.within(Netns::Senders, index).map(Some),
    }
}

impl PacketCapture {
    /// Opens a socket that sees all packets in a namespace.
    pub(super) fn open(
        hosts: &Hosts,
        netns: Netns,
        file: &Path,
        write_row: Box<WriteRow>,
    ) -> io::Result<PacketCapture> {
        let socket = hosts.within(netns, || {
            let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
            let protocol = SockProtocol::EthAll;
            Ok(socket(AddressFamily::Packet, SockType::Datagram, flags, protocol)?)
        })?;
        // Keeps only headers: a copy of the whole packet shares its data until it is read, and
        // Linux does not coalesce segments whose data is shared (`skb_try_coalesce`; fact
        // linux-38).
        let headers = SockFilter::new(ACCEPT, 0, 0, HEADER_BYTES as u32);
        SockRef::from(&socket).attach_filter(&[headers])?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        // This call fails in a user namespace (Linux 6.1 sock.c, `sk_setsockopt`,
        // `SO_RCVBUFFORCE`), where `net.core.rmem_max` limits the size.
        match setsockopt(&socket, sockopt::RcvBufForce, &BUFFER_BYTES) {
            Err(nix::Error::EPERM) => setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES)?,
            other => other?,
        }
        let file = BufWriter::new(File::create(file)?);
        Ok(PacketCapture { socket, file, write_row })
    }

    /// Writes the packets since the last call.
    pub(super) fn drain(&mut self, clock: &Clock) -> io::Result<()> {
        let mut rows = Vec::new();
        while self.read_batch(clock, &mut rows)? == BATCH {}
        self.file.write_all(&rows)
    }

    fn read_batch(&self, clock: &Clock, out: &mut Vec<u8>) -> io::Result<usize> {
        let mut bytes = vec![0u8; BATCH * HEADER_BYTES];
        let mut slices: Vec<[IoSliceMut<'_>; 1]> =
            bytes.chunks_mut(HEADER_BYTES).map(|chunk| [IoSliceMut::new(chunk)]).collect();
        let space = nix::cmsg_space!(TimeSpec);
        let mut headers = MultiHeaders::<LinkAddr>::preallocate(BATCH, Some(space));
        let flags = MsgFlags::MSG_DONTWAIT;
        let fd = self.socket.as_raw_fd();
        match recvmmsg(fd, &mut headers, slices.iter_mut(), flags, None) {
            Err(nix::Error::EAGAIN) => Ok(0),
            Err(error) => Err(error.into()),
            Ok(messages) => {
                let mut count = 0;
                for message in messages {
                    count += 1;
                    if let Some(packet) = captured(&message, clock) {
                        (self.write_row)(&packet, out);
                    }
                }
                Ok(count)
            }
        }
    }

    /// Closes the file; returns the number of packets for which the socket had no room.
    pub(super) fn finish(&mut self) -> io::Result<u64> {
        self.file.flush()?;
        Ok(u64::from(packets_lost(self.socket.as_fd())?))
    }
}

fn captured<'a>(
    message: &'a RecvMsg<'_, '_, LinkAddr>,
    clock: &Clock,
) -> Option<CapturedPacket<'a>> {
    let address = message.address?;
    let leaves = match address.as_ref().sll_pkttype {
        PACKET_OUTGOING => true,
        PACKET_HOST => false,
        _ => return None,
    };
    let bytes = message.iovs().next()?;
    let (header, number) = (Header::read(bytes)?, datagram_number(bytes));
    let hash = if header.is_tcp() { 0 } else { payload_hash(bytes) };
    let stamp = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(at) => Some(at),
        _ => None,
    })?;
    let at_ns = clock.of_stamp(stamp.tv_sec() * 1_000_000_000 + stamp.tv_nsec());
    let interface = address.ifindex();
    Some(CapturedPacket { at_ns, bytes, header, number, hash, leaves, interface })
}

/// At the router: packets on their way to a receiver, as they arrive and as they leave the queue
/// through the interface `shaped`. They pass the link later, through another interface (fact
/// linux-27).
fn at_router(
    packet: &CapturedPacket<'_>,
    shaped: usize,
    ids: &FlowIds,
) -> Option<InterfaceCapture> {
    let CapturedPacket { at_ns, header, number, hash, leaves, interface, .. } = *packet;
    let (flow, true) = ids.of(&header)? else { return None };
    if leaves && interface != shaped {
        return None;
    }
    let number = if ids.is_of_program(flow) { (!header.is_tcp()).then_some(hash) } else { number };
    Some(InterfaceCapture {
        at_ns,
        flow,
        seq: number.unwrap_or(header.seq),
        bytes: header.bytes,
        ident: header.ident,
        ecn: header.ecn,
        dscp: header.dscp,
        leaves,
        kind: CapturedKind::of(&header),
    })
}

/// At a sender: packets that it sends, seen at the interface `sent_at` if that is given, and
/// acknowledgements that arrive.
fn at_sender(
    packet: &CapturedPacket<'_>,
    sent_at: Option<usize>,
    flows: usize,
) -> Option<EndpointCapture> {
    let header = &packet.header;
    let (flow, to_receiver) = flow_of(header.ports, flows).filter(|_| header.is_tcp())?;
    let is_there = sent_at.is_none_or(|interface| interface == packet.interface);
    match (packet.leaves, to_receiver) {
        (true, true) if is_there && header.syn => {
            Some(endpoint_capture(packet, flow, EndpointEvent::Opened))
        }
        (true, true) if is_there && header.payload_bytes > 0 => {
            Some(endpoint_capture(packet, flow, EndpointEvent::Sent))
        }
        (false, false) => Some(endpoint_capture(packet, flow, EndpointEvent::Acknowledged)),
        _ => None,
    }
}

/// At a receiver: the data that arrives.
fn at_receiver(packet: &CapturedPacket<'_>, flows: usize) -> Option<EndpointCapture> {
    let header = &packet.header;
    let (flow, to_receiver) = flow_of(header.ports, flows).filter(|_| header.is_tcp())?;
    let is_data = to_receiver && !packet.leaves && header.payload_bytes > 0;
    is_data.then(|| endpoint_capture(packet, flow, EndpointEvent::Received))
}

fn endpoint_capture(
    packet: &CapturedPacket<'_>,
    flow: u32,
    event: EndpointEvent,
) -> EndpointCapture {
    let CapturedPacket { at_ns, header, .. } = *packet;
    let (port, number) = match event {
        EndpointEvent::Acknowledged => (header.ports[1], header.ack),
        _ => (header.ports[0], header.seq),
    };
    let (bytes, ident) = (header.payload_bytes, header.ident);
    EndpointCapture { at_ns, flow, port, number, bytes, ident, event }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::super::program_flows::CountTimes;
    use super::*;
    use crate::plan::FIRST_PORT;
    use sojourn_aqm::Ecn;

    fn ids() -> FlowIds {
        FlowIds::of_plan(1, None, CountTimes::default())
    }

    /// A segment of the first flow at an interface of the router.
    fn segment(leaves: bool, interface: usize) -> CapturedPacket<'static> {
        let header = Header {
            bytes: 1500,
            ident: 7,
            ecn: Ecn::NotEct,
            dscp: 0,
            protocol: libc::IPPROTO_TCP as u8,
            addresses: [[10, 1, 0, 1], [10, 2, 0, 1]].map(IpAddr::from),
            ports: [40_000, FIRST_PORT],
            seq: 5,
            ack: 1,
            syn: false,
            payload_bytes: 1448,
        };
        CapturedPacket { at_ns: 9, bytes: &[], header, number: None, hash: 3, leaves, interface }
    }

    #[test]
    fn a_datagram_at_the_router_is_identified_by_the_number_in_its_payload() {
        let mut datagram = segment(false, 2);
        datagram.header.protocol = libc::IPPROTO_UDP as u8;
        (datagram.header.seq, datagram.number) = (0, Some(70_000));
        let row = at_router(&datagram, 4, &ids()).expect("on its way to a receiver");
        assert_eq!((row.seq, row.kind), (70_000, CapturedKind::Datagram));
        assert_eq!(at_router(&segment(false, 2), 4, &ids()).map(|row| row.seq), Some(5), "TCP");
    }

    #[test]
    fn a_packet_leaves_the_queue_once_though_it_passes_the_link_behind_it_by_another_interface() {
        const OUT: usize = 4;
        let seen = |leaves, interface| at_router(&segment(leaves, interface), OUT, &ids());
        assert!(seen(false, 2).is_some_and(|row| !row.leaves), "it arrives from a sender");
        assert!(seen(true, OUT).is_some_and(|row| row.leaves));
        assert_eq!(seen(true, 6), None);
    }
}

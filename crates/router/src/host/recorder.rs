//! Recorders: each sees every packet at the interfaces of a name space, with the kernel's own time stamps,
//! and writes down what it is there for: at the router those on their way to a receiver, at the ends of TCP
//! what is sent, received and acknowledged.

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

use super::Hosts;
use super::clock::Clock;
use crate::header::{HEADER_BYTES, Header};
use crate::plan::{Bottleneck, MIRROR, Plan, Space, Watch, flow_of};
use crate::record_files::{AT_RECEIVERS, BESIDE_SENDERS, PASSAGES};
use crate::seen::{Kind, Passage, Sight, Sighting};

/// Packets read at a time.
const BATCH: usize = 64;
/// Room for what arrives between two readings.
const ROOM_BYTES: usize = 64 << 20;
const PACKET_OUTGOING: u8 = 4;
const PACKET_HOST: u8 = 0;

/// A recorder.
pub struct Recorder {
    socket: OwnedFd,
    file: BufWriter<File>,
    notes: Box<Notes>,
}

/// Appends the row of a packet, if it is to have one.
type Notes = dyn Fn(&Seen, &mut Vec<u8>);

/// A packet that passes an interface.
struct Seen {
    at_ns: i64,
    header: Header,
    /// Whether it leaves the name space there; else it comes in.
    leaves: bool,
    /// The number of the interface.
    interface: usize,
}

/// All recorders that a plan asks for.
pub fn open_all(plan: &Plan, hosts: &Hosts, folder: &Path) -> io::Result<Vec<Recorder>> {
    let flows = plan.flows.len();
    let mut recorders = Vec::new();
    if matches!(plan.bottleneck, Bottleneck::Kernel { .. }) {
        let notes = move |seen: &Seen, out: &mut Vec<u8>| {
            passage(seen, flows).iter().for_each(|row| row.write(out));
        };
        recorders.push(Recorder::open(hosts, Space::Router, &folder.join(PASSAGES), notes)?);
    }
    let Some(watch) = plan.watch else { return Ok(recorders) };
    let mirror = match watch {
        Watch::Interface => None,
        Watch::Mirror => {
            Some(hosts.within(Space::Senders, || Ok(if_nametoindex(MIRROR)? as usize))?)
        }
    };
    let notes = move |seen: &Seen, out: &mut Vec<u8>| {
        beside_sender(seen, mirror, flows).iter().for_each(|row| row.write(out));
    };
    recorders.push(Recorder::open(hosts, Space::Senders, &folder.join(BESIDE_SENDERS), notes)?);
    let notes = move |seen: &Seen, out: &mut Vec<u8>| {
        at_receiver(seen, flows).iter().for_each(|row| row.write(out));
    };
    recorders.push(Recorder::open(hosts, Space::Receivers, &folder.join(AT_RECEIVERS), notes)?);
    Ok(recorders)
}

impl Recorder {
    /// Opens a socket that sees all packets of a name space.
    fn open(
        hosts: &Hosts,
        space: Space,
        file: &Path,
        notes: impl Fn(&Seen, &mut Vec<u8>) + 'static,
    ) -> io::Result<Recorder> {
        let socket = hosts.within(space, || {
            let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
            let protocol = SockProtocol::EthAll;
            Ok(socket(AddressFamily::Packet, SockType::Datagram, flags, protocol)?)
        })?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RcvBufForce, &ROOM_BYTES)?;
        let file = BufWriter::new(File::create(file)?);
        Ok(Recorder { socket, file, notes: Box::new(notes) })
    }

    /// Writes down what has passed since the last time.
    pub fn drain(&mut self, clock: &Clock) -> io::Result<()> {
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
            Ok(packets) => {
                let mut count = 0;
                for packet in packets {
                    count += 1;
                    if let Some(seen) = seen(&packet, clock) {
                        (self.notes)(&seen, out);
                    }
                }
                Ok(count)
            }
        }
    }

    /// Closes the file; returns how many packets found no room in the socket.
    pub fn finish(&mut self) -> io::Result<u64> {
        self.file.flush()?;
        // struct tpacket_stats: packets, drops.
        Ok(u64::from(crate::sys::packets_lost(self.socket.as_fd())?))
    }
}

fn seen(message: &RecvMsg<'_, '_, LinkAddr>, clock: &Clock) -> Option<Seen> {
    let address = message.address?;
    let leaves = match address.as_ref().sll_pkttype {
        PACKET_OUTGOING => true,
        PACKET_HOST => false,
        _ => return None,
    };
    let header = Header::read(message.iovs().next()?)?;
    let stamp = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(at) => Some(at),
        _ => None,
    })?;
    let stamp_ns = stamp.tv_sec() * 1_000_000_000 + stamp.tv_nsec();
    Some(Seen { at_ns: clock.of_stamp(stamp_ns), header, leaves, interface: address.ifindex() })
}

/// At the router: a packet on its way to a receiver.
fn passage(seen: &Seen, flows: usize) -> Option<Passage> {
    let Seen { at_ns, header, leaves, .. } = *seen;
    let (flow, true) = flow_of(header.ports, flows)? else { return None };
    Some(Passage {
        at_ns,
        flow,
        seq: header.seq,
        bytes: header.bytes,
        ident: header.ident,
        ecn: header.ecn,
        leaves,
        kind: Kind::of(&header),
    })
}

/// Beside a sender: what it sends, at the mirror if there is one, and acknowledgements that come.
fn beside_sender(seen: &Seen, mirror: Option<usize>, flows: usize) -> Option<Sighting> {
    let header = &seen.header;
    let (flow, to_receiver) = flow_of(header.ports, flows).filter(|_| header.is_tcp())?;
    let is_here = mirror.is_none_or(|mirror| mirror == seen.interface);
    match (seen.leaves, to_receiver) {
        (true, true) if is_here && header.syn => Some(sighting(seen, flow, Sight::Opened)),
        (true, true) if is_here && header.payload_bytes > 0 => {
            Some(sighting(seen, flow, Sight::Sent))
        }
        (false, false) => Some(sighting(seen, flow, Sight::Acknowledged)),
        _ => None,
    }
}

/// At a receiver: data that comes.
fn at_receiver(seen: &Seen, flows: usize) -> Option<Sighting> {
    let header = &seen.header;
    let (flow, to_receiver) = flow_of(header.ports, flows).filter(|_| header.is_tcp())?;
    let is_data = to_receiver && !seen.leaves && header.payload_bytes > 0;
    is_data.then(|| sighting(seen, flow, Sight::Received))
}

fn sighting(seen: &Seen, flow: u32, sight: Sight) -> Sighting {
    let Seen { at_ns, header, .. } = *seen;
    let (port, number) = match sight {
        Sight::Acknowledged => (header.ports[1], header.ack),
        _ => (header.ports[0], header.seq),
    };
    let (bytes, ident) = (header.payload_bytes, header.ident);
    Sighting { at_ns, flow, port, number, bytes, ident, sight }
}

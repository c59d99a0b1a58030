//! The recorder: sees every packet at the router's interfaces, with the kernel's own time stamps, and
//! writes down those on their way to a receiver.

use std::fs::File;
use std::io::{self, BufWriter, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, MultiHeaders, RecvMsg, SockFlag,
    SockProtocol, SockType, recvmmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::TimeSpec;

use super::Hosts;
use super::clock::Clock;
use crate::header::{HEADER_BYTES, Header};
use crate::plan::{Space, flow_of};
use crate::record_files::PASSAGES;
use crate::seen::{Kind, Passage};

/// Packets read at a time.
const BATCH: usize = 64;
/// Room for what arrives between two readings.
const ROOM_BYTES: usize = 64 << 20;
const PACKET_OUTGOING: u8 = 4;
const PACKET_HOST: u8 = 0;

/// The recorder.
pub struct Recorder {
    socket: OwnedFd,
    file: BufWriter<File>,
}

impl Recorder {
    /// Opens a socket that sees all packets of the router.
    pub fn open(hosts: &Hosts, folder: &Path) -> io::Result<Recorder> {
        let socket = hosts.within(Space::Router, || {
            let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
            let protocol = SockProtocol::EthAll;
            Ok(socket(AddressFamily::Packet, SockType::Datagram, flags, protocol)?)
        })?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&socket, sockopt::RcvBufForce, &ROOM_BYTES)?;
        Ok(Recorder { socket, file: BufWriter::new(File::create(folder.join(PASSAGES))?) })
    }

    /// Writes down what has passed since the last time.
    pub fn drain(&mut self, clock: &Clock, flows: usize) -> io::Result<()> {
        let mut row = Vec::new();
        while self.read_batch(clock, flows, &mut row)? == BATCH {}
        self.file.write_all(&row)
    }

    fn read_batch(&self, clock: &Clock, flows: usize, out: &mut Vec<u8>) -> io::Result<usize> {
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
                    if let Some(passage) = passage(&packet, clock, flows) {
                        passage.write(out);
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

fn passage(message: &RecvMsg<'_, '_, LinkAddr>, clock: &Clock, flows: usize) -> Option<Passage> {
    let leaves = match message.address?.as_ref().sll_pkttype {
        PACKET_OUTGOING => true,
        PACKET_HOST => false,
        _ => return None,
    };
    let header = Header::read(message.iovs().next()?)?;
    let (flow, to_receiver) = flow_of(header.ports, flows)?;
    if !to_receiver {
        return None;
    }
    let stamp = message.cmsgs().ok()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(at) => Some(at),
        _ => None,
    })?;
    let stamp_ns = stamp.tv_sec() * 1_000_000_000 + stamp.tv_nsec();
    Some(Passage {
        at_ns: clock.of_stamp(stamp_ns),
        flow,
        seq: header.seq,
        bytes: header.bytes,
        ident: header.ident,
        ecn: header.ecn,
        leaves,
        kind: Kind::of(&header),
    })
}

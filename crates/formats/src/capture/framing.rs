//! Splits the bytes of a capture file into packets as they arrive: pcap (microseconds and
//! nanoseconds, both byte orders) and pcapng.
//!
//! Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng. We parse the framing without a crate:
//! it takes 16 bytes per packet, errors need the offset in the file, and lengths must be bounded
//! before anything is allocated (pcap-file 2 also reads every resolution as nanoseconds).

use std::ops::Range;

use super::blocks::{self, Interface, LONGEST_BYTES, Order};

const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
/// The bits of a pcap file's link type that do not describe a frame check sequence.
const LINK_TYPE_BITS: u32 = 0xffff;

/// A packet, within the bytes that are held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    /// The number of its interface.
    pub(super) interface: usize,
    /// Nanoseconds since 1970.
    pub(super) t_ns: u64,
    /// LINKTYPE value (draft-ietf-opsawg-pcaplinktype).
    pub(super) link: u16,
    /// Its length on the wire.
    pub(super) original_bytes: u32,
    /// Where its captured bytes are held.
    pub(super) data: Range<usize>,
}

/// Why reading ended before the end of the file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stop {
    pub(super) offset: u64,
    pub(super) why: String,
}

enum Form {
    Unknown,
    Pcap { order: Order, ns_per_tick: u64, link: u16 },
    PcapNg { order: Order, interfaces: Vec<Interface> },
}

/// Divides bytes into packets.
pub(super) struct Framer {
    form: Form,
    held: Vec<u8>,
    /// The number of bytes of `held` that have been read.
    done: usize,
    /// The offset in the file at which `held` begins.
    origin: u64,
    /// Packets in simple packet blocks of pcapng, which carry no time.
    pub(super) untimed: u64,
}

impl Framer {
    pub(super) const fn new() -> Framer {
        Framer { form: Form::Unknown, held: Vec::new(), done: 0, origin: 0, untimed: 0 }
    }

    /// Appends the next bytes of the file.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.held.drain(..self.done);
        self.origin += self.done as u64;
        self.done = 0;
        self.held.extend_from_slice(bytes);
    }

    pub(super) fn format(&self) -> &'static str {
        match self.form {
            Form::Unknown => "capture",
            Form::Pcap { .. } => "pcap capture",
            Form::PcapNg { .. } => "pcapng capture",
        }
    }

    pub(super) fn bytes(&self, frame: &Frame) -> &[u8] {
        &self.held[frame.data.clone()]
    }

    /// The offset in the file of the next packet or block.
    pub(super) fn offset(&self) -> u64 {
        self.origin + self.done as u64
    }

    /// The next packet, or `None` if it is incomplete.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, Stop> {
        loop {
            let before = self.done;
            let found = match &self.form {
                Form::Unknown => self.open(),
                Form::Pcap { .. } => self.record(),
                Form::PcapNg { .. } => self.block(),
            };
            match found {
                Err(why) => return Err(Stop { offset: self.offset(), why }),
                Ok(None) if self.done > before => {}
                Ok(found) => return Ok(found),
            }
        }
    }

    /// The error if the file ends here.
    pub(super) fn end(&self) -> Option<Stop> {
        let rest = self.held.len() - self.done;
        let what = if self.offset() == 0 { "its header" } else { "a packet" };
        let why = format!("the file ends within {what}, of which it holds {rest} bytes");
        (rest > 0).then(|| Stop { offset: self.offset(), why })
    }

    fn rest(&self) -> &[u8] {
        &self.held[self.done..]
    }

    /// Reads the header of a pcap file, or detects a pcapng file.
    fn open(&mut self) -> Result<Option<Frame>, String> {
        let Some(magic) = self.rest().first_chunk::<4>() else { return Ok(None) };
        let order = match *magic {
            blocks::SECTION => {
                self.form = Form::PcapNg { order: Order::Little, interfaces: Vec::new() };
                return self.block();
            }
            [0xd4 | 0x4d, _, _, 0xa1] => Order::Little,
            [0xa1, _, _, 0xd4 | 0x4d] => Order::Big,
            _ => return Err("is neither a pcap nor a pcapng file".to_owned()),
        };
        let ns_per_tick = match order.u32(magic) {
            0xa1b2_c3d4 => 1_000,
            0xa1b2_3c4d => 1,
            _ => return Err("is neither a pcap nor a pcapng file".to_owned()),
        };
        let Some(header) = self.rest().first_chunk::<FILE_HEADER_BYTES>() else { return Ok(None) };
        let major = order.u16(&header[4..]);
        if major != 2 {
            return Err(format!("is a pcap file of version {major}; version 2 can be read"));
        }
        let link = (order.u32(&header[20..]) & LINK_TYPE_BITS) as u16;
        self.form = Form::Pcap { order, ns_per_tick, link };
        self.done += FILE_HEADER_BYTES;
        Ok(None)
    }

    /// A packet of a pcap file.
    fn record(&mut self) -> Result<Option<Frame>, String> {
        let Form::Pcap { order, ns_per_tick, link } = self.form else { return Ok(None) };
        let Some(header) = self.rest().first_chunk::<RECORD_HEADER_BYTES>() else {
            return Ok(None);
        };
        let [seconds, ticks, captured, original] = [0, 4, 8, 12].map(|at| order.u32(&header[at..]));
        if captured > LONGEST_BYTES {
            return Err(format!("claims a packet of {captured} bytes; the file is damaged there"));
        }
        let fraction_ns = u64::from(ticks) * ns_per_tick;
        if fraction_ns >= 1_000_000_000 {
            return Err(
                "has a time with more than a second of fraction; the file is damaged there"
                    .to_owned(),
            );
        }
        let start = self.done + RECORD_HEADER_BYTES;
        let data = start..start + captured as usize;
        if data.end > self.held.len() {
            return Ok(None);
        }
        self.done = data.end;
        let t_ns = u64::from(seconds) * 1_000_000_000 + fraction_ns;
        let original_bytes = original.max(captured);
        Ok(Some(Frame { t_ns, interface: 0, link, original_bytes, data }))
    }

    /// A block of a pcapng file.
    fn block(&mut self) -> Result<Option<Frame>, String> {
        let Form::PcapNg { order, interfaces } = &mut self.form else { return Ok(None) };
        let rest = &self.held[self.done..];
        let Some((block, length)) = blocks::whole(rest, order)? else { return Ok(None) };
        self.untimed += u64::from(order.u32(block) == blocks::SIMPLE_PACKET);
        let found = blocks::read(block, *order, interfaces)?;
        let start = self.done;
        self.done += length;
        Ok(found.map(|packet| Frame {
            interface: packet.interface,
            t_ns: packet.t_ns,
            link: packet.link,
            original_bytes: packet.original_bytes,
            data: start + packet.data.start..start + packet.data.end,
        }))
    }
}

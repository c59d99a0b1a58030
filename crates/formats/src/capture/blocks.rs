//! The blocks of pcapng (draft-ietf-opsawg-pcapng).

use std::ops::Range;

/// Upper bound for blocks and packets; libpcap's own is 256 KiB for a packet.
pub(super) const LONGEST_BYTES: u32 = 1 << 24;
/// The type of a section header, the same in both byte orders.
pub(super) const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const SECTION_TYPE: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
pub(super) const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Type and length before the body; the length again follows it.
const HEAD_BYTES: usize = 8;
const FRAME_BYTES: usize = 12;
const TS_RESOLUTION: u16 = 9;
const TS_OFFSET: u16 = 14;

/// A byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    /// The first two bytes.
    pub(super) fn u16(self, bytes: &[u8]) -> u16 {
        let two = [bytes[0], bytes[1]];
        match self {
            Order::Little => u16::from_le_bytes(two),
            Order::Big => u16::from_be_bytes(two),
        }
    }

    /// The first four bytes.
    pub(super) fn u32(self, bytes: &[u8]) -> u32 {
        let four = [bytes[0], bytes[1], bytes[2], bytes[3]];
        match self {
            Order::Little => u32::from_le_bytes(four),
            Order::Big => u32::from_be_bytes(four),
        }
    }
}

/// An interface of the current section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interface {
    link: u16,
    /// `if_tsresol`: a power of ten, or of two if the highest bit is set.
    resolution: u8,
    offset_s: i64,
}

/// A packet, within its block.
pub(super) struct Packet {
    pub(super) t_ns: u64,
    /// The number of its interface within the section.
    pub(super) interface: usize,
    pub(super) link: u16,
    pub(super) original_bytes: u32,
    pub(super) data: Range<usize>,
}

/// The block at the start of `bytes` and its length, if the block is complete. A section header
/// sets the byte order.
pub(super) fn whole<'a>(
    bytes: &'a [u8],
    order: &mut Order,
) -> Result<Option<(&'a [u8], usize)>, String> {
    if bytes.len() < FRAME_BYTES {
        return Ok(None);
    }
    if bytes.starts_with(&SECTION) {
        *order = match bytes[8..12] {
            [0x4d, 0x3c, 0x2b, 0x1a] => Order::Little,
            [0x1a, 0x2b, 0x3c, 0x4d] => Order::Big,
            _ => {
                return Err("has a section header without its byte order; the file is damaged \
                             there"
                    .to_owned());
            }
        };
    }
    let length = order.u32(&bytes[4..]);
    if length < FRAME_BYTES as u32 || !length.is_multiple_of(4) || length > LONGEST_BYTES {
        return Err(format!("claims a block of {length} bytes; the file is damaged there"));
    }
    let size = length as usize;
    if bytes.len() < size {
        return Ok(None);
    }
    let again = order.u32(&bytes[size - 4..]);
    if again != length {
        return Err(format!(
            "has a block of {length} bytes that ends with the length {again}; the file is damaged \
             there"
        ));
    }
    Ok(Some((&bytes[..size], size)))
}

/// Reads a block: a packet, or a description of an interface for later packets.
pub(super) fn read(
    block: &[u8],
    order: Order,
    interfaces: &mut Vec<Interface>,
) -> Result<Option<Packet>, String> {
    let body = &block[HEAD_BYTES..block.len() - 4];
    match order.u32(block) {
        SECTION_TYPE => {
            interfaces.clear();
            let major = if body.len() >= 16 { order.u16(&body[4..]) } else { 0 };
            match major {
                1 => Ok(None),
                _ => Err(format!("is a pcapng section of version {major}; version 1 can be read")),
            }
        }
        INTERFACE => {
            interfaces.push(interface(body, order)?);
            Ok(None)
        }
        ENHANCED_PACKET if body.len() >= 20 => {
            packet(body, order, order.u32(body) as usize, interfaces).map(Some)
        }
        OLD_PACKET if body.len() >= 20 => {
            packet(body, order, order.u16(body).into(), interfaces).map(Some)
        }
        ENHANCED_PACKET | OLD_PACKET => {
            Err("has a packet block without its fields; the file is damaged there".to_owned())
        }
        _ => Ok(None),
    }
}

fn interface(body: &[u8], order: Order) -> Result<Interface, String> {
    if body.len() < 8 {
        return Err("has an interface without its fields; the file is damaged there".to_owned());
    }
    let mut found = Interface { link: order.u16(body), resolution: 6, offset_s: 0 };
    let mut options = &body[8..];
    while options.len() >= 4 {
        let (code, length) = (order.u16(options), usize::from(order.u16(&options[2..])));
        let Some(value) = options.get(4..4 + length) else { break };
        match code {
            0 => break,
            TS_RESOLUTION if length == 1 => found.resolution = value[0],
            TS_OFFSET if length == 8 => {
                let (first, second) = (order.u32(value), order.u32(&value[4..]));
                let (high, low) = match order {
                    Order::Little => (second, first),
                    Order::Big => (first, second),
                };
                found.offset_s = (u64::from(high) << 32 | u64::from(low)).cast_signed();
            }
            _ => {}
        }
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Ok(found)
}

fn packet(
    body: &[u8],
    order: Order,
    number: usize,
    interfaces: &[Interface],
) -> Result<Packet, String> {
    let [high, low, captured, original] = [4, 8, 12, 16].map(|at| order.u32(&body[at..]));
    let Some(interface) = interfaces.get(number) else {
        return Err(format!(
            "has a packet of interface {number}, which the file does not describe"
        ));
    };
    if captured as usize > body.len() - 20 {
        return Err(format!(
            "has a packet of {captured} bytes in a block with room for {}; the file is damaged \
             there",
            body.len() - 20
        ));
    }
    let ticks = u64::from(high) << 32 | u64::from(low);
    let t_ns = interface
        .time_ns(ticks)
        .ok_or("has a time outside the years 1970 to 2554; the file is damaged there")?;
    let start = HEAD_BYTES + 20;
    Ok(Packet {
        t_ns,
        interface: number,
        link: interface.link,
        original_bytes: original.max(captured),
        data: start..start + captured as usize,
    })
}

impl Interface {
    /// Converts ticks of the interface's clock to nanoseconds since 1970.
    fn time_ns(&self, ticks: u64) -> Option<u64> {
        let exponent = u32::from(self.resolution & 0x7f);
        let per_second = match self.resolution & 0x80 {
            0 => 10_u128.checked_pow(exponent)?,
            _ => 1_u128.checked_shl(exponent)?,
        };
        let ns = u128::from(ticks).checked_mul(1_000_000_000)? / per_second;
        let offset_ns = i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from(i128::try_from(ns).ok()?.checked_add(offset_ns)?).ok()
    }
}

//! Captures of a run, as tcpdump would have made them: one file for each end of the flows and for
//! each side of every queue.
//!
//! Engines other than the simulator have real packets, which [`write_packets`] writes unchanged. A
//! packet of the simulator is a segment number and a few fields; this crate adds the headers that a
//! stack would have written: [`conversations`] gives connections their addresses, ports and bytes,
//! [`headers`] builds IP, TCP and UDP with correct checksums, and [`comments`] states the rule by
//! which a packet was dropped or marked, and the AQM's state. Payload is zeros and is not captured.
//! The last segment of a finished transfer carries FIN. The receiver's FIN, RST, ARP and fragments
//! are not simulated and so not captured.

mod comments;
mod conversations;
mod headers;
mod places;
mod qlog;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, PcapError, TsResolution};
use sojourn_aqm::Time;
use sojourn_record::Run;
use sojourn_scenario::Resolved;
use sojourn_sim::capture::Sighting;

use self::comments::Comments;
pub use self::comments::Signal;
use self::conversations::Conversations;
pub use self::places::CapturePlace;

/// The form of the files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileFormat {
    /// With the fate of packets as comments.
    PcapNg,
    /// For older tools; without comments. Times are in nanoseconds.
    Pcap,
    /// Logs of TCP's senders, a file for each flow. Their windows and round trips are those of
    /// `record.flows`.
    Qlog,
}

/// Writes the captures or logs of a run into a folder and returns their files. Files of an earlier
/// capture with the same names are replaced.
///
/// # Errors
/// A file cannot be written.
pub fn write(
    plan: &Resolved,
    run: &Run,
    sightings: &[Sighting],
    folder: &Path,
    format: FileFormat,
) -> io::Result<Vec<PathBuf>> {
    if format == FileFormat::Qlog {
        return qlog::write(plan, run, sightings, folder);
    }
    let conversations = Conversations::of(plan, sightings);
    let comments = Comments::of(plan, run);
    write_places(plan, SIMULATED, folder, format, |place| {
        let seen = sightings.iter().filter(move |sighting| place.sees(sighting));
        seen.map(|sighting| Captured {
            t: Duration::from_nanos(sighting.t.as_nanos()),
            bytes: sighting.packet.ip_bytes,
            headers: Cow::Owned(headers::of(sighting, &conversations)),
            comment: comments.on(sighting),
        })
    })
}

/// The comment of the section in captures of the simulator.
const SIMULATED: &str = "Sojourn, engine sim: headers written for simulated packets, whose \
                         payload is zeros and not captured";

/// A real packet at a place.
#[derive(Clone, PartialEq, Debug)]
pub struct RealPacket {
    /// When the packet passed the place.
    pub t: Time,
    /// The place.
    pub place: CapturePlace,
    /// Bytes from the IP header on.
    pub bytes: u32,
    /// The first of these bytes.
    pub headers: Vec<u8>,
    /// Its drop or mark, where it arrives at a queue.
    pub signal: Option<Signal>,
}

/// Writes captures of real packets, which are in order of time, into a folder, with a comment about
/// their origin, and returns their files.
///
/// # Errors
/// A file cannot be written, or the format is qlog.
pub fn write_packets(
    plan: &Resolved,
    about: &str,
    packets: &[RealPacket],
    folder: &Path,
    format: FileFormat,
) -> io::Result<Vec<PathBuf>> {
    if format == FileFormat::Qlog {
        return Err(io::Error::other("only the simulator logs its senders"));
    }
    let comment = |packet: &RealPacket| {
        let CapturePlace::In(link) = packet.place else { return None };
        let link = &plan.links[link];
        packet.signal.as_ref().map(|signal| signal.text(&link.queue.to_string(), &link.name))
    };
    write_places(plan, about, folder, format, |place| {
        let there = packets.iter().filter(move |packet| packet.place == place);
        there.map(|packet| Captured {
            t: Duration::from_nanos(packet.t.as_nanos()),
            bytes: packet.bytes,
            headers: Cow::Borrowed(&packet.headers),
            comment: comment(packet),
        })
    })
}

/// Writes a file for each place.
fn write_places<'a, Packets: Iterator<Item = Captured<'a>>>(
    plan: &Resolved,
    about: &str,
    folder: &Path,
    format: FileFormat,
    packets: impl Fn(CapturePlace) -> Packets,
) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for place in CapturePlace::all(plan) {
        let extension = if format == FileFormat::PcapNg { "pcapng" } else { "pcap" };
        let path = folder.join(format!("{}.{extension}", place.name(plan)));
        let file = BufWriter::with_capacity(1 << 16, File::create(&path)?);
        let done = match format == FileFormat::PcapNg {
            true => {
                write_pcapng(file, (&place.name(plan), &place.about(plan)), about, packets(place))
            }
            false => write_pcap(file, packets(place)),
        };
        done.map_err(io_error)?;
        files.push(path);
    }
    Ok(files)
}

/// One packet of a file.
struct Captured<'a> {
    t: Duration,
    /// Its size on the wire, from the IP header on.
    bytes: u32,
    headers: Cow<'a, [u8]>,
    comment: Option<String>,
}

/// `if_tsresol`: nanoseconds.
const NANOSECONDS: u8 = 9;
/// Longer than the headers of any packet.
const SNAP_LENGTH: u32 = 128;

fn write_pcapng<'a>(
    file: impl Write,
    (name, description): (&str, &str),
    about: &str,
    packets: impl Iterator<Item = Captured<'a>>,
) -> Result<(), PcapError> {
    let section = SectionHeaderBlock {
        endianness: pcap_file::Endianness::Little,
        options: vec![SectionHeaderOption::Comment(Cow::Owned(about.to_owned()))],
        ..SectionHeaderBlock::default()
    };
    let mut writer = PcapNgWriter::with_section_header(file, section)?;
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: SNAP_LENGTH,
        options: vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
            InterfaceDescriptionOption::IfDescription(Cow::Borrowed(description)),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ],
    };
    writer.write_block(&interface.into_block())?;
    for packet in packets {
        let comment = packet.comment.map(|text| EnhancedPacketOption::Comment(Cow::Owned(text)));
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: packet.t,
            original_len: packet.bytes,
            data: packet.headers,
            options: comment.into_iter().collect(),
        };
        writer.write_block(&block.into_block())?;
    }
    writer.into_inner().flush().map_err(PcapError::IoError)
}

fn write_pcap<'a>(
    file: impl Write,
    packets: impl Iterator<Item = Captured<'a>>,
) -> Result<(), PcapError> {
    let header = PcapHeader {
        snaplen: SNAP_LENGTH,
        datalink: DataLink::RAW,
        ts_resolution: TsResolution::NanoSecond,
        endianness: pcap_file::Endianness::Little,
        ..PcapHeader::default()
    };
    let mut writer = PcapWriter::with_header(file, header)?;
    for packet in packets {
        writer.write_packet(&PcapPacket::new(packet.t, packet.bytes, &packet.headers))?;
    }
    writer.into_writer().flush().map_err(PcapError::IoError)
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

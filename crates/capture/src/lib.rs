//! Captures of a simulated run, as tcpdump would have made them: one file for each end of the
//! flows and for each side of every queue.
//!
//! A packet of the simulator is a segment number and a few fields; here it gets the headers that a
//! stack would have written: [`conversations`] gives connections their addresses, ports and bytes,
//! [`headers`] builds IP, TCP and UDP with correct checksums, and [`comments`] states by which rule
//! and in which state a packet was dropped or marked. Payload is zeros and not captured. The
//! last segment of a finished transfer carries FIN. Not simulated, and so not captured: FIN of the
//! receiver and RST, ARP, and fragments.

mod comments;
mod conversations;
mod headers;
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
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, PcapError, TsResolution};
use sojourn_record::Run;
use sojourn_scenario::Resolved;
use sojourn_sim::capture::{Point, Sighting};

use self::comments::Comments;
use self::conversations::Conversations;

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

/// A capture point, with the name of its file.
struct Place {
    name: String,
    description: String,
    sees: Box<dyn Fn(&Sighting) -> bool>,
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
    let mut files = Vec::new();
    for place in places(plan) {
        let extension = if format == FileFormat::PcapNg { "pcapng" } else { "pcap" };
        let path = folder.join(format!("{}.{extension}", place.name));
        let file = BufWriter::with_capacity(1 << 16, File::create(&path)?);
        let seen = sightings.iter().filter(|sighting| (place.sees)(sighting));
        let packets = seen.map(|sighting| Captured {
            t: Duration::from_nanos(sighting.t.as_nanos()),
            bytes: sighting.packet.ip_bytes,
            headers: headers::of(sighting, &conversations),
            comment: comments.on(sighting),
        });
        let done = match format == FileFormat::PcapNg {
            true => write_pcapng(file, &place, packets),
            false => write_pcap(file, packets),
        };
        done.map_err(io_error)?;
        files.push(path);
    }
    Ok(files)
}

/// Both ends of the flows, and both sides of each queue.
fn places(plan: &Resolved) -> Vec<Place> {
    let mut places = vec![
        Place {
            name: "sender".to_owned(),
            description: "what the senders of all flows send and receive".to_owned(),
            sees: Box::new(|seen| match seen.point {
                Point::Sent => !seen.packet.is_reverse(),
                Point::Received => seen.packet.is_reverse(),
                Point::Arrived(_) | Point::Left(_) => false,
            }),
        },
        Place {
            name: "receiver".to_owned(),
            description: "what the receivers of all flows send and receive".to_owned(),
            sees: Box::new(|seen| match seen.point {
                Point::Sent => seen.packet.is_reverse(),
                Point::Received => !seen.packet.is_reverse(),
                Point::Arrived(_) | Point::Left(_) => false,
            }),
        },
    ];
    for (index, link) in plan.links.iter().enumerate() {
        places.push(Place {
            name: format!("{}-in", link.name),
            description: format!("packets arriving at the queue of link {}", link.name),
            sees: Box::new(move |seen| seen.point == Point::Arrived(index)),
        });
        places.push(Place {
            name: format!("{}-out", link.name),
            description: format!("packets that link {} has sent", link.name),
            sees: Box::new(move |seen| seen.point == Point::Left(index)),
        });
    }
    places
}

/// One packet of a file.
struct Captured {
    t: Duration,
    /// Its size on the wire, from the IP header on.
    bytes: u32,
    headers: Vec<u8>,
    comment: Option<String>,
}

/// `if_tsresol`: nanoseconds.
const NANOSECONDS: u8 = 9;
/// Longer than the headers of any packet.
const SNAP_LENGTH: u32 = 128;

fn write_pcapng(
    file: impl Write,
    place: &Place,
    packets: impl Iterator<Item = Captured>,
) -> Result<(), PcapError> {
    let mut writer = PcapNgWriter::with_endianness(file, pcap_file::Endianness::Little)?;
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::RAW,
        snaplen: SNAP_LENGTH,
        options: vec![
            InterfaceDescriptionOption::IfName(Cow::Borrowed(&place.name)),
            InterfaceDescriptionOption::IfDescription(Cow::Borrowed(&place.description)),
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
            data: Cow::Owned(packet.headers),
            options: comment.into_iter().collect(),
        };
        writer.write_block(&block.into_block())?;
    }
    writer.into_inner().flush().map_err(PcapError::IoError)
}

fn write_pcap(file: impl Write, packets: impl Iterator<Item = Captured>) -> Result<(), PcapError> {
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

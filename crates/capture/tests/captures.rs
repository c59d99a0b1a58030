//! Captures read back: headers, order, checksums, and the same packets at every place.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use etherparse::{Ipv4HeaderSlice, TcpHeaderSlice, UdpHeaderSlice};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use sojourn_capture::{FileFormat, write};
use sojourn_scenario::{Format as Text, Scenario, Source};
use sojourn_sim::{Custom, capture};

const SCENARIO: &str = r#"
name = "captures"
duration = "4s"

[links.down]
rate = "5mbit"
delay = "10ms"
queue = "AQM"

[links.up]
rate = "2mbit"
delay = "10ms"
queue = "pie"

[[flows]]
name = "bulk"
count = 2
path = ["down"]
reverse = ["up"]
rtt = "40ms"
cc = "CC"
ecn = ECN
dscp = "cs1"
app = { kind = "bulk" }

[[flows]]
name = "files"
path = ["down"]
reverse = ["up"]
rtt = "40ms"
cc = "cubic"
app = { kind = "web" }

[[flows]]
name = "call"
path = ["down"]
rtt = "40ms"
ecn = "ect1"
dscp = "ef"
app = { kind = "cbr", rate = "87kbit", packet = "218B" }
"#;

struct Frame {
    t_ns: u64,
    bytes: u32,
    data: Vec<u8>,
    comment: Option<String>,
}

struct Written {
    run: sojourn_record::Run,
    plain: u64,
    folder: PathBuf,
}

impl Written {
    fn frames(&self, name: &str) -> Vec<Frame> {
        let file = File::open(self.folder.join(format!("{name}.pcapng"))).unwrap();
        let mut reader = PcapNgReader::new(file).unwrap();
        let mut frames = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                let comment = packet.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Comment(text) => Some(text.to_string()),
                    _ => None,
                });
                frames.push(Frame {
                    t_ns: packet.timestamp.as_nanos() as u64,
                    bytes: packet.original_len,
                    data: packet.data.to_vec(),
                    comment,
                });
            }
        }
        frames
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn captured(name: &str, aqm: &str, cc: &str, ecn: bool) -> Written {
    let text = SCENARIO.replace("AQM", aqm).replace("CC", cc).replace("ECN", &ecn.to_string());
    let source = Source { format: Text::Toml, origin: name, sets: &[] };
    let read = |_: &str| unreachable!("no files");
    let scenario = Scenario::load_for(&text, &source, &read, &|_| Ok(())).unwrap();
    let plan = scenario.resolved();
    let (run, sightings) = capture::run(plan, &Custom::default(), &|_| true).unwrap();
    let plain = sojourn_sim::run(plan, &|_| true).unwrap().digest;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let files = write(plan, &run, &sightings, &folder, FileFormat::PcapNg).unwrap();
    assert_eq!(files.len(), 6, "two ends, and two sides of two queues");
    Written { run, plain, folder }
}

/// The one's complement sum of RFC 1071 over pieces of even length.
fn sum(pieces: &[&[u8]]) -> u16 {
    let words = pieces.iter().flat_map(|piece| piece.chunks(2));
    let total: u32 = words.map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0))).sum();
    let total = (total & 0xffff) + (total >> 16);
    ((total & 0xffff) + (total >> 16)) as u16
}

#[test]
fn a_captured_run_has_the_digest_of_the_run() {
    let written = captured("digest", "codel", "cubic", false);
    assert_eq!(written.run.digest, written.plain);
}

#[test]
fn checksums_are_right_over_a_payload_of_zeros() {
    let written = captured("checksums", "codel", "cubic", true);
    for frame in written.frames("receiver") {
        let (ip, rest) = frame.data.split_at(20);
        assert_eq!(sum(&[ip]), 0xffff, "the header of IP");
        let length = (frame.bytes - 20) as u16;
        let pseudo = [&ip[12..20], &[0, ip[9]], &length.to_be_bytes()].concat();
        assert_eq!(sum(&[&pseudo, rest]), 0xffff, "protocol {}", ip[9]);
        assert_eq!(u16::from_be_bytes([ip[2], ip[3]]), frame.bytes as u16);
    }
}

#[test]
fn every_connection_opens_with_a_syn_and_numbers_every_byte_once() {
    let written = captured("numbers", "codel", "cubic", false);
    // By connection: the next byte that was never sent before.
    let mut next: HashMap<(Vec<u8>, u16), u32> = HashMap::new();
    let (mut opened, mut segments) = (0, 0);
    for frame in written.frames("sender") {
        let ip = Ipv4HeaderSlice::from_slice(&frame.data).unwrap();
        if ip.protocol() != etherparse::IpNumber::TCP || ip.source()[1] != 1 {
            continue;
        }
        let tcp = TcpHeaderSlice::from_slice(&frame.data[20..]).unwrap();
        let key = (ip.source().to_vec(), tcp.source_port());
        let (seq, payload) =
            (tcp.sequence_number(), frame.bytes - 20 - u32::from(tcp.data_offset()) * 4);
        if tcp.syn() {
            opened += u32::from(next.insert(key, seq.wrapping_add(1)).is_none());
            continue;
        }
        let expected = next.get_mut(&key).expect("a SYN comes first");
        if payload > 0 && seq >= *expected {
            assert_eq!(seq, *expected, "no byte is left out");
            *expected = seq.wrapping_add(payload);
            segments += 1;
        }
    }
    assert!(opened > 2, "the web user opens connections: {opened}");
    assert!(segments > 500, "{segments}");
}

#[test]
fn acknowledgements_are_of_bytes_that_were_sent() {
    let written = captured("acknowledged", "taildrop:limit=20p", "cubic", false);
    let mut highest: HashMap<(Vec<u8>, u16), u32> = HashMap::new();
    let mut sacks = 0;
    for frame in written.frames("sender") {
        let ip = Ipv4HeaderSlice::from_slice(&frame.data).unwrap();
        if ip.protocol() != etherparse::IpNumber::TCP {
            continue;
        }
        let tcp = TcpHeaderSlice::from_slice(&frame.data[20..]).unwrap();
        let payload = frame.bytes - 20 - u32::from(tcp.data_offset()) * 4;
        let end = tcp.sequence_number() + payload + u32::from(tcp.syn()) + u32::from(tcp.fin());
        if ip.source()[1] == 1 {
            let key = (ip.source().to_vec(), tcp.source_port());
            let highest = highest.entry(key).or_default();
            *highest = (*highest).max(end);
        } else {
            let sent = highest[&(ip.destination().to_vec(), tcp.destination_port())];
            assert!(tcp.acknowledgment_number() <= sent);
            for option in tcp.options_iterator() {
                if let etherparse::TcpOptionElement::SelectiveAcknowledgement((start, end), _) =
                    option.expect("options are well formed")
                {
                    assert!(start < end && end <= sent, "{start}..{end} of {sent}");
                    sacks += 1;
                }
            }
        }
    }
    assert!(sacks > 0, "packets were lost");
}

#[test]
fn a_packet_leaves_a_queue_unless_it_says_why_not() {
    let written = captured("fates", "codel", "cubic", false);
    let (into, out) = (written.frames("down-in"), written.frames("down-out"));
    let dropped = |frame: &&Frame| {
        frame
            .comment
            .as_deref()
            .is_some_and(|text| text.starts_with("dropped by codel of link down"))
    };
    let drops = into.iter().filter(dropped).count();
    let signals = written.run.signals.iter().filter(|row| !row.is_mark && row.queue == 0);
    assert_eq!(drops, signals.count());
    assert!(drops > 5, "{drops}");
    let waiting = into.len() - drops - out.len();
    assert!(waiting < 60, "the rest waits when the run ends: {waiting}");
    assert!(into.is_sorted_by_key(|frame| frame.t_ns) && out.is_sorted_by_key(|frame| frame.t_ns));
}

#[test]
fn a_mark_shows_in_the_field_behind_the_queue_and_in_the_feedback() {
    let written = captured("marks", "codel:ecn=true", "prague", true);
    let is_ce = |frame: &&Frame| frame.data[1] & 3 == 3;
    assert_eq!(written.frames("down-in").iter().filter(is_ce).count(), 0);
    let marked = written.frames("down-out").iter().filter(is_ce).count();
    assert!(marked > 5, "{marked}");
    let comments = written.frames("down-in");
    let comments = comments.iter().filter_map(|frame| frame.comment.as_deref());
    assert!(comments.filter(|text| text.starts_with("marked by codel")).count() >= marked);
    let first = written.frames("sender").into_iter().find(|frame| frame.data[9] == 6).unwrap();
    let tcp = TcpHeaderSlice::from_slice(&first.data[20..]).unwrap();
    assert!(tcp.syn() && tcp.ns() && tcp.cwr() && tcp.ece(), "it asks for accurate feedback");
}

#[test]
fn datagrams_are_udp() {
    let written = captured("datagrams", "codel", "cubic", false);
    let call = written.frames("sender").into_iter().find(|frame| frame.data[9] == 17).unwrap();
    let udp = UdpHeaderSlice::from_slice(&call.data[20..]).unwrap();
    assert_eq!((call.bytes, udp.length()), (218, 198));
}

#[test]
fn packets_have_the_code_point_of_their_flows_in_both_directions() {
    let written = captured("dscp", "codel", "cubic", false);
    let fields = |name: &str, protocol: u8| -> BTreeSet<u8> {
        let frames = written.frames(name).into_iter();
        frames.filter(|frame| frame.data[9] == protocol).map(|frame| frame.data[1]).collect()
    };
    // CS1 is 8 (RFC 2474 §4.2.2), and the files carry none; EF is 46 (RFC 3246 §2.7), ECT(1) 1.
    assert_eq!(fields("sender", 6), BTreeSet::from([0, 8 << 2]));
    assert_eq!(fields("up-out", 6), BTreeSet::from([0, 8 << 2]));
    let calls = written.frames("sender").into_iter().filter(|f| f.bytes == 218);
    assert!(calls.map(|frame| frame.data[1]).all(|tos| tos == 46 << 2 | 1));
}

#[test]
fn the_last_segment_of_a_finished_transfer_carries_fin_and_is_acknowledged() {
    let written = captured("closing", "codel", "cubic", false);
    let (mut closed, mut answered) = (HashMap::new(), BTreeSet::new());
    let mut unfinished = BTreeSet::new();
    for frame in written.frames("sender") {
        let ip = Ipv4HeaderSlice::from_slice(&frame.data).unwrap();
        if ip.protocol() != etherparse::IpNumber::TCP {
            continue;
        }
        let tcp = TcpHeaderSlice::from_slice(&frame.data[20..]).unwrap();
        let payload = frame.bytes - 20 - u32::from(tcp.data_offset()) * 4;
        let is_sender = ip.source()[1] == 1;
        if is_sender {
            let key = (ip.source().to_vec(), tcp.source_port());
            let end = tcp.sequence_number() + payload + 1;
            if tcp.fin() {
                assert!(payload > 0);
                assert_eq!(*closed.entry(key.clone()).or_insert(end), end);
            }
            assert!(closed.get(&key).is_none_or(|&last| end <= last), "nothing follows FIN");
            if ip.source()[3] == 1 {
                unfinished.insert(key);
            }
        } else {
            let key = (ip.destination().to_vec(), tcp.destination_port());
            if closed.get(&key) == Some(&tcp.acknowledgment_number()) {
                answered.insert(key);
            }
        }
    }
    assert!(closed.len() > 1, "the page has several objects: {}", closed.len());
    assert_eq!(answered.len(), closed.len());
    assert!(unfinished.iter().all(|key| !closed.contains_key(key)), "bulk data has no end");
}

#[test]
fn accurate_feedback_counts_the_bytes_of_every_code_point() {
    let written = captured("option", "codel:ecn=true", "prague", true);
    // By port of the bulk senders: payload received with ECT(1) and with CE, modulo 2^24.
    let mut received: HashMap<u16, [u32; 2]> = HashMap::new();
    let mut checked = 0;
    for frame in written.frames("receiver") {
        let ip = Ipv4HeaderSlice::from_slice(&frame.data).unwrap();
        if ip.protocol() != etherparse::IpNumber::TCP || ip.source()[3] != 1 {
            continue;
        }
        let tcp = TcpHeaderSlice::from_slice(&frame.data[20..]).unwrap();
        if ip.source()[1] == 1 {
            let payload = frame.bytes - 20 - u32::from(tcp.data_offset()) * 4;
            let counts = received.entry(tcp.source_port()).or_default();
            match frame.data[1] & 3 {
                1 => counts[0] += payload,
                3 => counts[1] += payload,
                _ => {}
            }
            continue;
        }
        let options = tcp.options();
        let Some(at) = options.windows(2).position(|two| two == [174, 11]) else { continue };
        let field = |n: usize| {
            let at = at + 2 + 3 * n;
            u32::from_be_bytes([0, options[at], options[at + 1], options[at + 2]])
        };
        let [ect1, ce] = received[&tcp.destination_port()];
        assert_eq!([field(0), field(1), field(2)], [ect1 + 1, ce, 1]);
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
}

//! The flows of the user's programs: five-tuples, numbered in order of appearance after the flows
//! of the scenario, and the bytes that each delivered.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use sojourn_aqm::Time;

use crate::header::Header;
use crate::linux::sock_diag::DiagSocket;
use crate::plan::{HostSide, Plan, flow_of, side_of};
use crate::run_files::{FlowSample, ProgramCounts, ProgramFlow, TcpTotals};

/// Maps packets to flows.
#[derive(Clone)]
pub(super) struct FlowIds {
    /// The number of flows of the scenario.
    own: usize,
    programs: Option<Rc<RefCell<ProgramFlows>>>,
}

/// The number of TCP among the protocols of IP.
const TCP: u8 = 6;
/// The most flows of programs; later ones get no number, and the run reports that.
const MOST_FLOWS: usize = 100_000;

/// The flows of programs so far.
struct ProgramFlows {
    /// The group replaced by programs.
    group: usize,
    times: CountTimes,
    of_tuple: BTreeMap<FiveTuple, usize>,
    flows: Vec<ObservedFlow>,
    packets: u64,
    has_more: bool,
}

/// The times at which delivered bytes are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CountTimes {
    pub(super) warmup_ns: u64,
    /// The width of bins, if there are any.
    pub(super) bins_ns: Option<u64>,
}

/// Protocol, then address and port of server and client.
type FiveTuple = (u8, ([u8; 4], u16), ([u8; 4], u16));

/// The observations of a flow at its receivers.
struct ObservedFlow {
    row: ProgramFlow,
    /// Towards the client, then towards the server.
    directions: [Delivery; 2],
    /// Delivered to the client by the end of the warm-up.
    before_warmup: u64,
    /// Delivered to the client by the end of each bin in which packets were seen.
    by_bin: BTreeMap<usize, u64>,
}

impl FlowIds {
    pub(super) fn new(plan: &Plan) -> FlowIds {
        let group = plan.programs.as_ref().map(|programs| programs.group);
        let times = CountTimes { warmup_ns: plan.warmup_ns, bins_ns: plan.bins_ns };
        FlowIds::of_plan(plan.flows.len(), group, times)
    }

    /// Maps packets for a scenario with `own` flows and programs that replace a group.
    pub(super) fn of_plan(own: usize, group: Option<usize>, times: CountTimes) -> FlowIds {
        let programs = group.map(|group| {
            let (of_tuple, flows) = (BTreeMap::new(), Vec::new());
            let (packets, has_more) = (0, false);
            let flows = ProgramFlows { group, times, of_tuple, flows, packets, has_more };
            Rc::new(RefCell::new(flows))
        });
        FlowIds { own, programs }
    }

    /// The flow of a packet, and whether the packet goes to the receivers; `None` if it belongs to
    /// no flow.
    pub(super) fn of(&self, header: &Header) -> Option<(u32, bool)> {
        if let Some(programs) = &self.programs {
            let mut programs = programs.borrow_mut();
            let addresses = header.ipv4()?;
            let [from, to] = addresses.map(|address| side_of(programs.group, address));
            if from.is_some() || to.is_some() {
                let (index, is_forward) = programs.index(header, addresses, from, to)?;
                return Some(((self.own + index) as u32, is_forward));
            }
        }
        flow_of(header.ports, self.own)
    }

    /// Whether a flow belongs to programs.
    pub(super) fn is_of_program(&self, flow: u32) -> bool {
        self.programs.is_some() && flow != u32::MAX && flow as usize >= self.own
    }

    /// Records a packet that arrives in the receivers' namespace, from either side.
    pub(super) fn observe(&self, at_ns: i64, header: &Header) {
        let (Some(programs), Ok(at_ns)) = (&self.programs, u64::try_from(at_ns)) else { return };
        let Some((flow, is_forward)) = self.of(header).filter(|(f, _)| self.is_of_program(*f))
        else {
            return;
        };
        let mut programs = programs.borrow_mut();
        programs.packets += 1;
        let CountTimes { warmup_ns, bins_ns } = programs.times;
        let flow = &mut programs.flows[flow as usize - self.own];
        flow.observe(at_ns, header, is_forward);
        let delivered = flow.directions[0].delivered;
        // A count at a time includes the packets at that time.
        if at_ns <= warmup_ns {
            flow.before_warmup = delivered;
        }
        if let Some(bins_ns) = bins_ns {
            flow.by_bin.insert((at_ns.saturating_sub(1) / bins_ns) as usize, delivered);
        }
    }

    /// Adds the counts of programs' flows at the end of the warm-up and of each bin. They are known
    /// once all captures have been read.
    pub(super) fn add_counts(&self, at_warmup: &mut Vec<ProgramCounts>, bins: &mut [Vec<u64>]) {
        let Some(programs) = &self.programs else { return };
        let flows = &programs.borrow().flows;
        at_warmup.extend(flows.iter().map(|flow| ProgramCounts {
            delivered_bytes: flow.before_warmup,
            ..ProgramCounts::default()
        }));
        for (number, bin) in bins.iter_mut().enumerate() {
            let until =
                |flow: &ObservedFlow| flow.by_bin.range(..=number).next_back().map(|at| *at.1);
            bin.extend(flows.iter().map(|flow| until(flow).unwrap_or(0)));
        }
    }

    /// Packets of programs so far, in both directions.
    pub(super) fn packets(&self) -> u64 {
        self.programs.as_ref().map_or(0, |programs| programs.borrow().packets)
    }

    /// Bytes delivered to its client by each flow of programs.
    pub(super) fn delivered(&self) -> Vec<u64> {
        let programs = self.programs.as_ref().map(|programs| programs.borrow());
        let of_flow = |flow: &ObservedFlow| flow.directions[0].delivered;
        programs.map_or(Vec::new(), |programs| programs.flows.iter().map(of_flow).collect())
    }

    /// The samples of connections from the states of both ends' sockets; the end that has sent more
    /// stands for the flow, the server at a tie.
    pub(super) fn samples(
        &self,
        now: Time,
        sockets: Vec<(HostSide, DiagSocket)>,
    ) -> Vec<FlowSample> {
        let Some(programs) = &self.programs else { return Vec::new() };
        let mut programs = programs.borrow_mut();
        let mut senders: BTreeMap<usize, ((u64, bool), DiagSocket)> = BTreeMap::new();
        for (side, socket) in sockets {
            let (server, client) = match side {
                HostSide::Server => (socket.local, socket.remote),
                HostSide::Client => (socket.remote, socket.local),
            };
            let Some(&index) = programs.of_tuple.get(&(TCP, server, client)) else { continue };
            let rank = (socket.info.bytes_sent, side == HostSide::Server);
            if senders.get(&index).is_none_or(|(other, _)| rank > *other) {
                senders.insert(index, (rank, socket));
            }
        }
        let sample = |(index, (_, socket)): (usize, (_, DiagSocket))| {
            let (mut tcp, info) = (TcpTotals::default(), socket.info);
            tcp.add(&info);
            programs.flows[index].row.cc = Some(socket.cc);
            // Captures are read later, so the bytes delivered are not known yet.
            let payload = info.bytes_sent - info.bytes_retrans;
            FlowSample {
                flow: (self.own + index) as u32,
                at_ns: now.as_nanos(),
                delivered_bytes: info.bytes_acked.min(payload),
                tcp,
            }
        };
        senders.into_iter().map(sample).collect()
    }

    /// All flows of programs, and whether there were more.
    pub(super) fn report(&self) -> (Vec<ProgramFlow>, bool) {
        let Some(programs) = &self.programs else { return (Vec::new(), false) };
        let programs = programs.borrow();
        let row = |flow: &ObservedFlow| {
            let delivered = [0, 1].map(|way| flow.directions[way].delivered);
            ProgramFlow { delivered, ..flow.row.clone() }
        };
        (programs.flows.iter().map(row).collect(), programs.has_more)
    }
}

impl ProgramFlows {
    fn index(
        &mut self,
        header: &Header,
        addresses: [[u8; 4]; 2],
        from: Option<HostSide>,
        to: Option<HostSide>,
    ) -> Option<(usize, bool)> {
        let ends = [0, 1].map(|end| (addresses[end], header.ports[end]));
        let (server, client, is_forward) = match (from?, to?) {
            (HostSide::Server, HostSide::Client) => (ends[0], ends[1], true),
            (HostSide::Client, HostSide::Server) => (ends[1], ends[0], false),
            _ => return None,
        };
        let tuple = (header.protocol, server, client);
        if let Some(&index) = self.of_tuple.get(&tuple) {
            return Some((index, is_forward));
        }
        if self.flows.len() >= MOST_FLOWS {
            self.has_more = true;
            return None;
        }
        let protocol = header.protocol;
        let (times_ns, delivered, cc) = (None, [0; 2], None);
        let row = ProgramFlow { protocol, server, client, times_ns, delivered, cc };
        self.of_tuple.insert(tuple, self.flows.len());
        let (directions, by_bin) = Default::default();
        self.flows.push(ObservedFlow { row, directions, before_warmup: 0, by_bin });
        Some((self.flows.len() - 1, is_forward))
    }
}

impl ObservedFlow {
    fn observe(&mut self, at_ns: u64, header: &Header, is_forward: bool) {
        let (first, _) = self.row.times_ns.unwrap_or((at_ns, at_ns));
        self.row.times_ns = Some((first, at_ns));
        let [forward, reverse] = &mut self.directions;
        let (own, other) = if is_forward { (forward, reverse) } else { (reverse, forward) };
        if header.is_tcp() {
            own.sent(header);
            // The first packet of a connection acknowledges nothing.
            if !header.syn {
                other.acknowledged(header.ack);
            }
        } else {
            own.delivered += u64::from(header.payload_bytes);
        }
    }
}

/// Bytes delivered in one direction of a flow: for TCP those acknowledged, for others those that
/// arrived.
#[derive(Default)]
struct Delivery {
    delivered: u64,
    /// For a connection: one past the last byte acknowledged, and one past the last byte sent. The
    /// FIN has a sequence number too, but is not a byte.
    connection: Option<(u32, u32)>,
}

impl Delivery {
    fn sent(&mut self, header: &Header) {
        if header.syn {
            let first = header.seq.wrapping_add(1);
            self.connection = Some((first, first));
            return;
        }
        let (_, end) = self.connection.get_or_insert((header.seq, header.seq));
        let sent = header.seq.wrapping_add(u32::from(header.payload_bytes));
        if is_after(sent, *end) && header.payload_bytes > 0 {
            *end = sent;
        }
    }

    fn acknowledged(&mut self, number: u32) {
        let Some((acknowledged, end)) = &mut self.connection else { return };
        let number = if is_after(number, *end) { *end } else { number };
        if is_after(number, *acknowledged) {
            self.delivered += u64::from(number.wrapping_sub(*acknowledged));
            *acknowledged = number;
        }
    }
}

/// Whether a number comes after another in a connection (RFC 9293 §3.4).
fn is_after(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use sojourn_aqm::Ecn;

    use super::*;
    use crate::linux::sys::{INFO_BYTES, TcpInfo};

    const SERVER: [u8; 4] = [10, 1, 2, 10];
    const CLIENT: [u8; 4] = [10, 2, 2, 11];

    fn ids() -> FlowIds {
        FlowIds::of_plan(3, Some(2), CountTimes { warmup_ns: 20, bins_ns: Some(10) })
    }

    fn packet(from: [u8; 4], to: [u8; 4], ports: [u16; 2], seq: u32, bytes: u16) -> Header {
        Header {
            bytes: bytes + 52,
            ident: 0,
            ecn: Ecn::NotEct,
            dscp: 0,
            protocol: 6,
            addresses: [from, to].map(IpAddr::from),
            ports,
            seq,
            ack: 0,
            syn: false,
            payload_bytes: bytes,
        }
    }

    #[test]
    fn the_flows_of_programs_are_numbered_behind_those_of_the_scenario() {
        let ids = ids();
        let data = packet(SERVER, CLIENT, [80, 4000], 0, 0);
        let answer = packet(CLIENT, SERVER, [4000, 80], 0, 0);
        assert_eq!(ids.of(&data), Some((3, true)));
        assert_eq!(ids.of(&answer), Some((3, false)));
        assert_eq!(ids.of(&packet(SERVER, CLIENT, [80, 4001], 0, 0)), Some((4, true)));
        let own = packet([10, 1, 0, 1], [10, 2, 0, 1], [5, 10_001], 0, 0);
        assert_eq!(ids.of(&own), Some((1, true)), "a flow of the scenario");
        let mixed = packet(SERVER, [10, 2, 0, 1], [5, 10_001], 0, 0);
        assert_eq!(ids.of(&mixed), None, "a program that sends to a flow's receiver");
    }

    #[test]
    fn what_is_acknowledged_is_delivered_without_the_ends_of_the_connection() {
        let ids = ids();
        let syn = Header { syn: true, ..packet(SERVER, CLIENT, [80, 4000], u32::MAX - 99, 0) };
        ids.observe(5, &syn);
        let first = u32::MAX - 98;
        ids.observe(6, &packet(SERVER, CLIENT, [80, 4000], first, 1000));
        let ack = |bytes: u32| Header {
            ack: first.wrapping_add(bytes),
            ..packet(CLIENT, SERVER, [4000, 80], 1, 0)
        };
        ids.observe(7, &ack(1000));
        ids.observe(8, &ack(600));
        assert_eq!(ids.delivered(), [1000], "over the end of the numbers, and no number twice");
        ids.observe(9, &ack(1001));
        let (rows, has_more) = ids.report();
        assert_eq!((rows[0].delivered, rows[0].times_ns), ([1000, 0], Some((5, 9))));
        assert!(!has_more);
    }

    #[test]
    fn the_end_that_has_sent_more_stands_for_a_sampled_connection() {
        let ids = ids();
        ids.observe(1, &packet(CLIENT, SERVER, [4000, 80], 0, 0));
        let socket = |side, bytes_sent, cwnd| {
            let (server, client) = ((SERVER, 80), (CLIENT, 4000));
            let (local, remote) = match side {
                HostSide::Server => (server, client),
                HostSide::Client => (client, server),
            };
            let zero = TcpInfo::read(&[0; INFO_BYTES]);
            let info = TcpInfo { bytes_sent, bytes_acked: 99, cwnd, mss: 1000, ..zero };
            (side, DiagSocket { local, remote, info, cc: format!("cc-{cwnd}") })
        };
        let cwnd = |sockets| {
            let samples = ids.samples(Time::from_nanos(9), sockets);
            assert_eq!((samples.len(), samples[0].flow, samples[0].at_ns), (1, 3, 9));
            assert_eq!(samples[0].delivered_bytes, samples[0].tcp.sent_bytes, "without the FIN");
            samples[0].tcp.cwnd_bytes
        };
        let (server, client) = (HostSide::Server, HostSide::Client);
        assert_eq!(cwnd(vec![socket(client, 7, 2), socket(server, 7, 4)]), 4000);
        assert_eq!(cwnd(vec![socket(server, 7, 4), socket(client, 8, 2)]), 2000);
        assert_eq!(ids.report().0[0].cc.as_deref(), Some("cc-2"));
        let mut other = socket(server, 7, 4);
        other.1.local = (SERVER, 81);
        assert_eq!(ids.samples(Time::ZERO, vec![other]), [], "no packet of it was seen");
    }

    #[test]
    fn bytes_are_counted_at_the_times_of_their_packets_however_late_these_are_read() {
        let ids = ids();
        let datagram = Header { protocol: 17, ..packet(SERVER, CLIENT, [9, 10], 0, 100) };
        [1, 10, 20, 21, 45].iter().for_each(|&at_ns| ids.observe(at_ns, &datagram));
        let own = ProgramCounts { delivered_bytes: 7, ..ProgramCounts::default() };
        let (mut at_warmup, mut bins) = (vec![own], vec![vec![7]; 6]);
        ids.add_counts(&mut at_warmup, &mut bins);
        let at_warmup: Vec<u64> = at_warmup.iter().map(|counts| counts.delivered_bytes).collect();
        assert_eq!(at_warmup, [7, 300]);
        let bins: Vec<u64> = bins.iter().map(|bin| bin[1]).collect();
        assert_eq!(bins, [200, 300, 400, 400, 500, 500]);
    }

    #[test]
    fn a_datagram_is_delivered_when_it_arrives() {
        let ids = ids();
        let datagram = Header { protocol: 17, ..packet(CLIENT, SERVER, [9, 10], 0, 100) };
        ids.observe(-1, &datagram);
        ids.observe(1, &datagram);
        assert_eq!(ids.report().0[0].delivered, [0, 100]);
    }
}

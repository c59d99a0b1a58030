//! Recorded arrivals at the bottleneck of a simulated scenario.

use sojourn_aqm::packet::priority_of_dscp;
use sojourn_aqm::{Ecn, Packet, Rate, Span, TcpSegment, Time};
use sojourn_scenario::{Scenario, Source};

use crate::segments::{SegmentMaker, TestSegment};

/// Rate of the link.
pub(crate) const RATE: Rate = Rate::from_bps(100_000_000);

/// A packet on its way through both disciplines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestPacket {
    /// Its position in the order of arrival.
    pub(crate) id: u32,
    pub(crate) flow: u64,
    pub(crate) bytes: u32,
    pub(crate) ecn: Ecn,
    /// Its TCP header; some packets have none.
    pub(crate) segment: Option<TestSegment>,
    /// When its sender releases it, if its flow sets departure times.
    pub(crate) departure: Option<Time>,
}

impl TestPacket {
    /// Every fourth flow is forwarded, has a socket that sets departure times, has a connected
    /// socket with a rate, or has an unconnected socket with a rate.
    fn sender(&self) -> u64 {
        self.flow % 4
    }
}

impl Packet for TestPacket {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow(&self) -> u64 {
        self.flow
    }
    fn src_host(&self) -> u64 {
        self.flow % 5
    }
    fn dst_host(&self) -> u64 {
        self.flow % 7
    }
    fn tcp(&self) -> Option<TcpSegment> {
        self.segment.map(|segment| segment.read())
    }
    /// Covers every code point, because 37 and 64 have no common divisor.
    fn dscp(&self) -> u8 {
        (self.flow * 37 % 64) as u8
    }
    /// Sometimes the priority of routing protocols, which no DSCP has.
    fn priority(&self) -> u8 {
        if self.id.is_multiple_of(61) { CONTROL } else { priority_of_dscp(self.dscp()) }
    }
    fn socket(&self) -> Option<u64> {
        (1..=2).contains(&self.sender()).then_some(self.flow)
    }
    /// Rates below the threshold of low rates, and above it.
    fn pacing_rate(&self) -> Option<Rate> {
        let rate = Rate::from_bps([300_000, 2_000_000, 11_000_000][(self.flow % 3) as usize]);
        (self.sender() >= 2 && !self.flow.is_multiple_of(5)).then_some(rate)
    }
    fn departure(&self) -> Option<Time> {
        self.departure
    }
}

/// Linux uapi pkt_sched.h, `TC_PRIO_CONTROL`.
const CONTROL: u8 = 7;

/// When the sender releases a packet: soon, mostly in order, and rarely so late that fq drops it.
fn departure(arrived: Time, packet: &TestPacket) -> Option<Time> {
    let delay = match packet.id % 1009 {
        0 => Span::from_secs(11),
        n if n < 100 => Span::from_micros(10 * u64::from(n)),
        _ => Span::from_micros(300 + 400 * (packet.flow % 7)),
    };
    (packet.sender() == 1).then_some(arrived + delay)
}

/// Packets in the order of arrival.
pub(crate) type RecordedArrivals = Vec<(Time, TestPacket)>;

/// Downloads with and without ECN, web pages, calls, and unresponsive bursts: the queue is never
/// empty for long.
const BUSY: &str = r#"
[[flows]]
name = "downloads"
count = 8
path = ["bottleneck"]
rtt = "40ms"
cc = "cubic"
start = "0s..2s"
app = { kind = "bulk" }
[[flows]]
name = "marked"
count = 8
path = ["bottleneck"]
rtt = "60ms"
cc = "reno"
ecn = true
start = "0s..2s"
app = { kind = "bulk" }
[[flows]]
name = "files"
count = 40
path = ["bottleneck"]
rtt = "30ms"
cc = "cubic"
start = "0s..2s"
app = { kind = "files", sizes = ["15kB", "44kB", "300kB"], think = "500ms" }
[[flows]]
name = "calls"
count = 30
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "cbr", rate = "87kbit", packet = "218B" }
[[flows]]
name = "bursts"
count = 3
path = ["bottleneck"]
rtt = "40ms"
start = "5s..20s"
app = { kind = "onoff", rate = "45mbit", packet = "1000B", on = "2s", off = "6s" }
"#;

/// Bursts of datagrams, files and calls: the queue fills and empties all the time.
const CHANGING: &str = r#"
[[flows]]
name = "bursts"
count = 12
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "onoff", rate = "25mbit", packet = "1500B", on = "150ms", off = "450ms" }
[[flows]]
name = "marked"
count = 8
path = ["bottleneck"]
rtt = "40ms"
ecn = true
start = "0s..1s"
app = { kind = "onoff", rate = "20mbit", packet = "700B", on = "80ms", off = "900ms" }
[[flows]]
name = "files"
count = 60
path = ["bottleneck"]
rtt = "30ms"
cc = "cubic"
ecn = true
start = "0s..2s"
app = { kind = "files", sizes = ["15kB", "44kB", "300kB"], think = "800ms" }
[[flows]]
name = "calls"
count = 30
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "cbr", rate = "87kbit", packet = "218B" }
"#;

/// The arrivals at a bottleneck managed by `aqm`: this many seconds of a busy link, then the same
/// time of one whose load changes.
///
/// # Errors
/// The error in the scenario.
pub(crate) fn simulate(aqm: &str, seconds: u64) -> Result<RecordedArrivals, String> {
    let mut arrivals = Vec::new();
    for (place, flows) in [BUSY, CHANGING].into_iter().enumerate() {
        let start = Span::from_secs((seconds + 1) * place as u64);
        for (at, packet) in simulate_one(aqm, seconds, flows)? {
            let id = arrivals.len() as u32;
            let flow = packet.flow + 1000 * place as u64;
            arrivals.push((at + start, TestPacket { id, flow, ..packet }));
        }
    }
    let mut segments = SegmentMaker::new();
    for (at, packet) in &mut arrivals {
        packet.segment = segments.next(*at, packet.flow, packet.id);
        packet.departure = departure(*at, packet);
    }
    Ok(arrivals)
}

fn simulate_one(aqm: &str, seconds: u64, flows: &str) -> Result<RecordedArrivals, String> {
    let text = format!(
        "name = \"kernel-laws\"\nduration = \"{seconds}s\"\n[links.bottleneck]\n\
         rate = \"{RATE}\"\ndelay = \"10ms\"\nbuffer = \"1000p\"\nqueue = \"taildrop\"\n{flows}"
    );
    let unread = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let scenario =
        Scenario::load(&text, &Source::default(), &unread).map_err(|error| error.to_string())?;
    let scenario = scenario.with_queue("bottleneck", aqm).map_err(|error| error.to_string())?;
    let mut plan = scenario.resolved().clone();
    plan.record.packets = true;
    let run = sojourn_sim::run(&plan, &|_| true).map_err(|error| error.to_string())?;
    let mut rows: Vec<_> = run.packets.iter().filter(|row| row.queue == 0).collect();
    rows.sort_by_key(|row| row.arrived);
    let packets = rows.into_iter().map(|row| {
        let flow = u64::from(row.flow);
        let (bytes, ecn) = (row.bytes, row.ecn_in);
        let packet = TestPacket { id: 0, flow, bytes, ecn, segment: None, departure: None };
        (row.arrived, packet)
    });
    Ok(packets.collect())
}

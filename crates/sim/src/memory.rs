//! Estimates the memory of a run, part by part, each with the scenario key that drives it. The
//! estimate is linear; the sizes of items were measured, and `tests/test_memory.py` checks them
//! against actual runs.

mod access;

use std::collections::BTreeSet;

use sojourn_aqm::{Limit, QdiscSpec, Rate, Span, Time, registry};
use sojourn_measure::BUILTIN_VARS;
use sojourn_record::rows::{BinRow, FlowRow, FlowStateRow, PacketRow, StateRow};
use sojourn_scenario::resolved::{App, FlowGroup, Link, Resolved};

use crate::packet::Packet;

/// A TCP flow, before it has sent anything: sender, receiver, access link, counters, result rows.
const TCP_FLOW_BYTES: f64 = 2_400.0;
/// A source of datagrams.
const DATAGRAM_FLOW_BYTES: f64 = 850.0;
/// Packets of an initial window that are included in [`TCP_FLOW_BYTES`].
const ORDINARY_WINDOW: f64 = 10.0;
/// A segment in its sender's scoreboard.
const SEGMENT_BYTES: f64 = 64.0;
/// Packets are held in rings that grow by doubling, so on average half of their size is reserved in
/// addition.
const RING: f64 = 1.5;
/// Variables of a flow's sender and its control, in addition to the row of the flow.
const FLOW_VARIABLES: f64 = 10.0;
/// Variables of an AQM; AQMs have three to six.
const AQM_VARIABLES: f64 = 4.0;
/// Metrics recorded for a link in every bin: throughput, utilisation, drop rate, mark rate.
const LINK_METRICS: f64 = 4.0;
/// Assumed bits of a packet of unknown size.
const PACKET_BITS: f64 = 1500.0 * 8.0;

/// A part of the memory of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryNeed {
    /// The scenario key that drives it, as a dotted path.
    pub place: String,
    /// A description: `1,000,000 flows`.
    pub what: String,
    /// Size in bytes.
    pub bytes: f64,
    /// Whether it is kept with the result or freed at the end of the run.
    pub stays: bool,
}

/// The memory that a run needs in addition to the program itself, unordered.
pub fn memory_needs(plan: &Resolved) -> Vec<MemoryNeed> {
    let flows = plan.flows.iter().map(|group| f64::from(group.count)).sum::<f64>();
    let mut needs = Vec::new();
    for (index, group) in plan.flows.iter().enumerate() {
        of_group(plan, index, group, &mut needs);
    }
    let (through, narrowest) = (through_links(plan), by_narrowest_link(plan));
    for (index, link) in plan.links.iter().enumerate() {
        needs.push(of_queue(plan, link, &through[index]));
        needs.push(of_disciplines(link));
        needs.push(on_wires(plan, link, &narrowest[index]));
    }
    of_records(plan, flows, &mut needs);
    needs
}

fn need(place: String, what: String, bytes: f64, stays: bool) -> MemoryNeed {
    MemoryNeed { place, what, bytes, stays }
}

fn of_group(plan: &Resolved, index: usize, group: &FlowGroup, needs: &mut Vec<MemoryNeed>) {
    let count = f64::from(group.count);
    let each = match &group.app {
        App::Web { web, .. } => TCP_FLOW_BYTES * f64::from(web.parallel),
        app if app.tcp().is_some() => TCP_FLOW_BYTES,
        _ => DATAGRAM_FLOW_BYTES,
    };
    let place = format!("flows[{index}].count");
    needs.push(need(place, format!("{} flows", group.count), count * each, false));
    needs.push(match &group.app {
        app if app.tcp().is_some() => {
            let packets = count * beyond_ordinary_window(group).max(0.0);
            let each = size_of::<Packet>() as f64 * RING + SEGMENT_BYTES;
            let what = format!("{packets:.0} more packets in initial windows");
            need(format!("flows[{index}].initial_window"), what, packets * each, false)
        }
        app => {
            let word = match app {
                App::Video { .. } => "frames",
                App::Replay { .. } => "file",
                _ if app.voice().is_some() => "codec",
                _ => "rate",
            };
            let packets = access::packets(group, plan.duration);
            let what = format!("{:.0} packets on their way to the first link", count * packets);
            let bytes = access::ring_bytes(packets, count);
            need(format!("flows[{index}].app.{word}"), what, bytes, false)
        }
    });
}

/// Packets of a flow's first window that are not included in [`TCP_FLOW_BYTES`].
fn beyond_ordinary_window(group: &FlowGroup) -> f64 {
    match &group.app {
        App::Bulk { tcp, bytes } => {
            let window = f64::from(tcp.initial_window.unwrap_or(10));
            let asked = bytes.unwrap_or(u64::MAX) as f64 / f64::from(tcp.payload_bytes);
            window.min(asked.ceil()) - ORDINARY_WINDOW
        }
        App::Files { tcp, .. }
        | App::Transfers { tcp, .. }
        | App::Web { tcp, .. }
        | App::Chunks { tcp, .. } => {
            f64::from(tcp.initial_window.unwrap_or(10)).min(10_000.0) - ORDINARY_WINDOW
        }
        _ => 0.0,
    }
}

/// The groups of flows whose packets pass each link, in either direction.
fn through_links(plan: &Resolved) -> Vec<Vec<&FlowGroup>> {
    let mut through = vec![Vec::new(); plan.links.len()];
    for group in &plan.flows {
        for link in BTreeSet::from_iter(group.path.iter().chain(&group.reverse)) {
            through[*link].push(group);
        }
    }
    through
}

/// The groups of flows, each at the narrowest link of its path.
fn by_narrowest_link(plan: &Resolved) -> Vec<Vec<&FlowGroup>> {
    let rate_of = |link: usize| plan.links[link].capacity.highest_rate().as_bps();
    let mut groups = vec![Vec::new(); plan.links.len()];
    for group in &plan.flows {
        if let Some(link) = group.path.iter().copied().min_by_key(|&link| rate_of(link)) {
            groups[link].push(group);
        }
    }
    groups
}

/// Memory for the largest backlog of a link: its limits, or all arrivals.
fn of_queue(plan: &Resolved, link: &Link, through: &[&FlowGroup]) -> MemoryNeed {
    let smallest = through.iter().map(|g| g.app.packet_bytes()).min().unwrap_or(1500).max(1);
    let arriving = through.iter().map(|g| f64::from(g.count) * bits(g.access_rate));
    let arriving = arriving.sum::<f64>() / 8.0;
    let most = arriving * plan.duration.as_secs() / f64::from(smallest);
    let limit = |limit| match limit {
        Limit::Packets(packets) => packets as f64,
        Limit::Bytes(bytes) => bytes as f64 / f64::from(smallest),
    };
    let packets = disciplines(link).into_iter().map(|(_, own)| limit(own)).sum::<f64>().min(most);
    let each = size_of::<Packet>() as f64 * RING + SEGMENT_BYTES;
    let what = format!("{packets:.0} packets in the queue");
    need(format!("links.{}.buffer", link.name), what, packets * each, false)
}

/// The disciplines of a link with their limits: one, or one per class that has a queue.
fn disciplines(link: &Link) -> Vec<(&QdiscSpec, Limit)> {
    match &link.scheduler {
        None => vec![(&link.queue, link.limit)],
        Some(scheduler) => {
            scheduler.leaves().map(|leaf| link.queue_of(&scheduler.classes[leaf])).collect()
        }
    }
}

/// Memory for the queues of a link's disciplines, without packets; some have one queue per flow.
fn of_disciplines(link: &Link) -> MemoryNeed {
    let (mut queues, mut bytes) = (0.0, 0.0);
    for (spec, _) in disciplines(link) {
        let count = flow_queues(spec);
        queues += count;
        bytes += count * bytes_per_queue(spec);
    }
    let what = format!("{queues:.0} queues of the discipline");
    need(format!("links.{}.queue", link.name), what, bytes, false)
}

/// The queues of a discipline.
fn flow_queues(spec: &QdiscSpec) -> f64 {
    let settings = registry::settings(spec).unwrap_or_default();
    let value = |name| settings.iter().find(|(known, _)| *known == name).map(|(_, text)| &text[..]);
    let tins = match value("diffserv") {
        Some("diffserv3") => 3.0,
        Some("diffserv4") => 4.0,
        Some("diffserv8" | "precedence") => 8.0,
        _ => 1.0,
    };
    tins * value("flows").map_or(1.0, |flows| flows.parse().unwrap_or(1.0))
}

/// As measured with 65,536 queues.
fn bytes_per_queue(spec: &QdiscSpec) -> f64 {
    match &spec.law[..] {
        "pie" | "madpie" | "red" | "ared" => 380.0,
        "codel" | "pi2" | "cobalt" | "cake" => 230.0,
        _ if spec.custom.is_some() => 380.0,
        _ => 110.0,
    }
}

/// Memory for the packets beyond a link, and for their segments and ACKs over TCP. Each group of
/// flows counts once, at the narrowest link of its path.
fn on_wires(plan: &Resolved, link: &Link, groups: &[&FlowGroup]) -> MemoryNeed {
    let (mut arriving, mut longest, mut smallest) = (0.0, Span::ZERO, u32::MAX);
    let mut segment = 0.0;
    for group in groups {
        let mut beyond = group.rtt - group.access_delay;
        if group.app.tcp().is_some() {
            segment = SEGMENT_BYTES;
        } else {
            beyond = beyond - group.return_delay - group.return_egress_delay;
        }
        longest = longest.max(beyond);
        arriving += f64::from(group.count) * most_bps(&group.app, group.access_rate);
        smallest = smallest.min(group.app.packet_bytes());
    }
    let rate = arriving.min(bits(link.capacity.highest_rate()));
    let seconds = longest.min(plan.duration).as_secs();
    let packets = rate / 8.0 * seconds / f64::from(smallest.max(1));
    let each = size_of::<(Time, Packet)>() as f64 * RING + segment;
    let what = format!("{packets:.0} packets on their way beyond the link");
    need(format!("links.{}.rate", link.name), what, packets * each, false)
}

/// The rate at which a flow can fill its access link.
fn most_bps(app: &App, access: Rate) -> f64 {
    match app {
        App::Cbr { datagrams, .. }
        | App::OnOff { datagrams, .. }
        | App::Bursts { datagrams, .. } => bits(access.min(datagrams.rate)),
        _ => bits(access),
    }
}

fn of_records(plan: &Resolved, flows: f64, needs: &mut Vec<MemoryNeed>) {
    let record = plan.record;
    let times = |every: Span| (plan.duration.as_secs() / every.as_secs()).ceil();
    let rows = |word: &str, what: &str, rows: f64, row: usize| {
        let what = format!("{rows:.0} rows of {what}");
        need(format!("record.{word}"), what, rows * row as f64, true)
    };
    if let Some(width) = record.bins {
        let links = LINK_METRICS * plan.links.len() as f64;
        let each = flows + plan.classes().len() as f64 + links;
        needs.push(rows("bins", "results", times(width) * each, size_of::<BinRow>()));
    }
    let samples = times(record.sample);
    if record.states {
        let each = BUILTIN_VARS.len() as f64 + AQM_VARIABLES;
        let all = samples * each * plan.links.len() as f64;
        let what = "states, which `record.states = false` omits,";
        needs.push(rows("sample", what, all, size_of::<StateRow>()));
    }
    if record.flows {
        let each = size_of::<FlowRow>() as f64 + FLOW_VARIABLES * size_of::<FlowStateRow>() as f64;
        let what = format!("{:.0} samples of flows", samples * flows);
        needs.push(need("record.sample".to_owned(), what, samples * flows * each, true));
    }
    if record.packets {
        let sent: f64 = plan.links.iter().map(|link| bits(link.capacity.initial_rate())).sum();
        let packets = sent * plan.duration.as_secs() / PACKET_BITS;
        needs.push(rows("packets", "results", packets, size_of::<PacketRow>()));
    }
}

fn bits(rate: Rate) -> f64 {
    rate.as_bps() as f64
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;

    fn bytes(text: &str, place: &str) -> f64 {
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let loaded = Scenario::load(text, &Source::default(), &none).expect("it is legal");
        let needs = memory_needs(loaded.resolved());
        let of_place = needs.iter().filter(|need| need.place == place);
        of_place.map(|need| need.bytes).sum()
    }

    fn with(app: &str) -> String {
        format!(
            "name = 'm'\nduration = '1s'\n\
             [links.a]\nrate = '10mbit'\nbuffer = '1000000p'\nqueue = 'taildrop'\n\
             [links.b]\nrate = '10mbit'\nbuffer = '1000000p'\nqueue = 'taildrop'\n\
             [[flows]]\ncount = 100\npath = ['a']\nrtt = '10ms'\napp = {app}\n"
        )
    }

    #[test]
    fn a_flow_of_tcp_costs_more_than_one_of_datagrams() {
        let place = "flows[0].count";
        assert_eq!(bytes(&with("{ kind = 'bulk' }"), place), 100.0 * TCP_FLOW_BYTES);
        let cbr = with("{ kind = 'cbr', rate = '1mbit', packet = '500B' }");
        assert_eq!(bytes(&cbr, place), 100.0 * DATAGRAM_FLOW_BYTES);
    }

    #[test]
    fn recorded_states_name_the_key_that_omits_them() {
        let text = with("{ kind = 'bulk' }");
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let loaded = Scenario::load(&text, &Source::default(), &none).expect("it is legal");
        let needs = memory_needs(loaded.resolved());
        let states = needs.iter().find(|need| need.place == "record.sample");
        assert!(states.is_some_and(|need| need.what.contains("`record.states = false`")));
    }

    #[test]
    fn packets_of_an_initial_window_count_as_far_as_they_exceed_ten() {
        let segment = size_of::<Packet>() as f64 * RING + SEGMENT_BYTES;
        for (window, app, more) in [
            (40, "{ kind = 'bulk' }", 30.0),
            (40, "{ kind = 'bulk', bytes = '28960B' }", 10.0), // 20 segments
            (10, "{ kind = 'bulk' }", 0.0),
        ] {
            let text = format!("{}initial_window = {window}\n", with(app));
            let found = bytes(&text, "flows[0].initial_window");
            assert_eq!(found, 100.0 * more * segment, "{window} packets, {app}");
        }
    }

    /// The source sends 1 Gbit/s over a link of 100 Mbit/s, so nine tenths are kept: 112,500
    /// packets of 1,000 bytes per second, and fewer if the source pauses.
    #[test]
    fn packets_that_a_source_sends_faster_than_its_access_link_count() {
        let item = size_of::<(sojourn_aqm::Time, Packet)>() as f64;
        for (word, app, packets) in [
            ("rate", "{ kind = 'cbr', rate = '1gbit', packet = '1kB' }", 112_500_u64),
            (
                "rate",
                "{ kind = 'onoff', rate = '1gbit', packet = '1kB', on = '10ms', off = '10ms' }",
                55_625,
            ),
            (
                "rate",
                "{ kind = 'bursts', rate = '1gbit', packet = '1kB', at = ['0s', '500ms'], \
                 length = '300ms' }",
                42_500,
            ),
            (
                "frames",
                "{ kind = 'video', frames = ['1MB'], interval = '10ms', packet = '1kB' }",
                88_500,
            ),
            ("rate", "{ kind = 'cbr', rate = '100mbit', packet = '1kB' }", 12),
        ] {
            let found = bytes(
                &with(app).replace("rtt = '10ms'", "rtt = '4ms'"),
                &format!("flows[0].app.{word}"),
            );
            let least = packets as f64 * item * 100.0;
            assert!(found >= 0.9 * least && found <= 2.2 * least + 1e5, "{app}: {found}, {least}");
        }
    }

    #[test]
    fn packets_queued_at_a_link_came_over_it() {
        let cbr = with("{ kind = 'cbr', rate = '1mbit', packet = '500B' }");
        assert_eq!(bytes(&cbr, "links.b.buffer"), 0.0);
        assert!(bytes(&cbr, "links.a.buffer") > 0.0);
    }

    #[test]
    fn the_queue_of_every_class_counts() {
        let of_classes = |classes: &str| {
            let cbr = with("{ kind = 'cbr', rate = '1gbit', packet = '500B' }");
            let scheduler = format!("[links.a.scheduler]\nkind = 'prio'\n{classes}\n[[flows]]");
            let text = cbr.replace("[[flows]]", &scheduler).replace("1000000p", "100p");
            (bytes(&text, "links.a.buffer"), bytes(&text, "links.a.queue"))
        };
        let (packets, queues) = of_classes("default = 'x'\nclasses = [{ name = 'x' }]");
        let (more_packets, more_queues) = of_classes(
            "default = 'x'\nclasses = [{ name = 'x' }, { name = 'y', dscp = ['ef'] }, \
             { name = 'z', dscp = [1], queue = 'fq(codel):flows=1000,limit=300p' }]",
        );
        assert_eq!(more_packets, 5.0 * packets);
        assert_eq!(more_queues, 2.0 * queues + 1000.0 * 230.0);
    }
}

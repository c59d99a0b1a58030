//! The input of the runner. Each line is an instruction: its name, then values separated by spaces,
//! with times in nanoseconds and rates in bit/s. The last value of some instructions may contain
//! spaces.

use std::fmt::Write;

use sojourn_aqm::{Rng, Time};
use sojourn_scenario::resolved::{App, Loss, Resolved};
use sojourn_traffic::{DatagramSource, FinishedTransfer, TransferPlan, UDP_HEADER_BYTES};

use super::disc::Disc;
use super::transport::Attributes;
use super::{Links, cell, rates};
use crate::plan::{Flow, Plan};
use crate::planning::flows::MIN_DATAGRAM;

/// The version of the format; the runner refuses any other.
const FORM: u32 = 2;

/// All instructions.
pub(super) fn text(
    scenario: &Resolved,
    plan: &Plan,
    links: &Links,
    discs: &[Disc],
    attributes: &[Option<Attributes>],
) -> String {
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "{text}").expect("a string takes everything");
    line(format!("form {FORM}"));
    line(format!("seed {}", plan.seed));
    line(format!("times {} {} {}", plan.duration_ns, plan.warmup_ns, plan.sample_ns));
    line(format!("samples {} {}", u8::from(plan.sample_flows), u8::from(plan.sample_law)));
    line(format!("bins {}", plan.bins_ns.unwrap_or(0)));
    for (place, (&index, disc)) in links.order.iter().zip(discs).enumerate() {
        let link = &scenario.links[index];
        line(format!("link {place} {} {}", link.delay.as_nanos(), link.mtu_bytes));
        for (at, bps) in rates(&link.capacity) {
            line(format!("rate {place} {at} {bps}"));
        }
        if let Some(loss) = &link.loss {
            line(format!("loss {place} {}", loss_words(loss)));
        }
        line(format!("disc {place} {}", disc.type_name));
        for (name, value) in &disc.attributes {
            line(format!("disc_attribute {place} {name} {value}"));
        }
    }
    cell::text(scenario, links, &mut line);
    for (index, (group, socket)) in scenario.flows.iter().zip(attributes).enumerate() {
        line(format!(
            "group {index} {} {} {} {} {} {} {}",
            group.access_rate.as_bps(),
            group.access_delay.as_nanos(),
            group.egress_delay.as_nanos(),
            group.receiver_rate.map_or(0, |rate| rate.as_bps()),
            u8::from(group.app.datagrams_ecn().can_mark()),
            links.place(group.path[0]),
            group.reverse.first().map_or(1, |&link| links.place(link)),
        ));
        let Some(socket) = socket else { continue };
        line(format!("tcp {index} {} {}", socket.control, socket.recovery));
        for (name, value) in &socket.values {
            line(format!("tcp_attribute {index} {name} {value}"));
        }
        for name in &socket.mended {
            line(format!("mend {index} {name} {}", socket.hystart_rise.as_nanos()));
        }
    }
    for (index, flow) in plan.flows.iter().enumerate() {
        let stop = flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns);
        line(format!(
            "flow {} {} {} {} {stop}",
            flow.group, flow.port, flow.payload_bytes, flow.start_ns
        ));
        of_flow(plan, index, flow, &mut line);
    }
    out
}

/// The instructions to capture packets, with the scenario's index of each link.
pub(super) fn captures(links: &Links) -> String {
    let line = |(place, index): (usize, &usize)| format!("capture {place} {index}\n");
    links.order.iter().enumerate().map(line).collect()
}

/// Loss as a chain of two states: the probabilities of entering and leaving the bad state, and of
/// loss in the bad and in the good state.
fn loss_words(loss: &Loss) -> String {
    match loss {
        Loss::Bernoulli(probability) => format!("0 1 0 {probability}"),
        Loss::GilbertElliott { enter, leave, bad, good } => format!("{enter} {leave} {bad} {good}"),
        Loss::Schedule(_) | Loss::FourState { .. } | Loss::Correlated { .. } => {
            unreachable!("refused by the checks")
        }
    }
}

/// The data that a flow sends, drawn from the flow's random stream in the simulator.
fn of_flow(plan: &Plan, index: usize, flow: &Flow, line: &mut impl FnMut(String)) {
    let mut rng = Rng::stream(plan.seed, &format!("{}/app", flow.name), u64::from(flow.index));
    let end = flow.stop_ns.unwrap_or(plan.duration_ns).min(plan.duration_ns);
    let times = (Time::from_nanos(flow.start_ns), Time::from_nanos(end));
    if let App::Bulk { bytes, .. } = flow.app {
        line(format!("transfer {index} {} 0", bytes.unwrap_or(0)));
        return;
    }
    if let Some(transfers) = TransferPlan::of(&flow.app) {
        files(plan, index, transfers, &mut rng, line);
        return;
    }
    let Some(mut source) = DatagramSource::new(&flow.app, times, rng) else { return };
    loop {
        let at = source.next_timer();
        let Some(bytes) = source.take(at).filter(|_| at < Time::NEVER) else { return };
        let payload = bytes.max(MIN_DATAGRAM) - UDP_HEADER_BYTES;
        line(format!("datagram {index} {} {payload}", at.as_nanos()));
    }
}

/// One file, or a sequence of files: sizes, and the pause after each. The sequence has as many
/// files as could be fetched if each needed only its pause and its transmission time on the link.
fn files(
    plan: &Plan,
    index: usize,
    mut transfers: TransferPlan,
    rng: &mut Rng,
    line: &mut impl FnMut(String),
) {
    let fastest = plan.router_links().next().map_or(1, fastest_bps);
    let mut now = Time::from_nanos(plan.flows[index].start_ns);
    while now.as_nanos() < plan.duration_ns {
        let Some(bytes) = transfers.next_bytes(now, rng) else { return };
        let finished = FinishedTransfer { start: now, bytes };
        let next = transfers.next_start(&finished, now, rng);
        if next == Time::NEVER {
            line(format!("transfer {index} {bytes} 0"));
            return;
        }
        line(format!("transfer {index} {bytes} {}", next.since(now).as_nanos()));
        let on_link_ns = (u128::from(bytes) * 8_000_000_000 / u128::from(fastest)).max(1) as u64;
        now = Time::from_nanos(next.as_nanos().saturating_add(on_link_ns));
    }
}

fn fastest_bps(link: &crate::plan::RouterLinkPlan) -> u64 {
    match &link.service {
        crate::plan::RouterCapacity::Rates(rates) => {
            rates.iter().map(|&(_, bps)| bps).max().unwrap_or(1).max(1)
        }
        crate::plan::RouterCapacity::Recorded(_) => 1,
    }
}

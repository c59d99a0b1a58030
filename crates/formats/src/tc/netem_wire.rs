//! netem's effects on the wire, as keys of a link.

use super::netem::STATES;
use super::tree::{TcOption, TcQdisc, TcValue};
use super::units::show_time;

/// The keys of a link, and the smallest delay.
pub(super) fn wire(netem: &TcQdisc, unknown: &mut Vec<String>) -> (String, u64) {
    let (mut text, least) = delays(netem);
    text.push_str(&losses(netem));
    for (key, correlation) in
        [("duplicate", "duplicate_correlation"), ("corrupt", "corrupt_correlation")]
    {
        if let Some(rate) = above_zero(netem, key) {
            text.push_str(&format!("{key} = {{ rate = {rate}{} }}\n", weight(netem, correlation)));
        }
    }
    if let Some(rate) = above_zero(netem, "reorder") {
        let gap = match netem.option("gap").map(|it| &it.value) {
            Some(TcValue::Count(gap)) if *gap > 1 => format!(", gap = {gap}"),
            _ => String::new(),
        };
        let more = weight(netem, "reorder_correlation") + &gap;
        text.push_str(&format!("reorder = {{ rate = {rate}{more} }}\n"));
    }
    unknown.extend(netem.options.iter().filter_map(|it| without_counterpart(netem, it)));
    (text, least)
}

/// Delay and jitter. tc dumps no distribution, which then is uniform from delay - jitter to
/// delay + jitter.
fn delays(netem: &TcQdisc) -> (String, u64) {
    let (delay, jitter) = (netem.nanos("delay").unwrap_or(0), netem.nanos("jitter").unwrap_or(0));
    let (name, below) = match netem.option("distribution").map(|it| &it.value) {
        Some(TcValue::Text(name)) => (name.as_str(), lowest(name).unwrap_or(1.0)),
        _ => ("uniform", 1.0),
    };
    let least = delay.saturating_sub((below * jitter as f64).ceil() as u64);
    let mut text = String::new();
    if least > 0 || (delay > 0 && jitter == 0) {
        text.push_str(&format!("delay = \"{}\"\n", show_time(least)));
    }
    if jitter == 0 {
        #[cfg(not(target_arch = "wasm32"))]
        text.push_str(&slots(netem));
        return (text, least);
    }
    // netem sorts packets by the time at which they leave; with a rate, they leave in order.
    let reorder = netem.rate("rate").is_none();
    let (mean, deviation) = (show_time(delay - least), show_time(jitter));
    text.push_str(&match lowest(name).map_or("uniform", |_| name) {
        "uniform" if jitter <= delay => {
            let most = show_time(2 * jitter);
            format!("jitter = {{ kind = \"uniform\", max = \"{most}\", reorder = {reorder} }}\n")
        }
        name => format!(
            "jitter = {{ kind = \"netem\", mean = \"{mean}\", deviation = \"{deviation}\", \
             distribution = \"{name}\", reorder = {reorder} }}\n"
        ),
    });
    (text, least)
}

/// Slots, of packets without jitter.
#[cfg(not(target_arch = "wasm32"))]
fn slots(netem: &TcQdisc) -> String {
    let Some(mean) = netem.nanos("slot_mean") else { return String::new() };
    let mut more = String::new();
    if let Some(deviation) = netem.nanos("slot_deviation").filter(|it| *it > 0) {
        more.push_str(&format!(", deviation = \"{}\"", show_time(deviation)));
    }
    match netem.option("slot_distribution").map(|it| &it.value) {
        Some(TcValue::Text(name)) if lowest(name).is_some() => {
            more.push_str(&format!(", distribution = \"{name}\""));
        }
        _ => {}
    }
    let limit = |name| match netem.option(name).map(|it| &it.value) {
        Some(TcValue::Count(limit)) if *limit > 0 => Some(*limit),
        _ => None,
    };
    if let Some(packets) = limit("slot_packets") {
        more.push_str(&format!(", packets = {packets}"));
    }
    if let Some(bytes) = limit("slot_bytes") {
        more.push_str(&format!(", bytes = \"{bytes}B\""));
    }
    format!("jitter = {{ kind = \"slots\", mean = \"{}\"{more} }}\n", show_time(mean))
}

/// How far a distribution of netem reaches below its mean, in deviations; none for tables that a
/// link does not have (iproute2 6.1 netem/normal.c, pareto.c, paretonormal.c).
fn lowest(distribution: &str) -> Option<f64> {
    Some(match distribution {
        "uniform" => 1.0,
        "normal" => 4.0,
        "pareto" => 5461.0 / 8192.0,
        "paretonormal" => 12_287.0 / 8192.0,
        _ => return None,
    })
}

fn losses(netem: &TcQdisc) -> String {
    let real = |name: &str| share(netem, name);
    if let Some(rate) = above_zero(netem, "loss") {
        let more = weight(netem, "loss_correlation");
        return format!("loss = {{ kind = \"bernoulli\", rate = {rate}{more} }}\n");
    }
    if let Some(enter) = real("ge_enter") {
        let leave = real("ge_leave").unwrap_or(1.0 - enter);
        let (bad, good) = (real("ge_bad").unwrap_or(1.0), real("ge_good").unwrap_or(0.0));
        return format!(
            "loss = {{ kind = \"gilbert-elliott\", enter = {enter}, leave = {leave}, bad = {bad}, \
             good = {good} }}\n"
        );
    }
    if real("p13").is_some() {
        let parts = STATES.iter().filter_map(|it| Some(format!("{it} = {}", real(it)?)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        return format!("loss = {{ kind = \"four-state\", {parts} }}\n");
    }
    String::new()
}

fn share(netem: &TcQdisc, name: &str) -> Option<f64> {
    match netem.option(name).map(|it| &it.value) {
        Some(TcValue::Real(share)) => Some(*share),
        _ => None,
    }
}

fn above_zero(netem: &TcQdisc, name: &str) -> Option<f64> {
    share(netem, name).filter(|it| *it > 0.0)
}

/// The key of a correlation, if there is one.
fn weight(netem: &TcQdisc, name: &str) -> String {
    above_zero(netem, name).map_or_else(String::new, |it| format!(", correlation = {it}"))
}

/// Whether the delays of successive packets correlate. The kernel takes the remainder of a
/// correlated draw by twice the jitter, or by the entries of a table; if new numbers move the draw
/// by more than that, remainders are independent (Linux 6.1 sch_netem.c, tabledist; fact link-12).
fn delays_correlate(netem: &TcQdisc, correlation: f64) -> bool {
    let divisor = match netem.option("distribution") {
        Some(_) => 4096.0,
        None => 2.0 * netem.nanos("jitter").unwrap_or(0) as f64,
    };
    (1.0 - correlation) * f64::from(u32::MAX) < 2.0 * divisor
}

fn without_counterpart(netem: &TcQdisc, option: &TcOption) -> Option<String> {
    let instead = instead_of(netem, option)?;
    let (words, line) = (&option.text, option.line);
    // The words are those of the whole option; its other values are already in the text.
    let part = match (&option.value, option.name) {
        (TcValue::Real(share), "delay_correlation") => {
            format!("the correlation {}% in ", share * 100.0)
        }
        (TcValue::Text(_), "rate_overhead") => "the framing in ".to_owned(),
        _ => String::new(),
    };
    Some(format!("{part}`{words}` of netem (line {line}) has no counterpart here: {instead}"))
}

/// What a link does instead of an option that it lacks, and the remedy, if any.
fn instead_of(netem: &TcQdisc, option: &TcOption) -> Option<&'static str> {
    Some(match (option.name, &option.value) {
        ("distribution", TcValue::Text(name)) if lowest(name).is_none() => {
            "delays are uniform; write `normal`, `pareto` or `paretonormal`"
        }
        ("delay_correlation", TcValue::Real(share)) if delays_correlate(netem, *share) => {
            "the delays of packets are independent"
        }
        ("rate_overhead" | "packetoverhead" | "cellsize" | "celloverhead", _) => {
            "the rate counts packets; set the link's `framing` and `cells`"
        }
        ("slot", _) if netem.nanos("slot_mean").is_some() => {
            match netem.nanos("jitter").unwrap_or(0) {
                0 => return None,
                _ => "packets have netem's jitter alone",
            }
        }
        ("slot_distribution", TcValue::Text(name)) if lowest(name).is_none() => {
            "the times until slots are uniform; write `normal`, `pareto` or `paretonormal`"
        }
        ("slot", _) => {
            "the link sends as soon as it is free; for blocks of packets give it a jitter of kind \
             `blocks`"
        }
        ("ecn", _) => "a loss drops the packet instead of marking it",
        _ => return None,
    })
}

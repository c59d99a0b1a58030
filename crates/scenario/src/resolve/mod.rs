//! Resolves the scenario as written: fills in every default and checks every rule.

mod app;
mod checks;
mod classes;
mod delays;
mod expect;
mod flow;
#[cfg(not(target_arch = "wasm32"))]
mod hfsc;
mod link;
mod queue;
mod scheduler;
mod segment_sizes;
mod sizes;
mod tcp;
mod warnings;
mod wire;
mod wlan;

use std::collections::BTreeMap;
use std::io;

use sojourn_aqm::{CustomLaws, Span};

use crate::document::quantities::SpanText;
use crate::document::{Document, Sample};
use crate::error::ScenarioError;
use crate::resolved::{Capacity, Record, Resolved};
use crate::templates;
pub use tcp::NEED_ECN;

pub(crate) use self::app::Recordings;
pub(crate) use self::queue::queue;

/// Returns the text of a file that the scenario names; this crate opens no file.
pub type ReadFile<'a> = dyn Fn(&str) -> io::Result<String> + 'a;

/// The timer frequencies that a Linux kernel can be built with (kernel/Kconfig.hz).
const KERNEL_HZ: [u32; 4] = [100, 250, 300, 1000];

/// A result of this crate.
type Checked<T> = Result<T, ScenarioError>;

/// Fills in every default and checks every rule. Queues may use the registered AQMs and `laws`.
///
/// # Errors
/// The first broken rule, with its dotted path as place, or a file that `read` cannot deliver.
pub fn resolve(document: &Document, read: &ReadFile<'_>, laws: &CustomLaws) -> Checked<Resolved> {
    let mut capacities = Vec::new();
    let wlans = wlan::all(document)?;
    for (name, link) in &templates::applied(document)?.links {
        checks::name(&format!("links.{name}"), "a link's name", name)?;
        let rate = link.rate.as_ref().expect("a link without a rate is not read");
        capacities.push(link::capacity(&format!("links.{name}.rate"), rate, &wlans, read)?);
    }
    resolve_over(document, capacities, &app::recordings(document, read)?, laws)
}

/// Like [`resolve`], but without reading files: `capacities` has the capacities of the links, in
/// their order.
pub(crate) fn resolve_over(
    document: &Document,
    capacities: Vec<Capacity>,
    recorded: &Recordings,
    laws: &CustomLaws,
) -> Checked<Resolved> {
    check_run(document)?;
    let applied = templates::applied(document)?;
    let document = applied.as_ref();
    expect::check(&document.expect)?;
    let flows = flow::all(document, &capacities, recorded)?;
    let mut links = Vec::new();
    let traffic = link::traffic(document.links.len(), &flows);
    for (((name, link), capacity), traffic) in document.links.iter().zip(capacities).zip(traffic) {
        if link.scheduler.is_some() && document.record.signals {
            let message = format!(
                "records the state of one AQM, and links.{name}.scheduler has several; leave it out"
            );
            return refuse("record.signals", message);
        }
        links.push(link::link(name, link, capacity, &traffic, laws)?);
    }
    flow::check_packet_numbers(&flows, &links, document.duration.0)?;
    flow::check_replays(&flows, document.duration.0)?;
    let mut resolved = Resolved {
        name: document.name.clone(),
        seed: document.seed,
        duration: document.duration.0,
        warmup: document.warmup.0,
        record: record(document),
        links,
        wlans: wlan::all(document)?,
        flows,
        linux: document.engine.linux.with_bottleneck(),
        ns3: document.engine.ns3,
        expect: document.expect.clone(),
        warnings: Vec::new(),
    };
    wlan::check_stations(&resolved)?;
    wlan::check_super_packets(&resolved)?;
    wire::check_corrupt(&resolved)?;
    resolved.warnings = warnings::all(&resolved);
    Ok(resolved)
}

fn check_run(document: &Document) -> Checked<()> {
    let (duration, warmup) = (document.duration.0, document.warmup.0);
    if document.name.trim().is_empty() {
        return refuse("name", "the name is empty; write a word or two");
    }
    if document.name.contains(char::is_control) {
        return refuse("name", "the name has control characters; write a word or two");
    }
    if duration == Span::ZERO {
        return refuse("duration", "must be positive");
    }
    if warmup >= duration {
        let what = format!("{warmup} leaves nothing to count of a duration of {duration}");
        return refuse("warmup", what + "; it must be shorter");
    }
    if document.record.sample == Sample::Every(Span::ZERO) {
        return refuse("record.sample", "must be positive, or `auto`");
    }
    let unusable = |width: &SpanText| width.0 == Span::ZERO || width.0 > duration;
    if document.record.bins.as_ref().is_some_and(unusable) {
        return refuse("record.bins", "must be positive and not longer than the duration");
    }
    if document.links.is_empty() {
        return refuse(
            "links",
            "at least one link is needed; write [links.bottleneck] with a rate",
        );
    }
    let hz = document.engine.linux.hz;
    if !KERNEL_HZ.contains(&hz) {
        return refuse("engine.linux.hz", format!("{hz} is not 100, 250, 300 or 1000"));
    }
    if document.flows.is_empty() {
        let message =
            "at least one group of flows is needed; write [[flows]] with path, rtt and app";
        return refuse("flows", message);
    }
    Ok(())
}

fn record(document: &Document) -> Record {
    let written = &document.record;
    let sample = match written.sample {
        Sample::Every(span) => span,
        Sample::Auto => thousandth(document.duration.0),
    };
    Record {
        packets: written.packets,
        signals: written.signals,
        flows: written.flows,
        states: written.states,
        sample,
        bins: written.bins.map(|width| width.0),
        latency: written.latency,
    }
}

/// A thousandth of a span, rounded up to a millisecond.
fn thousandth(duration: Span) -> Span {
    Span::from_millis(duration.as_nanos().div_ceil(1_000 * 1_000_000))
}

/// The index of every link, by name.
fn link_indices(document: &Document) -> BTreeMap<&str, usize> {
    document.links.keys().enumerate().map(|(index, name)| (name.as_str(), index)).collect()
}

/// The error of a rule broken at a dotted path.
fn refuse<T>(place: &str, message: impl Into<String>) -> Checked<T> {
    Err(ScenarioError::new(place, message))
}

//! Converts a discipline of the kernel to our AQM.

use sojourn_aqm::QdiscSpec;

use super::demands;
use super::fq;
use super::options::{self, Form, OptionWord, Ours};
use super::sent;
use super::statement::{qdisc_options, unknown_kind};
use super::tree::{
    TcCounters, TcNoteKind, TcOption, TcOverhead, TcParent, TcQdisc, TcSetup, TcSource, TcValue,
};
use super::units::{show_rate, show_time};
use super::words::{Token, Tokens};
use crate::FormatError;

/// Our AQM for a discipline.
#[derive(Clone, PartialEq, Debug)]
pub struct AqmOfTc {
    /// Its text, such as `fq_codel@linux:target=20ms`.
    pub text: String,
    /// Options without a counterpart, one phrase each.
    pub missing: Vec<String>,
    /// Words without effect here, with the reason, one sentence each.
    pub notes: Vec<String>,
    /// Bytes that cake adds to the IP packet.
    pub overhead: Option<TcOverhead>,
    /// Cake's rate in bit/s.
    pub bandwidth: Option<u64>,
}

/// Whether a text looks like options of tc rather than one of our AQMs: a kind, a blank, a word.
pub fn looks_like_tc(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let Some(kind) = words.next() else { return false };
    options::table(kind).is_some() && words.next().is_some_and(|word| !word.contains('='))
}

/// Reads a discipline with its options, as in a command or as printed: `fq_codel limit 1001p`.
///
/// # Errors
/// Names the wrong word, or the kind without a counterpart.
pub fn aqm_of_text(text: &str) -> Result<AqmOfTc, FormatError> {
    super::refuse_non_text(text)?;
    let words: Vec<Token<'_>> =
        text.split_whitespace().map(|text| Token { text, line: 1 }).collect();
    let Some((kind, rest)) = words.split_first() else {
        return Err(FormatError::whole("names no discipline: write `tc: fq_codel limit 1000`"));
    };
    let no_place = |error: FormatError| FormatError::whole(error.message);
    if matches!(kind.text, "qdisc" | "tc" | "sudo") {
        return of_whole_line(text).map_err(no_place);
    }
    let mut setup = TcSetup::new(TcSource::Commands);
    let options =
        qdisc_options(*kind, &mut Tokens::new(rest, false), &mut setup).map_err(no_place)?;
    let found = setup.notes.iter().find(|it| it.kind != TcNoteKind::Rounded);
    if let Some(note) = found {
        return Err(FormatError::whole(note.text.clone()));
    }
    let qdisc = TcQdisc {
        device: String::new(),
        kind: kind.text.to_owned(),
        handle: String::new(),
        parent: TcParent::Root,
        stab: None,
        options,
        counters: TcCounters::default(),
        line: 1,
    };
    of_qdisc(&qdisc, TcSource::Commands).map_err(no_place)
}

/// The AQM of a line as it is printed or typed, `qdisc codel 8001: dev eth0 root ...`.
fn of_whole_line(text: &str) -> Result<AqmOfTc, FormatError> {
    let setup = super::read(text)?;
    let found = setup.notes.iter().find(|it| it.kind != TcNoteKind::Rounded);
    if let Some(note) = found {
        return Err(FormatError::whole(note.text.clone()));
    }
    match setup.qdiscs.as_slice() {
        [only] => of_qdisc(only, setup.source),
        _ => Err(FormatError::whole("names several disciplines: give one, or `tc import` a file")),
    }
}

/// The AQM of a discipline.
pub(super) fn of_qdisc(qdisc: &TcQdisc, source: TcSource) -> Result<AqmOfTc, FormatError> {
    let at = |message: String| FormatError::at(qdisc.line, message);
    if let Some(TcValue::Text(text)) = qdisc.option("aqm").map(|it| &it.value) {
        check(text).map_err(at)?;
        let (missing, notes) = (Vec::new(), Vec::new());
        return Ok(AqmOfTc { text: text.clone(), missing, notes, overhead: None, bandwidth: None });
    }
    let Some(table) = options::table(&qdisc.kind) else {
        return Err(at(format!(
            "{}: put an AQM such as fq_codel in its place, or choose another device",
            unknown_kind(&qdisc.kind)
        )));
    };
    if qdisc.kind == "cake" {
        return cake(qdisc);
    }
    if table.aqm.is_empty() {
        let message = format!(
            "{} has no queue that an AQM here can stand for; name the discipline below it",
            qdisc.kind
        );
        return Err(at(message));
    }
    let aqm = match qdisc.kind.as_str() {
        "red" if qdisc.option("adaptive").is_some() => "ared@linux",
        "sfq" if demands::RED_OF_SFQ.iter().any(|it| qdisc.option(it).is_some()) => "sfq_red",
        _ => table.aqm,
    };
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut missing = Vec::new();
    let burst = sent::burst(qdisc).filter(|_| source.is_state());
    settings.extend(burst.clone());
    if source.is_state() {
        settings.extend(table.when_absent.iter().map(|(name, value)| own(name, value)));
    } else {
        settings.extend(sent::derived(qdisc));
    }
    for option in &qdisc.options {
        if let Some(why) = sent::without_effect(qdisc, option).filter(|_| !source.is_state()) {
            missing.push(why);
            continue;
        }
        let option = &sent::kept(qdisc, option, source);
        let word = table.words.iter().find(|it| it.word == option.name);
        match word.and_then(|word| setting(word, option)) {
            Some(Ok((name, value))) => {
                settings.retain(|(known, _)| *known != name);
                settings.push((name, value));
            }
            Some(Err(message)) => return Err(FormatError::at(option.line, message)),
            None if is_of_rtt(option) || sent::is_usual(qdisc, option) => {}
            None if option.name == "ewma" && burst.is_some() => {}
            None => missing.extend(word.and_then(|word| lacking(word, option))),
        }
    }
    missing.extend(not_shown(qdisc, source));
    settings.extend(fq::settings(qdisc));
    let text = joined(aqm, &settings);
    check(&text).map_err(at)?;
    let notes = if source.is_state() { Vec::new() } else { sent::said(qdisc) };
    Ok(AqmOfTc { text, missing, notes, overhead: None, bandwidth: None })
}

/// Whether an option is one of dualpi2's round trips, from which the rest is derived.
fn is_of_rtt(option: &TcOption) -> bool {
    matches!(option.name, "max_rtt" | "typical_rtt")
}

fn is_step_in_packets(word: &OptionWord, option: &TcOption) -> bool {
    word.form == Form::TimeOrPackets && matches!(option.value, TcValue::Count(_))
}

fn own(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The text of an AQM with settings.
fn joined(aqm: &str, settings: &[(String, String)]) -> String {
    let pairs: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    match pairs.is_empty() {
        true => aqm.to_owned(),
        false => format!("{aqm}:{}", pairs.join(",")),
    }
}

fn check(text: &str) -> Result<(), String> {
    QdiscSpec::parse(text).map(|_| ()).map_err(|error| format!("as {text}: {}", error.message))
}

/// Our parameter for an option; `None` without a counterpart.
fn setting(word: &OptionWord, option: &TcOption) -> Option<Result<(String, String), String>> {
    let whole = |value: &TcValue| match value {
        TcValue::Count(count) => *count as f64,
        TcValue::Real(number) => *number,
        _ => 0.0,
    };
    let (name, value) = match word.ours {
        Ours::Sets(name, value) => (name, value.to_owned()),
        Ours::Hertz(name, per_hertz) => (name, format!("{}hz", whole(&option.value) / per_hertz)),
        // A step in packets has no counterpart.
        Ours::Is(_) if is_step_in_packets(word, option) => return None,
        Ours::Is(name) => (name, value_of(word, option)),
        Ours::Same | Ours::Missing => return None,
    };
    if name == "perturb" && value == "0ns" {
        return Some(Ok(own(name, "off")));
    }
    Some(Ok(own(name, &value)))
}

fn value_of(word: &OptionWord, option: &TcOption) -> String {
    match &option.value {
        TcValue::Count(count) if word.word == "limit" => format!("{count}p"),
        TcValue::Count(count) => count.to_string(),
        TcValue::Bytes(bytes) => format!("{bytes}B"),
        TcValue::Nanos(nanos) => show_time(*nanos),
        TcValue::Bps(bps) => show_rate(*bps),
        TcValue::Real(number) => number.to_string(),
        // sfq prints its queues as `128/1024`: queues and hash buckets.
        TcValue::Text(text) => text.split('/').next().unwrap_or(text).to_owned(),
        TcValue::Flag => "true".to_owned(),
        TcValue::Curve(_) => unreachable!("classes alone have curves"),
    }
}

/// A phrase for an option without a counterpart.
fn lacking(word: &OptionWord, option: &TcOption) -> Option<String> {
    let is_missing = word.ours == Ours::Missing || is_step_in_packets(word, option);
    is_missing.then(|| format!("`{}` (line {}) has no counterpart here", option.text, option.line))
}

/// Fact linux-4.
const ADAPTIVE: &str = "`adaptive` of red: the kernel does not adapt what a tc since iproute2 5.7 \
                        sets up, and runs plain RED; here it adapts (for the kernel's, write red \
                        in place of ared)";

/// Assumptions about options that tc does not print or the user did not give.
fn not_shown(qdisc: &TcQdisc, source: TcSource) -> Vec<String> {
    let mut all = Vec::new();
    let shown = source.is_state();
    let is_one = |it: &&TcOption| it.name == "probability" && it.value == TcValue::Real(1.0);
    all.extend(qdisc.options.iter().rfind(is_one).filter(|_| !shown).map(|it| {
        format!(
            "`{}` (line {}) overflows in tc, and the kernel runs half of it or more; here it is 1",
            it.text, it.line
        )
    }));
    match qdisc.kind.as_str() {
        "red" | "choke" if shown => {
            all.push(match sent::burst(qdisc) {
                Some(_) => "tc does not print RED's avpkt and bandwidth: our defaults are used; \
                            the burst gives the weight that it shows"
                    .to_owned(),
                None => "tc does not print RED's avpkt, burst and bandwidth, nor without -d its \
                         probability: our defaults are used"
                    .to_owned(),
            });
            all.extend(qdisc.option("adaptive").map(|_| ADAPTIVE.to_owned()));
        }
        "red" if qdisc.option("adaptive").is_some() => all.push(ADAPTIVE.to_owned()),
        "pfifo_fast" => all.push(
            "the limit of pfifo_fast is the device's txqueuelen for each of three bands: one band \
             of 1000 packets is used"
                .to_owned(),
        ),
        "pfifo" | "bfifo" if qdisc.option("limit").is_none() => {
            all.push("the limit is the device's txqueuelen: that of 1000 is taken".to_owned());
        }
        _ => {}
    }
    all
}

/// Cake. tc's default is diffserv3.
fn cake(qdisc: &TcQdisc) -> Result<AqmOfTc, FormatError> {
    let at = |message: String| FormatError::at(qdisc.line, message);
    let mut settings = Vec::new();
    let mut missing = Vec::new();
    let text_of = |name: &str| match qdisc.option(name).map(|it| &it.value) {
        Some(TcValue::Text(text)) => text.as_str(),
        _ => "",
    };
    let bandwidth = qdisc.rate("bandwidth");
    settings.extend(bandwidth.map(|bps| own("bandwidth", &show_rate(bps))));
    for (theirs, ours) in [("rtt", "interval"), ("target", "target")] {
        settings.extend(qdisc.nanos(theirs).map(|nanos| own(ours, &show_time(nanos))));
    }
    match text_of("isolation") {
        "" | "triple-isolate" => {}
        "dual-srchost" => settings.push(own("isolation", "src")),
        "dual-dsthost" => settings.push(own("isolation", "dst")),
        same @ ("flows" | "flowblind" | "srchost" | "dsthost" | "hosts") => {
            settings.push(own("isolation", same))
        }
        other => unreachable!("cake::choice has no `{other}`"),
    }
    match text_of("diffserv") {
        "besteffort" => {}
        "" => settings.push(own("diffserv", "diffserv3")),
        given => settings.push(own("diffserv", given)),
    }
    for word in ["wash", "ingress"] {
        if text_of(word) == word {
            settings.push(own(word, "true"));
        }
    }
    if text_of("split-gso") == "no-split-gso" {
        settings.push(own("split_gso", "false"));
    }
    if text_of("autorate-ingress") == "autorate-ingress" {
        settings.push(own("autorate_ingress", "true"));
    }
    match text_of("ack-filter") {
        "ack-filter" => settings.push(own("ack_filter", "on")),
        "ack-filter-aggressive" => settings.push(own("ack_filter", "aggressive")),
        _ => {}
    }
    let overhead = overhead(qdisc, text_of("cells"));
    let bytes = qdisc.bytes("overhead").unwrap_or(0);
    if bytes != 0 || overhead.is_some() {
        settings.push(own("overhead", &format!("{bytes}B")));
    }
    if let cells @ ("atm" | "ptm") = text_of("cells") {
        settings.push(own("cells", cells));
    }
    settings
        .extend(qdisc.bytes("mpu").filter(|it| *it > 0).map(|it| own("mpu", &format!("{it}B"))));
    let memory = qdisc.bytes("memlimit").filter(|bytes| *bytes > 0);
    settings.extend(memory.map(|bytes| own("limit", &format!("{bytes}B"))));
    missing.extend(of_cake_alone(qdisc));
    let text = joined("cake", &settings);
    check(&text).map_err(at)?;
    let notes = without_effect(&text_of);
    Ok(AqmOfTc { text, missing, notes, overhead, bandwidth })
}

/// The overhead that the shaper adds to the IP packet. Without an overhead, or with `raw`, it
/// counts from the frame (Linux 6.1 sch_cake.c, cake_calc_overhead).
fn overhead(qdisc: &TcQdisc, cells: &str) -> Option<TcOverhead> {
    let bytes = qdisc.bytes("overhead");
    if bytes.is_none() || qdisc.count("raw") == Some(1) {
        return None;
    }
    let mpu = qdisc.bytes("mpu").unwrap_or(0).try_into().unwrap_or(0);
    let cells = cells.to_owned();
    Some(TcOverhead { bytes: bytes.unwrap_or(0), mpu, cells, slot: 0, from_ip: true })
}

/// Words of cake that change nothing here. The defaults of tc are not mentioned.
fn without_effect<'t>(text: &impl Fn(&str) -> &'t str) -> Vec<String> {
    let nat = "`nat` of cake: flows name their hosts as they are before any translation of \
               addresses, so isolation sees them anyway";
    if text("nat") == "nat" { vec![nat.to_owned()] } else { Vec::new() }
}

/// Words of cake without a counterpart.
fn of_cake_alone(qdisc: &TcQdisc) -> Option<String> {
    let mark = qdisc.option("fwmark").filter(|it| it.text != "fwmark 0")?;
    Some(format!("`{}` of cake has no counterpart here: packets have no firewall mark", mark.text))
}

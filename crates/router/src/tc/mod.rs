//! Translates our AQMs to arguments of `tc` (iproute2 6.1). A parameter that cannot be translated
//! is refused in one sentence.
//!
//! No parameter is dropped silently: a parameter without a `tc` option must have the value built
//! into the kernel, or the scenario is refused. Rounding by the kernel becomes a warning.

mod cake;
mod fq;
mod netlink_options;
pub mod parameters;
mod read_back;
mod writer;

use sojourn_aqm::{Limit, QdiscSpec, registry, units};
use sojourn_scenario::aqms::AqmInfo;

use crate::plan::{KernelQdisc, RedAdaptation};
use read_back::Thresholds;
use writer::{Asked, Writer};

/// The context of a translation.
#[derive(Clone, Copy, Debug)]
pub struct TcContext {
    /// Largest packet, as counted by the link.
    pub mtu_bytes: u32,
    /// Initial rate of the link, bit/s.
    pub rate_bps: u64,
    /// Timer interrupts per second of the kernel.
    pub hz: u32,
    /// Its release, such as 7 and 2, if known.
    pub release: Option<(u32, u32)>,
}

/// A discipline as arguments of `tc qdisc add`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcDiscipline {
    /// Kind and options.
    pub arguments: Vec<String>,
    /// Values rounded by the kernel, one sentence each.
    pub warnings: Vec<String>,
    /// Options that `tc -j qdisc show` must show: name and number, in tc's units.
    pub expected: Vec<(String, u64)>,
    /// Whether it drops at the head of the queue, as CoDel does, or on arrival.
    pub drops_at_head: bool,
    /// Whether its signals are random.
    pub is_random: bool,
    /// For adaptive RED: the adaptation, which tc does not enable.
    pub adaptation: Option<RedAdaptation>,
    /// Its options, if it is created by netlink; only the kind of `arguments` then applies.
    pub netlink: Option<KernelQdisc>,
    /// What netlink must report about it, if tc creates it.
    pub read_back: Option<KernelQdisc>,
    /// Whether it sets a timer or draws a secret when it is created. A guest then creates it at a
    /// whole second of its clock, when the random numbers restart.
    pub at_whole_second: bool,
}

/// The tolerance for times that are read back, in microseconds: the kernel stores them in units of
/// 1.024 us (Linux 6.1 include/net/codel.h, `CODEL_SHIFT`) or in jiffies.
pub const READ_BACK_SLACK: u64 = 2;

type Refusable<T> = Result<T, String>;

/// The kind of the discipline that our module registers.
pub const MODULE_KIND: &str = "sojourn";

/// Our disciplines that drop at the head: their laws judge departures.
const DROP_AT_HEAD: [&str; 7] =
    ["codel", "fq_codel", "cobalt", "fq_cobalt", "cake", "step", "dualpi2"];

/// Our module with any of our AQMs, whose text form it takes unchanged.
///
/// # Errors
///
/// Returns a sentence that says what is missing in the text.
pub fn module(spec: &QdiscSpec) -> Refusable<TcDiscipline> {
    registry::settings(spec).map_err(|error| error.message)?;
    if spec.custom.is_some() {
        return Err("a law from a file runs in no kernel; take bottleneck = \"sojourn\"".to_owned());
    }
    let kind = spec.kind();
    let drops_at_head = DROP_AT_HEAD.contains(&kind.as_str());
    Ok(TcDiscipline {
        arguments: vec![MODULE_KIND.to_owned()],
        warnings: Vec::new(),
        expected: Vec::new(),
        drops_at_head,
        is_random: kind == "dualpi2"
            || !drops_at_head && !matches!(kind.as_str(), "taildrop" | "sfq" | "fq"),
        adaptation: None,
        netlink: None,
        read_back: None,
        at_whole_second: matches!(kind.as_str(), "dualpi2" | "sfb" | "sfq"),
    })
}

/// Translates a discipline.
///
/// # Errors
/// Returns a sentence that says what the kernel lacks.
pub fn translate(spec: &QdiscSpec, context: &TcContext) -> Refusable<TcDiscipline> {
    let settings = registry::settings(spec).map_err(|error| error.message)?;
    dialect_of_kernel(spec)?;
    let mut writer = Writer::new(&settings, Asked::new(spec), context);
    // A full fq_codel drops from the flow with the most bytes (Linux 6.1 sch_fq_codel.c,
    // fq_codel_drop); all others drop the arriving packet.
    let evicted = if spec.kind() == "fq_codel" { "fattest" } else { "arrival" };
    writer.built_in(&[("overflow", evicted), ("shed", "bytes"), ("exclude_ce", "false")])?;
    let kind = spec.kind();
    match kind.as_str() {
        "taildrop" => tail_drop(&mut writer)?,
        "codel" => codel(&mut writer, "codel")?,
        "fq_codel" => fq_codel(&mut writer)?,
        "pie" => pie(&mut writer)?,
        "fq_pie" => fq_pie(&mut writer)?,
        "red" | "ared" => red(&mut writer, &kind, named_dialect(spec))?,
        "choke" => choke(&mut writer)?,
        "sfq" => netlink_options::sfq(&mut writer)?,
        "sfb" => netlink_options::sfb(&mut writer)?,
        "fq" => fq::fq(&mut writer)?,
        "cake" => cake::cake(&mut writer)?,
        "dualpi2" => netlink_options::dualpi2(&mut writer)?,
        _ => {
            return Err(format!(
                "the kernel has no `{kind}`; it has taildrop, codel, fq_codel, pie, fq_pie, red, \
                 ared, choke, sfq, sfb, fq, cake, dualpi2; with \
                 engine.linux.bottleneck = \"sojourn\" \
                 any AQM runs"
            ));
        }
    }
    code_of_release(&mut writer, spec);
    let dialect = named_dialect(spec);
    if !matches!(kind.as_str(), "taildrop" | "cake") && dialect != Some("linux") {
        let own = dialect.unwrap_or("the default");
        writer.warn(format!("the kernel runs its own {kind}; the simulator's dialect is {own}"));
    }
    writer.finish()
}

/// The dialect, if one is named; `linux` for the name of a kernel.
fn named_dialect(spec: &QdiscSpec) -> Option<&str> {
    spec.dialect.as_ref().map(|_| registry::dialect_of(spec))
}

/// A kernel has the code of its release built in (facts aqm-132 and linux-30). Plain `@linux` asks
/// for the code of the kernel in use.
fn code_of_release(w: &mut Writer<'_>, spec: &QdiscSpec) {
    let newest = (u32::MAX, 0);
    let release = w.context.release;
    for built_in in registry::changes_at(&spec.law, release.unwrap_or(newest)) {
        // This parameter has no option, but is not refused.
        w.value(built_in.name);
    }
    let unlike = release.map(|release| registry::unlike(spec, release)).unwrap_or_default();
    for registry::Change { name, value, what, .. } in unlike {
        w.warn(format!(
            "the kernel's {} has {what} of {value}; with `{name}={value}` the simulator has \
             the same",
            spec.kind()
        ));
    }
}

/// Refuses a dialect that the kernel does not run. The default dialect is accepted as the kernel's,
/// with a warning. The dialects of tail drop and CAKE are sets of parameters, which are translated.
fn dialect_of_kernel(spec: &QdiscSpec) -> Refusable<()> {
    let kind = spec.kind();
    let Some(dialect) = named_dialect(spec) else { return Ok(()) };
    let default = AqmInfo::of(spec).dialects.first().map(|dialect| dialect.name);
    let is_of_parameters = matches!(kind.as_str(), "taildrop" | "cake");
    if is_of_parameters || dialect == "linux" || default == Some(dialect) {
        return Ok(());
    }
    Err(format!(
        "the kernel has no dialect `{dialect}` of {kind}; write `{kind}@linux` for its own, or \
         engine.linux.bottleneck = \"sojourn\" for ours"
    ))
}

fn tail_drop(w: &mut Writer<'_>) -> Refusable<()> {
    let text = w.value("limit").ok_or("`limit` has no value")?;
    let (kind, limit) = match units::limit(text)? {
        Limit::Packets(n) => ("pfifo", n),
        Limit::Bytes(n) => ("bfifo", n),
    };
    w.argument(kind);
    w.pair("limit", limit);
    w.expect("limit", limit);
    read_back::fifo(w, kind, limit)
}

fn codel(w: &mut Writer<'_>, kind: &str) -> Refusable<()> {
    w.argument(kind);
    w.out.drops_at_head = true;
    w.limit()?;
    w.time("target")?;
    w.time("interval")?;
    if w.span("ce_threshold")?.is_some() {
        w.time("ce_threshold")?;
    }
    w.ecn();
    w.built_in(&[("count", "off"), ("l4s", "false")])?;
    w.of_dialect(&["mtu_bytes"])?;
    w.out.read_back = Some(read_back::codel(w, kind)?.into_qdisc());
    Ok(())
}

fn flow_queues(w: &mut Writer<'_>) -> Refusable<()> {
    if let Some(bytes) = w.option_bytes("memory_limit")? {
        w.pair("memory_limit", bytes);
        w.expect("memory_limit", bytes);
    }
    let flows = w.whole("flows")?;
    w.pair("flows", flows);
    w.expect("flows", flows);
    if let Some(quantum) = w.option_bytes("quantum")? {
        if quantum < 256 {
            return Err(format!("`quantum` of {quantum}B: the kernel takes 256B or more"));
        }
        w.pair("quantum", quantum);
        w.expect("quantum", quantum);
    } else {
        w.pair("quantum", w.context.mtu_bytes);
        w.expect("quantum", u64::from(w.context.mtu_bytes));
    }
    Ok(())
}

fn fq_codel(w: &mut Writer<'_>) -> Refusable<()> {
    codel(w, "fq_codel")?;
    flow_queues(w)?;
    let batch = w.whole("drop_batch")?;
    w.pair("drop_batch", batch);
    w.expect("drop_batch", batch);
    let mut shown = read_back::codel(w, "fq_codel")?;
    read_back::flow_queues(w, &mut shown)?;
    w.out.read_back = Some(shown.into_qdisc());
    Ok(())
}

fn pie(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("pie");
    w.out.is_random = true;
    w.limit()?;
    w.time("target")?;
    w.jiffies("tupdate")?;
    for name in ["alpha", "beta"] {
        let gain = w.sixteenths(name)?;
        w.pair(name, gain);
        w.expect(name, gain);
    }
    w.ecn();
    let mode = if w.is_true("byte_mode") { "bytemode" } else { "nobytemode" };
    w.argument(mode);
    match w.value("delay") {
        Some("rate") => w.argument("dq_rate_estimator"),
        _ => w.argument("no_dq_rate_estimator"),
    }
    w.built_in(&[("ecn_mark_limit", "0.1")])?;
    built_into_pie(w)?;
    read_back::pie(w)
}

/// The values built into PIE and FQ-PIE.
fn built_into_pie(w: &mut Writer<'_>) -> Refusable<()> {
    w.built_in(&[("max_burst", "150ms"), ("heuristics", "none"), ("on_off", "false")])?;
    w.built_in(&[("derandomise", "true"), ("cap_step", "true"), ("decay_wraps", "false")])?;
    w.built_in(&[("active_threshold", "off"), ("ce_threshold", "off"), ("l4s", "false")])?;
    w.of_dialect(&["mtu_bytes", "idle_decay", "dq_threshold", "rate_weight", "tune"])?;
    w.first_update()?;
    w.hz()
}

fn fq_pie(w: &mut Writer<'_>) -> Refusable<()> {
    netlink_options::fq_pie(w)?;
    built_into_pie(w)?;
    w.of_dialect(&["drop_batch"])
}

/// RED's thresholds in bytes and its burst in packets; tc chooses the values that are `auto` here.
fn red(w: &mut Writer<'_>, kind: &str, dialect: Option<&str>) -> Refusable<()> {
    if dialect != Some("linux") {
        return Err(format!(
            "only `{kind}@linux` says what tc takes (thresholds in bytes, a burst); write that"
        ));
    }
    w.argument("red");
    w.out.is_random = true;
    let limit = w.limit_bytes()?;
    w.pair("limit", limit);
    w.expect("limit", limit);
    let packet = w.option_bytes("mean_packet_bytes")?.unwrap_or(u64::from(w.context.mtu_bytes));
    w.pair("avpkt", packet);
    let (min, max, burst) = (None, None, None);
    let mut given = Thresholds { limit, min, max, burst, packet, max_follows_min: true };
    for (ours, theirs) in [("min_th", "min"), ("max_th", "max")] {
        let threshold = w.value(ours).map(units::limit).transpose()?;
        if let Some(threshold) = threshold {
            let Limit::Bytes(bytes) = threshold else {
                return Err(format!("`{ours}` of {threshold}: tc red counts bytes"));
            };
            w.pair(theirs, bytes);
            w.expect(theirs, bytes);
            *(if ours == "min_th" { &mut given.min } else { &mut given.max }) = Some(bytes);
        }
    }
    given.burst = w.option_whole("burst")?;
    if let Some(burst) = given.burst {
        w.pair("burst", burst);
    }
    let max_p = read_back::max_p_for_tc(w)?;
    w.pair("probability", max_p);
    let rate_bps = w.bandwidth()?;
    w.pair("bandwidth", format!("{rate_bps}bit"));
    if kind == "ared" {
        w.argument("adaptive");
        w.out.adaptation = Some(RedAdaptation { mean_packet_bytes: packet, rate_bps });
        w.of_dialect(&["adapt_interval", "adapt_alpha", "adapt_beta", "max_p_top"])?;
        w.of_dialect(&["max_p_bottom"])?;
        w.hz()?;
    }
    for (ours, theirs) in [("ecn", "ecn"), ("hard_drop", "harddrop")] {
        if w.is_true(ours) {
            w.argument(theirs);
        }
    }
    w.of_dialect(&["w_q", "gentle", "gap_mode", "target_delay", "ecn_mark_limit"])?;
    read_back::red(w, kind, &given)
}

fn choke(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("choke");
    w.out.is_random = true;
    let limit = w.limit_packets()?;
    w.pair("limit", limit);
    w.expect("limit", limit);
    w.pair("bandwidth", format!("{}bit", w.context.rate_bps));
    if let Some(packet) = w.option_bytes("mean_packet_bytes")? {
        w.pair("avpkt", packet);
    }
    let mut numbers = [None; 3];
    let names = [("min_th", "min"), ("max_th", "max"), ("burst", "burst")];
    for (found, (ours, theirs)) in numbers.iter_mut().zip(names) {
        *found = w.option_whole(ours)?;
        if let Some(number) = *found {
            w.pair(theirs, number);
        }
    }
    let [min, max, burst] = numbers;
    let max_p = read_back::max_p_for_tc(w)?;
    w.pair("probability", max_p);
    if w.is_true("ecn") {
        w.argument("ecn");
    }
    w.built_in(&[("hard_drop", "false")])?;
    let given = Thresholds { limit, min, max, burst, packet: 1, max_follows_min: false };
    read_back::red(w, "choke", &given)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: TcContext =
        TcContext { mtu_bytes: 1500, rate_bps: 10_000_000, hz: 1000, release: None };

    fn translated(text: &str, context: &TcContext) -> Result<TcDiscipline, String> {
        translate(&QdiscSpec::parse(text).unwrap(), context)
    }

    fn line(text: &str) -> String {
        translated(text, &CONTEXT).unwrap().arguments.join(" ")
    }

    #[test]
    fn the_unit_of_the_limit_decides_between_pfifo_and_bfifo() {
        assert_eq!(line("taildrop:limit=100p"), "pfifo limit 100");
        assert_eq!(line("taildrop:limit=125kB"), "bfifo limit 125000");
    }

    #[test]
    fn gains_in_hertz_become_sixteenths() {
        let pie = line("pie@linux:limit=1000p");
        assert!(pie.contains("alpha 2 beta 20"), "{pie}");
        let refused = translated("pie:alpha=0.1hz", &CONTEXT).unwrap_err();
        assert!(refused.contains("sixteenths"), "{refused}");
    }

    #[test]
    fn an_update_time_between_two_interrupts_is_rounded_up_with_a_warning() {
        let slow = TcContext { hz: 100, ..CONTEXT };
        let pie = translated("pie@linux", &slow).unwrap();
        assert!(pie.warnings[0].contains("15000 us is 20000 us"), "{:?}", pie.warnings);
        assert!(pie.expected.contains(&("tupdate".to_owned(), 20_000)));
        assert_eq!(translated("pie@linux", &CONTEXT).unwrap().warnings, Vec::<String>::new());
    }

    /// Fact linux-4.
    #[test]
    fn the_adaptation_that_tc_does_not_start_is_left_to_the_host() {
        let ared = translated("ared@linux:mean_packet_bytes=1000B", &CONTEXT).unwrap();
        let left = RedAdaptation { mean_packet_bytes: 1000, rate_bps: 10_000_000 };
        assert_eq!(ared.adaptation, Some(left));
        assert_eq!(translated("red@linux", &CONTEXT).unwrap().adaptation, None);
    }

    /// iproute2 6.1 q_red.c, red_parse_opt: 10 Mbit/s if no `bandwidth` is given.
    #[test]
    fn the_bandwidth_of_red_is_that_of_tc_unless_one_is_set() {
        let fast = TcContext { rate_bps: 100_000_000, ..CONTEXT };
        let bandwidth = |text: &str| {
            let arguments = translated(text, &fast).unwrap().arguments;
            let place = arguments.iter().position(|word| word == "bandwidth").unwrap();
            arguments[place + 1].clone()
        };
        assert_eq!(bandwidth("red@linux"), "10000000bit");
        assert_eq!(bandwidth("red@linux:bandwidth=5mbit"), "5000000bit");
        assert_eq!(bandwidth("ared@linux:bandwidth=auto"), "100000000bit");
        let adaptation = translated("ared@linux", &fast).unwrap().adaptation.unwrap();
        assert_eq!(adaptation.rate_bps, 10_000_000);
    }

    #[test]
    fn a_byte_limit_of_a_qdisc_that_counts_packets_is_a_warning() {
        let codel = translated("codel@linux:limit=125kB", &CONTEXT).unwrap();
        assert_eq!(codel.arguments[..3], ["codel", "limit", "84"]);
        assert!(codel.warnings[0].contains("84 packets"), "{:?}", codel.warnings);
    }

    /// Fact linux-30.
    #[test]
    fn another_table_of_inverse_roots_than_the_kernels_is_a_warning() {
        let warned = |text, release| {
            let context = TcContext { release: Some(release), ..CONTEXT };
            translated(text, &context).unwrap().warnings
        };
        let newer = "cake:inverse_roots=linux-6.12";
        for (text, release) in [("cake", (6, 1)), (newer, (6, 12)), (newer, (7, 2))] {
            assert_eq!(warned(text, release), Vec::<String>::new(), "{text} {release:?}");
        }
        assert!(warned("cake", (7, 2))[0].contains("`inverse_roots=linux-6.12`"));
        assert!(warned(newer, (6, 11))[0].contains("has the inverse roots of linux-6.1;"));
    }

    /// Facts aqm-132 and aqm-133.
    #[test]
    fn another_kernels_codel_than_the_one_that_runs_is_a_warning() {
        let warned = |text, release| {
            let context = TcContext { release: Some(release), ..CONTEXT };
            translated(text, &context).unwrap().warnings
        };
        for (text, release) in [
            ("codel@linux", (6, 1)),
            ("fq_codel@linux", (7, 2)),
            ("codel@linux-6.1", (6, 12)),
            ("pie@linux-5.10", (7, 2)),
            ("cake@linux", (6, 1)),
        ] {
            assert_eq!(warned(text, release), Vec::<String>::new(), "{text} {release:?}");
        }
        let codel = "the kernel's codel has the CoDel of linux-7.2; with `kernel=linux-7.2` the \
                     simulator has the same";
        assert_eq!(warned("codel@linux-6.1", (7, 2)), [codel]);
        assert!(warned("cake@linux-6.1", (7, 2))[0].contains("`inverse_roots=linux-6.12`"));
    }

    #[test]
    fn parameters_that_the_kernel_does_not_have_are_refused() {
        for (text, why) in [
            ("madpie", "no `madpie`"),
            ("codel@linux:count=16", "built in"),
            ("codel@linux:ecn=true,exclude_ce=true", "`exclude_ce` of true: the kernel has false"),
            ("ared", "ared@linux"),
            ("pie@linux:max_burst=100ms", "built in"),
            ("red@linux:min_th=1500B,max_th=4500B,ecn=true", ""),
        ] {
            match translated(text, &CONTEXT) {
                Ok(_) => assert_eq!(why, "", "{text}"),
                Err(message) => assert!(!why.is_empty() && message.contains(why), "{message}"),
            }
        }
    }

    /// Regression: `codel@act` ran as plain CoDel.
    #[test]
    fn every_dialect_is_translated_or_refused() {
        for aqm in AqmInfo::all() {
            for (place, dialect) in aqm.dialects.iter().enumerate() {
                let text = format!("{}@{}", aqm.name, dialect.name);
                let is_kernels = dialect.name == "linux" || aqm.name == "cake";
                match translated(&text, &CONTEXT) {
                    Ok(found) if is_kernels => assert!(found.warnings.is_empty(), "{text}"),
                    Ok(found) if aqm.name == "taildrop" => {
                        let fifo = if dialect.name == "bytes" { "bfifo" } else { "pfifo" };
                        assert_eq!(found.arguments[0], fifo, "{text}");
                    }
                    Ok(found) => {
                        assert_eq!(place, 0, "{text} is not the default");
                        assert!(found.warnings[0].contains("simulator's dialect"), "{text}");
                    }
                    Err(why) => assert!(why.contains("kernel") || why.contains("tc"), "{why}"),
                }
            }
        }
        let act = translated("codel@act", &CONTEXT).unwrap_err();
        assert!(act.contains("no dialect `act` of codel; write `codel@linux`"), "{act}");
    }

    #[test]
    fn a_full_queue_is_why_the_module_drops_under_tail_drop_and_sfq() {
        let is_random = |text: &str| module(&QdiscSpec::parse(text).unwrap()).unwrap().is_random;
        assert_eq!(["taildrop", "sfq", "red@linux"].map(is_random), [false, false, true]);
    }

    #[test]
    fn every_discipline_of_the_kernel_is_translated() {
        for text in [
            "taildrop",
            "codel@linux",
            "fq_codel@linux",
            "pie@linux",
            "fq_pie@linux",
            "red@linux",
            "ared@linux",
            "choke",
            "sfq",
            "sfb",
            "fq",
            "cake",
            "dualpi2@linux",
        ] {
            let found = translated(text, &CONTEXT);
            assert!(found.is_ok(), "{text}: {found:?}");
        }
    }
}

//! What tc sends to the kernel besides the options as they are written: derived values, and zeros
//! that it leaves out.

use super::tree::{TcOption, TcQdisc, TcSource, TcValue};
use super::units::show_time;

/// Options of which tc does not send a zero, so that the kernel's default holds (iproute2 6.1
/// tc/q_codel.c, q_fq_codel.c, q_pie.c, q_fq_pie.c; 6.18 q_dualpi2.c).
const ZERO_IS_NOT_SENT: [(&str, &[&str]); 5] = [
    ("codel", &["limit", "target", "interval"]),
    ("fq_codel", &["limit", "flows", "quantum", "target", "interval", "drop_batch"]),
    ("pie", &["limit", "target", "tupdate", "alpha", "beta"]),
    (
        "fq_pie",
        &[
            "limit",
            "flows",
            "target",
            "tupdate",
            "alpha",
            "beta",
            "quantum",
            "memory_limit",
            "ecn_prob",
        ],
    ),
    ("dualpi2", &["limit", "memlimit", "target", "tupdate", "step_thresh"]),
];

/// Options of dualpi2 that follow from a round trip (iproute2 6.18 tc/q_dualpi2.c).
const OF_RTT: [&str; 4] = ["target", "tupdate", "alpha", "beta"];
/// Gains of dualpi2 are counted in 256ths of a hertz.
const PER_HERTZ: f64 = 256.0;

/// Why an option of a command has no effect, if so.
pub(super) fn without_effect(qdisc: &TcQdisc, option: &TcOption) -> Option<String> {
    let zeros = ZERO_IS_NOT_SENT.iter().find(|it| it.0 == qdisc.kind).map_or(&[][..], |it| it.1);
    let is_zero = match option.value {
        TcValue::Count(0) | TcValue::Nanos(0) | TcValue::Bytes(0) => true,
        TcValue::Real(share) => share == 0.0,
        _ => false,
    };
    let (words, line) = (&option.text, option.line);
    if is_zero && zeros.contains(&option.name) {
        return Some(format!(
            "`{words}` (line {line}): tc does not send it, so the kernel's default holds"
        ));
    }
    let has_rtt = ["max_rtt", "typical_rtt"].iter().any(|it| qdisc.option(it).is_some());
    if qdisc.kind == "dualpi2" && has_rtt && OF_RTT.contains(&option.name) {
        return Some(format!("`{words}` (line {line}): tc derives it from the round trip instead"));
    }
    None
}

/// Whether an option is the memory that the kernel gives dualpi2 for its limit: two frames of
/// Ethernet for each packet (Linux 7.2 sch_dualpi2.c, get_memory_limit).
pub(super) fn is_usual(qdisc: &TcQdisc, option: &TcOption) -> bool {
    const FRAME: u64 = 1514;
    let usual = qdisc.count("limit").map(|limit| limit.saturating_mul(2 * FRAME));
    qdisc.kind == "dualpi2"
        && matches!(option.name, "memlimit" | "memory_limit")
        && usual.is_some_and(|it| option.value == TcValue::Bytes(it.try_into().unwrap_or(i64::MAX)))
}

/// The option as the kernel keeps it: tc cuts the gains of dualpi2 to 256ths of a hertz, of which
/// it prints six digits.
pub(super) fn kept(qdisc: &TcQdisc, option: &TcOption, source: TcSource) -> TcOption {
    let is_gain = qdisc.kind == "dualpi2" && matches!(option.name, "alpha" | "beta");
    match option.value {
        TcValue::Real(hertz) if is_gain => {
            // The command's number is a float of C.
            let units = f64::from((hertz * PER_HERTZ) as f32);
            // The kernel converts a gain twice, rounds down each time, and so shows one unit less
            // than it was given (Linux 7.2 sch_dualpi2.c, dualpi2_scale_alpha_beta,
            // dualpi2_unscale_alpha_beta). One that does not would show its defaults as they are.
            let units = match source.is_state() {
                true if shows_exact_defaults(qdisc) => units.round(),
                true => units.round() + 1.0,
                false => units.floor(),
            };
            TcOption { value: TcValue::Real(units / PER_HERTZ), ..option.clone() }
        }
        _ => option.clone(),
    }
}

/// Whether both gains of dualpi2 are shown as the kernel's defaults, 41 and 819 units.
fn shows_exact_defaults(qdisc: &TcQdisc) -> bool {
    [("alpha", 41.0), ("beta", 819.0)].iter().all(|&(name, units)| {
        matches!(qdisc.option(name).map(|it| &it.value),
            Some(TcValue::Real(hertz)) if (hertz * PER_HERTZ).round() == units)
    })
}

/// The least burst from which tc computes the weight that it shows of RED as `ewma` (iproute2 6.1
/// tc/tc_red.c, tc_red_eval_ewma), with the model's mean packet.
pub(super) fn burst(qdisc: &TcQdisc) -> Option<(String, String)> {
    const MEAN_PACKET_BYTES: f64 = 1000.0;
    const MOST: u32 = 100_000;
    let min = match qdisc.kind.as_str() {
        "choke" => qdisc.count("min")? as f64,
        "red" | "sfq" => qdisc.bytes("min")? as f64 / MEAN_PACKET_BYTES,
        _ => return None,
    };
    let wanted = qdisc.count("ewma")?;
    let log_of_weight = |burst: u32| {
        let free = f64::from(burst) + 1.0 - min;
        let most = |log: i32| {
            let weight = 0.5_f64.powi(log);
            (1.0 - (1.0 - weight).powi(burst as i32)) / weight
        };
        (1..32).find(|log| free >= 1.0 && free <= most(*log)).unwrap_or(0)
    };
    let least = (min.ceil() as u32).max(1);
    let found = (least..MOST).find(|burst| log_of_weight(*burst) as u64 >= wanted)?;
    (log_of_weight(found) as u64 == wanted).then(|| own("burst", &found.to_string()))
}

/// Parameters that tc sends although the command does not name them.
pub(super) fn derived(qdisc: &TcQdisc) -> Vec<(String, String)> {
    match qdisc.kind.as_str() {
        "sfb" => sfb(qdisc),
        "dualpi2" => dualpi2(qdisc),
        _ => Vec::new(),
    }
}

/// What tc's own values change, if a command does not name them.
pub(super) fn said(qdisc: &TcQdisc) -> Vec<String> {
    let is_whole = ["increment", "decrement"].iter().all(|it| qdisc.option(it).is_some());
    let text = "tc sends sfb an increment of 33/65535 and a decrement of 3/65535 unless a command \
                names others; the kernel's own are 66/65535 and 11/65535";
    (qdisc.kind == "sfb" && !is_whole).then(|| text.to_owned()).into_iter().collect()
}

fn own(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Options that tc sends for sfb if they are not given: always tc's own steps, never the kernel's,
/// and one bound derived from the other (iproute2 6.1 tc/q_sfb.c, sfb_parse_opt).
fn sfb(qdisc: &TcQdisc) -> Vec<(String, String)> {
    let mut all =
        vec![own("increment", "0.0005035477225909819"), own("decrement", "0.00004577706569009842")];
    match (qdisc.count("max"), qdisc.count("target")) {
        (Some(most), None) => {
            let target = (most.saturating_mul(4).saturating_add(3)) / 5;
            all.push(own("bin_target", &target.to_string()));
        }
        (None, Some(target)) => {
            let most = (target.saturating_mul(5).saturating_add(1)) / 4;
            all.push(own("bin_max", &most.to_string()));
        }
        _ => {}
    }
    all
}

/// What tc sends for the round trips of dualpi2, in whole microseconds: target, update interval and
/// gains (RFC 9332 §A.1). A typical round trip is a sixth of the largest.
fn dualpi2(qdisc: &TcQdisc) -> Vec<(String, String)> {
    let given = |name: &str| qdisc.nanos(name).map(|it| it / 1000).filter(|it| *it > 0);
    let (most, typical) = match (given("max_rtt"), given("typical_rtt")) {
        (Some(most), typical) => (most, typical.unwrap_or((most / 6).max(1))),
        (None, Some(typical)) => (typical.saturating_mul(6), typical),
        (None, None) => return Vec::new(),
    };
    let update = typical.min(most / 3).max(1);
    let seconds = |micros: u64| micros as f64 / 1e6;
    let in_units = |hertz: f64| format!("{}hz", (hertz * PER_HERTZ + 1e-9).floor() / PER_HERTZ);
    vec![
        own("target", &show_time(typical * 1000)),
        own("tupdate", &show_time(update * 1000)),
        own("alpha", &in_units(0.1 * seconds(update) / seconds(most).powi(2))),
        own("beta", &in_units(0.3 / seconds(most))),
    ]
}

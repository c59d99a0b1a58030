//! The numbers that the kernel must report by netlink for disciplines created by tc. They are in
//! the kernel's units. tc would round these numbers again when printing, and does not print all of
//! them.

use sojourn_aqm::parts::idle_table::IdleTable;
use sojourn_aqm::parts::tc_weight::weight_log;
use sojourn_aqm::{Limit, Rate, units};

use super::Refusable;
use super::netlink_options::{Options, in_ticks};
use super::writer::Writer;
use crate::plan::Width;

/// `TC_RED_...` (Linux 6.1 include/uapi/linux/pkt_sched.h).
const RED_ECN: u64 = 1;
const RED_HARD_DROP: u64 = 2;
const RED_ADAPTIVE: u64 = 4;
/// Offsets within `struct tc_red_qopt`: the exponents of the weight and of idle times, and the
/// flags.
const WEIGHT_LOG: u16 = 12;
const CELL_LOG: u16 = 14;
const FLAGS: u16 = 15;

/// The number that the kernel reports for a time that it stores in steps of 1024 ns (Linux 6.1
/// include/net/codel.h, `CODEL_SHIFT`, `codel_time_to_us`).
fn in_codel_time(micros: u64) -> u64 {
    (micros.saturating_mul(1000) >> 10 << 10) / 1000
}

/// `struct tc_fifo_qopt`, which is all of `TCA_OPTIONS`.
pub(super) fn fifo(w: &mut Writer<'_>, kind: &str, limit: u64) -> Refusable<()> {
    let mut out = Options::new(kind);
    out.structure(None, "limit", &[(limit, limit)])?;
    w.out.read_back = Some(out.into_qdisc());
    Ok(())
}

/// `TCA_CODEL_...` and `TCA_FQ_CODEL_...`; the latter has further numbers.
pub(super) fn codel(w: &mut Writer<'_>, kind: &str) -> Refusable<Options> {
    let mut out = Options::new(kind);
    for (attribute, name) in [(1, "target"), (3, "interval")] {
        let micros = w.micros(name)?;
        out.kept(attribute, &format!("{name}, us"), micros, in_codel_time(micros))?;
    }
    out.number(2, "limit, packets", w.packets()?)?;
    out.number(4, "ecn", u64::from(w.is_true("ecn")))?;
    if w.span("ce_threshold")?.is_some() {
        let micros = w.micros("ce_threshold")?;
        let attribute = if kind == "codel" { 5 } else { 7 };
        out.kept(attribute, "ce_threshold, us", micros, in_codel_time(micros))?;
    }
    Ok(out)
}

/// The further numbers of `TCA_FQ_CODEL_...`.
pub(super) fn flow_queues(w: &mut Writer<'_>, out: &mut Options) -> Refusable<()> {
    out.number(5, "flows", w.whole("flows")?)?;
    let quantum = w.option_bytes("quantum")?.unwrap_or(u64::from(w.context.mtu_bytes));
    out.number(6, "quantum, bytes", quantum)?;
    out.number(8, "drop_batch, packets", w.whole("drop_batch")?)?;
    if let Some(bytes) = w.option_bytes("memory_limit")? {
        out.number(9, "memory_limit, bytes", bytes)?;
    }
    Ok(())
}

/// `TCA_PIE_...`.
pub(super) fn pie(w: &mut Writer<'_>) -> Refusable<()> {
    let mut out = Options::new("pie");
    let target = w.micros("target")?;
    out.kept(1, "target, us", target, in_ticks(target))?;
    out.number(2, "limit, packets", w.packets()?)?;
    let (tupdate, rounded) = w.jiffies_quietly("tupdate")?;
    out.kept(3, "tupdate, us", tupdate, rounded)?;
    for (attribute, name) in [(4, "alpha"), (5, "beta")] {
        out.number(attribute, &format!("{name}, Hz/16"), w.sixteenths(name)?)?;
    }
    out.number(6, "ecn", u64::from(w.is_true("ecn")))?;
    out.number(7, "bytemode", u64::from(w.is_true("byte_mode")))?;
    out.number(8, "dq_rate_estimator", u64::from(w.value("delay") == Some("rate")))?;
    w.out.read_back = Some(out.into_qdisc());
    Ok(())
}

/// Thresholds and burst passed to tc, in the unit of the discipline; `None` if tc chooses them.
pub(super) struct Thresholds {
    pub(super) limit: u64,
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) burst: Option<u64>,
    /// The size of an average packet in this unit.
    pub(super) packet: u64,
    /// Whether the upper threshold is three times the lower one if only the lower one is set.
    pub(super) max_follows_min: bool,
}

impl Thresholds {
    /// The thresholds, including those that tc chooses (iproute2 6.1 q_red.c and q_choke.c).
    fn chosen(&self) -> (u64, u64) {
        let of_min = self.min.filter(|_| self.max_follows_min).map(|min| min.saturating_mul(3));
        let max = self.max.or(of_min).unwrap_or(self.limit / 4);
        (self.min.unwrap_or(max / 3), max)
    }

    /// Minus the binary logarithm of the weight that tc chooses; `None` if tc finds none.
    fn weight_log(&self) -> Option<u32> {
        let (min, max) = self.chosen();
        let usual = min.saturating_mul(2).saturating_add(max) / self.packet.saturating_mul(3);
        let burst = self.burst.unwrap_or(usual);
        weight_log(burst as f64, min as f64 / self.packet as f64)
    }
}

/// `struct tc_red_qopt` in `TCA_RED_PARMS`, and `TCA_RED_MAX_P`. CHOKe has the same numbers.
pub(super) fn red(w: &mut Writer<'_>, kind: &str, given: &Thresholds) -> Refusable<()> {
    let mut out = Options::new(if kind == "ared" { "red" } else { kind });
    let (min, max) = given.chosen();
    let members = [given.limit, min, max].map(|number| (number, number));
    out.structure(Some(1), "limit, min_th, max_th", &members)?;
    if let Some(log) = given.weight_log() {
        out.part(1, WEIGHT_LOG, "exponent of the weight, from burst", u64::from(log))?;
        let packet = w.option_bytes("mean_packet_bytes")?.unwrap_or(u64::from(w.context.mtu_bytes));
        let table = IdleTable::new(log, packet, Rate::from_bps(w.bandwidth()?));
        out.part(1, CELL_LOG, "exponent of idle times, from packet and rate", table.log.into())?;
    }
    out.number(3, "max_p, 2^-32", scaled(max_p(w)?))?;
    let flags = [
        (w.is_true("ecn"), RED_ECN),
        (w.is_true("hard_drop"), RED_HARD_DROP),
        (kind == "ared", RED_ADAPTIVE),
    ];
    let set = flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
    out.part(1, FLAGS, "flags: ecn, hard_drop, adaptive", set)?;
    w.out.read_back = Some(out.into_qdisc());
    Ok(())
}

/// `max_p` as a number.
fn max_p(w: &mut Writer<'_>) -> Refusable<f64> {
    let text = w.value("max_p").unwrap_or("0.02");
    text.parse().map_err(|_| format!("`max_p` of {text}: no number"))
}

/// A probability in units of 2^-32, truncated as in tc (iproute2 6.1 q_red.c), with 1 as the
/// largest number.
fn scaled(prob: f64) -> u64 {
    u64::from((prob * 4_294_967_296.0) as u32)
}

/// `max_p` for tc. tc turns 1 into 2^32, which is 0 in 32 bits, and the kernel then computes the
/// probability from an exponent: 0.9155 with thresholds of 30 and 90 kB (fact linux-41). So we pass
/// the largest number below 1.
pub(super) fn max_p_for_tc(w: &mut Writer<'_>) -> Refusable<String> {
    Ok(if max_p(w)? >= 1.0 {
        "0.9999999999".to_owned()
    } else {
        w.value("max_p").unwrap_or("0.02").to_owned()
    })
}

impl Writer<'_> {
    /// The limit in packets: [`Writer::limit_packets`] without its warning.
    fn packets(&mut self) -> Refusable<u64> {
        let text = self.value("limit").ok_or("`limit` has no value")?;
        Ok(match units::limit(text)? {
            Limit::Packets(packets) => packets,
            Limit::Bytes(bytes) => bytes.div_ceil(u64::from(self.context.mtu_bytes)).max(1),
        })
    }

    /// An update time, and its value after the kernel's rounding: [`Writer::jiffies_micros`]
    /// without its warning.
    fn jiffies_quietly(&mut self, name: &'static str) -> Refusable<(u64, u64)> {
        let warnings = self.out.warnings.len();
        let found = self.jiffies_micros(name);
        self.out.warnings.truncate(warnings);
        found
    }
}

impl Options {
    /// Adds a byte within a structure that is read back, but never written.
    fn part(&mut self, attribute: u16, offset: u16, name: &str, value: u64) -> Refusable<()> {
        self.structure(Some(attribute), name, &[(value, value)])?;
        let option = self.last_mut();
        (option.offset, option.width) = (offset, Width::U8);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::QdiscSpec;

    use crate::plan::QdiscOption;
    use crate::tc::{TcContext, TcDiscipline, translate};

    const CONTEXT: TcContext =
        TcContext { mtu_bytes: 1514, rate_bps: 10_000_000, hz: 1000, release: Some((6, 1)) };

    fn translated(text: &str) -> TcDiscipline {
        translate(&QdiscSpec::parse(text).unwrap(), &CONTEXT).unwrap()
    }

    fn options(text: &str) -> Vec<QdiscOption> {
        translated(text).read_back.expect("tc makes it").options
    }

    fn shown(text: &str, name: &str) -> Vec<u32> {
        let found = options(text).into_iter().find(|option| option.name.starts_with(name));
        found.unwrap_or_else(|| panic!("{text}: no {name}")).shown
    }

    #[test]
    fn times_are_shown_in_the_steps_in_which_the_kernel_keeps_them() {
        assert_eq!(shown("codel@linux", "target"), [4999]);
        assert_eq!(shown("fq_codel@linux:interval=30ms", "interval"), [29_999]);
        assert_eq!(shown("fq_codel@linux:ce_threshold=1ms", "ce_threshold"), [999]);
        assert_eq!(shown("pie@linux:target=5001us", "target"), [5000]);
    }

    /// Fact linux-41.
    #[test]
    fn a_probability_of_one_is_the_largest_that_the_kernel_has() {
        for kind in ["red@linux:max_p=1", "choke:max_p=1"] {
            assert_eq!(shown(kind, "max_p"), [u32::MAX], "{kind}");
            let words = translated(kind).arguments.join(" ");
            assert!(words.contains("probability 0.9999999999"), "{words}");
        }
        assert_eq!(shown("red@linux:max_p=0.5", "max_p"), [1 << 31]);
    }

    #[test]
    fn what_red_is_asked_for_is_read_back_by_members() {
        let text = "red@linux:limit=400kB,min_th=30kB,max_th=90kB,burst=55,ecn=true";
        assert_eq!(shown(text, "limit, min_th, max_th"), [400_000, 30_000, 90_000]);
        assert_eq!(shown(text, "flags"), [1]);
        assert_eq!(shown(text, "exponent"), [5]);
        let chosen = [400_000, 33_333, 100_000];
        assert_eq!(shown("red@linux:limit=400kB", "limit"), chosen, "as tc chooses");
        assert_eq!(shown("ared@linux", "flags"), [4]);
    }
}

//! Kernel disciplines created by netlink instead of the installed tc. iproute2 6.1 does not support
//! `dualpi2` or the `ecn_prob` of `fq_pie`; it takes the probabilities of `sfb` as decimals, and
//! reads its times in units that differ from those it shows (fact linux-13). tc is a separate
//! process, so it also uses up random numbers before SFB or SFQ draw the secret of their hash.

use sojourn_aqm::{Span, units};

use super::Refusable;
use super::writer::Writer;
use crate::plan::{KernelQdisc, QdiscOption, Width};

const PERCENT: f64 = 100.0;
const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// The default limit in packets (Linux 6.1 sch_sfq.c, SFQ_MAX_DEPTH).
const USUAL_SFQ_LIMIT: u64 = 127;
/// The maximum in Linux's DualPI2 (sch_dualpi2.c, dualpi2_policy).
const MOST_COUPLING: u64 = 255;

/// Options under construction.
pub(super) struct Options(KernelQdisc);

impl Options {
    pub(super) fn new(kind: &str) -> Options {
        Options(KernelQdisc { kind: kind.to_owned(), options: Vec::new() })
    }

    /// Adds an option of four bytes that the kernel reports unchanged.
    pub(super) fn number(&mut self, attribute: u16, name: &str, value: u64) -> Refusable<()> {
        self.kept(attribute, name, value, value)
    }

    /// Adds an option of four bytes for which the kernel reports another number.
    pub(super) fn kept(
        &mut self,
        attribute: u16,
        name: &str,
        value: u64,
        shown: u64,
    ) -> Refusable<()> {
        self.structure(Some(attribute), name, &[(value, shown)])
    }

    /// Adds a structure of four-byte numbers, each with the number that the kernel reports.
    pub(super) fn structure(
        &mut self,
        attribute: Option<u16>,
        name: &str,
        members: &[(u64, u64)],
    ) -> Refusable<()> {
        let whole = |number: u64| {
            u32::try_from(number)
                .map_err(|_| format!("`{name}` of {number}: the kernel takes at most {}", u32::MAX))
        };
        let all = |numbers: Vec<u64>| numbers.into_iter().map(whole).collect::<Refusable<_>>();
        let (values, shown) = members.iter().copied().unzip();
        let (values, shown) = (all(values)?, all(shown)?);
        let (name, width) = (name.to_owned(), Width::U32);
        self.0.options.push(QdiscOption { name, attribute, offset: 0, width, values, shown });
        Ok(())
    }

    pub(super) fn last_mut(&mut self) -> &mut QdiscOption {
        self.0.options.last_mut().expect("there is one")
    }

    pub(super) fn into_qdisc(self) -> KernelQdisc {
        self.0
    }

    /// Adds an option of one byte.
    pub(super) fn byte(&mut self, attribute: u16, name: &str, value: u8) {
        self.bytes(attribute, name, &[value]);
    }

    /// Adds an option of several bytes.
    pub(super) fn bytes(&mut self, attribute: u16, name: &str, values: &[u8]) {
        let values: Vec<u32> = values.iter().map(|byte| u32::from(*byte)).collect();
        let (name, width) = (name.to_owned(), Width::U8);
        let (attribute, shown) = (Some(attribute), values.clone());
        self.0.options.push(QdiscOption { name, attribute, offset: 0, width, values, shown });
    }
}

/// `TCA_DUALPI2_...` (Linux 7.2 include/uapi/linux/pkt_sched.h). All attributes have a number here
/// except the memory limit, which is derived from the limit.
pub(super) fn dualpi2(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("dualpi2");
    w.out.drops_at_head = true;
    w.out.is_random = true;
    w.out.at_whole_second = true;
    w.built_in(&[("l_range", "0s")])
        .map_err(|error| format!("{error}; dualpi2@linux is the kernel's"))?;
    w.built_in(&[
        ("protection", "false"),
        ("protection_score", "4ms"),
        ("protection_aging", "4.194304mbit"),
    ])?;
    let mut out = Options::new("dualpi2");
    out.number(1, "limit, packets", w.limit_packets()?)?;
    for (attribute, name) in [(3, "target"), (4, "tupdate")] {
        out.number(attribute, &format!("{name}, us"), w.micros(name)?)?;
    }
    for (attribute, name) in [(5, "alpha"), (6, "beta")] {
        let gain = gain(w, name)?;
        out.kept(attribute, &format!("{name}, Hz/256"), gain, shown_gain(gain))?;
    }
    out.number(8, "step_thresh, us", w.micros("l_min_th")?)?;
    out.number(9, "min_qlen_step, packets", w.whole("l_min_len")?)?;
    let coupling = w.whole("k")?;
    if coupling > MOST_COUPLING {
        return Err(format!("`k` of {coupling}: the kernel takes at most {MOST_COUPLING}"));
    }
    out.byte(10, "coupling_factor", coupling as u8);
    out.byte(11, "drop_overload", u8::from(w.is_true("drop_overload")));
    out.byte(12, "drop_early", 0);
    out.byte(13, "classic_protection, %", percent(w, "c_weight")?);
    out.byte(14, "ecn_mask", 1);
    out.byte(15, "split_gso", u8::from(w.is_true("split_gso")));
    w.out.netlink = Some(out.0);
    Ok(())
}

/// A gain in whole 256ths of a hertz.
fn gain(w: &mut Writer<'_>, name: &'static str) -> Refusable<u64> {
    let text = w.value(name).ok_or_else(|| format!("`{name}` has no value"))?;
    let gain = units::hertz(text)? * 256.0;
    if gain.fract() != 0.0 || gain < 1.0 {
        return Err(format!("`{name}` of {text}: the kernel takes whole 256ths of a hertz"));
    }
    Ok(gain as u64)
}

/// The number that the kernel reports for a gain: it stores another integer, and truncates twice
/// (Linux 7.2 sch_dualpi2.c, dualpi2_scale_alpha_beta and dualpi2_unscale_alpha_beta).
fn shown_gain(gain: u64) -> u64 {
    const MOST_PROB: u128 = u32::MAX as u128;
    const NANOS: u128 = 1_000_000_000;
    let kept = ((u128::from(gain) * MOST_PROB) >> 2) / NANOS;
    ((kept * NANOS) << 2).div_euclid(MOST_PROB) as u64
}

fn percent(w: &mut Writer<'_>, name: &'static str) -> Refusable<u8> {
    let text = w.value(name).ok_or_else(|| format!("`{name}` has no value"))?;
    let share: f64 = text.parse().map_err(|_| format!("`{name}` of {text}: no number"))?;
    let percent = (share * PERCENT).round();
    if (percent - share * PERCENT).abs() > 1e-9 {
        return Err(format!("`{name}` of {text}: the kernel takes whole percent"));
    }
    Ok(percent as u8)
}

/// `TCA_FQ_PIE_...` (Linux 6.1 include/uapi/linux/pkt_sched.h).
pub(super) fn fq_pie(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("fq_pie");
    w.out.is_random = true;
    let mut out = Options::new("fq_pie");
    out.number(1, "limit, packets", w.limit_packets()?)?;
    out.number(2, "flows", w.whole("flows")?)?;
    let target = w.micros("target")?;
    out.kept(3, "target, us", target, in_ticks(target))?;
    let (tupdate, rounded) = w.jiffies_micros("tupdate")?;
    out.kept(4, "tupdate, us", tupdate, rounded)?;
    for (attribute, name) in [(5, "alpha"), (6, "beta")] {
        out.number(attribute, &format!("{name}, Hz/16"), w.sixteenths(name)?)?;
    }
    let quantum = w.option_bytes("quantum")?.unwrap_or(u64::from(w.context.mtu_bytes));
    out.number(7, "quantum, bytes", quantum)?;
    if let Some(bytes) = w.option_bytes("memory_limit")? {
        out.number(8, "memory_limit, bytes", bytes)?;
    }
    out.number(9, "ecn_prob, %", u64::from(percent(w, "ecn_mark_limit")?))?;
    out.number(10, "ecn", u64::from(w.is_true("ecn")))?;
    out.number(11, "bytemode", u64::from(w.is_true("byte_mode")))?;
    out.number(12, "dq_rate_estimator", u64::from(w.value("delay") == Some("rate")))?;
    w.out.netlink = Some(out.0);
    Ok(())
}

/// `struct tc_sfb_qopt` in `TCA_SFB_PARMS` (Linux 6.1 include/uapi/linux/pkt_sched.h).
pub(super) fn sfb(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("sfb");
    w.out.is_random = true;
    w.out.at_whole_second = true;
    let limit = w.limit_packets()?;
    let times = [milliseconds(w, "rehash_interval")?, milliseconds(w, "warmup")?];
    let bins = [w.whole("bin_max")?, w.whole("bin_target")?];
    let steps = [sixteen_bits(w, "increment")?, sixteen_bits(w, "decrement")?];
    let rate = w.value("penalty_rate").ok_or("`penalty_rate` has no value")?;
    let hertz = units::hertz(rate)?;
    if hertz.fract() != 0.0 || hertz < 0.0 {
        return Err(format!("`penalty_rate` of {rate}: the kernel takes whole packets per second"));
    }
    let penalty = [limit, hertz as u64, w.whole("penalty_burst")?];
    let numbers = bins.into_iter().chain(steps).chain(penalty).map(|number| (number, number));
    let members: Vec<(u64, u64)> = times.into_iter().chain(numbers).collect();
    let mut out = Options::new("sfb");
    let names = "rehash and warmup, ms; bin_max, bin_target; increment, decrement, 1/65535; limit; \
                 penalty_rate, penalty_burst";
    out.structure(Some(1), names, &members)?;
    w.out.netlink = Some(out.0);
    Ok(())
}

/// `struct tc_sfq_qopt_v1`, which is all of `TCA_OPTIONS` (Linux 6.1
/// include/uapi/linux/pkt_sched.h).
pub(super) fn sfq(w: &mut Writer<'_>) -> Refusable<()> {
    /// The 32-bit words after `headdrop`: parameters and counters of RED in every queue, unused.
    const RED_WORDS: usize = 11;
    w.argument("sfq");
    w.out.at_whole_second = true;
    let quantum = w.option_bytes("quantum")?.unwrap_or(u64::from(w.context.mtu_bytes));
    let perturb = w.span("perturb")?.unwrap_or(Span::ZERO);
    if perturb.as_nanos() % NANOS_PER_SECOND != 0 {
        return Err(format!("`perturb` of {perturb}: the kernel takes whole seconds"));
    }
    let shown_limit = w.limit_packets()?;
    // An explicit limit also bounds the number of queues (sch_sfq.c, sfq_change).
    let is_usual = shown_limit == USUAL_SFQ_LIMIT;
    let (limit, flows) = (if is_usual { 0 } else { shown_limit }, w.whole("flows")?);
    let shown_flows = if is_usual { flows } else { flows.min(shown_limit) };
    let both = |number: u64| (number, number);
    let mut members = vec![
        both(quantum),
        both(perturb.as_nanos() / NANOS_PER_SECOND),
        (limit, shown_limit),
        both(w.whole("divisor")?),
        (flows, shown_flows),
        both(w.whole("depth")?),
        both(u64::from(w.is_true("headdrop"))),
    ];
    members.extend([(0, 0); RED_WORDS]);
    let mut out = Options::new("sfq");
    let names = "quantum, bytes; perturb, s; limit, packets; divisor; flows; depth, packets; \
                 headdrop; no RED";
    out.structure(None, names, &members)?;
    w.out.netlink = Some(out.0);
    Ok(())
}

/// A time in whole milliseconds, and the number reported by the kernel, which stores jiffies.
fn milliseconds(w: &mut Writer<'_>, name: &'static str) -> Refusable<(u64, u64)> {
    let span = w.span(name)?.ok_or_else(|| format!("`{name}` has no value"))?;
    if span.as_nanos() % 1_000_000 != 0 {
        return Err(format!("`{name}` of {span}: the kernel takes whole milliseconds"));
    }
    let (millis, hz) = (span.as_nanos() / 1_000_000, u64::from(w.context.hz));
    Ok((millis, (millis * hz).div_ceil(1000) * 1000 / hz))
}

/// A probability in 65535ths.
fn sixteen_bits(w: &mut Writer<'_>, name: &'static str) -> Refusable<u64> {
    let text = w.value(name).ok_or_else(|| format!("`{name}` has no value"))?;
    let prob: f64 = text.parse().map_err(|_| format!("`{name}` of {text}: no number"))?;
    Ok((prob * 65_535.0).round() as u64)
}

/// The number that the kernel reports for a time stored in units of 64 ns (Linux 6.1 pkt_sched.h,
/// `PSCHED_SHIFT`).
pub(super) fn in_ticks(micros: u64) -> u64 {
    (micros.saturating_mul(1000) >> 6 << 6) / 1000
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::QdiscSpec;

    use crate::plan::{KernelQdisc, QdiscOption, Width};
    use crate::tc::{TcContext, translate};

    const CONTEXT: TcContext =
        TcContext { mtu_bytes: 1500, rate_bps: 10_000_000, hz: 1000, release: None };

    fn translated(text: &str) -> Result<KernelQdisc, String> {
        let discipline = translate(&QdiscSpec::parse(text).unwrap(), &CONTEXT)?;
        Ok(discipline.netlink.expect("made by netlink"))
    }

    /// Attribute, value and reported number.
    fn numbers(qdisc: &KernelQdisc) -> Vec<(u16, u32, u32)> {
        let number = |it: &QdiscOption| (it.attribute.unwrap(), it.values[0], it.shown[0]);
        qdisc.options.iter().map(number).collect()
    }

    /// Linux 7.2 sch_dualpi2.c, dualpi2_reset_default.
    #[test]
    fn dualpi2_goes_by_netlink_with_the_defaults_of_linux() {
        let qdisc = translated("dualpi2@linux").unwrap();
        assert_eq!(
            numbers(&qdisc),
            [
                (1, 10_000, 10_000),
                (3, 15_000, 15_000),
                (4, 16_000, 16_000),
                (5, 41, 40),
                (6, 819, 818),
                (8, 1000, 1000),
                (9, 0, 0),
                (10, 2, 2),
                (11, 1, 1),
                (12, 0, 0),
                (13, 10, 10),
                (14, 1, 1),
                (15, 1, 1),
            ]
        );
        let bytes = qdisc.options.iter().filter(|option| option.width == Width::U8);
        assert_eq!(bytes.count(), 6);
    }

    #[test]
    fn what_the_kernels_dualpi2_cannot_do_is_refused() {
        for (text, why) in [
            ("dualpi2", "dualpi2@linux is the kernel's"),
            ("dualpi2@linux:alpha=0.16hz", "256ths"),
            ("dualpi2@linux:c_weight=0.125", "whole percent"),
            ("dualpi2@linux:k=300", "at most 255"),
            ("dualpi2@linux:protection=true", "false built in"),
            ("dualpi2@linux:l_min_len=5000000000", "at most 4294967295"),
        ] {
            let refused = translated(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

    /// Fact linux-13.
    #[test]
    fn sfb_reaches_the_kernel_in_its_units() {
        let qdisc = translated("sfb").unwrap();
        let numbers = [600_000, 60_000, 25, 20, 66, 11, 1000, 10, 20];
        assert_eq!(qdisc.options[0].values, numbers);
        assert_eq!(qdisc.options[0].shown, numbers);
        let slow = translated("sfb:warmup=1.5ms").unwrap_err();
        assert!(slow.contains("whole milliseconds"), "{slow}");
        let context = TcContext { hz: 250, ..CONTEXT };
        let rounded = translate(&QdiscSpec::parse("sfb:warmup=3ms").unwrap(), &context).unwrap();
        assert_eq!(rounded.netlink.unwrap().options[0].shown[1], 4);
    }

    #[test]
    fn a_limit_of_sfq_that_is_given_bounds_its_queues() {
        let usual = translated("sfq").unwrap();
        let zeros = [0; 11];
        assert_eq!(usual.options[0].attribute, None);
        assert_eq!(usual.options[0].values[..7], [1500, 0, 0, 1024, 128, 127, 0]);
        assert_eq!(usual.options[0].shown[..7], [1500, 0, 127, 1024, 128, 127, 0]);
        assert_eq!(usual.options[0].values[7..], zeros);
        let few = translated("sfq:limit=20p,perturb=10s,headdrop=true").unwrap();
        assert_eq!(few.options[0].values[..7], [1500, 10, 20, 1024, 128, 127, 1]);
        assert_eq!(few.options[0].shown[..7], [1500, 10, 20, 1024, 20, 127, 1]);
        let refused = translated("sfq:perturb=1500ms").unwrap_err();
        assert!(refused.contains("whole seconds"), "{refused}");
    }

    #[test]
    fn fq_pie_goes_by_netlink_with_its_limit_of_marks() {
        let qdisc = translated("fq_pie@linux:hz=1000,ecn=true,target=5001us").unwrap();
        let numbers = numbers(&qdisc);
        assert!(numbers.contains(&(3, 5001, 5000)), "{numbers:?}");
        assert!(numbers.contains(&(9, 10, 10)) && numbers.contains(&(10, 1, 1)), "{numbers:?}");
    }
}

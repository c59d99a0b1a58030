//! fq by netlink: iproute2 6.1 does not know its bands.

use sojourn_aqm::units;

use super::Refusable;
use super::netlink_options::Options;
use super::writer::Writer;

/// Bands (Linux 6.12 include/uapi/linux/pkt_sched.h, `FQ_BANDS`), and the first series with them.
const BANDS: u32 = 3;
const HAS_BANDS: (u32, u32) = (6, 12);
/// The kernel's numbers for no rate and no threshold.
const NONE: u64 = u32::MAX as u64;
/// The kernel's weights and map (Linux 6.12 sch_fq.c, fq_init).
const USUAL: [(&str, &str); 4] = [
    ("priomap", "1222120011111111"),
    ("weight0", "589824B"),
    ("weight1", "196608B"),
    ("weight2", "65536B"),
];

/// `TCA_FQ_...` (Linux 6.1 and 7.2 include/uapi/linux/pkt_sched.h).
pub(super) fn fq(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("fq");
    let mut out = Options::new("fq");
    out.number(1, "limit, packets", w.limit_packets()?)?;
    out.number(2, "flow_limit, packets", w.whole("flow_limit")?)?;
    let mtu = u64::from(w.context.mtu_bytes);
    for (attribute, name, mtus) in [(3, "quantum", 2), (4, "initial_quantum", 10)] {
        let bytes = w.option_bytes(name)?.unwrap_or(mtus * mtu);
        out.number(attribute, &format!("{name}, bytes"), bytes)?;
    }
    out.number(5, "pacing", u64::from(w.is_true("pacing")))?;
    for (attribute, name) in [(7, "maxrate"), (11, "low_rate_threshold")] {
        let rate = w.value(name).map(units::rate).transpose()?;
        let bytes = rate.map_or(NONE, |rate| rate.as_bps() / 8);
        out.number(attribute, &format!("{name}, bytes/s"), bytes)?;
    }
    out.number(8, "buckets, log2", u64::from(w.whole("buckets")?.ilog2()))?;
    let (refill, rounded) = w.jiffies_micros("refill_delay")?;
    out.kept(9, "refill_delay, us", refill, rounded)?;
    out.number(10, "orphan_mask", w.whole("orphan_mask")?)?;
    let threshold = w.span("ce_threshold")?.map(|_| w.micros("ce_threshold")).transpose()?;
    out.number(12, "ce_threshold, us", threshold.unwrap_or(NONE))?;
    let slack = w.span("timer_slack")?.ok_or("`timer_slack` has no value")?;
    out.number(13, "timer_slack, ns", slack.as_nanos())?;
    out.number(14, "horizon, us", w.micros("horizon")?)?;
    out.byte(15, "horizon_drop", u8::from(w.is_true("horizon_drop")));
    bands(w, &mut out)?;
    w.out.netlink = Some(out.into_qdisc());
    w.hz()
}

/// An unknown kernel may lack bands, so they are set only where they differ from its defaults.
fn bands(w: &mut Writer<'_>, out: &mut Options) -> Refusable<()> {
    let has_bands = w.context.release.is_none_or(|release| release >= HAS_BANDS);
    let [map, weights @ ..] = USUAL.map(|(name, usual)| (w.value(name), usual));
    let differs = |found: &(Option<&str>, &str)| found.0 != Some(found.1);
    let differ = differs(&map) || weights.iter().any(differs);
    if !(differ || has_bands && w.context.release.is_some()) {
        return Ok(());
    }
    if !has_bands {
        return Err("`priomap`, `weight0`, `weight1` and `weight2`: this kernel has no bands, \
                    which came with Linux 6.12; leave them out"
            .to_owned());
    }
    let digits = format!("{:016}", units::whole(map.0.ok_or("`priomap` has no value")?)?);
    let bytes = digits.bytes().map(|digit| digit - b'0');
    let structure: Vec<u8> = BANDS.to_ne_bytes().into_iter().chain(bytes).collect();
    out.bytes(16, "bands and priomap", &structure);
    let weight = |(value, _): (Option<&str>, &str)| -> Refusable<(u64, u64)> {
        let bytes = units::bytes(value.ok_or("a weight has no value")?)?;
        Ok((bytes, bytes))
    };
    let all = weights.into_iter().map(weight).collect::<Refusable<Vec<_>>>()?;
    out.structure(Some(17), "weights, bytes", &all)
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::QdiscSpec;

    use crate::plan::KernelQdisc;
    use crate::tc::{TcContext, translate};

    fn translated(text: &str, release: Option<(u32, u32)>) -> Result<KernelQdisc, String> {
        let context = TcContext { mtu_bytes: 1514, rate_bps: 10_000_000, hz: 1000, release };
        let discipline = translate(&QdiscSpec::parse(text).unwrap(), &context)?;
        Ok(discipline.netlink.expect("made by netlink"))
    }

    /// Attribute and its numbers.
    fn numbers(qdisc: &KernelQdisc) -> Vec<(u16, &[u32])> {
        qdisc.options.iter().map(|it| (it.attribute.unwrap(), &it.values[..])).collect()
    }

    /// Linux 6.1 sch_fq.c, fq_init.
    #[test]
    fn fq_goes_by_netlink_with_the_defaults_of_linux() {
        const NONE: u32 = u32::MAX;
        let qdisc = translated("fq", Some((6, 1))).unwrap();
        let first: Vec<(u16, u32)> = numbers(&qdisc).iter().map(|it| (it.0, it.1[0])).collect();
        let expected = [
            (1, 10_000),
            (2, 100),
            (3, 3028),
            (4, 15_140),
            (5, 1),
            (7, NONE),
            (11, 68_750),
            (8, 10),
            (9, 40_000),
            (10, 1023),
            (12, NONE),
            (13, 10_000),
            (14, 10_000_000),
            (15, 1),
        ];
        assert_eq!(first, expected);
    }

    #[test]
    fn bands_reach_a_kernel_that_has_them() {
        let newer = translated("fq:weight1=20kB", Some((7, 2))).unwrap();
        let map = [3, 0, 0, 0, 1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(numbers(&newer)[14..], [(16, &map[..]), (17, &[589_824, 20_000, 65_536][..])]);
        let older = translated("fq:weight1=20kB", Some((6, 1))).unwrap_err();
        assert!(older.contains("came with Linux 6.12"), "{older}");
    }
}

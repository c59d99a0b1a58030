//! CAKE, created by netlink: tc derives the target from its `rtt` and has no option for it.

use sojourn_aqm::params::Params;
use sojourn_aqm::qdiscs::cake::CakeParams;
use sojourn_aqm::{Limit, Span, units};

use super::Refusable;
use super::netlink_options::Options;
use super::writer::Writer;

/// Bytes of the Ethernet header. The kernel does not count them if an overhead is set (Linux 6.1
/// sch_cake.c, `cake_overhead`); we count them as framing of the link.
const ETHERNET_BYTES: i64 = 14;

/// `TCA_CAKE_...` (Linux 6.1 include/uapi/linux/pkt_sched.h).
pub(super) fn cake(w: &mut Writer<'_>) -> Refusable<()> {
    w.argument("cake");
    w.out.drops_at_head = true;
    w.built_in(&[("flows", "1024")])?;
    let mut out = Options::new("cake");
    let bytes_per_second = bandwidth(w)?;
    // Adds a 64-bit number, lower half first; guests are little-endian.
    let halves = [bytes_per_second & 0xffff_ffff, bytes_per_second >> 32];
    out.structure(Some(2), "bandwidth, bytes/s", &halves.map(|half| (half, half)))?;
    let diffserv = diffserv(w)?;
    out.number(3, "diffserv", diffserv)?;
    let (cells, isolation) = (cells(w)?, isolation(w)?);
    out.number(4, "cells", cells)?;
    out.number(5, "isolation", isolation)?;
    let overhead = w.value("overhead").map(units::signed_bytes).transpose()?.unwrap_or(0);
    if overhead != 0 {
        // The kernel reads a signed 32-bit number.
        let bits = (overhead + ETHERNET_BYTES) as i32 as u32;
        out.number(6, "overhead, bytes", u64::from(bits))?;
    }
    let autorate = w.value("autorate_ingress") == Some("true");
    if autorate {
        out.number(9, "autorate", 1)?;
    }
    let (target, interval) = target_and_interval(w)?;
    out.number(7, "interval, us", interval)?;
    out.number(8, "target, us", target)?;
    if let Some(bytes) = memory_limit(w)? {
        out.number(10, "limit, bytes", bytes)?;
    }
    let wash = w.value("wash") == Some("true");
    out.number(13, "wash", u64::from(wash))?;
    out.number(14, "mpu, bytes", w.option_bytes("mpu")?.unwrap_or(0))?;
    let ingress = w.value("ingress") == Some("true");
    out.number(15, "ingress", u64::from(ingress))?;
    out.number(16, "ACK filter", ack_filter(w)?)?;
    if w.value("split_gso") == Some("false") {
        out.number(17, "split GSO", 0)?;
    }
    w.out.netlink = Some(out.into_qdisc());
    Ok(())
}

/// The limit, unless it is the one that the kernel derives by itself (fact qdisc-18).
fn memory_limit(w: &mut Writer<'_>) -> Refusable<Option<u64>> {
    let derived = CakeParams::of_dialect("besteffort").map(|params| params.limit);
    match units::limit(w.value("limit").ok_or("`limit` has no value")?)? {
        Limit::Bytes(n) if derived == Some(Limit::Bytes(n)) => Ok(None),
        Limit::Bytes(n) => Ok(Some(n)),
        Limit::Packets(n) => Err(format!(
            "`limit` of {n} packets: the kernel's cake limits the memory of its buffers, in bytes"
        )),
    }
}

/// The rate of the shaper in bytes per second; 0 without one.
fn bandwidth(w: &mut Writer<'_>) -> Refusable<u64> {
    let Some(text) = w.value("bandwidth") else { return Ok(0) };
    match units::rate(text)?.as_bps() {
        bps if bps % 8 == 0 => Ok(bps / 8),
        _ => Err(format!("`bandwidth` of {text}: the kernel takes whole bytes per second")),
    }
}

/// `CAKE_ATM_...`.
fn cells(w: &mut Writer<'_>) -> Refusable<u64> {
    match w.value("cells") {
        Some("none") | None => Ok(0),
        Some("atm") => Ok(1),
        Some("ptm") => Ok(2),
        Some(other) => Err(format!("`cells` of {other}: the kernel's modes are none, atm and ptm")),
    }
}

/// `CAKE_DIFFSERV_...`.
fn diffserv(w: &mut Writer<'_>) -> Refusable<u64> {
    match w.value("diffserv") {
        Some("diffserv3") => Ok(0),
        Some("diffserv4") => Ok(1),
        Some("diffserv8") => Ok(2),
        Some("besteffort") | None => Ok(3),
        Some("precedence") => Ok(4),
        Some(other) => Err(format!("`diffserv` {other}: the kernel has no such mode")),
    }
}

/// `CAKE_ACK_...`.
fn ack_filter(w: &mut Writer<'_>) -> Refusable<u64> {
    match w.value("ack_filter") {
        Some("off") | None => Ok(0),
        Some("on") => Ok(1),
        Some("aggressive") => Ok(2),
        Some(other) => Err(format!("`ack_filter` of {other}: the kernel has no such filter")),
    }
}

/// Target and interval in microseconds. If `rtt` is given, they follow from it.
fn target_and_interval(w: &mut Writer<'_>) -> Refusable<(u64, u64)> {
    let given = (w.micros("target")?, w.micros("interval")?);
    match w.value("rtt") {
        None | Some("off") => Ok(given),
        Some(_) => {
            let rtt = w.micros("rtt")?;
            let (target, _) = CakeParams::of_rtt(Span::from_micros(rtt));
            Ok((target.as_nanos() / 1000, rtt))
        }
    }
}

/// `CAKE_FLOW_...`. Our modes share between hosts first and then between their flows: tc calls
/// these `dual-srchost`, `dual-dsthost` and `triple-isolate`.
fn isolation(w: &mut Writer<'_>) -> Refusable<u64> {
    match w.value("isolation") {
        Some("flowblind") => Ok(0),
        Some("srchost") => Ok(1),
        Some("dsthost") => Ok(2),
        Some("hosts") => Ok(3),
        Some("flows") => Ok(4),
        Some("src") => Ok(5),
        Some("dst") => Ok(6),
        Some("triple") | None => Ok(7),
        Some(other) => Err(format!("`isolation` {other}: the kernel has no such mode")),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_aqm::QdiscSpec;

    use crate::tc::{TcContext, translate};

    const CONTEXT: TcContext =
        TcContext { mtu_bytes: 1514, rate_bps: 10_000_000, hz: 1000, release: Some((6, 1)) };

    /// The numbers in an attribute.
    fn numbers(text: &str, attribute: u16) -> Option<Vec<u32>> {
        let discipline = translate(&QdiscSpec::parse(text).unwrap(), &CONTEXT).unwrap();
        assert_eq!(discipline.warnings, Vec::<String>::new());
        let options = discipline.netlink.expect("made by netlink").options;
        options.into_iter().find(|it| it.attribute == Some(attribute)).map(|it| it.shown)
    }

    #[test]
    fn target_and_interval_reach_the_kernel_independently_of_each_other() {
        for (text, interval, target) in [
            ("cake", 100_000, 5_000),
            ("cake:interval=30ms", 30_000, 5_000),
            ("cake:target=20ms", 100_000, 20_000),
            ("cake:rtt=30ms", 30_000, 1_500),
        ] {
            let found = [7, 8].map(|attribute| numbers(text, attribute).unwrap()[0]);
            assert_eq!(found, [interval, target], "{text}");
        }
    }

    /// Linux 6.1 sch_cake.c, cake_reconfigure: `buffer_config_limit` replaces the value derived
    /// from the bandwidth.
    #[test]
    fn the_default_limit_is_the_kernels_own_and_packets_are_refused() {
        assert_eq!(numbers("cake", 10), None);
        assert_eq!(numbers("cake:bandwidth=10mbit", 10), None);
        assert_eq!(numbers("cake:limit=1MB", 10), Some(vec![1_000_000]));
        let packets = QdiscSpec::parse("cake:limit=20p").unwrap();
        let refusal = translate(&packets, &CONTEXT).unwrap_err();
        assert!(refusal.starts_with("`limit` of 20 packets"), "{refusal}");
    }

    #[test]
    fn an_overhead_is_one_behind_the_ethernet_header_that_the_kernel_leaves_out() {
        assert_eq!(numbers("cake", 6), None, "raw: what the packet has");
        assert_eq!(numbers("cake:overhead=18B", 6), Some(vec![32]));
        assert_eq!(numbers("cake:overhead=-4B", 6), Some(vec![10]));
        assert_eq!(numbers("cake:overhead=-14B", 6), Some(vec![0]));
        assert_eq!(numbers("cake:overhead=-24B", 6), Some(vec![u32::MAX - 9]));
        assert_eq!(numbers("cake:mpu=64B", 14), Some(vec![64]));
        assert_eq!(numbers("cake:cells=ptm", 4), Some(vec![2]));
    }

    #[test]
    fn hosts_are_isolated_as_in_the_simulator_and_the_rate_has_64_bits() {
        let modes = [
            ("flowblind", 0),
            ("srchost", 1),
            ("dsthost", 2),
            ("hosts", 3),
            ("flows", 4),
            ("src", 5),
            ("dst", 6),
            ("triple", 7),
        ];
        for (mode, number) in modes {
            assert_eq!(numbers(&format!("cake:isolation={mode}"), 5), Some(vec![number]));
        }
        let modes = [
            ("diffserv3", 0),
            ("diffserv4", 1),
            ("diffserv8", 2),
            ("besteffort", 3),
            ("precedence", 4),
        ];
        for (mode, number) in modes {
            assert_eq!(numbers(&format!("cake:diffserv={mode}"), 3), Some(vec![number]));
        }
        assert_eq!(
            [numbers("cake", 13), numbers("cake:wash=true", 13)],
            [0, 1].map(|n| Some(vec![n]))
        );
        assert_eq!([9, 17].map(|attribute| numbers("cake", attribute)), [None, None]);
        assert_eq!(numbers("cake:split_gso=false", 17), Some(vec![0]));
        assert_eq!(numbers("cake:autorate_ingress=true", 9), Some(vec![1]));
        let filters = ["off", "on", "aggressive"];
        let filters = filters.map(|filter| numbers(&format!("cake:ack_filter={filter}"), 16));
        assert_eq!(filters, [0, 1, 2].map(|n| Some(vec![n])));
        assert_eq!(numbers("cake:bandwidth=40gbit", 2), Some(vec![705_032_704, 1]));
        assert_eq!(numbers("cake", 2), Some(vec![0, 0]), "unlimited");
    }
}

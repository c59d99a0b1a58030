//! The rate of an imported link: plain, or a token bucket in front of a faster line.

use super::scheduler_toml::packing;
use super::shaped::{ETHERNET_BYTES, ShapedLine, USUAL_BPS};
use super::units::show_rate;

/// iproute2 6.1 tc/q_htb.c: the mtu, as time has nanoseconds.
const USUAL_BURST: u64 = 1600;
/// The largest packet of an Ethernet, without its header.
const MTU_BYTES: i64 = 1500;

/// The rate of the line behind htb's classes, which do the shaping.
pub(super) fn behind(
    line: &ShapedLine,
    bps: u64,
    given: Option<u64>,
    unknown: &mut Vec<String>,
) -> String {
    let behind = given.filter(|it| *it > bps).unwrap_or_else(|| {
        let assumed = bps.max(USUAL_BPS);
        unknown.push(format!(
            "the rate of {} itself, at which a burst leaves: {} is assumed; --rate sets it",
            if line.device.is_empty() { "the device" } else { &line.device },
            show_rate(assumed)
        ));
        assumed
    });
    format!("\"{}\"", show_rate(behind))
}

/// The rate of a link: a token bucket if its shaper has a burst of several frames. With a burst of
/// one frame it sends at the rate.
pub(super) fn rate(
    line: &ShapedLine,
    bps: u64,
    given: Option<u64>,
    unknown: &mut Vec<String>,
) -> String {
    let shaper = line.shapers.iter().find(|it| it.bps == bps);
    const FRAME: u64 = (MTU_BYTES + ETHERNET_BYTES) as u64;
    // What a shaper adds to a size that the size table has already changed, is the bucket's (Linux
    // 6.1 sch_api.c, __qdisc_calculate_pkt_len; sch_generic.h, psched_l2t_ns).
    let adds_twice = line.overhead.is_some() && line.shaper_overhead.is_some();
    let usual = (adds_twice && shaper.is_some_and(|it| it.kind == "htb")).then_some(USUAL_BURST);
    let Some((shaper, burst)) = shaper.and_then(|it| Some((it, it.burst.or(usual)?))) else {
        return format!("\"{}\"", show_rate(bps));
    };
    let is_bucket = adds_twice && (shaper.kind != "tbf" || burst >= FRAME);
    if burst < 2 * FRAME && !is_bucket {
        if adds_twice {
            unknown.push(format!(
                "the overhead of {} itself, on top of `stab`: none is counted here",
                shaper.kind
            ));
        }
        let lost = if shaper.kind == "tbf" && burst < FRAME {
            format!(", which makes the kernel drop frames of {FRAME} B")
        } else {
            String::new()
        };
        unknown.push(format!(
            "the burst of {burst} B{lost}: packets leave one by one at the rate here"
        ));
        return format!("\"{}\"", show_rate(bps));
    }
    let behind = behind(line, bps, given, unknown);
    let overhead = line.shaper_overhead.iter().flat_map(|it| {
        [format!("overhead = \"{}B\"", it.bytes)].into_iter().chain(packing(it.packing()))
    });
    let overhead: String = overhead.map(|it| format!(", {it}")).collect();
    // A class of htb sends while it is not in debt, tbf once it has enough tokens.
    format!(
        "{{ kind = \"bucket\", rate = \"{}\", burst = \"{burst}B\", line = {behind}, overdraft = \
         {}{overhead} }}",
        show_rate(bps),
        shaper.kind != "tbf"
    )
}

//! The words of cake for a queue and the framing of its link.

use sojourn_aqm::qdiscs::cake::CakeParams;
use sojourn_aqm::{Limit, units};

use super::shaped::ETHERNET_BYTES;
use super::units::{show_time, tc_rate};

/// The words of cake, whose target follows from `rtt`.
pub(super) fn words(
    settings: &[(&'static str, String)],
    framing_bytes: u64,
) -> Result<Vec<String>, String> {
    let of = |name: &str| {
        settings.iter().find(|it| it.0 == name).map(|it| it.1.as_str()).unwrap_or("off")
    };
    let mut words: Vec<String> = vec!["cake".to_owned()];
    match of("bandwidth") {
        "off" => words.push("unlimited".to_owned()),
        text => words.extend(["bandwidth".to_owned(), tc_rate(units::rate(text)?.as_bps())?]),
    }
    words.push(of("diffserv").to_owned());
    let choices = [
        ("autorate_ingress", "true", "autorate-ingress"),
        ("wash", "true", "wash"),
        ("ingress", "true", "ingress"),
        ("ack_filter", "on", "ack-filter"),
        ("ack_filter", "aggressive", "ack-filter-aggressive"),
        ("split_gso", "false", "no-split-gso"),
    ];
    words.extend(choices.iter().filter(|it| of(it.0) == it.1).map(|it| it.2.to_owned()));
    words.push(
        match of("isolation") {
            "src" => "dual-srchost",
            "dst" => "dual-dsthost",
            "triple" => "triple-isolate",
            other => other,
        }
        .to_owned(),
    );
    let given = [units::span(of("target"))?, units::span(of("interval"))?];
    let [target, interval] = match of("rtt") {
        "off" => given,
        rtt => CakeParams::of_rtt(units::span(rtt)?).into(),
    };
    let micros = interval.as_nanos() / 1000;
    if (micros / 20).max(1) * 1000 != target.as_nanos() || micros * 1000 != interval.as_nanos() {
        return Err(format!(
            "`target` of {} with an interval of {}: tc has `rtt` alone, and makes the target a \
             twentieth of it",
            of("target"),
            of("interval")
        ));
    }
    words.extend(["rtt".to_owned(), show_time(interval.as_nanos())]);
    let own = units::signed_bytes(of("overhead"))?;
    let is_raw = own == 0 && framing_bytes == ETHERNET_BYTES as u64;
    let bytes = i64::try_from(framing_bytes).unwrap_or(i64::MAX).saturating_add(own);
    match bytes {
        _ if is_raw => words.push("raw".to_owned()),
        -64..=256 => words.extend(["overhead".to_owned(), bytes.to_string()]),
        _ => return Err(format!("`overhead` and framing of {bytes} B: tc takes -64 to 256")),
    }
    words.push(if of("cells") == "none" { "noatm" } else { of("cells") }.to_owned());
    let mpu = units::bytes(of("mpu"))?;
    if mpu > 0 {
        words.extend(["mpu".to_owned(), mpu.to_string()]);
    }
    if of("limit") != "15503360B" {
        match units::limit(of("limit"))? {
            Limit::Bytes(bytes) => words.extend(["memlimit".to_owned(), bytes.to_string()]),
            Limit::Packets(_) => return Err("`limit` of packets: cake counts bytes".to_owned()),
        }
    }
    match of("flows") {
        "1024" => Ok(words),
        other => Err(format!("`flows` of {other}: the kernel has 1024 built in")),
    }
}

//! Links of ours as a section of OpenWrt's SQM.

use super::export::{TcLink, TcWords, link_layer, words_with};
use super::shaped::ETHERNET_BYTES;
use crate::FormatError;

/// A section of `/etc/config/sqm` for one device (sqm-scripts 1.6).
///
/// # Errors
/// As [`super::words_of`]; also fails if SQM cannot express a link.
pub fn uci_of(links: &[TcLink], kernel: Option<(u32, u32)>) -> Result<TcWords, FormatError> {
    let Some(first) = links.first() else {
        return Err(FormatError::whole("no link to export"));
    };
    check_alike(links, first)?;
    if links.iter().any(|link| link.policer.is_some()) {
        return Err(FormatError::whole("SQM has no policer; export commands of tc"));
    }
    let refuse = |message: String| FormatError { place: first.aqm.clone(), message };
    // The scripts set limits, targets and ECN; later options override them.
    let all: Vec<TcWords> =
        links.iter().map(|link| words_with(link, kernel, true)).collect::<Result<_, _>>()?;
    let kind = all[0].words[0].clone();
    if all.iter().any(|it| it.words[0] != kind) {
        return Err(refuse(
            "SQM has one discipline for both directions; give both the same".into(),
        ));
    }
    let kbit = |bps: u64| match bps % 1000 {
        0 => Ok(bps / 1000),
        _ => Err(refuse(format!("a rate of {bps} bit/s: SQM takes whole kbit/s"))),
    };
    let rate = |is_arrivals: bool| {
        let link = links.iter().find(|it| it.is_arrivals == is_arrivals);
        link.map_or(Ok(0), |it| kbit(it.bps))
    };
    let script = if kind == "cake" { "piece_of_cake.qos" } else { "simplest.qos" };
    let mut lines = vec![
        format!("config queue '{}'", first.device),
        "\toption enabled '1'".to_owned(),
        format!("\toption interface '{}'", first.device),
        format!("\toption download '{}'", rate(true)?),
        format!("\toption upload '{}'", rate(false)?),
        format!("\toption qdisc '{kind}'"),
        format!("\toption script '{script}'"),
    ];
    // The overhead of stab counts from the frame, cake's from the IP packet.
    let more = i128::from(first.framing_bytes) - i128::from(ETHERNET_BYTES);
    let layer = link_layer(first)?;
    if kind != "cake" && (more != 0 || !first.packing.is_none()) {
        lines.push(format!("\toption linklayer '{layer}'"));
        lines.push(format!("\toption overhead '{more}'"));
        if first.packing.mpu > 0 {
            lines.push(format!("\toption tcMPU '{}'", first.packing.mpu));
        }
    } else {
        lines.push("\toption linklayer 'none'".to_owned());
    }
    for (link, words) in links.iter().zip(&all) {
        let name = if link.is_arrivals { "iqdisc_opts" } else { "eqdisc_opts" };
        let skip = if kind == "cake" { "bandwidth" } else { "" };
        let mut rest = words.words[1..].iter();
        let mut kept = Vec::new();
        while let Some(word) = rest.next() {
            match word == skip || word == "unlimited" {
                true if word == skip => drop(rest.next()),
                true => {}
                false => kept.push(word.as_str()),
            }
        }
        if kind == "cake" {
            kept.push("nonat");
        }
        lines.push(format!("\toption {name} '{}'", kept.join(" ")));
    }
    let warnings = all.into_iter().flat_map(|it| it.warnings).collect();
    Ok(TcWords { words: lines, warnings })
}

/// Refuses features that SQM lacks: user-defined classes, and two overheads.
fn check_alike(links: &[TcLink], first: &TcLink) -> Result<(), FormatError> {
    if links.iter().any(|it| it.scheduler.is_some()) {
        return Err(FormatError::whole(
            "SQM sets up its own classes: leave out --uci, or the scheduler",
        ));
    }
    let framing = |link: &TcLink| (link.framing_bytes, link.packing);
    if links.iter().any(|it| framing(it) != framing(first)) {
        let message = "SQM has one overhead for both directions".to_owned();
        return Err(FormatError { place: first.aqm.clone(), message });
    }
    Ok(())
}

//! A link of ours as commands of tc.

use super::export::{TcBucket, TcLink, TcWords, link_layer, words_of};
use super::export_scheduler::Exported;
use super::shaped::ETHERNET_BYTES;
use super::units::{show_rate, tc_rate};
use crate::FormatError;

/// The commands that configure a link, regardless of its earlier configuration. htb and ingress
/// cannot be changed, and cake and tbf keep options that a change omits, so all are created again.
///
/// # Errors
/// As [`words_of`].
pub fn commands_of(link: &TcLink, kernel: Option<(u32, u32)>) -> Result<TcWords, FormatError> {
    let TcWords { words, mut warnings } = words_of(link, kernel)?;
    let discipline = words.join(" ");
    let mut commands = Vec::new();
    let mut device = link.device.clone();
    if link.is_arrivals {
        let outer = std::mem::replace(&mut device, format!("ifb4{}", link.device));
        commands.extend([
            format!("ip link show {device} > /dev/null 2>&1 || ip link add {device} type ifb"),
            format!("ip link set {device} up"),
            format!("tc qdisc replace dev {outer} handle ffff: ingress"),
            format!("tc qdisc del dev {outer} ingress"),
            format!("tc qdisc add dev {outer} handle ffff: ingress"),
            format!(
                "tc filter add dev {outer} parent ffff: protocol all matchall {}action mirred \
                 egress redirect dev {device}",
                police(link)?
            ),
        ]);
    } else if link.policer.is_some() {
        commands.extend([
            format!("tc qdisc replace dev {device} clsact"),
            format!("tc qdisc del dev {device} clsact"),
            format!("tc qdisc add dev {device} clsact"),
            format!("tc filter add dev {device} egress protocol all matchall {}", police(link)?),
        ]);
    }
    commands.push(format!("tc qdisc replace dev {device} root pfifo"));
    let shapes = words[0] == "cake" && words.iter().any(|it| it == "bandwidth");
    if shapes && link.scheduler.is_none() {
        link_layer(link)?;
        commands.push(format!("tc qdisc replace dev {device} root {discipline}"));
        return Ok(TcWords { words: commands, warnings });
    }
    warnings.extend(without_framing(link));
    if let Some(json) = &link.scheduler {
        let all = with_scheduler(link, kernel, &device, json)?;
        commands.extend(all.words);
        warnings.extend(all.warnings);
        return Ok(TcWords { words: commands, warnings });
    }
    let (shaper, parent) = shaper(link, &device)?;
    commands.extend(shaper);
    commands.push(format!("tc qdisc replace dev {device} {parent} handle 110: {discipline}"));
    Ok(TcWords { words: commands, warnings })
}

/// The action of a link's policer. The kernel counts the Ethernet header on egress only (Linux 6.1
/// net/core/dev.c, sch_handle_ingress, qdisc_pkt_len_init).
fn police(link: &TcLink) -> Result<String, FormatError> {
    let Some((bps, burst)) = link.policer else { return Ok(String::new()) };
    let counted = if link.is_arrivals { 0 } else { ETHERNET_BYTES.unsigned_abs() };
    let Some(more) = link.framing_bytes.checked_sub(counted) else {
        return Err(FormatError::whole(format!(
            "a policer counts at least {counted} B per packet more than IP; give the link a \
             framing of {counted}B"
        )));
    };
    let mut text = format!("action police rate {} burst {burst}b ", exact(bps)?);
    if more > 0 {
        text.push_str(&format!("overhead {more} "));
    }
    if link.packing.mpu > 0 {
        text.push_str(&format!("mpu {} ", link.packing.mpu));
    }
    if link_layer(link)? == "atm" {
        text.push_str("linklayer atm ");
    }
    Ok(text + "conform-exceed drop/pipe ")
}

fn exact(bps: u64) -> Result<String, FormatError> {
    tc_rate(bps).map_err(FormatError::whole)
}

/// The commands of a shaper, and the place of its queue.
fn shaper(link: &TcLink, device: &str) -> Result<(Vec<String>, &'static str), FormatError> {
    let (stab, rate) = (stab(link)?, exact(link.bps)?);
    let burst = match link.bucket {
        Some(TcBucket { bytes: burst, is_overdraft: false }) => {
            let bucket = format!("rate {rate} burst {burst} latency 300ms");
            let tbf = format!("tc qdisc replace dev {device} root handle 1: {stab}tbf {bucket}");
            return Ok((vec![tbf], "parent 1:1"));
        }
        Some(TcBucket { bytes, .. }) => format!(" burst {bytes}b cburst {bytes}b"),
        None => String::new(),
    };
    let commands = vec![
        format!("tc qdisc replace dev {device} root handle 1: {stab}htb default 10"),
        format!(
            "tc class replace dev {device} parent 1: classid 1:10 htb rate {rate} ceil \
             {rate}{burst}"
        ),
    ];
    Ok((commands, "parent 1:10"))
}

/// The commands of a link with classes. Schedulers that shape are the root; others are below the
/// link's shaper.
fn with_scheduler(
    link: &TcLink,
    kernel: Option<(u32, u32)>,
    device: &str,
    json: &str,
) -> Result<TcWords, FormatError> {
    let root = Exported::new(link, kernel, json, "1:")?;
    if root.shapes() {
        if link.bucket.is_some() {
            let message = "the classes shape already; give the link a constant rate";
            return Err(FormatError::whole(message));
        }
        let place = format!("root {}", stab(link)?);
        let mut all = root.commands(device, place.trim_end())?;
        all.warnings.push(format!(
            "the rate of {} of the link itself is that of {device}, which no command sets",
            show_rate(link.bps)
        ));
        return Ok(all);
    }
    let (mut words, parent) = shaper(link, device)?;
    let below = Exported::new(link, kernel, json, "110:")?.commands(device, parent)?;
    words.extend(below.words);
    Ok(TcWords { words, warnings: below.warnings })
}

/// Warns about a link without framing, which counts IP packets only; that is seldom intended.
fn without_framing(link: &TcLink) -> Option<String> {
    let device = &link.device;
    (link.framing_bytes == 0).then(|| {
        format!(
            "{device}: the link has no framing, so its rate counts IP packets alone and the \
             Ethernet header is taken off (overhead -14); give the link `framing`, such as 14B, if \
             its frames count"
        )
    })
}

/// The size table of a link, if it counts more than the kernel's packet length, which includes the
/// Ethernet header.
fn stab(link: &TcLink) -> Result<String, FormatError> {
    let more = i128::from(link.framing_bytes) - i128::from(ETHERNET_BYTES);
    let layer = link_layer(link)?;
    let mpu = match link.packing.mpu {
        0 => String::new(),
        bytes => format!("mpu {bytes} "),
    };
    Ok(match more {
        0 if link.packing.is_none() => String::new(),
        bytes => format!("stab overhead {bytes} {mpu}linklayer {layer} "),
    })
}

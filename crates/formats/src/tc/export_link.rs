//! A link of ours as commands of tc.

use super::export::{TcBucket, TcLink, TcWords, link_layer, words_of};
use super::export_scheduler::Exported;
use super::shaped::ETHERNET_BYTES;
use super::units::show_rate;
use crate::FormatError;

/// The commands that configure a link.
///
/// # Errors
/// As [`words_of`].
pub fn commands_of(link: &TcLink, kernel: Option<(u32, u32)>) -> Result<TcWords, FormatError> {
    let TcWords { words, warnings } = words_of(link, kernel)?;
    let discipline = words.join(" ");
    let mut commands = Vec::new();
    let mut device = link.device.clone();
    if link.is_arrivals {
        let outer = std::mem::replace(&mut device, format!("ifb4{}", link.device));
        commands.extend([
            format!("ip link add {device} type ifb"),
            format!("ip link set {device} up"),
            format!("tc qdisc replace dev {outer} handle ffff: ingress"),
            format!(
                "tc filter replace dev {outer} parent ffff: protocol all matchall action mirred \
                 egress redirect dev {device}"
            ),
        ]);
    }
    if words.iter().any(|it| it == "bandwidth") && words[0] == "cake" {
        link_layer(link)?;
        commands.push(format!("tc qdisc replace dev {device} root {discipline}"));
        return Ok(TcWords { words: commands, warnings });
    }
    let stab = stab(link)?;
    if let Some(json) = &link.scheduler {
        let TcWords { words, warnings } = with_scheduler(link, kernel, &device, &stab, json)?;
        commands.extend(words);
        return Ok(TcWords { words: commands, warnings });
    }
    let rate = show_rate(link.bps);
    match link.bucket {
        Some(TcBucket { bytes: burst, is_overdraft: false }) => commands.extend([
            format!(
                "tc qdisc replace dev {device} root handle 1: {stab}tbf rate {rate} burst {burst} \
                 latency 300ms"
            ),
            format!("tc qdisc replace dev {device} parent 1:1 handle 110: {discipline}"),
        ]),
        bucket => commands.extend([
            format!("tc qdisc replace dev {device} root handle 1: {stab}htb default 10"),
            format!(
                "tc class replace dev {device} parent 1: classid 1:10 htb rate {rate} ceil \
                 {rate}{}",
                bucket.map_or(String::new(), |TcBucket { bytes, .. }| format!(
                    " burst {bytes}b cburst {bytes}b"
                ))
            ),
            format!("tc qdisc replace dev {device} parent 1:10 handle 110: {discipline}"),
        ]),
    }
    Ok(TcWords { words: commands, warnings })
}

/// The commands of a link with classes. htb shapes itself; prio is put below the link's shaper.
fn with_scheduler(
    link: &TcLink,
    kernel: Option<(u32, u32)>,
    device: &str,
    stab: &str,
    json: &str,
) -> Result<TcWords, FormatError> {
    let root = Exported::new(link, kernel, json, "1:")?;
    if root.is_htb() {
        if link.bucket.is_some() {
            let message = "the classes shape already; give the link a constant rate";
            return Err(FormatError::whole(message));
        }
        let place = format!("root {stab}");
        let mut all = root.commands(device, place.trim_end())?;
        all.warnings.push(format!(
            "the rate of {} of the link itself is that of {device}, which no command sets",
            show_rate(link.bps)
        ));
        return Ok(all);
    }
    // A queue that is replaced by prio.
    let alone = TcLink { scheduler: None, aqm: "taildrop".to_owned(), ..link.clone() };
    let TcWords { mut words, mut warnings } = commands_of(&alone, kernel)?;
    words.pop();
    words.retain(|it| {
        it.starts_with(&format!("tc qdisc replace dev {device} root")) || it.starts_with("tc class")
    });
    let parent = if words.len() > 1 { "parent 1:10" } else { "parent 1:1" };
    let below = Exported::new(link, kernel, json, "110:")?.commands(device, parent)?;
    words.extend(below.words);
    warnings.extend(below.warnings);
    Ok(TcWords { words, warnings })
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

//! Settings of the kernel's TCP.

use crate::plan::{Netns, SysctlSetting};

/// The initial size of a send buffer: larger than Linux's own, so that few segments end a write
/// (fact linux-5).
fn send_buffer(flows: usize) -> usize {
    const LINUX: usize = 16 << 10;
    const LARGE: usize = 1 << 20;
    const OF_ALL: usize = 64 << 20;
    (OF_ALL / flows.max(1)).clamp(LINUX, LARGE)
}

/// The TCP settings of the namespaces; all others have the kernel's default.
pub(super) fn settings(timestamps: bool, has_wire: bool, flows: usize) -> Vec<SysctlSetting> {
    let both = [Netns::Senders, Netns::Receivers];
    let send_buffer = format!("4096\t{}\t16777216", send_buffer(flows));
    let of_tcp = [
        ("tcp_ecn", "2"), // by route where a flow asks for it
        ("tcp_no_metrics_save", "1"),
        ("tcp_timestamps", if timestamps { "1" } else { "0" }),
        ("tcp_sack", "1"),
        ("tcp_window_scaling", "1"),
        // Linux's own initial size (fact linux-6).
        ("tcp_rmem", "4096\t131072\t16777216"),
        ("tcp_wmem", &send_buffer),
    ];
    let setting = |netns, name: &str, value: &str| SysctlSetting {
        netns,
        path: format!("net/ipv4/{name}"),
        value: value.to_owned(),
    };
    let mut settings = vec![setting(Netns::Router, "ip_forward", "1")];
    if has_wire {
        settings.push(setting(Netns::Wire, "ip_forward", "1"));
    }
    for netns in both {
        settings.extend(of_tcp.iter().map(|(name, value)| setting(netns, name, value)));
    }
    settings
}

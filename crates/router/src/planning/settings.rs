//! Settings of the kernel's TCP.

use sojourn_aqm::Span;
use sojourn_scenario::resolved::Resolved;

use crate::plan::{Netns, SysctlSetting};

/// The least and the most that a buffer of TCP may grow to; the most makes the largest window that
/// its header can announce (RFC 7323 §2.2).
const LEAST_BUFFER_BYTES: u64 = 16 << 20;
const MOST_BUFFER_BYTES: u64 = 1 << 30;

/// The initial size of a send buffer: larger than Linux's own, so that few segments end a write
/// (fact linux-5).
fn send_buffer(flows: usize) -> usize {
    const LINUX: usize = 16 << 10;
    const LARGE: usize = 1 << 20;
    const OF_ALL: usize = 64 << 20;
    (OF_ALL / flows.max(1)).clamp(LINUX, LARGE)
}

/// What a buffer may grow to, so that memory stops no flow, even one that has the link to itself
/// (fact linux-18): what the path holds, and a queue of 200 ms, eight times. A byte of payload
/// takes two of a buffer, and slow start ends with twice as much in flight as fits.
fn largest_buffer(scenario: &Resolved) -> u64 {
    let wanted = scenario.flows.iter().map(|group| {
        let rate = scenario.links[group.path[0]].capacity.initial_rate();
        rate.bytes_in(group.rtt + Span::from_millis(200)).saturating_mul(8)
    });
    wanted.max().unwrap_or(0).clamp(LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES)
}

/// The TCP settings of the namespaces; all others have the kernel's default.
pub(super) fn settings(
    scenario: &Resolved,
    timestamps: bool,
    has_wire: bool,
    flows: usize,
) -> Vec<SysctlSetting> {
    let both = [Netns::Senders, Netns::Receivers];
    let largest = largest_buffer(scenario);
    let send_buffer = format!("4096\t{}\t{largest}", send_buffer(flows));
    let receive_buffer = format!("4096\t131072\t{largest}");
    let of_tcp = [
        ("tcp_ecn", "2"), // by route where a flow asks for it
        ("tcp_no_metrics_save", "1"),
        ("tcp_timestamps", if timestamps { "1" } else { "0" }),
        ("tcp_sack", "1"),
        ("tcp_window_scaling", "1"),
        // Linux's own initial size (fact linux-6).
        ("tcp_rmem", &receive_buffer),
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

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;

    fn receive_buffers(rate: &str, rtt: &str) -> String {
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\n[links.b]\nrate = \"{rate}\"\n[[flows]]\n\
             path = [\"b\"]\nrtt = \"{rtt}\"\napp = {{ kind = \"bulk\" }}\n"
        );
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(&text, &Source::default(), &none).unwrap();
        let settings = settings(scenario.resolved(), true, false, 1);
        settings.into_iter().find(|s| s.path.ends_with("tcp_rmem")).unwrap().value
    }

    #[test]
    fn buffers_grow_with_what_the_path_holds() {
        assert_eq!(receive_buffers("10mbit", "100ms"), "4096\t131072\t16777216");
        // 125 MB/s for 700 ms are 87.5 MB.
        assert_eq!(receive_buffers("1gbit", "500ms"), "4096\t131072\t700000000");
        assert_eq!(receive_buffers("10gbit", "500ms"), "4096\t131072\t1073741824");
    }
}

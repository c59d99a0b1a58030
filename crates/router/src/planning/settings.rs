//! Settings of the kernel's TCP.

use sojourn_scenario::resolved::{FIRST_BUFFER_BYTES, MOST_BUFFER_BYTES, Resolved};

use super::refusal::{Planned, refuse};
use crate::plan::{Netns, SysctlSetting};

/// The maximum receive buffer, if the scenario's windows grow: twice the window's maximum (Linux
/// 6.1 tcp.h, `tcp_win_from_space`). It is a setting of a whole namespace.
fn receive_buffer(scenario: &Resolved) -> Planned<Option<u64>> {
    let mut common = None;
    for (index, group) in scenario.flows.iter().enumerate() {
        let Some(tcp) = group.app.tcp() else { continue };
        let place = format!("flows[{index}].receive_window");
        let buffer = tcp.receive_window.map(|window| window.bytes.saturating_mul(2));
        if buffer.is_some_and(|bytes| !(FIRST_BUFFER_BYTES..=MOST_BUFFER_BYTES).contains(&bytes)) {
            return refuse(
                place,
                "the kernel's window starts with 64kB and grows to 512MB at most",
            );
        }
        if common.is_some_and(|other| other != buffer) {
            return refuse(place, "all TCP flows have the same window to grow to, or none has one");
        }
        common = Some(buffer);
    }
    Ok(common.flatten())
}

/// Settings that never give up a connection, as in the simulator: retransmissions of a SYN and of a
/// SYN-ACK (Linux 6.1 request_sock.h, `num_timeout` has seven bits; tcp.h, `MAX_TCP_SYNCNT`), and
/// of data (fact linux-29).
const PATIENT: [(&str, &str); 3] =
    [("tcp_syn_retries", "127"), ("tcp_synack_retries", "127"), ("tcp_retries2", "255")];

/// The TCP settings of the namespaces; all others keep the kernel's default.
pub(super) fn settings(
    scenario: &Resolved,
    timestamps: bool,
    has_wire: bool,
) -> Planned<Vec<SysctlSetting>> {
    let both = [Netns::Senders, Netns::Receivers];
    let largest = scenario.largest_buffer_bytes();
    let send_buffer = format!("4096\t{}\t{largest}", scenario.first_send_buffer_bytes());
    let most = receive_buffer(scenario)?.unwrap_or(largest);
    let receive_buffer = format!("4096\t{FIRST_BUFFER_BYTES}\t{most}");
    let of_tcp = [
        ("tcp_ecn", "2"), // set per route, if a flow requests ECN
        ("tcp_no_metrics_save", "1"),
        ("tcp_timestamps", if timestamps { "1" } else { "0" }),
        ("tcp_sack", "1"),
        ("tcp_window_scaling", "1"),
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
        settings
            .extend(of_tcp.iter().chain(&PATIENT).map(|(name, value)| setting(netns, name, value)));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;

    fn receive_buffers(rate: &str, rtt: &str) -> String {
        planned(rate, rtt, &[""]).unwrap()
    }

    #[test]
    fn no_connection_of_the_guest_is_given_up() {
        let text = "name = \"x\"\nduration = \"1s\"\n[links.b]\nrate = \"2mbit\"\n[[flows]]\n\
                    path = [\"b\"]\nrtt = \"100ms\"\napp = { kind = \"bulk\" }\n";
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(text, &Source::default(), &none).unwrap();
        let settings = settings(scenario.resolved(), true, false).unwrap();
        let of = |netns, name: &str| {
            let is_it = |s: &&SysctlSetting| s.netns == netns && s.path.ends_with(name);
            settings.iter().find(is_it).map(|s| s.value.parse::<u32>().unwrap())
        };
        assert_eq!(of(Netns::Senders, "tcp_syn_retries"), Some(127), "five hours");
        assert_eq!(of(Netns::Receivers, "tcp_synack_retries"), Some(127));
        assert_eq!(of(Netns::Senders, "tcp_retries2"), Some(255));
    }

    /// Plans a scenario with one group of flows per entry of `keys`, which extends that group.
    fn planned(rate: &str, rtt: &str, keys: &[&str]) -> Planned<String> {
        let group = |keys: &&str| {
            format!(
                "[[flows]]\npath = [\"b\"]\nrtt = \"{rtt}\"\n{keys}\napp = {{ kind = \"bulk\" }}\n"
            )
        };
        let groups: String = keys.iter().map(group).collect();
        let head = "name = \"x\"\nduration = \"1s\"\n[links.b]\n";
        let text = format!("{head}rate = \"{rate}\"\n{groups}");
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(&text, &Source::default(), &none).unwrap();
        let settings = settings(scenario.resolved(), true, false)?;
        Ok(settings.into_iter().find(|s| s.path.ends_with("tcp_rmem")).unwrap().value)
    }

    #[test]
    fn a_window_that_grows_is_half_of_the_largest_buffer_and_the_same_for_all() {
        let grows = "receive_window = \"6MB\"\nautotuning = true";
        let planned = |keys: &[&str]| planned("10mbit", "100ms", keys);
        assert_eq!(planned(&[grows, grows]).unwrap(), "4096\t131072\t12000000");
        assert!(planned(&[grows, ""]).is_err(), "the other group's has no end");
        assert!(planned(&["receive_window = \"600MB\"\nautotuning = true"]).is_err());
    }

    #[test]
    fn buffers_grow_with_what_the_path_holds() {
        assert_eq!(receive_buffers("10mbit", "100ms"), "4096\t131072\t16777216");
        // 125 MB/s times 700 ms is 87.5 MB.
        assert_eq!(receive_buffers("1gbit", "500ms"), "4096\t131072\t700000000");
        assert_eq!(receive_buffers("10gbit", "500ms"), "4096\t131072\t1073741824");
    }
}

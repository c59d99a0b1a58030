//! Converts the scenario's flows to flows of a run: checks what the kernel's TCP can do, and adds
//! what our programs need.

use sojourn_aqm::params::SpecText;
use sojourn_scenario::resolved::{App, FlowGroup, Resolved, Sizes, Tcp};
use sojourn_scenario::{ScenarioError, draw};
use sojourn_traffic::{UDP_HEADER_BYTES, tcp_profile};

use super::refusal::{Planned, refuse};
use crate::plan::{FIRST_PORT, Flow};

/// Sizes of IP and TCP headers, without options and with timestamps.
pub(crate) const PLAIN_HEADER: u32 = 40;
pub(crate) const TIMESTAMP_HEADER: u32 = 52;
/// The suffix of profiles in which the kernel's TCP paces internally, without the qdisc `fq` (Linux
/// 6.1 `tcp_needs_internal_pacing`).
const PACED: &str = "-fq";
/// Bytes for the number and the time in a datagram.
const STAMP_BYTES: u32 = 12;
/// Size of a datagram with only number and time.
pub(crate) const MIN_DATAGRAM: u32 = UDP_HEADER_BYTES + STAMP_BYTES;
/// A request identifies its lane by one byte.
const MAX_LANES: u32 = 255;
/// Groups are numbered by one byte of an address.
const MAX_GROUPS: usize = 250;
const MAX_FLOWS: usize = 20_000;

/// Whether TCP uses timestamps, a setting of a whole namespace.
pub(super) fn timestamps(scenario: &Resolved) -> Planned<bool> {
    let mut common = None;
    for (index, group) in scenario.flows.iter().enumerate() {
        let Some(tcp) = group.app.tcp() else { continue };
        let place = format!("flows[{index}].header");
        let timestamps = match tcp.header_bytes {
            PLAIN_HEADER => false,
            TIMESTAMP_HEADER => true,
            other => {
                let message =
                    format!("{other} B: the kernel's headers are 40 B, or 52 B with timestamps");
                return refuse(place, message);
            }
        };
        if common.is_some_and(|other| other != timestamps) {
            return refuse(place, "all TCP flows use timestamps (52 B), or none does (40 B)");
        }
        common = Some(timestamps);
    }
    Ok(common.unwrap_or(true))
}

/// All flows.
pub(super) fn flows(scenario: &Resolved) -> Planned<Vec<Flow>> {
    if scenario.flows.len() > MAX_GROUPS {
        return refuse("flows", format!("engine linux has room for {MAX_GROUPS} groups"));
    }
    let mut flows = Vec::new();
    for (index, group) in scenario.flows.iter().enumerate() {
        if group.app.transport().is_some() {
            let message = "a transport library runs inside engine sim; leave `transport` out here";
            return refuse(format!("flows[{index}].transport"), message);
        }
        let cc = group.app.tcp().map(|tcp| congestion_control(index, tcp)).transpose()?;
        for (member, start) in (0..).zip(draw::Starts::new(scenario.seed, group)) {
            if flows.len() >= MAX_FLOWS {
                return refuse("flows", format!("engine linux has room for {MAX_FLOWS} flows"));
            }
            flows.push(Flow {
                group: index,
                index: member,
                name: group.name.clone(),
                port: FIRST_PORT + flows.len() as u16,
                start_ns: start.as_nanos(),
                stop_ns: group.stop.map(|stop| stop.as_nanos()),
                cc: cc.clone(),
                paced: group.app.tcp().is_some_and(is_paced),
                payload_bytes: payload(index, &group.app)?,
                dscp: group.dscp,
                app: group.app.of_member(member),
            });
        }
    }
    Ok(flows)
}

/// The profile that represents a kernel's TCP without pacing. There are two, traced against Linux
/// 6.1 and 7.2 (facts tcp-45 to tcp-49); kernels in between have some rules of each profile.
pub fn own_profile(release: (u32, u32)) -> &'static str {
    if release >= (7, 0) { "linux-7.2" } else { "linux" }
}

fn is_paced(tcp: &Tcp) -> bool {
    tcp.profile.ends_with(PACED)
}

/// A warning if the kernel's TCP differs from the profile.
pub(super) fn other_tcp(group: &FlowGroup, release: Option<(u32, u32)>) -> Option<String> {
    let tcp = group.app.tcp()?;
    let (name, profile) = (&group.name, &tcp.profile);
    let asked = profile.strip_suffix(PACED).unwrap_or(profile);
    if ![(6, 1), (7, 2)].map(own_profile).contains(&asked) {
        return Some(format!(
            "flows `{name}`: the kernel runs its own TCP, not the profile {profile}"
        ));
    }
    let own = own_profile(release?);
    (asked != own).then(|| {
        let own = format!("{own}{}", if is_paced(tcp) { PACED } else { "" });
        format!(
            "flows `{name}`: the kernel's TCP is that of the profile {own}, not of {profile}; with \
             `tcp = \"{own}\"` the simulator has it too"
        )
    })
}

/// The name of a group's congestion control on a host that has its own controls; the default is the
/// profile's, as in the simulator.
pub(crate) fn control_name(index: usize, tcp: &Tcp, host: &str) -> Planned<String> {
    let own = tcp_profile(&tcp.profile)
        .map_err(|message| ScenarioError::new(format!("flows[{index}].tcp"), message))?;
    let written = tcp.cc.as_deref().unwrap_or(own.cc);
    let place = format!("flows[{index}].cc");
    let text = match SpecText::parse(written) {
        Ok(text) => text,
        Err(error) => return refuse(place, error.message),
    };
    let name = text.kind;
    if text.dialect.is_some() || !text.settings.is_empty() {
        let message = format!(
            "`{written}`: {host}'s {name} has its own dialect and parameters; write \"{name}\""
        );
        return refuse(place, message);
    }
    Ok(name)
}

fn congestion_control(index: usize, tcp: &Tcp) -> Planned<String> {
    let name = control_name(index, tcp, "the kernel")?;
    if let Some(every) = tcp.ack_every.filter(|every| !matches!(every, 1 | 2)) {
        let place = format!("flows[{index}].ack_every");
        let message =
            format!("{every}: the kernel acknowledges every segment (1) or every second one (2)");
        return refuse(place, message);
    }
    Ok(name)
}

/// Payload of a full segment or datagram.
fn payload(index: usize, app: &App) -> Planned<u32> {
    let place = |key: &str| format!("flows[{index}].app.{key}");
    let needs = |what: &str| {
        format!(
            "{what} that carries its number and time needs {MIN_DATAGRAM} B or more on real hosts"
        )
    };
    if let App::Web { web, .. } = app {
        if web.request_bytes < MIN_DATAGRAM {
            return refuse(place("request"), needs("a request"));
        }
        if web.parallel > MAX_LANES {
            let message = format!("engine linux has room for {MAX_LANES} connections of a page");
            return refuse(place("parallel"), message);
        }
    }
    if let Some(tcp) = app.tcp() {
        return Ok(tcp.payload_bytes);
    }
    match app.packet_bytes() {
        bytes if bytes >= MIN_DATAGRAM => Ok(bytes - UDP_HEADER_BYTES),
        _ => refuse(place("packet"), needs("a datagram")),
    }
}

/// A warning if the last datagram of a frame may be too small for number and time.
pub(crate) fn padded(index: usize, app: &App) -> Option<String> {
    let is_small = |bytes: u64| {
        let last = bytes % u64::from(app.packet_bytes());
        last > 0 && last < u64::from(MIN_DATAGRAM)
    };
    let may_be = match app {
        App::Video { frames: Sizes::List(sizes), .. } => sizes.iter().any(|&bytes| is_small(bytes)),
        App::Video { .. } => true,
        App::Replay { recording, .. } => {
            recording.amounts.iter().any(|&(_, bytes)| is_small(bytes))
        }
        _ => false,
    };
    may_be.then(|| {
        format!(
            "flows[{index}].app: datagrams of less than {MIN_DATAGRAM} B are filled up to that: \
             each carries its number and time"
        )
    })
}

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;

    fn resolved(cc: &str) -> Resolved {
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\n[links.b]\nrate = \"10mbit\"\n[[flows]]\n\
             path = [\"b\"]\nrtt = \"20ms\"\napp = {{ kind = \"bulk\" }}\ncc = {cc}\n"
        );
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        Scenario::load(&text, &Source::default(), &none).unwrap().resolved().clone()
    }

    fn planned(cc: &str) -> Planned<String> {
        congestion_control(0, resolved(cc).flows[0].app.tcp().unwrap())
    }

    #[test]
    fn a_profile_of_another_release_than_the_kernels_is_a_warning() {
        let warned = |profile: &str, release| {
            let mut group = resolved("\"cubic\"").flows[0].clone();
            let App::Bulk { tcp, .. } = &mut group.app else { panic!("it is a bulk flow") };
            tcp.profile = profile.to_owned();
            other_tcp(&group, release)
        };
        for (profile, release) in [("linux", (6, 1)), ("linux-fq", (6, 12)), ("linux-7.2", (7, 2))]
        {
            assert_eq!(warned(profile, Some(release)), None, "{profile} {release:?}");
            assert_eq!(warned(profile, None), None, "{profile}");
        }
        assert!(warned("linux", Some((7, 2))).unwrap().contains("`tcp = \"linux-7.2\"`"));
        assert!(warned("linux-7.2-fq", Some((6, 1))).unwrap().contains("`tcp = \"linux-fq\"`"));
        assert!(warned("newreno", None).unwrap().ends_with("not the profile newreno"));
    }

    #[test]
    fn a_control_of_the_kernel_has_neither_dialect_nor_parameters() {
        assert_eq!(planned("\"cubic\"").unwrap(), "cubic");
        for cc in ["\"cubic:beta=0.5\"", "\"cubic@linux\"", "{ kind = \"cubic\", beta = 0.5 }"] {
            let error = planned(cc).unwrap_err();
            assert_eq!(error.place, "flows[0].cc", "{error}");
            assert!(error.message.ends_with("write \"cubic\""), "{error}");
        }
    }
}

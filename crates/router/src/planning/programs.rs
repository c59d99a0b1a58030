//! Plans the user's programs, which replace a group of flows.

use sojourn_scenario::resolved::{FlowGroup, LinuxBottleneck, Resolved};

use super::egress::Egress;
use super::refusal::{Planned, refuse};
use super::topology::{burst, dotted, mtu};
use super::{Kernel, plan};
use crate::plan::{
    Command, HostSide, MOST_HOSTS, Netns, Plan, ProgramHost, ProgramsPlan, ProgramsWish,
    SysctlSetting, host_address, host_interface, host_netns,
};

/// Linux's usual buffer sizes (Linux 6.1 tcp.c, `tcp_init`), regardless of the guest's memory.
const BUFFERS: [(&str, &str); 2] =
    [("tcp_rmem", "4096\t131072\t6291456"), ("tcp_wmem", "4096\t16384\t4194304")];

/// All groups of users may open sockets that ping without being raw, as in systemd's
/// 50-default.conf.
const PING: (&str, &str) = ("ping_group_range", "0\t2147483647");

/// The scenario with the group that programs replace moved to the end.
///
/// # Errors
///
/// The group is unknown, or it has settings that programs cannot follow.
pub fn arranged(scenario: &Resolved, group: &str) -> Planned<Resolved> {
    let mut arranged = scenario.clone();
    let Some(place) = arranged.flows.iter().position(|flows| flows.name == group) else {
        return refuse("flows", format!("unknown group of flows `{group}`"));
    };
    let group = arranged.flows.remove(place);
    if group.stop.is_some() {
        let message = "programs take the place of these flows and end by themselves; remove it";
        return refuse(format!("flows[{place}].stop"), message);
    }
    arranged.flows.push(group);
    Ok(arranged)
}

/// Plans a run with programs.
///
/// # Errors
///
/// As [`plan`]; also if programs cannot replace that group.
pub fn plan_with_programs(
    scenario: &Resolved,
    kernel: Kernel,
    wish: ProgramsWish,
) -> Planned<Plan> {
    if wish.hosts.len() > MOST_HOSTS {
        return refuse("programs", format!("there is room for {MOST_HOSTS} hosts"));
    }
    if wish.hosts.iter().all(|host| host.side == HostSide::Server) {
        return refuse(
            "programs",
            "a run needs a host behind the link, whose name begins with client",
        );
    }
    if scenario.linux.bottleneck() == LinuxBottleneck::SojournModule {
        let message = "programs run with the kernel's own disciplines (\"kernel\") or with our \
                       router (\"sojourn\")";
        return refuse("engine.linux.bottleneck", message);
    }
    let scenario = arranged(scenario, &wish.group)?;
    let group = scenario.flows.len() - 1;
    for host in &wish.hosts {
        let taken = |flows: &FlowGroup| [&flows.name, &flows.class].contains(&&host.name);
        if scenario.flows[..group].iter().any(taken) {
            let message =
                format!("a host of programs has the name {}: rename the flows", host.name);
            return refuse("flows", message);
        }
    }
    let mut plan = plan(&scenario, kernel)?;
    plan.flows.retain(|flow| flow.group != group);
    let egress = Egress::of(&plan.bottleneck, plan.wire.as_ref(), plan.reverse.as_ref());
    let flows = &scenario.flows[group];
    let hosts = wish.hosts.iter().enumerate().map(|(index, wish)| {
        let address = host_address(group, index, wish.side);
        ProgramHost {
            name: wish.name.clone(),
            side: wish.side,
            address,
            lines: lines_within(index, address, group, flows),
            settings: settings(flows),
        }
    });
    let hosts: Vec<ProgramHost> = hosts.collect();
    for (index, host) in hosts.iter().enumerate() {
        plan.commands.extend(commands(index, host, (group, flows), egress));
    }
    // Commands of one namespace form one batch.
    plan.commands.sort_by_key(|command| command.program == "tc");
    for netns in [Netns::Senders, Netns::Receivers] {
        let (path, value) = ("net/ipv4/ip_forward".to_owned(), "1".to_owned());
        plan.settings.push(SysctlSetting { netns, path, value });
    }
    plan.programs = Some(ProgramsPlan { wish, group, hosts });
    Ok(plan)
}

/// The Ethernet addresses of the interfaces of a host and in front of it.
fn macs(index: usize) -> [String; 2] {
    ["01", "fe"].map(|end| format!("02:00:00:05:{index:02x}:{end}"))
}

/// A host sends everything to one neighbour, with the address of the router on its group's access
/// line, so no address needs to be resolved.
fn lines_within(index: usize, address: [u8; 4], group: usize, flows: &FlowGroup) -> Vec<String> {
    let (near, [_, peer]) = (format!("10.1.{group}.254"), macs(index));
    let window = flows.app.tcp().and_then(|tcp| tcp.initial_window);
    let window = window.map_or(String::new(), |packets| format!(" initcwnd {packets}"));
    let (mtu, segments) = (mtu(&flows.app), burst(&flows.app));
    vec![
        "link set lo up".to_owned(),
        format!("address add {}/32 dev eth0", dotted(address)),
        format!("link set eth0 mtu {mtu} gso_max_segs {segments} up"),
        format!("neigh add {near} lladdr {peer} dev eth0 nud permanent"),
        format!("route add {near}/32 dev eth0"),
        format!("route add default via {near} dev eth0{window}"),
    ]
}

/// The settings of a host, the same for any size of memory.
fn settings(flows: &FlowGroup) -> Vec<(String, String)> {
    let asks = flows.app.tcp().is_some_and(|tcp| tcp.ecn.is_some());
    let all = [("tcp_ecn", if asks { "1" } else { "2" }), PING].into_iter().chain(BUFFERS);
    all.map(|(name, value)| (format!("net/ipv4/{name}"), value.to_owned())).collect()
}

/// The interface in front of a host, and the routes to it.
fn commands(
    index: usize,
    host: &ProgramHost,
    (group, flows): (usize, &FlowGroup),
    egress: Egress,
) -> Vec<Command> {
    let (address, interface) = (dotted(host.address), host_interface(index));
    let ([own, peer], mtu) = (macs(index), mtu(&flows.app));
    let netns = match host.side {
        HostSide::Server => Netns::Senders,
        HostSide::Client => Netns::Receivers,
    };
    let mut lines = vec![
        (
            netns,
            format!(
                "link add {interface} address {peer} type veth peer name eth0 address {own} \
                 netns {}",
                host_netns(&host.name)
            ),
        ),
        (netns, format!("link set {interface} mtu {mtu} gso_max_segs 1 up")),
        (netns, format!("neigh add {address} lladdr {own} dev {interface} nud permanent")),
        (netns, format!("route add {address}/32 dev {interface}")),
    ];
    match host.side {
        HostSide::Server => {
            let sender = format!("02:00:00:01:{group:02x}:01");
            let line = format!("neigh add {address} lladdr {sender} dev r{group} nud permanent");
            lines.push((Netns::Router, line));
        }
        HostSide::Client => lines.extend(routes_to_client(&address, group, egress)),
    }
    let command = |(netns, line): (Netns, String)| Command {
        netns,
        program: "ip".to_owned(),
        arguments: line.split(' ').map(str::to_owned).collect(),
    };
    lines.into_iter().map(command).collect()
}

fn routes_to_client(address: &str, group: usize, egress: Egress) -> Vec<(Netns, String)> {
    let near = format!("10.1.{group}.254");
    let mut lines =
        vec![(Netns::Senders, format!("route add {address}/32 via {near} dev s{group}"))];
    if egress.is_veth() {
        let line = format!("neigh add {address} lladdr 02:00:00:02:00:01 dev out nud permanent");
        lines.push((Netns::Router, line));
    }
    if egress == Egress::WireBack {
        let line = format!("neigh add {address} lladdr 02:00:00:03:00:01 dev far nud permanent");
        lines.push((Netns::Wire, line));
        lines.push((Netns::Wire, format!("route add {address}/32 dev far")));
    }
    lines
}

#[cfg(test)]
pub(crate) mod tests {
    use sojourn_scenario::{Scenario, Source};

    use super::*;
    use crate::plan::{HostWish, ProgramCommand, side_of};

    /// A link with two groups of flows, of which programs replace the first.
    pub(crate) fn line(more: &str) -> Resolved {
        let text = format!(
            "name = \"x\"\nduration = \"9s\"\nwarmup = \"1s\"\n{more}\n[links.b]\n\
             rate = \"10mbit\"\nqueue = \"codel@linux\"\n[[flows]]\nname = \"web\"\n\
             path = [\"b\"]\nrtt = \"20ms\"\necn = true\napp = {{ kind = \"bulk\" }}\n\
             [[flows]]\nname = \"voice\"\npath = [\"b\"]\nrtt = \"30ms\"\n\
             app = {{ kind = \"cbr\", rate = \"87kbit\", packet = \"218B\" }}\n"
        );
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        Scenario::load(&text, &Source::default(), &none).unwrap().resolved().clone()
    }

    /// A request for one command on each of these hosts.
    pub(crate) fn wish(hosts: &[(&str, HostSide)]) -> ProgramsWish {
        let host = |&(name, side): &(&str, HostSide)| HostWish {
            name: name.to_owned(),
            side,
            folder: None,
        };
        let command = |host| ProgramCommand { host, text: "true".to_owned(), start_ns: 0 };
        ProgramsWish {
            group: "web".to_owned(),
            hosts: hosts.iter().map(host).collect(),
            commands: (0..hosts.len()).map(command).collect(),
            visible: Vec::new(),
            environment: Vec::new(),
            folder_bytes: 1 << 20,
            most_processes: 9,
            may_be_stopped: false,
        }
    }

    pub(crate) const BOTH: [(&str, HostSide); 2] =
        [("server", HostSide::Server), ("client", HostSide::Client)];

    fn planned(more: &str, hosts: &[(&str, HostSide)]) -> Planned<Plan> {
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        plan_with_programs(&line(more), kernel, wish(hosts))
    }

    #[test]
    fn programs_take_the_place_of_one_group_and_the_others_run() {
        let plan = planned("", &BOTH).unwrap();
        let names: Vec<&str> = plan.flows.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!((names, plan.groups()), (vec!["voice"], 2));
        let programs = plan.programs.as_ref().unwrap();
        assert_eq!(plan.first_of_programs(), 1);
        for host in &programs.hosts {
            assert_eq!(side_of(programs.group, host.address), Some(host.side));
            assert!(host.settings.contains(&("net/ipv4/tcp_ecn".to_owned(), "1".to_owned())));
        }
        let forwards = |netns| {
            plan.settings.iter().any(|s| s.netns == netns && s.path.ends_with("ip_forward"))
        };
        assert!([Netns::Senders, Netns::Receivers].into_iter().all(forwards));
    }

    #[test]
    fn what_programs_cannot_do_is_refused_with_its_place() {
        let place = |more: &str, hosts: &[_]| planned(more, hosts).unwrap_err().place;
        assert_eq!(place("", &BOTH[..1]), "programs", "none behind the link");
        assert_eq!(place("", &[("voice", HostSide::Client)]), "flows", "a name of flows");
        let module = "engine.linux.bottleneck = \"sojourn-module\"";
        assert_eq!(place(module, &BOTH), "engine.linux.bottleneck");
        let mut other = wish(&BOTH);
        other.group = "nothing".to_owned();
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        let error = plan_with_programs(&line(""), kernel, other).unwrap_err();
        assert!(error.message.contains("nothing"), "{error}");
    }
}

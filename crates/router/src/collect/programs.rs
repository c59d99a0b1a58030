//! The user's programs in the results: their flows as further flows of the scenario, one class for
//! each host behind the link, and the outcome of the commands.

use std::fs;
use std::path::Path;

use sojourn_aqm::{Span, Time};
use sojourn_measure::Probe;
use sojourn_record::Run;
use sojourn_record::rows::{ProgramFlowRow, ProgramRow};
use sojourn_scenario::Resolved;
use sojourn_scenario::resolved::{App, FlowGroup};

use super::hidden::Machine;
use super::tables::is_counted;
use crate::captures::PacketRecord;
use crate::plan::{Flow, HostSide, Plan, ProgramsPlan};
use crate::planning;
use crate::run_files::{
    CommandReport, OUTPUTS, ProgramCounts, ProgramFlow, ProgramsReport, RunResult,
};

/// The most characters of an output quoted in messages.
const QUOTED: usize = 200;

/// A run with programs, in the form in which all runs are collected.
pub(super) struct Arranged {
    pub(super) scenario: Resolved,
    pub(super) plan: Plan,
    pub(super) result: RunResult,
    /// Maps a flow's number in the run to its number in the results.
    numbers: Vec<u32>,
}

/// Arranges a run so that each host behind the link is a group of flows, and the run ends when its
/// programs ended; `None` without programs.
///
/// # Errors
///
/// The run ended before its warm-up.
pub(super) fn arranged(
    scenario: &Resolved,
    plan: &Plan,
    result: &RunResult,
) -> Result<Option<Arranged>, String> {
    let (Some(programs), Some(report)) = (&plan.programs, &result.programs) else {
        return Ok(None);
    };
    let ended = Span::from_nanos(report.ended_ns);
    if ended <= scenario.warmup {
        return Err(format!(
            "the programs ended at {ended}, before the warm-up of {} was over: set warmup = \"0s\"",
            scenario.warmup
        ));
    }
    let mut scenario =
        planning::arranged(scenario, &programs.wish.group).map_err(|e| e.to_string())?;
    scenario.duration = ended;
    let group = scenario.flows.pop().expect("the group whose place programs take");
    let (mut plan, own) = (plan.clone(), plan.flows.len());
    plan.duration_ns = report.ended_ns;
    let mut numbers: Vec<u32> = (0..(own + report.flows.len()) as u32).collect();
    let clients = programs.hosts.iter().filter(|host| host.side == HostSide::Client);
    for host in clients {
        let is_its = |(_, flow): &(usize, &ProgramFlow)| flow.client.0 == host.address;
        let its: Vec<_> = report.flows.iter().enumerate().filter(is_its).collect();
        let of_host = group_of(&group, &host.name, its.len());
        for (member, (index, flow)) in its.iter().enumerate() {
            numbers[own + index] = plan.flows.len() as u32;
            plan.flows.push(flow_of(flow, (scenario.flows.len(), member), &of_host));
        }
        scenario.flows.push(of_host);
    }
    let result = renumbered(result, &numbers);
    Ok(Some(Arranged { scenario, plan, result, numbers }))
}

/// A host as a group of flows. Its flows are not greedy: programs need not fill the link.
fn group_of(group: &FlowGroup, host: &str, flows: usize) -> FlowGroup {
    let mut of_host = group.clone();
    (of_host.name, of_host.class) = (host.to_owned(), host.to_owned());
    of_host.count = flows as u32;
    if let App::Bulk { bytes, .. } = &mut of_host.app {
        *bytes = bytes.or(Some(u64::MAX));
    }
    of_host
}

fn flow_of(flow: &ProgramFlow, (group, member): (usize, usize), of_host: &FlowGroup) -> Flow {
    let (start_ns, end_ns) = flow.times_ns.unwrap_or_default();
    Flow {
        group,
        index: member as u32,
        name: of_host.name.clone(),
        port: flow.client.1,
        start_ns,
        stop_ns: Some(end_ns),
        cc: None,
        paced: false,
        payload_bytes: of_host.app.tcp().map_or(1, |tcp| tcp.payload_bytes),
        dscp: of_host.dscp,
        app: of_host.app.clone(),
    }
}

/// The counts in the order of the new numbers. Flows that appeared later have no earlier counts.
fn renumbered(result: &RunResult, numbers: &[u32]) -> RunResult {
    let mut result = result.clone();
    let arrange = |counts: &mut Vec<ProgramCounts>| {
        let mut arranged = vec![ProgramCounts::default(); numbers.len()];
        counts.iter().zip(numbers).for_each(|(&count, &to)| arranged[to as usize] = count);
        *counts = arranged;
    };
    arrange(&mut result.at_warmup);
    arrange(&mut result.counts);
    for sample in &mut result.samples {
        sample.flow = numbers[sample.flow as usize];
    }
    result.samples.sort_by_key(|sample| (sample.at_ns, sample.flow));
    for bin in &mut result.bins {
        let mut arranged = vec![0; numbers.len()];
        bin.iter().zip(numbers).for_each(|(&bytes, &to)| arranged[to as usize] = bytes);
        *bin = arranged;
    }
    result
}

impl Arranged {
    /// Renumbers the records as in the results.
    pub(super) fn renumber(&self, records: &mut [PacketRecord]) {
        for record in records {
            record.flow = self.numbers[record.flow as usize];
        }
    }

    fn report(&self) -> (&ProgramsPlan, &ProgramsReport) {
        let (plan, result) = (&self.plan.programs, &self.result.programs);
        (plan.as_ref().expect("it has programs"), result.as_ref().expect("it has programs"))
    }

    /// The commands with their reports and hosts.
    fn commands(&self) -> impl Iterator<Item = (usize, &CommandReport, &str, &str)> {
        let (plan, report) = self.report();
        let all = plan.wish.commands.iter().zip(&report.commands).enumerate();
        all.map(|(index, (command, report))| {
            (index, report, plan.hosts[command.host].name.as_str(), command.text.as_str())
        })
    }

    /// Adds the durations of the commands behind the link to the completion times of their classes,
    /// except for failed commands.
    pub(super) fn add_durations(&self, probe: &mut Probe) {
        let (classes, (plan, run)) = (self.scenario.classes(), self.report());
        for (index, report, host, _) in self.commands() {
            let is_client = plan.hosts[plan.wish.commands[index].host].side == HostSide::Client;
            let Some(start_ns) = report.start_ns.filter(|_| is_client) else { continue };
            let Some(class) = classes.iter().position(|class| class == host) else { continue };
            if !is_counted(Time::from_nanos(start_ns), &self.plan) {
                continue;
            }
            let stats = &mut probe.classes[class];
            match report.end_ns {
                Some(end_ns) if report.exit_code == Some(0) => {
                    stats.completion.add(end_ns - start_ns);
                }
                Some(_) => {}
                None => stats.unfinished.get_or_insert_default().add(run.ended_ns - start_ns),
            }
        }
    }

    /// Fills the tables of programs, and names their flows by their five-tuples.
    pub(super) fn add_tables(&self, folder: &Path, run: &mut Run) {
        let (plan, report) = self.report();
        let own = self.numbers.len() - report.flows.len();
        let end = |(address, port): ([u8; 4], u16)| {
            let host = plan.hosts.iter().find(|host| host.address == address);
            (host.map_or(String::new(), |host| host.name.clone()), port)
        };
        for (index, flow) in report.flows.iter().enumerate() {
            let number = self.numbers[own + index];
            let (server, client) = (end(flow.server), end(flow.client));
            run.flows[number as usize] = name_of(flow.protocol, &server, &client);
            run.program_flows.push(ProgramFlowRow {
                flow: number,
                protocol: flow.protocol,
                server,
                client,
                times: flow.times_ns.map(|(a, b)| (Time::from_nanos(a), Time::from_nanos(b))),
                delivered: flow.delivered,
                cc: flow.cc.clone(),
            });
        }
        run.program_flows.sort_by_key(|row| row.flow);
        run.programs = self
            .commands()
            .map(|(index, report, host, command)| ProgramRow {
                host: host.to_owned(),
                command: command.to_owned(),
                start: report.start_ns.map(Time::from_nanos),
                end: report.end_ns.map(Time::from_nanos),
                exit_code: report.exit_code,
                signal: report.signal,
                stdout: output(folder, index, "out"),
                stderr: output(folder, index, "err"),
            })
            .collect();
    }

    /// The servers that had ended without a failure before a client did, as the end of a sentence:
    /// a client that finds no server fails. Failed servers have separate sentences.
    fn servers_gone(&self, client_end_ns: Option<u64>) -> String {
        let (plan, _) = self.report();
        let is_server =
            |index: usize| plan.hosts[plan.wish.commands[index].host].side != HostSide::Client;
        let gone = self.commands().filter_map(|(index, report, host, command)| {
            let end_ns = report.end_ns.filter(|end_ns| Some(*end_ns) <= client_end_ns)?;
            let is_gone = is_server(index) && report.exit_code == Some(0);
            is_gone.then(|| format!(", after {host}: `{command}` had ended at {}", seconds(end_ns)))
        });
        gone.collect()
    }

    /// Why programs make the run an invalid experiment, one sentence each.
    pub(super) fn failures(&self, folder: &Path) -> Vec<String> {
        let ((plan, report), machine) = (self.report(), Machine::here());
        let mut reasons = Vec::new();
        if report.has_more_flows {
            reasons.push("the programs had more flows than a run has room for".to_owned());
        }
        for (index, report, host, command) in self.commands() {
            let is_client = plan.hosts[plan.wish.commands[index].host].side == HostSide::Client;
            let what = format!("{host}: `{command}`");
            let how = match (report.end_ns.map(seconds), report.exit_code, report.signal) {
                (Some(at), Some(code), _) if code != 0 => {
                    format!("ended with exit code {code} at {at}")
                }
                (Some(at), _, Some(signal)) => format!("was ended by signal {signal} at {at}"),
                (None, ..) if is_client && !plan.wish.may_be_stopped => {
                    let at = seconds(self.plan.duration_ns);
                    reasons.push(format!(
                        "{what} had not ended at {at}, the end of the run: take a longer duration, \
                         or say with --for when to stop it"
                    ));
                    continue;
                }
                _ => continue,
            };
            let before = if is_client { self.servers_gone(report.end_ns) } else { String::new() };
            let text = written(folder, index);
            let of_host = plan.wish.commands[index].host;
            let mut remedy = machine.remedy(&text, (command, report.exit_code), of_host, plan);
            // POSIX shell, exit status: not executable, and not found.
            if remedy.is_empty() && matches!(report.exit_code, Some(126 | 127)) {
                remedy =
                    "; programs see the system's folders, and others with --see DIR".to_owned();
            }
            reasons.push(format!("{what} {how}{before}{}{remedy}", quoted(&text)));
        }
        reasons
    }
}

fn seconds(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}

/// What a command wrote to its standard error, or if nothing, to its standard output.
fn written(folder: &Path, index: usize) -> String {
    let texts = ["err", "out"].map(|kind| output(folder, index, kind));
    texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
}

/// The last line with a word that a failed command wrote.
fn quoted(text: &str) -> String {
    let says = |line: &&str| line.contains(char::is_alphanumeric);
    text.lines().rev().map(str::trim).find(says).map_or(String::new(), |line| {
        format!("; it wrote: {}", line.chars().take(QUOTED).collect::<String>())
    })
}

/// The beginning of an output; invalid UTF-8 is replaced.
fn output(folder: &Path, index: usize, kind: &str) -> String {
    let bytes = fs::read(folder.join(OUTPUTS).join(format!("{index}.{kind}")));
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

/// A flow's name in tables.
fn name_of(protocol: u8, server: &(String, u16), client: &(String, u16)) -> String {
    let (server, server_port, client, client_port) = (&server.0, server.1, &client.0, client.1);
    match protocol {
        6 => format!("tcp {server}:{server_port}-{client}:{client_port}"),
        17 => format!("udp {server}:{server_port}-{client}:{client_port}"),
        1 => format!("icmp {server}-{client}"),
        other => format!("protocol {other} {server}-{client}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::planning::tests_of_programs::{BOTH, line, wish};
    use crate::planning::{Kernel, plan_with_programs};
    use crate::run_files::{FlowSample, TcpTotals};

    fn flow(client: [u8; 4], port: u16, bytes: u64) -> ProgramFlow {
        let (server, client) = (([10, 1, 1, 10], 80), (client, port));
        let times_ns = Some((2_000_000_000, 3_000_000_000));
        ProgramFlow { protocol: 6, server, client, times_ns, delivered: [bytes, 0], cc: None }
    }

    /// A run of 4 s with these reports on the commands of the server and the client.
    fn ran(commands: [CommandReport; 2], ended_ns: u64) -> Result<Arranged, String> {
        let hosts = [BOTH[0], BOTH[1], ("client-2", HostSide::Client)];
        let kernel = Kernel { hz: 1000, delays_in_router: false, release: None };
        let plan = plan_with_programs(&line(""), kernel, wish(&hosts)).unwrap();
        let mut result = RunResult::new(&plan, Vec::new(), Value::Null);
        let client = |index: u8| [10, 2, 1, 10 + index];
        let flows = vec![flow(client(2), 1, 7), flow(client(1), 2, 8), flow(client(2), 3, 9)];
        let bytes = [1, 7, 8, 9];
        result.counts = bytes
            .map(|delivered_bytes| ProgramCounts { delivered_bytes, ..Default::default() })
            .to_vec();
        result.bins = vec![vec![1], vec![1, 7]];
        let tcp = TcpTotals::default();
        result.samples = [1, 2]
            .map(|flow| FlowSample { flow, at_ns: 5, delivered_bytes: u64::from(flow), tcp })
            .to_vec();
        let done = CommandReport { exit_code: Some(0), end_ns: Some(1), ..Default::default() };
        let commands = vec![commands[0], commands[1], done];
        let report = ProgramsReport { ended_ns, commands, flows, has_more_flows: false };
        result.programs = Some(report);
        arranged(&line(""), &plan, &result).map(|arranged| arranged.expect("it has programs"))
    }

    fn ended(exit_code: i32) -> CommandReport {
        let (start_ns, end_ns) = (Some(1_500_000_000), Some(3_500_000_000));
        CommandReport { start_ns, end_ns, exit_code: Some(exit_code), ..Default::default() }
    }

    #[test]
    fn the_flows_of_each_host_come_together_behind_those_of_the_scenario() {
        let run = ran([CommandReport::default(), ended(0)], 4_000_000_000).unwrap();
        let groups: Vec<_> =
            run.scenario.flows.iter().map(|group| (group.name.as_str(), group.count)).collect();
        assert_eq!(groups, [("voice", 1), ("client", 1), ("client-2", 2)]);
        assert_eq!(run.numbers, [0, 2, 1, 3]);
        let delivered: Vec<u64> = run.result.counts.iter().map(|c| c.delivered_bytes).collect();
        assert_eq!(delivered, [1, 8, 7, 9]);
        assert_eq!(run.result.bins, [[1, 0, 0, 0], [1, 0, 7, 0]], "one came after the first bin");
        let samples: Vec<_> =
            run.result.samples.iter().map(|sample| (sample.flow, sample.delivered_bytes)).collect();
        assert_eq!(samples, [(1, 2), (2, 1)]);
        assert_eq!(run.scenario.duration, Span::from_secs(4));
    }

    #[test]
    fn the_duration_of_a_command_behind_the_link_completes_its_class() {
        let of = |report| {
            let run = ran([ended(0), report], 4_000_000_000).unwrap();
            let mut probe = Probe::new(1, 3, (Time::ZERO, Time::NEVER));
            run.add_durations(&mut probe);
            let [_, stats, _] = &probe.classes[..] else { panic!("three classes") };
            let unfinished = stats.unfinished.as_ref().map_or(0, |unfinished| unfinished.count());
            (stats.completion.max_ns(), unfinished)
        };
        assert_eq!(of(ended(0)), (Some(2_000_000_000), 0));
        assert_eq!(of(ended(1)), (None, 0), "it failed");
        let stopped = CommandReport { start_ns: Some(1_500_000_000), ..Default::default() };
        assert_eq!(of(stopped), (None, 1));
    }

    #[test]
    fn a_command_that_fails_or_does_not_end_makes_a_run_invalid() {
        let reasons = |server, client| {
            let run = ran([server, client], 4_000_000_000).unwrap();
            run.failures(Path::new("no such folder"))
        };
        let running = CommandReport { start_ns: Some(0), ..Default::default() };
        assert_eq!(reasons(running, ended(0)), Vec::<String>::new(), "servers are stopped");
        let found = reasons(running, ended(127));
        assert!(found[0].contains("exit code 127 at 3.500 s"), "{found:?}");
        assert!(found[0].contains("--see"), "{found:?}");
        assert!(reasons(ended(1), ended(0))[0].starts_with("server: `true` ended with"));
        let gone = "ended with exit code 7 at 3.500 s, after server: `true` had ended at 3.500 s";
        assert!(reasons(ended(0), ended(7))[0].contains(gone));
        assert!(!reasons(running, ended(7))[0].contains("had ended"));
        assert!(reasons(running, running)[0].contains("had not ended at 4.000 s"));
    }

    #[test]
    fn a_run_that_ends_in_its_warm_up_is_refused() {
        let error = ran([ended(0), ended(0)], 1_000_000_000).err().unwrap();
        assert!(error.contains("warmup = \"0s\""), "{error}");
    }
}

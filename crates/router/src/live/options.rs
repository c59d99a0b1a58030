//! The user's options, and the plan derived from them. An invalid option is refused by name.

use serde::Deserialize;
use sojourn_aqm::{CustomLaws, QdiscSpec, registry, units};
use sojourn_scenario::Scenario;

use super::plan::{EndNetns, LivePlan, PathPlan};
use super::planned_paths::{PlannedPaths, Refusal, refuse};
use super::scenario::{self, Wanted};
use crate::laws::PlannedLaw;
use crate::plan::{Direction, RouterCapacity, RouterLinkPlan};

/// The longest time to spin; more would be a busy loop.
const MOST_SPIN_NS: u64 = 10_000_000;
/// The MTU that every IPv4 link supports, and the largest one that fits the length field (RFC 791
/// §3.2, §3.1).
const LEAST_MTU: u64 = 68;
const MOST_MTU: u64 = 65_535;

/// The options of `sojourn router`, as text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The path from near to far.
    pub forward: PathOptions,
    /// The path from far to near.
    pub reverse: PathOptions,
    /// The link of a scenario from near to far.
    pub link: Option<String>,
    /// The link of a scenario from far to near.
    pub reverse_link: Option<String>,
    /// The near end: `new`, `host`, or the file of a network namespace.
    pub near: Option<String>,
    /// The far end, in the same form.
    pub far: Option<String>,
    /// The duration.
    pub duration: Option<String>,
    /// How long to spin before a packet is due.
    pub spin: Option<String>,
    /// The lateness from which the run counts as stalled.
    pub stall: Option<String>,
    /// The largest packet.
    pub mtu: Option<String>,
    /// The command at the near end.
    pub command: Vec<String>,
    /// The command at the far end.
    pub far_command: Vec<String>,
    /// Whether every packet gets a row.
    pub packets: bool,
    /// Whether every drop and mark gets a row, with the AQM's state before it.
    pub signals: bool,
    /// Seed.
    pub seed: u64,
}

/// The options of one path.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PathOptions {
    /// The AQM.
    pub aqm: Option<String>,
    /// The rate.
    pub rate: Option<String>,
    /// The delay.
    pub delay: Option<String>,
    /// The limit of the queue.
    pub limit: Option<String>,
    /// Bytes of framing.
    pub framing: Option<String>,
}

/// The custom laws that AQMs may name, and those that they actually name.
struct Laws<'a> {
    known: &'a CustomLaws,
    used: Vec<PlannedLaw>,
}

impl Options {
    /// The plan derived from the options; AQMs may name laws in `known`. The paths are those of
    /// `scenario`, if there is one.
    ///
    /// # Errors
    ///
    /// The first invalid option.
    pub fn plan(
        &self,
        scenario: Option<&Scenario>,
        known: &CustomLaws,
    ) -> Result<LivePlan, Refusal> {
        let mtu_bytes = self.mtu()?;
        let duration_ns = self.duration.as_deref().map(|text| nanos("--duration", text));
        let duration_ns = duration_ns.transpose()?;
        if duration_ns == Some(0) {
            return refuse("--duration", "must be positive; leave it out for no end");
        }
        let spin_ns = nanos("--spin", self.spin.as_deref().unwrap_or("0s"))?;
        if spin_ns > MOST_SPIN_NS {
            return refuse("--spin", "is 10 ms at most");
        }
        let stall_ns = nanos("--stall", self.stall.as_deref().unwrap_or("5ms"))?;
        if stall_ns == 0 {
            return refuse("--stall", "must be positive");
        }
        let paths = match scenario {
            Some(scenario) => self.paths_of(scenario, mtu_bytes, known)?,
            None => self.paths(mtu_bytes, known)?,
        };
        let ends = [end_netns(self.near.as_deref()), end_netns(self.far.as_deref())];
        if ends[0] == ends[1] && ends[0] != EndNetns::New {
            return refuse("--far", "is the same namespace as --near; the router connects two");
        }
        let commands = [self.command.clone(), self.far_command.clone()];
        let (seed, packets, signals) = (self.seed, self.packets, self.signals);
        Ok(LivePlan {
            seed,
            duration_ns,
            paths: paths.paths,
            ends,
            commands,
            spin_ns,
            stall_ns,
            mtu_bytes,
            packets,
            signals,
            laws: paths.laws,
            remarks: paths.remarks,
        })
    }

    /// The paths of a scenario's links.
    fn paths_of(
        &self,
        scenario: &Scenario,
        mtu_bytes: u32,
        known: &CustomLaws,
    ) -> Result<PlannedPaths, Refusal> {
        self.forward.check_scenario_has("--")?;
        self.reverse.check_scenario_has("--reverse-")?;
        let wanted = Wanted {
            links: [self.link.as_deref(), self.reverse_link.as_deref()],
            aqms: [self.forward.aqm.as_deref(), self.reverse.aqm.as_deref()],
        };
        scenario::paths(scenario, &wanted, mtu_bytes, known)
    }

    /// The paths that the options describe.
    fn paths(&self, mtu_bytes: u32, known: &CustomLaws) -> Result<PlannedPaths, Refusal> {
        for (option, link) in [("--link", &self.link), ("--reverse-link", &self.reverse_link)] {
            if link.is_some() {
                return refuse(option, "names a link of a scenario; give its file first");
            }
        }
        let mut laws = Laws { known, used: Vec::new() };
        let paths = [
            self.forward.plan(0, "--", mtu_bytes, &mut laws)?,
            self.reverse.plan(1, "--reverse-", mtu_bytes, &mut laws)?,
        ];
        Ok(PlannedPaths { paths, laws: laws.used, remarks: Vec::new() })
    }

    fn mtu(&self) -> Result<u32, Refusal> {
        let text = self.mtu.as_deref().unwrap_or("1500B");
        let bytes = units::bytes(text).map_err(|message| ("--mtu".to_owned(), message))?;
        if !(LEAST_MTU..=MOST_MTU).contains(&bytes) {
            return refuse("--mtu", format!("{text} is not from {LEAST_MTU} B to {MOST_MTU} B"));
        }
        Ok(bytes as u32)
    }
}

impl PathOptions {
    /// Refuses options that the scenario's links replace.
    fn check_scenario_has(&self, prefix: &str) -> Result<(), Refusal> {
        let given = [
            ("rate", &self.rate, "rate"),
            ("delay", &self.delay, "delay"),
            ("limit", &self.limit, "buffer"),
            ("framing", &self.framing, "framing"),
        ];
        match given.iter().find(|(_, value, _)| value.is_some()) {
            None => Ok(()),
            Some((option, _, key)) => refuse(
                &format!("{prefix}{option}"),
                format!("is in the scenario; change that with --set links.NAME.{key}=..."),
            ),
        }
    }

    fn plan(
        &self,
        index: u16,
        prefix: &str,
        mtu_bytes: u32,
        laws: &mut Laws<'_>,
    ) -> Result<PathPlan, Refusal> {
        let option = |key: &str| format!("{prefix}{key}");
        let name = ["forward", "reverse"][usize::from(index)].to_owned();
        let delay_ns = nanos(&option("delay"), self.delay.as_deref().unwrap_or("0s"))?;
        let Some(rate) = &self.rate else {
            for (key, value) in
                [("aqm", &self.aqm), ("limit", &self.limit), ("framing", &self.framing)]
            {
                if value.is_some() {
                    let message =
                        format!("without a rate there is no queue; add {}", option("rate 10mbit"));
                    return refuse(&option(key), message);
                }
            }
            return Ok(PathPlan { name, link: None, delay_ns, wire: None });
        };
        let refusal = |key: &str, message: String| (option(key), message);
        let rate = units::rate(rate).map_err(|message| refusal("rate", message))?;
        let framing = self.framing.as_deref().unwrap_or("0B");
        let framing = units::bytes(framing).map_err(|message| refusal("framing", message))?;
        if framing > u64::from(mtu_bytes) {
            return refuse(&option("framing"), "is more than a whole packet");
        }
        let (queue, limit) = self.queue(prefix, laws)?;
        let link = RouterLinkPlan {
            queue,
            index,
            direction: Direction::Forward,
            limit,
            framing_bytes: framing as u32,
            mtu_bytes: mtu_bytes + framing as u32,
            service: RouterCapacity::Rates(vec![(0, rate.as_bps())]),
            duplicate: None,
            drop_list: Vec::new(),
            mark_list: Vec::new(),
            delays: Vec::new(),
        };
        Ok(PathPlan { name, link: Some(link), delay_ns, wire: None })
    }

    /// The queue with its limit, and that limit.
    fn queue(&self, prefix: &str, laws: &mut Laws<'_>) -> Result<(String, String), Refusal> {
        let aqm = self.aqm.as_deref().unwrap_or("taildrop");
        let refusal = |message: String| (format!("{prefix}aqm"), format!("{aqm}: {message}"));
        let mut spec =
            QdiscSpec::parse_with(aqm, laws.known).map_err(|error| refusal(error.message))?;
        PlannedLaw::note(&spec, &mut laws.used).map_err(refusal)?;
        if let Some(text) = &self.limit {
            let limit =
                units::limit(text).map_err(|message| (format!("{prefix}limit"), message))?;
            if !spec.set_default("limit", &limit.to_string()) {
                let message = format!("{aqm} sets its `limit` as well; remove one of the two");
                return refuse(&format!("{prefix}limit"), message);
            }
        }
        let settings = registry::settings(&spec).map_err(|error| refusal(error.message))?;
        let limit = settings.iter().find(|(name, _)| *name == "limit");
        let limit = limit.expect("every discipline has a limit").1.clone();
        Ok((spec.to_string(), limit))
    }
}

fn end_netns(text: Option<&str>) -> EndNetns {
    match text.unwrap_or("new") {
        "new" => EndNetns::New,
        "host" => EndNetns::Host,
        path => EndNetns::Join(path.to_owned()),
    }
}

fn nanos(option: &str, text: &str) -> Result<u64, Refusal> {
    units::span(text).map(|span| span.as_nanos()).map_err(|message| (option.to_owned(), message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(options: &str) -> Result<LivePlan, Refusal> {
        serde_json::from_str::<Options>(options).unwrap().plan(None, CustomLaws::NONE)
    }

    #[test]
    fn each_path_has_its_own_queue_rate_and_delay() {
        let plan = plan(
            r#"{ "forward": { "aqm": "pie@linux:target=15ms", "rate": "100mbit", "delay": "20ms",
                              "limit": "500p" },
                 "reverse": { "delay": "1ms" }, "far": "host" }"#,
        )
        .unwrap();
        let link = plan.paths[0].link.as_ref().unwrap();
        assert_eq!(link.service, RouterCapacity::Rates(vec![(0, 100_000_000)]));
        assert_eq!(link.limit, "500p");
        assert!(link.queue.starts_with("pie@linux"), "{}", link.queue);
        assert_eq!((plan.paths[0].delay_ns, plan.paths[1].delay_ns), (20_000_000, 1_000_000));
        assert_eq!((&plan.paths[1].link, &plan.ends[1]), (&None, &EndNetns::Host));
    }

    #[test]
    fn a_wrong_option_is_refused_by_its_name() {
        for (options, option) in [
            (r#"{ "forward": { "aqm": "nonsuch", "rate": "1mbit" } }"#, "--aqm"),
            (r#"{ "forward": { "aqm": "codel" } }"#, "--aqm"),
            (r#"{ "forward": { "rate": "fast" } }"#, "--rate"),
            (r#"{ "forward": { "delay": "20" } }"#, "--delay"),
            (r#"{ "reverse": { "rate": "1mbit", "limit": "ten" } }"#, "--reverse-limit"),
            (
                r#"{ "forward": { "rate": "1mbit", "aqm": "codel:limit=9p", "limit": "8p" } }"#,
                "--limit",
            ),
            (r#"{ "forward": { "rate": "1mbit", "framing": "9000B" } }"#, "--framing"),
            (r#"{ "duration": "0s" }"#, "--duration"),
            (r#"{ "spin": "1s" }"#, "--spin"),
            (r#"{ "stall": "0s" }"#, "--stall"),
            (r#"{ "mtu": "20B" }"#, "--mtu"),
            (r#"{ "near": "host", "far": "host" }"#, "--far"),
            (r#"{ "link": "bottleneck" }"#, "--link"),
        ] {
            assert_eq!(plan(options).unwrap_err().0, option, "{options}");
        }
    }

    /// The links' numbers give each queue separate random streams under one seed, as in a scenario.
    #[test]
    fn the_queues_of_both_paths_have_their_own_numbers() {
        let options = r#"{ "forward": { "rate": "1mbit" }, "reverse": { "rate": "1mbit" } }"#;
        let indices = plan(options).unwrap().paths.map(|path| path.link.unwrap().index);
        assert_eq!(indices, [0, 1]);
    }

    #[test]
    fn the_manifest_keeps_its_keys() {
        let plan = plan(r#"{ "forward": { "delay": "1ms" }, "far": "x" }"#).unwrap();
        let reverse = r#"{"name":"reverse","link":null,"delay_ns":0}"#;
        let expected = [
            r#"{"seed":0,"duration_ns":null,"#,
            r#""paths":[{"name":"forward","link":null,"delay_ns":1000000},"#,
            reverse,
            r#"],"ends":["new",{"join":"x"}],"commands":[[],[]],"spin_ns":0,"#,
            r#""stall_ns":5000000,"mtu_bytes":1500,"packets":false,"signals":false}"#,
        ];
        assert_eq!(serde_json::to_string(&plan).unwrap(), expected.concat());
    }
}

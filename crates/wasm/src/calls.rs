//! The calls that a page can make.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sojourn_aqm::{Span, Time};
use sojourn_formats::FormatError;
use sojourn_scenario::{Resolved, Scenario, ScenarioError, Source};
use sojourn_sim::SimError;
use sojourn_sim::session::Session;

use crate::page_call::{ChangedScenario, PageCall};
use crate::{catalogue, observed, setup};

/// More flows than this are refused: a page could not show them.
const MOST_FLOWS: u64 = 10_000;
/// Simulated time by which a session is stepped if no packet comes.
const STEP: Span = Span::from_secs(1);

/// The sessions of a page.
#[derive(Default)]
pub struct Calls {
    sessions: BTreeMap<usize, Open>,
    opened: usize,
}

/// A session with the scenario that it runs.
struct Open {
    session: Session,
    scenario: Scenario,
    link: usize,
}

/// An error of a call: place and message.
struct Refusal {
    place: String,
    message: String,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Refusal {
        Refusal { place: String::new(), message: message.into() }
    }
}

impl From<ScenarioError> for Refusal {
    fn from(error: ScenarioError) -> Refusal {
        Refusal { place: error.place, message: error.message }
    }
}

impl From<FormatError> for Refusal {
    fn from(error: FormatError) -> Refusal {
        Refusal { place: error.place, message: error.message }
    }
}

impl From<SimError> for Refusal {
    fn from(error: SimError) -> Refusal {
        in_scenario(error).into()
    }
}

fn in_scenario(error: SimError) -> ScenarioError {
    match error {
        SimError::Invalid { place, message } => ScenarioError::new(place, message),
        SimError::Cancelled => ScenarioError::new("", error.to_string()),
    }
}

impl Calls {
    /// Answers one call; both are JSON: `{"ok": ...}`, or `{"error": {"place", "line",
    /// "message"}}`, where the line counts from 1 and is null if the error has none.
    pub fn answer(&mut self, text: &str) -> String {
        let request = serde_json::from_str(text)
            .map_err(|error| Refusal::new(format!("the call is damaged: {error}")));
        let answer = match request.and_then(|request| self.act(request)) {
            Ok(result) => json!({ "ok": result }),
            Err(Refusal { place, message }) => {
                json!({ "error": { "line": line_of(&place), "place": place, "message": message } })
            }
        };
        answer.to_string()
    }

    fn act(&mut self, request: PageCall) -> Result<Value, Refusal> {
        match request {
            PageCall::Catalogue => Ok(catalogue::all()),
            PageCall::Check(setting) => checked(&setting),
            PageCall::Run(setting) => run(&setting),
            PageCall::Open(setting) => self.open(&setting),
            PageCall::Advance { session, until_s, events } => {
                let until = Time::ZERO + span(until_s)?;
                self.observe(session, |open| open.advance(until, events))
            }
            PageCall::StepPacket { session } => {
                self.observe(session, |open| open.advance_one_packet(open.now() + STEP))
            }
            PageCall::SetQueue { session, aqm } => self.set_queue(session, &aqm),
            PageCall::Finish { session } => self.finish(session),
            PageCall::Close { session } => {
                self.sessions.remove(&session);
                Ok(Value::Null)
            }
            PageCall::Setup(given) => Ok(setup::read(given)?),
        }
    }

    fn open(&mut self, setting: &ChangedScenario) -> Result<Value, Refusal> {
        let scenario = load(setting)?;
        let link = watched(&scenario, setting)?;
        let plan = plan(&scenario, setting)?;
        let session = Session::new(&plan, link)?;
        self.opened += 1;
        let described = observed::opened(self.opened, &session, link);
        self.sessions.insert(self.opened, Open { session, scenario, link });
        Ok(described)
    }

    fn of(&mut self, session: usize) -> Result<&mut Open, Refusal> {
        let none = || Refusal::new(format!("unknown session {session}; open one first"));
        self.sessions.get_mut(&session).ok_or_else(none)
    }

    fn observe(
        &mut self,
        session: usize,
        act: impl FnOnce(&mut Session),
    ) -> Result<Value, Refusal> {
        let open = self.of(session)?;
        act(&mut open.session);
        Ok(observed::taken(&mut open.session, open.link))
    }

    fn set_queue(&mut self, session: usize, aqm: &str) -> Result<Value, Refusal> {
        let open = self.of(session)?;
        if open.session.is_over() {
            return Err(Refusal::new("the run is over; rewind it first"));
        }
        let name = open.session.plan().links[open.link].name.clone();
        let scenario = open.scenario.with_queue(&name, aqm)?;
        let taken = observed::taken(&mut open.session, open.link);
        open.session.set_queue(open.link, &scenario.resolved().links[open.link])?;
        open.scenario = scenario;
        let vars = observed::vars(&open.session.vars(open.link));
        Ok(json!({ "before": taken, "vars": vars }))
    }

    fn finish(&mut self, session: usize) -> Result<Value, Refusal> {
        if !self.of(session)?.session.is_over() {
            return Err(Refusal::new("the run has not ended yet; advance it first"));
        }
        let open = self.sessions.remove(&session).expect("it was there");
        let run = open.session.finish();
        Ok(json!({
            "digest": digest(run.digest),
            "events": run.events,
            "packets": run.packets_handled,
            "summary": observed::summary(&run),
            "delay_cdf": observed::delay_cdf(&run, &run.queues[open.link]),
        }))
    }
}

fn digest(digest: u64) -> String {
    format!("{digest:016x}")
}

/// The line with which a place begins: `line 12: links.a.rate`.
fn line_of(place: &str) -> Option<usize> {
    let rest = place.strip_prefix("line ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn span(seconds: f64) -> Result<Span, Refusal> {
    if !(0.0..=1e9).contains(&seconds) {
        return Err(Refusal::new(format!("a time of {seconds} s; it must be from 0 to 10^9 s")));
    }
    Ok(Span::from_nanos((seconds * 1e9).round() as u64))
}

/// Reads a scenario and applies the changes of the page.
fn load(setting: &ChangedScenario) -> Result<Scenario, Refusal> {
    let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, "drop the file on the page");
    let read = |file: &str| setting.files.get(file).cloned().ok_or_else(missing);
    let check = |plan: &Resolved| match flows(plan) {
        1..=MOST_FLOWS => sojourn_sim::check(plan).map_err(in_scenario),
        count => Err(ScenarioError::new(
            "flows",
            format!("has {count} flows; the page takes 1 to {MOST_FLOWS}, the command any number"),
        )),
    };
    let mut scenario = Scenario::load_for(&setting.text, &Source::default(), &read, &check)?;
    if let Some(seed) = &setting.seed {
        let number = seed.trim().parse();
        let wrong = |_| Refusal::new(format!("seed: `{seed}` is not a whole number below 2^64"));
        scenario = scenario.with_seed(number.map_err(wrong)?);
    }
    if let Some(aqm) = &setting.aqm {
        let link = scenario.resolved().links[watched(&scenario, setting)?].name.clone();
        scenario = scenario.with_queue(&link, aqm)?;
    }
    Ok(scenario)
}

fn flows(plan: &Resolved) -> u64 {
    plan.flows.iter().map(|group| u64::from(group.count)).sum()
}

/// The watched link: the requested one, or the slowest on the path of the first flows.
fn watched(scenario: &Scenario, setting: &ChangedScenario) -> Result<usize, Refusal> {
    let plan = scenario.resolved();
    let names = || plan.links.iter().map(|link| link.name.as_str()).collect::<Vec<_>>().join(", ");
    match &setting.link {
        Some(name) => plan
            .links
            .iter()
            .position(|link| link.name == *name)
            .ok_or_else(|| Refusal::new(format!("unknown link `{name}`; known: {}", names()))),
        None => Ok(bottleneck(plan)),
    }
}

fn bottleneck(plan: &Resolved) -> usize {
    let rate = |&link: &usize| plan.links[link].capacity.initial_rate().as_bps();
    let path = plan.flows.first().map_or(&[][..], |group| &group.path);
    path.iter().copied().min_by_key(rate).unwrap_or(0)
}

/// The scenario to run, possibly shorter, or with another sample interval.
fn plan(scenario: &Scenario, setting: &ChangedScenario) -> Result<Resolved, Refusal> {
    let mut plan = scenario.resolved().clone();
    if let Some(longest_s) = setting.longest_s {
        plan.duration = plan.duration.min(span(longest_s)?);
    }
    if let Some(sample_s) = setting.sample_s {
        plan.record.sample = span(sample_s)?.max(Span::from_nanos(1));
    }
    Ok(plan)
}

fn checked(setting: &ChangedScenario) -> Result<Value, Refusal> {
    let scenario = load(setting)?;
    let link = watched(&scenario, setting)?;
    let plan = plan(&scenario, setting)?;
    let document: Value =
        serde_json::from_str(&scenario.document_json()).expect("it was written as JSON");
    Ok(observed::scenario(&plan, link, &document))
}

/// A complete run, as by `sojourn run`.
fn run(setting: &ChangedScenario) -> Result<Value, Refusal> {
    let plan = plan(&load(setting)?, setting)?;
    let run = sojourn_sim::run(&plan, &|_| true)?;
    Ok(json!({ "digest": digest(run.digest), "events": run.events }))
}

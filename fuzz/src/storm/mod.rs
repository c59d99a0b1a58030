//! Scenarios by number: the same seed and number give the same text in every process.
//!
//! [`mutants`] are legal scenarios with mistakes; [`scenarios`] are drawn at random. Each is loaded
//! and run as the command does; [`judge`] checks the result.

mod choice;
mod class_rules;
mod htb_rules;
pub mod judge;
pub mod mutants;
mod own_law;
mod packet_rules;
mod pools;
pub mod scenarios;
mod schema_keys;

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use bolero::TypeGenerator;
use sojourn_endpoint::{ConfiguredStack, Stacks};
use sojourn_endpoint_quinn::{Quinn, QuinnSettings};
use sojourn_record::Run;
use sojourn_scenario::resolved::Resolved;
use sojourn_scenario::{Format, Scenario, ScenarioError, Source};
use sojourn_sim::{Custom, MemoryNeed, SimError};

/// Scenarios that need more memory than this are not run; the command compares with free memory.
const MEMORY_BYTES: f64 = 100e6;
/// Number of progress calls after which a run is cut; 16,384 events lie between two calls.
const QUESTIONS: u32 = 6;
/// More time than any machine needs per event, and for start-up. Runs that are cut have fewer than
/// 2 million events.
const PER_EVENT: Duration = Duration::from_micros(50);
const PATIENCE: Duration = Duration::from_secs(20);
/// One input in this many is run twice and must give the same digest.
const TWICE_EVERY: u64 = 16;

/// A delivery trace for every link that names a file, and amounts for every recording.
const TRACE: &str = "1\n2\n2\n7\n";
const AMOUNTS: &str = "time,bytes\n0.0,1200\n0.25,600\n";

/// The kinds of inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Scenarios with mistakes.
    Mutants,
    /// Legal scenarios.
    Scenarios,
    /// Legal scenarios of bulk flows over minutes.
    Long,
}

impl Kind {
    /// The kind with a name.
    pub fn named(name: &str) -> Option<Kind> {
        match name {
            "mutants" => Some(Kind::Mutants),
            "scenarios" => Some(Kind::Scenarios),
            "long" => Some(Kind::Long),
            _ => None,
        }
    }

    /// The text of an input, in TOML.
    pub fn text(self, seed: u64, number: u64) -> String {
        match self {
            Kind::Mutants => mutants::text(seed, number),
            Kind::Scenarios => scenarios::text(seed, number),
            Kind::Long => scenarios::long(seed, number),
        }
    }

    /// The progress calls after which a run is cut.
    fn questions(self) -> u32 {
        match self {
            Kind::Mutants => QUESTIONS,
            Kind::Scenarios => 20 * QUESTIONS,
            Kind::Long => 500 * QUESTIONS,
        }
    }
}

/// An input of a fuzz target by its number; `None` if the random bytes do not yield one.
pub fn generated<T: TypeGenerator>(target: &str, seed: u64, number: u64) -> Option<T> {
    choice::Choice::of(target, seed, number).generated()
}

/// The outcome of an input.
#[derive(Clone, PartialEq, Debug)]
pub enum Fate {
    /// Refused with an error message.
    Refused,
    /// It would need too much memory.
    TooLarge,
    /// Cut after a number of events.
    Cut,
    /// It ran to completion.
    Ran,
    /// A problem, with the reason.
    Bad(String),
}

/// Generates an input, loads and runs it, and checks the result. A panic is bad.
pub fn meet(kind: Kind, seed: u64, number: u64) -> Fate {
    let met = catch_unwind(AssertUnwindSafe(|| {
        judged(kind, &kind.text(seed, number), number.is_multiple_of(TWICE_EVERY))
    }));
    met.unwrap_or_else(|panic| Fate::Bad(format!("panic: {}", reason(&*panic))))
}

fn reason(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
    text.unwrap_or_else(|| "without a text".to_owned())
}

fn judged(kind: Kind, text: &str, twice: bool) -> Fate {
    let plan = match load(text) {
        Ok(scenario) => scenario,
        Err(error) if error.to_string().trim().is_empty() => {
            return Fate::Bad("a refusal without a sentence".to_owned());
        }
        Err(error) if kind != Kind::Mutants => return Fate::Bad(format!("refused: {error}")),
        Err(_) => return Fate::Refused,
    };
    let plan = plan.resolved();
    let needs: Vec<MemoryNeed> = sojourn_sim::memory_needs(plan);
    if needs.iter().map(|need| need.bytes).sum::<f64>() > MEMORY_BYTES {
        return Fate::TooLarge;
    }
    let began = Instant::now();
    let made = run(plan, kind.questions());
    let (took, events) = (began.elapsed(), made.as_ref().map_or(0, |run| run.events));
    if took > PATIENCE + PER_EVENT * events.min(u64::from(u32::MAX)) as u32 {
        return Fate::Bad(format!("slow: {took:?} for {events} events"));
    }
    let run = match made {
        Ok(run) => run,
        Err(SimError::Cancelled) => return Fate::Cut,
        Err(error) => return Fate::Bad(format!("loads and does not build: {error}")),
    };
    if let Err(why) = judge::judge(plan, &run, kind == Kind::Long) {
        return Fate::Bad(why);
    }
    if twice {
        let again = self::run(plan, u32::MAX).map(|run| run.digest);
        if again != Ok(run.digest) {
            return Fate::Bad("another digest the second time".to_owned());
        }
    }
    Fate::Ran
}

/// Loads a text as the command does; every file has the content of [`TRACE`] or [`AMOUNTS`].
fn load(text: &str) -> Result<Scenario, ScenarioError> {
    let source = Source { format: Format::Toml, origin: "storm", sets: &[] };
    let read = |name: &str| match name {
        "missing" => Err(io::ErrorKind::NotFound.into()),
        name if name.ends_with(".csv") => Ok(AMOUNTS.to_owned()),
        _ => Ok(TRACE.to_owned()),
    };
    let scenario = Scenario::load_for(text, &source, &read, &|plan| {
        sojourn_sim::check(plan).map_err(|error| match error {
            SimError::Invalid { place, message } => ScenarioError::new(place, message),
            SimError::Cancelled => unreachable!("a check is not cancelled"),
        })
    })?;
    match own_law::of(text) {
        Some((link, aqm)) => scenario.with_laws([own_law::LAW.clone()])?.with_queue(link, aqm),
        None => Ok(scenario),
    }
}

/// The library of every transport.
static LIBRARY: LazyLock<Custom> = LazyLock::new(|| {
    let quinn = ConfiguredStack::new(Arc::new(Quinn::new(QuinnSettings::default())));
    Custom { stacks: Stacks::from([("quic".to_owned(), quinn)]), ..Custom::default() }
});

fn run(plan: &Resolved, questions: u32) -> Result<Run, SimError> {
    let asked = Cell::new(0);
    let has_library = plan.flows.iter().any(|group| group.app.transport().is_some());
    let custom = if has_library { LIBRARY.clone() } else { Custom::default() };
    sojourn_sim::run_with(plan, &custom, &|_| {
        asked.set(asked.get() + 1);
        asked.get() < questions
    })
}

//! Runs a scenario in the simulator.

use std::fs;
use std::sync::Arc;

use sojourn_endpoint::{ConfiguredStack, Stack};
use sojourn_measure::expectations;
use sojourn_scenario::{Format, Scenario, Source};
use sojourn_sim::{Custom, run_with};

use crate::{Report, SetupError};

/// Simulates a scenario (TOML) whose flows may have a `transport` that one of `stacks` implements.
/// Files that it names are relative to the test's working directory, the folder of its package.
///
/// ```
/// let report = sojourn_testing::run(
///     r#"
///     name = "home"
///     duration = "4s"
///     warmup = "1s"
///     [links.bottleneck]
///     rate = "10mbit"
///     queue = "fq_codel"
///     [[flows]]
///     name = "upload"
///     path = ["bottleneck"]
///     rtt = "40ms"
///     app = { kind = "bulk" }
///     "#,
///     [],
/// )?;
/// report.of("upload").assert_above("goodput", "8500kbit");
/// report.of("bottleneck").assert_below("delay_p95", "20ms");
/// # Ok::<(), sojourn_testing::SetupError>(())
/// ```
///
/// # Errors
/// [`SetupError`] if the scenario is not legal, a transport has no stack, or a stack breaks its
/// contract.
pub fn run<'a>(
    scenario: &str,
    stacks: impl IntoIterator<Item = (&'a str, Arc<dyn Stack>)>,
) -> Result<Report, SetupError> {
    let scenario = load(scenario, Format::Toml)?;
    run_loaded(&scenario, stacks)
}

/// Parses and checks a scenario.
pub(crate) fn load(text: &str, format: Format) -> Result<Scenario, SetupError> {
    let read = |file: &str| fs::read_to_string(file);
    let source = Source { format, ..Source::default() };
    Ok(Scenario::load_for(text, &source, &read, &expectations::check)?)
}

/// Simulates it.
pub(crate) fn run_loaded<'a>(
    scenario: &Scenario,
    stacks: impl IntoIterator<Item = (&'a str, Arc<dyn Stack>)>,
) -> Result<Report, SetupError> {
    let configured = |(name, stack): (&str, _)| (name.to_owned(), ConfiguredStack::new(stack));
    let stacks = stacks.into_iter().map(configured).collect();
    let custom = Custom { stacks, ..Custom::default() };
    let plan = scenario.resolved();
    let run = run_with(plan, &custom, &|_| true)?;
    let seconds = plan.duration.as_secs();
    let title = format!("{}, seed {}, {seconds} s", plan.name, plan.seed);
    Ok(Report::new(title, run.summary, run.warnings))
}

//! The shipped scenarios based on RFC 7928 load without a warning, cite their section, have a line
//! in docs/how-to/rfc7928.md, and run.

use std::fs;
use std::path::Path;

use sojourn_aqm::Span;
use sojourn_scenario::{Scenario, Source};

/// RFC 7928 §8.2.1: N = 1.147 S sqrt(r) flows give a loss ratio r, where S is the bandwidth-delay
/// product in packets.
#[test]
fn the_levels_of_congestion_have_the_flows_of_the_formula() {
    let packets = 1e7 * 0.1 / 8.0 / 1500.0;
    for (level, ratio, exact) in
        [("mild", 0.001, 3.0), ("medium", 0.005, 6.8), ("heavy", 0.01, 9.6)]
    {
        let flows = 1.147 * packets * f64::sqrt(ratio);
        assert!((flows - exact).abs() < 0.05, "{flows} for {exact}");
        let plan = shipped(&format!("{level}-congestion"));
        let count: u32 = plan.flows.iter().map(|group| group.count).sum();
        assert_eq!(f64::from(count), flows.round(), "{level}");
        let bytes = plan.links[0].capacity.initial_rate().as_bps() / 80;
        assert_eq!((bytes, plan.flows[0].rtt), (125_000, Span::from_millis(100)));
    }
}

fn shipped(name: &str) -> sojourn_scenario::Resolved {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/sojourn/scenarios/rfc7928");
    let text = fs::read_to_string(folder.join(format!("{name}.toml"))).expect("it ships");
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::load(&text, &Source::default(), &none).expect("it is valid").resolved().clone()
}

#[test]
fn every_scenario_of_rfc_7928_cites_its_section_and_runs() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/sojourn/scenarios/rfc7928");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/rfc7928.md");
    let page = fs::read_to_string(page).expect("the page ships");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the scenarios ship") {
        let file = entry.expect("a readable folder").path();
        let text = fs::read_to_string(&file).expect("a readable scenario");
        assert!(text.contains("Source: RFC 7928, section "), "{file:?}");
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let row = format!("| `{name}` | ");
        assert!(page.contains(&row), "{name} has no line in docs/how-to/rfc7928.md");
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let scenario = Scenario::load(&text, &Source::default(), &none)
            .unwrap_or_else(|error| panic!("{file:?}: {error}"));
        let mut plan = scenario.resolved().clone();
        assert_eq!(plan.name, name);
        assert_eq!(plan.warnings, [""; 0], "{file:?}");
        plan.duration = Span::from_secs(4);
        plan.warmup = Span::from_secs(1);
        let run = sojourn_sim::run(&plan, &|_| true).expect("it runs");
        assert!(run.packets_handled > 500, "{file:?}: {}", run.packets_handled);
        seen += 1;
    }
    assert_eq!(seen, 14);
}

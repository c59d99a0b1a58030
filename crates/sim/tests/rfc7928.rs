//! The scenarios after RFC 7928 that ship with Sojourn are read without a doubt, cite their section, have a
//! line in docs/rfc7928.md, and run.

use std::fs;
use std::path::Path;

use sojourn_aqm::Span;
use sojourn_scenario::{Scenario, Source};

#[test]
fn every_scenario_of_rfc_7928_cites_its_section_and_runs() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/sojourn/scenarios/rfc7928");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rfc7928.md");
    let page = fs::read_to_string(page).expect("the page ships");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the scenarios ship") {
        let file = entry.expect("a readable folder").path();
        let text = fs::read_to_string(&file).expect("a readable scenario");
        assert!(text.contains("Source: RFC 7928, section "), "{file:?}");
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        assert!(page.contains(&format!("| `{name}` | ")), "{name} has no line in docs/rfc7928.md");
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

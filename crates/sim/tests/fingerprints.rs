//! The digest of every shipped scenario stands in `testdata/fingerprints.txt`. A change of
//! behaviour must change that file on purpose: `SOJOURN_UPDATE=1 cargo test -p sojourn-sim --test
//! fingerprints`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sojourn_scenario::{Scenario, Source};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The AQMs with which every shipped scenario is run, in addition to its own.
const AQMS: [&str; 7] = ["taildrop", "red", "codel", "pie", "pi2", "madpie", "fq_codel"];

/// An invented recording, so that the template of a cellular link can run: bursts and gaps.
fn recording(_: &str) -> std::io::Result<String> {
    let mut times: Vec<u32> = (0..1_500).map(|i| 20 + 10 * (i / 3) + 17 * (i % 7)).collect();
    times.sort_unstable();
    Ok(times.iter().map(|ms| format!("{ms}\n")).collect())
}

fn digest(text: &str, aqm: Option<&str>) -> u64 {
    let source = Source::default();
    let mut scenario = Scenario::load(text, &source, &recording).expect("shipped scenarios load");
    if let Some(aqm) = aqm {
        let link = scenario.resolved().links[0].name.clone();
        scenario = scenario.with_queue(&link, aqm).expect("shipped scenarios take every AQM");
    }
    let mut plan = scenario.resolved().clone();
    plan.duration = plan.duration.min(sojourn_aqm::Span::from_secs(30));
    sojourn_sim::run(&plan, &|_| true).expect("shipped scenarios run").digest
}

#[test]
fn every_shipped_scenario_gives_the_digest_on_record() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("python/sojourn/scenarios"))
        .expect("the scenarios ship")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut found = String::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a readable scenario");
        let name = file.file_stem().expect("a file has a name").to_string_lossy();
        for aqm in [None].into_iter().chain(AQMS.map(Some)) {
            let label = aqm.unwrap_or("as-shipped");
            writeln!(found, "{name} {label} {:016x}", digest(&text, aqm)).expect("memory");
        }
    }
    compare("testdata/fingerprints.txt", &found);
}

/// Steps down, an outage, and steps up, on a link with a standing queue; `{}` is how a change of
/// rate treats the packet in service. The shipped scenario has its steps after the first 30 s.
const STEPS: &str = r#"
name = "steps"
duration = "8s"
[links.bottleneck]
rate = { kind = "schedule", in_service = "{}", steps = [
    ["0s", "20mbit"], ["2s", "2mbit"], ["3s", "30kbit"], ["4s", "0bit"], ["4500ms", "40mbit"],
    ["4501ms", "5mbit"], ["6s", "50mbit"],
] }
delay = "5ms"
buffer = "100p"
[[flows]]
count = 3
path = ["bottleneck"]
rtt = "40ms"
start = "0s..1s"
app = { kind = "bulk" }
[[flows]]
path = ["bottleneck"]
rtt = "20ms"
app = { kind = "cbr", rate = "500kbit", packet = "700B" }
"#;

#[test]
fn a_schedule_whose_steps_are_reached_gives_the_digest_on_record() {
    let mut found = String::new();
    for rule in ["new-rate", "old-rate"] {
        let text = STEPS.replace("{}", rule);
        for aqm in AQMS {
            writeln!(found, "{rule} {aqm} {:016x}", digest(&text, Some(aqm))).expect("memory");
        }
    }
    compare("testdata/fingerprints-steps.txt", &found);
}

/// Compares digests, one per line, with the recorded ones.
fn compare(file: &str, found: &str) {
    let record = root().join(file);
    if std::env::var_os("SOJOURN_UPDATE").is_some() {
        std::fs::write(&record, found).expect("a writable tree");
    }
    let expected = std::fs::read_to_string(&record).unwrap_or_default();
    for (line, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {}; see this test's first lines", line + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "scenarios came or went");
}

//! The shipped scenarios load, resolve without a warning, and match their descriptions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sojourn_aqm::{Limit, Rate, Span};
use sojourn_scenario::resolved::{App, Capacity, Sizes};
use sojourn_scenario::{Resolved, Scenario, Source};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shipped() -> Vec<(String, String)> {
    let folder = root().join("python/sojourn/scenarios");
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (name(file), fs::read_to_string(file).unwrap())).collect()
}

fn load(text: &str, origin: &str) -> Scenario {
    let source = Source { origin, ..Source::default() };
    let read = |file: &str| match file {
        "cellular.down" | "cellular.up" => Ok("0\n1\n2\n".to_owned()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    Scenario::load(text, &source, &read).unwrap_or_else(|error| panic!("{error}"))
}

fn resolved(name: &str) -> Resolved {
    let (_, text) = shipped().into_iter().find(|(n, _)| n == name).unwrap();
    load(&text, name).resolved().clone()
}

#[test]
fn every_shipped_scenario_resolves_without_warnings() {
    let shipped = shipped();
    assert!(shipped.len() >= 8);
    for (name, text) in shipped {
        let scenario = load(&text, &name);
        assert_eq!(scenario.resolved().name, name, "the file is named like the scenario");
        assert_eq!(scenario.resolved().warnings, [""; 0], "{name}");
        assert!(text.starts_with("# "), "{name}: the first line says what it shows");
    }
}

/// Arithmetic: rate times RTT.
#[test]
fn a_buffer_of_1bdp_is_rate_times_rtt() {
    for (rtt_ms, bytes, packets) in [(100, 125_000, 120), (300, 375_000, 361), (500, 625_000, 601)]
    {
        let text = format!(
            "name = \"bdp\"\nduration = \"1s\"\n[links.b]\nrate = \"10mbit\"\ndelay = \"10ms\"\n\
             buffer = \"1bdp\"\nqueue = \"taildrop\"\n[[flows]]\npath = [\"b\"]\n\
             rtt = \"{rtt_ms}ms\"\ncc = \"reno\"\napp = {{ kind = \"bulk\" }}\n"
        );
        let plan = load(&text, "bdp").resolved().clone();
        assert_eq!(plan.links[0].limit, Limit::Bytes(bytes));
        assert_eq!((f64::from(bytes as u32) / 1040.0).round(), f64::from(packets));
    }
}

/// Fact scenario-7.
#[test]
fn the_traffic_mix_is_that_of_the_madpie_paper() {
    let mix = resolved("traffic-mix");
    assert_eq!(mix.links[0].limit, Limit::Bytes(375_000));
    assert_eq!(mix.flows.iter().map(|flow| flow.count).sum::<u32>(), 34);
    for flow in &mix.flows {
        // snd -(1 ms)- R1 -(148 ms)- R2 -(1 ms)- dest
        assert_eq!(flow.access_delay, Span::from_millis(1));
        assert_eq!(flow.egress_delay, Span::from_millis(1));
        assert_eq!(flow.return_delay, Span::from_millis(150));
        assert_eq!(flow.access_rate, Rate::from_bps(100_000_000));
    }
    let App::Files { sizes, tcp, .. } = &mix.flows[2].app else { panic!() };
    assert_eq!(sizes, &Sizes::List(vec![15_000, 44_000, 73_000, 102_000]));
    assert_eq!(
        (tcp.payload_bytes, tcp.profile.as_str(), tcp.initial_window),
        (1448, "linux", None)
    );
}

#[test]
fn two_way_flows_share_both_queues() {
    let two_way = resolved("two-way");
    assert_eq!(two_way.flows[0].path, two_way.flows[1].reverse);
    assert_eq!(two_way.flows[1].path, two_way.flows[0].reverse);
    for flow in &two_way.flows {
        let quarters = [flow.access_delay, flow.egress_delay, flow.return_delay];
        assert_eq!(quarters, [Span::from_millis(5); 3]);
        assert_eq!(flow.return_egress_delay, Span::from_millis(5));
    }
}

#[test]
fn rate_steps_change_the_rate() {
    let Capacity::Schedule(schedule) = &resolved("rate-steps").links[0].capacity.clone() else {
        panic!()
    };
    let mbit: Vec<u64> = schedule.rates().map(|rate| rate.as_bps() / 1_000_000).collect();
    assert_eq!(mbit, [100, 20, 100]);
}

/// Recorded traces, if this machine has them; they are too large to ship.
#[test]
fn recorded_traces_load() {
    let folder = root().join("../shared/data/traces");
    let Ok(entries) = fs::read_dir(&folder) else { return };
    let (_, text) = shipped().into_iter().find(|(name, _)| name == "cellular").unwrap();
    for entry in entries {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let sets = [("links.cell.rate.file".to_owned(), file.clone())];
        let source = Source { sets: &sets, ..Source::default() };
        let read = |name: &str| fs::read_to_string(folder.join(name));
        let scenario = Scenario::load(&text, &source, &read).unwrap();
        let rate = scenario.resolved().links[0].capacity.initial_rate().as_bps();
        assert!((500_000..50_000_000).contains(&rate), "{file}: {rate} bit/s");
        assert!(scenario.resolved_json().contains("sha256"));
    }
}

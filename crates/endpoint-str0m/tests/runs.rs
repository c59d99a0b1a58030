//! str0m in the simulator.

use std::sync::Arc;

use sojourn_aqm::Time;
use sojourn_endpoint::{ConfiguredStack, Datagram, HostSettings, Peer, Stack};
use sojourn_endpoint_check::examine;
use sojourn_endpoint_str0m::{Str0m, Str0mSettings, VERSION};
use sojourn_record::Run;
use sojourn_scenario::{Scenario, Source};
use sojourn_sim::{Custom, SimError, run_with};

/// A call over 3 Mbit/s and 60 ms; the best quality needs 5 Mbit/s.
fn scenario(link: &str, seconds: u32, more: &str) -> String {
    format!(
        "name = 'call'\nduration = '{seconds}s'\nwarmup = '10s'\n\
         [links.bottleneck]\nrate = '3mbit'\ndelay = '20ms'\n{link}\n\
         [[flows]]\nname = 'call'\npath = ['bottleneck']\nrtt = '60ms'\n\
         transport = 'call'\n{more}\n\
         app = {{ kind = 'video', frames = ['20625B'], interval = '33ms' }}\n"
    )
}

fn configured(share: &str) -> ConfiguredStack {
    let settings = Str0mSettings::parse([("share", share)]).expect("it is a share");
    ConfiguredStack::new(Arc::new(Str0m::new(settings)))
}

fn try_run(text: &str, share: &str) -> Result<Run, SimError> {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(text, &Source::default(), &none).expect("the scenario is legal");
    let stacks = [("call".to_owned(), configured(share))].into();
    run_with(loaded.resolved(), &Custom { stacks, ..Custom::default() }, &|_| true)
}

fn run(text: &str, share: &str) -> Run {
    try_run(text, share).expect("the run is complete")
}

fn value(run: &Run, name: &str, metric: &str) -> f64 {
    let row = run.summary.iter().find(|row| row.name == name && row.metric == metric);
    row.unwrap_or_else(|| panic!("{name} has no {metric}")).value
}

const TAILDROP: &str = "queue = 'taildrop'";

#[test]
fn a_call_uses_most_of_the_link_and_shows_its_frames() {
    let run = run(&scenario(TAILDROP, 30, ""), "0.7");
    let goodput = value(&run, "call", "goodput");
    assert!((1.5e6..3e6).contains(&goodput), "{goodput}");
    assert!(value(&run, "call", "frames_skipped") < 0.02);
    assert!(value(&run, "call", "frame_delay_p50") < 0.3);
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
}

#[test]
fn a_call_that_sends_its_whole_estimate_fills_a_deep_buffer() {
    let text = scenario(TAILDROP, 30, "");
    let delays = ["0.7", "1"].map(|share| value(&run(&text, share), "bottleneck", "delay_p95"));
    assert!(delays[1] > 2.0 * delays[0], "{delays:?}");
}

#[test]
fn the_estimate_is_a_variable_of_the_flow_and_the_media_its_share() {
    let text = scenario(TAILDROP, 30, "") + "[record]\nflows = true\nsample = '1s'\n";
    let run = run(&text, "0.7");
    let rows = run.flow_states.iter().filter(|row| row.var == "estimate");
    let late: Vec<f64> =
        rows.filter(|row| row.t >= Time::from_nanos(10_000_000_000)).map(|row| row.value).collect();
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    let share = value(&run, "call", "goodput") / mean;
    assert!(late.len() >= 20 && (0.55..0.85).contains(&share), "{} {share}", late.len());
}

/// ICE needs a check of each end, 30 ms each way.
#[test]
fn the_connection_is_there_after_a_few_round_trips() {
    let run = run(&scenario(TAILDROP, 12, "start = '10500ms'"), "0.7");
    let seconds = value(&run, "call", "handshake_mean");
    assert!((0.06..0.5).contains(&seconds), "{seconds}");
}

#[test]
fn lost_packets_are_sent_again() {
    let lossy = format!("{TAILDROP}\nloss = {{ kind = 'bernoulli', rate = 0.02 }}");
    let run = run(&scenario(&lossy, 30, ""), "0.7");
    assert!(value(&run, "call", "frames_skipped") < 0.1);
}

#[test]
fn one_seed_gives_one_digest_and_each_share_its_own() {
    let text = scenario("queue = 'codel'", 12, "count = 2");
    let digests = ["0.7", "0.85", "1"].map(|share| run(&text, share).digest);
    assert_eq!(run(&text, "0.7").digest, digests[0]);
    assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
}

#[test]
fn bulk_data_and_queues_for_l4s_are_refused() {
    let bulk = scenario(TAILDROP, 12, "").replace("kind = 'video'", "kind = 'bulk'");
    let bulk = bulk.replace(", frames = ['20625B'], interval = '33ms'", "");
    let message = try_run(&bulk, "1").expect_err("it has no streams").to_string();
    assert!(
        message.contains("carries kind `video`, and flows[0].app has kind `bulk`"),
        "{message}"
    );
    let l4s = scenario("queue = 'dualpi2'", 12, "");
    let message = try_run(&l4s, "1").expect_err("it has no ECN").to_string();
    assert!(message.contains("has no ECN, and links.bottleneck is an L4S queue"), "{message}");
}

#[test]
fn the_description_names_the_version_that_is_locked() {
    let described = Str0m::default().describe();
    assert_eq!(described, "str0m 0.25.0 unencrypted, adapter 1: share=0.85, wait=500ms");
    let lock = include_str!("../../../Cargo.lock");
    assert!(lock.contains(&format!("name = \"str0m\"\nversion = \"{VERSION}\"")));
}

#[test]
fn it_keeps_every_promise() {
    let findings = examine(&configured("0.85"));
    assert!(findings.iter().all(|it| it.held != Some(false)), "{findings:#?}");
    assert_eq!(findings.len(), 6);
}

#[test]
fn a_path_without_room_for_its_packets_is_refused() {
    let host = HostSettings { role: Peer::Client, seed: [1; 32], mtu: 1279 };
    let refused = Str0m::default().open(host, Time::ZERO).err().expect("it is refused");
    assert_eq!(refused, "str0m needs a path for packets of 1280 bytes, not 1279");
}

#[test]
fn what_is_no_datagram_of_webrtc_is_ignored() {
    let host = HostSettings { role: Peer::Server, seed: [1; 32], mtu: 1500 };
    let mut end = Str0m::default().open(host, Time::ZERO).expect("it can be opened");
    assert_eq!(end.deadline(), Time::NEVER, "it waits for the client");
    end.input(Time::ZERO, Datagram { ecn: sojourn_aqm::Ecn::NotEct, bytes: &[255; 40] });
    assert_eq!((end.event(), end.failure()), (None, None));
}

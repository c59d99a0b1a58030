//! quinn in the simulator.

use std::process::Command;
use std::sync::Arc;

use sojourn_endpoint::{ConfiguredStack, Stack};
use sojourn_endpoint_quinn::{Quinn, QuinnSettings, VERSION};
use sojourn_record::Run;
use sojourn_scenario::{Scenario, Source};
use sojourn_sim::{Custom, run_with};

/// A bottleneck of 10 Mbit/s and 40 ms.
fn scenario(queue: &str, seconds: u32, more: &str) -> String {
    format!(
        "name = 'quic'\nduration = '{seconds}s'\nwarmup = '1s'\n\
         [links.bottleneck]\nrate = '10mbit'\ndelay = '10ms'\nqueue = '{queue}'\n\
         [[flows]]\nname = 'download'\npath = ['bottleneck']\nrtt = '40ms'\n\
         transport = 'quic'\n{more}\n"
    )
}

fn run(text: &str, cc: &str) -> Run {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(text, &Source::default(), &none).expect("the scenario is legal");
    let quinn = Quinn::new(QuinnSettings::parse([("cc", cc)]).expect("quinn has the control"));
    let stacks = [("quic".to_owned(), ConfiguredStack::new(Arc::new(quinn)))].into();
    let custom = Custom { stacks, ..Custom::default() };
    run_with(loaded.resolved(), &custom, &|_| true).expect("the run is complete")
}

fn value(run: &Run, name: &str, metric: &str) -> f64 {
    let row = run.summary.iter().find(|row| row.name == name && row.metric == metric);
    row.unwrap_or_else(|| panic!("{name} has no {metric}")).value
}

const BULK: &str = "app = { kind = 'bulk' }";

/// Of 1,480 bytes on the link 1,452 are payload of UDP, of which headers, tag and frame of QUIC
/// take some 25 to 45.
#[test]
fn a_bulk_download_fills_the_link_less_the_headers() {
    let run = run(&scenario("taildrop", 4, BULK), "cubic");
    let share = value(&run, "download", "goodput") / 10e6;
    assert!((0.94..0.97).contains(&share), "{share}");
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
}

#[test]
fn marks_reach_it_where_its_hosts_pass_the_ecn_field_on() {
    let with_ecn = format!("ecn = true\n{BULK}");
    let run = run(&scenario("codel:ecn=true", 4, &with_ecn), "cubic");
    assert!(value(&run, "bottleneck", "mark_rate") > 0.0);
    assert_eq!(value(&run, "bottleneck", "drop_rate"), 0.0);
    assert!(value(&run, "bottleneck", "utilisation") > 0.8);
}

/// A round trip of 40 ms, and 1,200 to 3,600 bytes in the larger direction at 10 Mbit/s.
#[test]
fn the_handshake_takes_a_round_trip_if_it_began_after_the_warm_up() {
    let late = run(&scenario("taildrop", 4, &format!("start = '1500ms'\n{BULK}")), "cubic");
    let seconds = value(&late, "download", "handshake_mean");
    assert!((0.040..0.045).contains(&seconds), "{seconds}");
    let early = run(&scenario("taildrop", 4, BULK), "cubic");
    assert!(!early.summary.iter().any(|row| row.metric.starts_with("handshake")));
}

/// One round trip for the handshake, one for request and first data; slow start from 14,720 bytes
/// takes three more for 100 kB.
#[test]
fn a_transfer_with_an_end_is_complete() {
    let limited = "app = { kind = 'bulk', bytes = '100kB' }\nstart = '1s'";
    let run = run(&scenario("taildrop", 4, limited), "newreno");
    let [transfer] = &run.transfers[..] else { panic!("{:?}", run.transfers) };
    assert_eq!(transfer.bytes, 100_000);
    let seconds = transfer.completion.as_secs();
    assert!((0.2..0.3).contains(&seconds), "{seconds}");
}

#[test]
fn the_description_names_the_version_that_is_locked() {
    let described = Quinn::new(QuinnSettings::default()).describe();
    let expected = "quinn-proto 0.11.19 rustls-ring, adapter 1: cc=cubic, receive_window=1250000B";
    assert_eq!(described, expected);
    let lock = include_str!("../../../Cargo.lock");
    assert!(lock.contains(&format!("name = \"quinn-proto\"\nversion = \"{VERSION}\"")));
}

/// The digests of CUBIC and NewReno under CoDel, printed for another process.
const DIGESTS: &str = "SOJOURN_TEST_PRINTS_DIGESTS";

fn digests() -> String {
    let text = scenario("codel", 3, &format!("count = 2\n{BULK}"));
    ["cubic", "newreno"].map(|cc| format!("{:x?}", run(&text, cc).digest)).join(" ")
}

/// Every process has other random numbers of the system, from which TLS draws its keys.
#[test]
fn processes_with_different_entropy_give_one_digest() {
    if std::env::var_os(DIGESTS).is_some() {
        println!("digests: {}.", digests());
        return;
    }
    let own = format!("digests: {}.", digests());
    let test = "processes_with_different_entropy_give_one_digest";
    let other = Command::new(std::env::current_exe().expect("a test is a program"))
        .args([test, "--exact", "--nocapture"])
        .env(DIGESTS, "1")
        .output()
        .expect("a test can be run");
    let printed = String::from_utf8_lossy(&other.stdout);
    assert!(printed.contains(&own), "{own} is not in {printed}");
}

//! smoltcp in the simulator.

use std::sync::Arc;

use sojourn_aqm::{Ecn, Time};
use sojourn_endpoint::{ConfiguredStack, Datagram, HostSettings, Peer, Stack};
use sojourn_endpoint_check::examine;
use sojourn_endpoint_smoltcp::{Smoltcp, SmoltcpSettings, VERSION};
use sojourn_record::Run;
use sojourn_scenario::{Scenario, Source};
use sojourn_sim::{Custom, run_with};

/// A bottleneck of 10 Mbit/s and 40 ms.
fn scenario(link: &str, seconds: u32, more: &str) -> String {
    format!(
        "name = 'tcp'\nduration = '{seconds}s'\nwarmup = '1s'\n\
         [links.bottleneck]\nrate = '10mbit'\ndelay = '10ms'\n{link}\n\
         [[flows]]\nname = 'download'\npath = ['bottleneck']\nrtt = '40ms'\n\
         transport = 'tcp'\n{more}\n"
    )
}

fn configured(cc: &str) -> ConfiguredStack {
    let settings = SmoltcpSettings::parse([("cc", cc)]).expect("smoltcp has the control");
    ConfiguredStack::new(Arc::new(Smoltcp::new(settings)))
}

fn run(text: &str, cc: &str) -> Run {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(text, &Source::default(), &none).expect("the scenario is legal");
    let stacks = [("tcp".to_owned(), configured(cc))].into();
    let custom = Custom { stacks, ..Custom::default() };
    run_with(loaded.resolved(), &custom, &|_| true).expect("the run is complete")
}

fn value(run: &Run, name: &str, metric: &str) -> f64 {
    let row = run.summary.iter().find(|row| row.name == name && row.metric == metric);
    row.unwrap_or_else(|| panic!("{name} has no {metric}")).value
}

const BULK: &str = "app = { kind = 'bulk' }";
const TAILDROP: &str = "queue = 'taildrop'";

/// Of 1,500 bytes 40 are headers of IPv4 and TCP without options.
#[test]
fn a_bulk_download_fills_the_link_less_the_headers() {
    let run = run(&scenario(TAILDROP, 5, BULK), "cubic");
    let share = value(&run, "download", "goodput") / 10e6;
    assert!((0.960..=1460.0 / 1500.0 + 1e-3).contains(&share), "{share}");
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
}

/// One round trip of 40 ms; SYN and SYN-ACK are 44 to 48 bytes.
#[test]
fn the_handshake_takes_a_round_trip() {
    let run = run(&scenario(TAILDROP, 3, &format!("start = '1500ms'\n{BULK}")), "cubic");
    let seconds = value(&run, "download", "handshake_mean");
    assert!((0.0400..0.0402).contains(&seconds), "{seconds}");
}

#[test]
fn a_transfer_over_a_bad_link_is_complete() {
    let lossy = format!("{TAILDROP}\nloss = {{ kind = 'bernoulli', rate = 0.05 }}");
    let limited = "app = { kind = 'bulk', bytes = '300kB' }\nstart = '1s'";
    for cc in ["cubic", "reno", "none"] {
        let run = run(&scenario(&lossy, 60, limited), cc);
        let [transfer] = &run.transfers[..] else { panic!("{cc}: {:?}", run.transfers) };
        assert_eq!(transfer.bytes, 300_000);
    }
}

#[test]
fn one_seed_gives_one_digest_and_each_control_its_own() {
    let text = scenario("queue = 'codel'", 3, &format!("count = 2\n{BULK}"));
    let digests = ["cubic", "reno", "none"].map(|cc| run(&text, cc).digest);
    assert_eq!(run(&text, "cubic").digest, digests[0]);
    assert!(digests[0] != digests[1] && digests[1] != digests[2] && digests[0] != digests[2]);
}

#[test]
fn the_description_names_the_version_that_is_locked() {
    let described = Smoltcp::default().describe();
    assert_eq!(described, "smoltcp 0.14.0 assembler-32, adapter 1: cc=cubic, buffer=1000000B");
    let lock = include_str!("../../../Cargo.lock");
    assert!(lock.contains(&format!("name = \"smoltcp\"\nversion = \"{VERSION}\"")));
}

#[test]
fn it_keeps_every_promise() {
    let findings = examine(&configured("cubic"));
    assert!(findings.iter().all(|it| it.held != Some(false)), "{findings:#?}");
    assert_eq!(findings.len(), 8);
}

#[test]
fn a_path_without_room_for_its_packets_is_refused() {
    let host = HostSettings { role: Peer::Client, seed: [1; 32], mtu: 575 };
    let refused = Smoltcp::default().open(host, Time::ZERO).err().expect("it is refused");
    assert_eq!(refused, "smoltcp sends packets of 576 to 65535 bytes, not 575");
}

/// The host requests output after every call, then when a timer is due: never twice at one instant.
#[test]
fn a_deadline_lies_ahead_once_all_has_been_sent() {
    let host = HostSettings { role: Peer::Client, seed: [1; 32], mtu: 1500 };
    let mut end = Smoltcp::default().open(host, Time::ZERO).expect("it can be opened");
    let now = Time::from_nanos(1_999);
    end.connect(now);
    let mut packet = Vec::new();
    let sent = end.output(now, &mut packet).expect("a SYN");
    assert_eq!((sent.ecn, packet[0] >> 4, packet[9]), (Ecn::NotEct, 4, 6));
    assert!(end.output(now, &mut Vec::new()).is_none());
    // RFC 6298 §2.1: the first timeout is 1 s.
    let due = end.deadline();
    assert_eq!(due, Time::from_nanos(1_000_001_000));
    end.input(due, Datagram { ecn: Ecn::NotEct, bytes: &[0x45; 8] });
    assert!(end.event().is_none(), "a truncated packet changes nothing");
}

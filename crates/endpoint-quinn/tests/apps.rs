//! Applications over quinn: the streams of one connection, and datagrams.

use std::sync::Arc;

use sojourn_endpoint::ConfiguredStack;
use sojourn_endpoint_quinn::{Quinn, QuinnSettings};
use sojourn_record::Run;
use sojourn_scenario::{Scenario, Source};
use sojourn_sim::{Custom, run_with};

/// A bottleneck of 10 Mbit/s and 40 ms.
fn run(seconds: u32, more: &str) -> Run {
    let text = format!(
        "name = 'apps'\nduration = '{seconds}s'\nwarmup = '0s'\n\
         [links.bottleneck]\nrate = '10mbit'\ndelay = '10ms'\nqueue = 'taildrop'\n\
         [[flows]]\nname = 'user'\npath = ['bottleneck']\nrtt = '40ms'\n\
         transport = 'quic'\n{more}\n"
    );
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Scenario::load(&text, &Source::default(), &none).expect("the scenario is legal");
    let stack = ConfiguredStack::new(Arc::new(Quinn::new(QuinnSettings::default())));
    let custom = Custom { stacks: [("quic".to_owned(), stack)].into(), ..Custom::default() };
    run_with(loaded.resolved(), &custom, &|_| true).expect("the run is complete")
}

fn value(run: &Run, metric: &str) -> f64 {
    let row = run.summary.iter().find(|row| row.name == "user" && row.metric == metric);
    row.unwrap_or_else(|| panic!("no {metric}")).value
}

/// A page of 8 objects over one connection: a round trip of 40 ms each for the handshake and the
/// main object, and two for the other objects, which are requested at once: 20 kB are more than the
/// initial window of 14,720 B (RFC 9002 §7.2).
#[test]
fn the_objects_of_a_page_are_streams_of_one_connection() {
    let app = "app = { kind = 'web', main = ['2kB'], object = ['2.5kB'], objects = 8, \
               parsing = '0s', reading = '100s' }";
    let run = run(2, app);
    let [page] = &run.transfers[..] else { panic!("{:?}", run.transfers) };
    assert_eq!(page.bytes, 22_000);
    let seconds = page.completion.as_secs();
    assert!((0.16..0.18).contains(&seconds), "{seconds}");
    assert_eq!(run.streams.iter().map(|row| row.stream).max(), Some(8));
    assert!(run.streams.iter().all(|row| row.is_complete && row.bytes >= 2_000));
}

/// quinn ends a connection after 30 s without a packet, and a file needs another one then.
#[test]
fn a_file_after_the_idle_timeout_uses_another_connection() {
    let run = run(300, "app = { kind = 'files', sizes = ['10kB'], think = '40s' }");
    assert!(run.warnings.is_empty(), "{:?}", run.warnings);
    let files = run.transfers.len();
    assert!((4..12).contains(&files), "{files}");
    assert_eq!(run.streams.len(), files);
    let slow = run.transfers.iter().filter(|row| row.completion.as_secs() > 0.07).count();
    assert!(slow >= 2 && slow < files, "{slow} of {files} wait for a handshake");
}

#[test]
fn a_stream_without_an_end_has_its_goodput_so_far() {
    let run = run(3, "app = { kind = 'bulk' }");
    let [row] = &run.streams[..] else { panic!("{:?}", run.streams) };
    assert!(!row.is_complete && row.bytes > 3_000_000);
    assert_eq!(row.duration.as_secs(), 3.0);
}

/// G.711 over an idle path: one-way 20 ms of propagation, no loss.
#[test]
fn frames_of_voice_are_datagrams_and_are_rated() {
    let run = run(5, "app = { kind = 'voice', codec = 'g711' }");
    assert_eq!(value(&run, "loss_rate"), 0.0);
    let delay = value(&run, "owd_p50");
    assert!((0.020..0.022).contains(&delay), "{delay}");
    assert!(value(&run, "voice_mos") > 4.3);
    let goodput = value(&run, "goodput");
    assert!((goodput / (172.0 * 8.0 * 50.0) - 1.0).abs() < 0.02, "{goodput}");
}

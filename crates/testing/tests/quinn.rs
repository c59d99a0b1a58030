//! quinn-proto behind a bottleneck.

use sojourn_endpoint_quinn::{Quinn, QuinnSettings};
use sojourn_testing::{Bottleneck, Report};

fn quinn(control: &str) -> Quinn {
    Quinn::new(QuinnSettings::parse([("cc", control)]).expect("quinn has this control"))
}

fn download(queue: &str) -> Report {
    let home = Bottleneck::new("10mbit").delay("20ms").queue(queue).buffer("200p").warmup("1s");
    home.download(quinn("cubic"), "3s").unwrap()
}

#[test]
fn codel_keeps_the_queue_short_and_the_link_busy() {
    let report = download("codel");
    report.assert_below("delay_p50", "15ms");
    report.assert_above("goodput", "8500kbit");
}

#[test]
fn without_it_the_queue_fills() {
    let report = download("taildrop");
    report.assert_above("delay_p50", "50ms");
    report.assert_above("goodput", "9mbit");
}

#[test]
#[should_panic(expected = "expected below 15ms")]
fn a_doubled_target_is_found() {
    download("codel:target=30ms").assert_below("delay_p50", "15ms");
}

#[test]
fn marks_reach_it() {
    let home = Bottleneck::new("10mbit").delay("20ms").queue("codel:ecn=true").ecn(true);
    let report = home.flows(2).download(quinn("newreno"), "3s").unwrap();
    report.assert_above("mark_rate", "0.1%");
    report.assert_below("drop_rate", "0.0001%");
}

#[test]
fn a_wrong_setting_is_an_error_with_its_place() {
    let download = |home: Bottleneck| home.download(quinn("cubic"), "3s").unwrap_err().to_string();
    let error = download(Bottleneck::new("10mbit").queue("codel:target=0s"));
    assert!(error.contains("links.bottleneck.queue"), "{error}");
    let error = download(Bottleneck::new("fast"));
    assert!(error.contains("links.bottleneck.rate"), "{error}");
    let error = download(Bottleneck::new("10mbit").delay("soon"));
    assert!(error.contains("links.bottleneck.delay"), "{error}");
}

//! smoltcp's TCP behind a bottleneck.

use sojourn_endpoint_smoltcp::{Smoltcp, SmoltcpSettings};
use sojourn_testing::{Bottleneck, Report};

fn download(control: &str, home: Bottleneck) -> Report {
    let settings = SmoltcpSettings::parse([("cc", control)]).expect("smoltcp has this control");
    home.delay("20ms").warmup("1s").download(Smoltcp::new(settings), "6s").unwrap()
}

#[test]
fn reno_behind_codel_keeps_most_of_the_link() {
    let report = download("reno", Bottleneck::new("10mbit").queue("codel"));
    report.assert_below("delay_p50", "15ms");
    report.assert_above("goodput", "6mbit");
}

#[test]
fn without_a_congestion_control_codel_drops_in_vain() {
    let report = download("none", Bottleneck::new("10mbit").queue("codel"));
    report.assert_above("delay_p50", "100ms");
}

#[test]
fn it_refuses_to_be_marked() {
    let home = Bottleneck::new("10mbit").queue("codel:ecn=true").ecn(true);
    let error = home.download(Smoltcp::default(), "1s").unwrap_err().to_string();
    assert!(error.contains("has no ECN"), "{error}");
}

//! Links that copy packets: a copy takes its share of the link and counts once at its receiver.

use sojourn_aqm::Ecn;
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{App, Duplicate, FlowGroup, Loss, Resolved};

use crate::common::*;

/// 2 Mbit/s in packets of 1000 B, or another group, over a link that copies packets.
fn plan(rate: f64, flow: FlowGroup) -> Resolved {
    let mut copying = link("b", "taildrop", 125_000);
    copying.duplicate = Some(Duplicate { rate, correlation: 0.0 });
    scenario(20, vec![copying], vec![flow])
}

fn datagrams() -> FlowGroup {
    cbr("d", 1, mbit(2), 1_000)
}

fn of_flow(run: &Run, name: &str) -> f64 {
    metric(run, Scope::Class, "d", name)
}

#[test]
fn a_datagram_and_its_copy_count_once_at_the_receiver() {
    let (copied, plain) = (run(&plan(0.25, datagrams())), run(&plan(0.0, datagrams())));
    let sent = |run: &Run| metric(run, Scope::Queue, "b", "sent");
    // For 5000 packets, four standard errors are 0.025.
    assert!((sent(&copied) / sent(&plain) - 1.25).abs() < 0.025);
    for name in ["goodput", "loss_rate"] {
        let [copied, plain] = [&copied, &plain].map(|run| of_flow(run, name));
        assert!((copied - plain).abs() <= 1e-6 * plain, "{name}: {copied}, {plain}");
    }
    assert_eq!(copied.digest, run(&plan(0.25, datagrams())).digest);
}

#[test]
fn a_datagram_is_lost_with_its_last_copy() {
    let mut plan = plan(1.0, datagrams());
    plan.links[0].loss = Some(Loss::Bernoulli(0.3));
    let run = run(&plan);
    assert!((metric(&run, Scope::Queue, "b", "wire_loss_rate") - 0.3).abs() < 0.02);
    // Both packets are lost with probability 0.09.
    let lost = of_flow(&run, "loss_rate");
    assert!((lost - 0.09).abs() < 0.017, "{lost}");
}

#[test]
fn a_queue_that_drops_the_copy_loses_no_datagram() {
    let mut plan = plan(1.0, cbr("d", 1, mbit(8), 1_000));
    plan.duration = ms(5_000);
    let run = run(&plan);
    assert!(metric(&run, Scope::Queue, "b", "drop_rate") > 0.3);
    // Twice 8 Mbit/s on 10 Mbit/s: while the queue is full, one of most pairs is dropped.
    let lost = of_flow(&run, "loss_rate");
    assert!(lost < 0.15, "{lost}");
}

#[test]
fn an_echo_that_is_copied_on_the_way_returns_once() {
    let echo = App::Echo { packet_bytes: 100, ecn: Ecn::NotEct, interval: ms(10) };
    let [copied, plain] = [0.5, 0.0].map(|rate| run(&plan(rate, group("d", 1, echo.clone()))));
    assert_eq!(of_flow(&copied, "loss_rate"), 0.0);
    assert_eq!(of_flow(&copied, "goodput"), of_flow(&plain, "goodput"));
}

#[test]
fn tcp_takes_copies_for_duplicates() {
    let bulk = |rate| {
        let mut plan = plan(rate, FlowGroup { class: "d".into(), ..bulk(1, "cubic") });
        plan.record.flows = true;
        run(&plan)
    };
    let (copied, plain) = (bulk(0.02), bulk(0.0));
    let goodput = of_flow(&copied, "goodput") / of_flow(&plain, "goodput");
    assert!((0.9..1.0).contains(&goodput), "{goodput}");
    // A copy of a segment is answered by a DSACK (RFC 2883), which repairs nothing: only what the
    // queue drops is sent again.
    let again = copied.flow_samples.last().expect("samples").retransmitted_bytes / 1_448;
    let queue = |name| metric(&copied, Scope::Queue, "b", name);
    let dropped = queue("arrived") * queue("drop_rate");
    assert!(again as f64 <= dropped + 10.0, "{again}, {dropped}");
}

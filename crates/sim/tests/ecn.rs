//! ECN negotiation and feedback in whole simulations: fallbacks, paths that clear the ECN field,
//! and accurate feedback without its option.

use sojourn_aqm::{Rate, Span};
use sojourn_record::Run;
use sojourn_record::rows::Scope;
use sojourn_scenario::resolved::{
    AccEcnOption, App, Capacity, Ecn, FlowGroup, Loss, ReceiverEcn, Resolved,
};

use crate::common::*;

const ACCURATE: f64 = 2.0;
const CLASSIC: f64 = 1.0;
const NONE: f64 = 0.0;

fn flows(count: u32, cc: &str, ecn: Ecn) -> FlowGroup {
    let mut tcp = tcp(cc);
    tcp.ecn = Some(ecn);
    group("flows", count, App::Bulk { tcp, bytes: None })
}

/// Half a minute over 10 Mbit/s and 100 ms under CoDel, which marks.
fn under_codel(flows: FlowGroup) -> Resolved {
    let mut plan = scenario(30, vec![link("b", "codel:ecn=true", 1_000_000)], vec![flows]);
    plan.record.flows = true;
    plan
}

/// The last sample of a variable, by flow.
fn last(run: &Run, var: &str) -> Vec<f64> {
    let end = run.flow_states.iter().map(|row| row.t).max().expect("flows are sampled");
    let at_end = run.flow_states.iter().filter(|row| row.t == end && row.var == var);
    at_end.map(|row| row.value).collect()
}

fn marked(run: &Run) -> f64 {
    metric(run, Scope::Queue, "b", "mark_rate")
}

#[test]
fn both_ends_agree_on_the_highest_mode_that_both_support() {
    let mode = |cc: &str, ecn: Ecn| {
        let run = run(&under_codel(flows(1, cc, ecn)));
        (last(&run, "ecn_mode")[0], marked(&run) > 0.0)
    };
    let receiver = |receiver| Ecn { receiver, ..Ecn::default() };
    let requesting = |receiver| Ecn { accecn: true, receiver, ..Ecn::default() };
    assert_eq!(mode("cubic", Ecn::default()), (CLASSIC, true));
    assert_eq!(mode("cubic", requesting(ReceiverEcn::AccEcn)), (ACCURATE, true));
    assert_eq!(mode("cubic", requesting(ReceiverEcn::Classic)), (CLASSIC, true));
    assert_eq!(mode("cubic", receiver(ReceiverEcn::None)), (NONE, false));
    assert_eq!(mode("prague", Ecn::default()), (ACCURATE, true));
    // Linux `TCP_CONG_NO_FALLBACK_RFC3168`: no ECN instead of classic ECN.
    assert_eq!(mode("prague", receiver(ReceiverEcn::Classic)), (NONE, false));
}

#[test]
fn cubic_reacts_to_counted_marks_as_to_echoed_ones() {
    let goodput_and_delay = |accecn| {
        let mut plan = under_codel(flows(4, "cubic", Ecn { accecn, ..Ecn::default() }));
        plan.duration = Span::from_secs(60);
        let run = run(&plan);
        let of = |name| metric(&run, Scope::Queue, "b", name);
        assert_eq!(of("drop_rate"), 0.0);
        (of("throughput"), of("delay_mean"))
    };
    let (classic, accurate) = (goodput_and_delay(false), goodput_and_delay(true));
    assert!((accurate.0 / classic.0 - 1.0).abs() < 0.03, "{accurate:?} {classic:?}");
    assert!((accurate.1 / classic.1 - 1.0).abs() < 0.25, "{accurate:?} {classic:?}");
}

#[test]
fn a_syn_that_arrives_cleared_stops_ecn_in_accurate_mode() {
    // RFC 9768 §3.2.2.3: Prague's SYN is ECT(1), and the SYN-ACK reports that it arrived Not-ECT.
    let mut plan = under_codel(flows(1, "prague", Ecn::default()));
    plan.links[0].ecn_bleaching = true;
    let run = run(&plan);
    assert_eq!((last(&run, "ecn_mode")[0], last(&run, "ecn_capable")[0]), (ACCURATE, 0.0));
    assert!(
        metric(&run, Scope::Queue, "b", "drop_rate_deterministic") > 0.0,
        "it is dropped instead"
    );
}

#[test]
fn a_path_that_clears_marks_goes_unnoticed_if_the_syn_is_not_ect() {
    let of = |bleaches| {
        let mut plan = under_codel(flows(1, "reno", Ecn::default()));
        plan.links[0].ecn_bleaching = bleaches;
        let run = run(&plan);
        (metric(&run, Scope::Queue, "b", "delay_p95"), last(&run, "ecn_capable")[0])
    };
    let (intact, cleared) = (of(false), of(true));
    assert_eq!((intact.1, cleared.1), (1.0, 1.0));
    assert!(cleared.0 > 2.0 * intact.0, "no sender reduces: {} s for {} s", cleared.0, intact.0);
}

#[test]
fn ecn_is_given_up_after_lost_syns() {
    // A third of the SYNs is lost. Linux requests classic ECN once; RFC 9768 §3.1.4.1 requests
    // accurate feedback twice; ns-2 always requests ECN.
    let without = |profile: &str, accecn: bool| {
        let mut group = flows(300, "reno", Ecn { accecn, ..Ecn::default() });
        if let App::Bulk { tcp, .. } = &mut group.app {
            tcp.profile = profile.into();
        }
        let mut lossy = link("b", "taildrop", 5_000_000);
        lossy.loss = Some(Loss::Bernoulli(1.0 / 3.0));
        let mut plan = scenario(30, vec![lossy], vec![group]);
        plan.links[0].capacity = Capacity::Constant(mbit(100));
        plan.record.flows = true;
        let modes = last(&run(&plan), "ecn_mode");
        assert!(modes.len() >= 295, "a SYN that is lost five times waits for 31 s");
        modes.iter().filter(|&&mode| mode == NONE).count()
    };
    // Within four standard deviations of binomials.
    let (classic, accurate) = (without("linux", false), without("linux", true));
    assert!((68..=132).contains(&classic), "{classic} of 100 expected");
    assert!((12..=54).contains(&accurate), "{accurate} of 33 expected");
    assert_eq!(without("sack", false), 0);
}

#[test]
fn the_summary_and_a_warning_say_how_many_connections_got_the_ecn_they_requested() {
    let of = |fallback: Option<bool>| {
        let ecn = Ecn { fallback, ..Ecn::default() };
        let mut lossy = link("b", "taildrop", 5_000_000);
        lossy.loss = Some(Loss::Bernoulli(1.0 / 3.0));
        lossy.capacity = Capacity::Constant(mbit(100));
        let run = run(&scenario(30, vec![lossy], vec![flows(300, "reno", ecn)]));
        let warned = run.warnings.iter().any(|text| text.contains("connections use ECN"));
        (metric(&run, Scope::Class, "flows", "ecn_share"), warned)
    };
    let (share, warned) = of(None);
    assert!((0.56..=0.78).contains(&share) && warned, "two thirds expected, {share}");
    assert_eq!(of(Some(true)), (share, true));
    assert_eq!(of(Some(false)), (1.0, false));
    // A class that requests no ECN has no share.
    let run = run(&scenario(
        1,
        vec![link("b", "taildrop", 50_000)],
        vec![group("flows", 1, App::Bulk { tcp: tcp("reno"), bytes: None })],
    ));
    assert!(run.summary.iter().all(|row| row.metric != "ecn_share"));
}

/// Prague at 40 Mbit/s under a step of 1 ms, its acknowledgements on a link of `back_kbit` with
/// room for two: returns the mean of `alpha` and the fraction of packets marked.
fn thinned(option: AccEcnOption, back_kbit: u64) -> (f64, f64) {
    let mut group = flows(1, "prague", Ecn { option, ..Ecn::default() });
    group.reverse = vec![1];
    let mut forward = link("b", "dualpi2@linux", 5_000_000);
    forward.capacity = Capacity::Constant(mbit(40));
    forward.delay = ms(10);
    let mut back = link("back", "taildrop", 150);
    back.delay = ms(10);
    back.capacity = Capacity::Constant(Rate::from_bps(back_kbit * 1000));
    group.rtt = ms(20);
    let zero = Span::ZERO;
    (group.access_delay, group.egress_delay, group.return_delay) = (zero, zero, zero);
    let mut plan = scenario(30, vec![forward, back], vec![group]);
    plan.record.flows = true;
    let run = run(&plan);
    let alphas = run.flow_states.iter().filter(|row| row.var == "alpha" && row.t.as_secs() > 5.0);
    let alphas: Vec<f64> = alphas.map(|row| row.value).collect();
    (alphas.iter().sum::<f64>() / alphas.len() as f64, marked(&run))
}

#[test]
fn with_lost_acknowledgements_marks_are_exact_with_the_option_and_missed_without() {
    // Nine of ten acknowledgements are lost, so ACE wraps around between two that arrive.
    let (taken, marked) = thinned(AccEcnOption::Always, 60);
    assert!((taken / marked - 1.0).abs() < 0.1, "{taken} for {marked}");
    let (taken, marked) = thinned(AccEcnOption::Never, 60);
    assert!(
        taken < 0.5 * marked,
        "no wrap counts where many per ACK are the rule: {taken} for {marked}"
    );
    // When sent sparingly, options are lost with acknowledgements, but those that arrive report the
    // missed marks.
    let (taken, marked) = thinned(AccEcnOption::Sparingly, 60);
    assert!((taken / marked - 1.0).abs() < 0.1, "{taken} for {marked}");
    // If all acknowledgements arrive, ACE is sufficient.
    let (taken, marked) = thinned(AccEcnOption::Never, 10_000);
    assert!((taken / marked - 1.0).abs() < 0.1, "{taken} for {marked}");
}

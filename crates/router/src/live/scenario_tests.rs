use sojourn_scenario::Source;
use sojourn_scenario::resolved::{Duplicate, Loss};

use super::*;
use crate::live::options::Options;

/// A scenario with the links `up` and `down`, whose keys are replaced by `sets`.
fn scenario(flows: &str, sets: &[(&str, &str)]) -> Scenario {
    let text = format!(
        "name = 'home'\nduration = '10s'\nseed = 7\n\
         [links.up]\nrate = '2mbit'\ndelay = '3ms'\n\
         [links.down]\nrate = '10mbit'\ndelay = '5ms'\nqueue = 'codel'\nbuffer = '90p'\n{flows}"
    );
    let sets: Vec<_> = sets.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let source = Source { sets: &sets, ..Source::default() };
    let trace = |_: &str| Ok("1\n5\n".to_owned());
    Scenario::load(&text, &source, &trace).unwrap()
}

/// A group whose data takes these links.
fn flows(path: &str, reverse: &str, rtt: &str) -> String {
    format!("[[flows]]\npath = ['{path}']\n{reverse}\nrtt = '{rtt}'\napp = {{ kind = 'bulk' }}\n")
}

fn upload() -> String {
    flows("up", "reverse = ['down']", "40ms")
}

fn planned(scenario: &Scenario, options: &str) -> Result<PlannedPaths, Refusal> {
    let options: Options = serde_json::from_str(options).unwrap();
    let plan = options.plan(Some(scenario), CustomLaws::NONE)?;
    Ok(PlannedPaths { paths: plan.paths, laws: plan.laws, remarks: plan.remarks })
}

fn names(planned: &PlannedPaths) -> [Option<String>; 2] {
    let spec = |path: &PathPlan| path.link.as_ref().map(|link| link.service.clone());
    let name = |service| match service {
        RouterCapacity::Rates(rates) if rates == [(0, 2_000_000)] => "up".to_owned(),
        RouterCapacity::Rates(rates) if rates == [(0, 10_000_000)] => "down".to_owned(),
        other => panic!("{other:?}"),
    };
    planned.paths.each_ref().map(|path| spec(path).map(name))
}

fn error(scenario: &Scenario, options: &str) -> String {
    let (place, message) = planned(scenario, options).expect_err("it is refused");
    format!("{place}: {message}")
}

#[test]
fn a_link_and_that_of_the_other_direction_are_the_paths() {
    let planned = planned(&scenario(&upload(), &[]), "{}").unwrap();
    assert_eq!(names(&planned), [Some("up".to_owned()), Some("down".to_owned())]);
    let back = planned.paths[1].link.as_ref().unwrap();
    assert_eq!((back.limit.as_str(), back.queue.contains("codel")), ("90p", true));
    // Of 40 ms in total, the hosts of both ends share the remaining 32 ms.
    let delays = planned.paths.each_ref().map(|path| path.delay_ns / 1_000_000);
    assert_eq!(delays.iter().sum::<u64>(), 40);
    let [summary, left_out] = &planned.remarks[..] else { panic!("{:?}", planned.remarks) };
    assert!(summary.starts_with("home: links.up from near to far (delay "), "{summary}");
    assert!(left_out.contains("ignores the scenario's flows, duration, warmup and record"));
}

#[test]
fn a_named_link_is_from_near_to_far() {
    let planned = planned(&scenario(&upload(), &[]), r#"{ "link": "down" }"#).unwrap();
    assert_eq!(names(&planned), [Some("down".to_owned()), Some("up".to_owned())]);
}

#[test]
fn a_link_may_be_from_far_to_near_alone() {
    let lone = scenario(&flows("down", "", "40ms"), &[]);
    let planned = planned(&lone, r#"{ "reverse_link": "down" }"#).unwrap();
    assert_eq!(names(&planned), [None, Some("down".to_owned())]);
    let sum: u64 = planned.paths.iter().map(|path| path.delay_ns).sum();
    assert_eq!(sum, 40_000_000);
    assert!(planned.remarks[1].ends_with(", the links up"), "{}", planned.remarks[1]);
}

#[test]
fn flows_with_different_rtts_leave_the_delays_of_the_links_and_a_remark() {
    let both = upload() + &flows("up", "reverse = ['down']", "80ms");
    let planned = planned(&scenario(&both, &[]), "{}").unwrap();
    assert_eq!(planned.paths.each_ref().map(|path| path.delay_ns), [3_000_000, 5_000_000]);
    assert!(planned.remarks[1].starts_with("flows have base RTTs from 40ms to 80ms"));
}

#[test]
fn what_varies_is_carried_over() {
    let steps = "{ kind = 'schedule', steps = [['0s', '5mbit'], ['1s', '0bit'], ['2s', '1mbit']] }";
    let delays = "{ kind = 'schedule', steps = [['0s', '9ms'], ['1s', '3ms']] }";
    let sets = [
        ("links.up.rate", steps),
        ("links.up.delay", delays),
        ("links.up.loss", "{ kind = 'bernoulli', rate = 0.25 }"),
        ("links.up.jitter", "{ kind = 'uniform', max = '2ms' }"),
        ("links.up.duplicate", "{ rate = 0.1, correlation = 0.2 }"),
        ("links.down.rate", "{ kind = 'trace', file = 'x' }"),
    ];
    let planned = planned(&scenario(&upload(), &sets), "{}").unwrap();
    let [up, down] = &planned.paths;
    let rates = vec![(0, 5_000_000), (1_000_000_000, 0), (2_000_000_000, 1_000_000)];
    let link = up.link.as_ref().unwrap();
    assert_eq!(link.service, RouterCapacity::Rates(rates));
    let copies = Duplicate { rate: 0.1, correlation: 0.2 };
    assert_eq!(link.duplicate, Some(("up".to_owned(), copies)));
    let wire = up.wire.as_ref().unwrap();
    assert_eq!(wire.loss, Some(Loss::Bernoulli(0.25)));
    assert!(wire.jitter.is_some() && wire.changes.is_some() && down.wire.is_none());
    assert!(matches!(down.link.as_ref().unwrap().service, RouterCapacity::Recorded(_)));
}

#[test]
fn an_aqm_replaces_that_of_its_link() {
    let options = r#"{ "forward": { "aqm": "pie" }, "reverse": { "aqm": "fq_codel" } }"#;
    let planned = planned(&scenario(&upload(), &[]), options).unwrap();
    let queues = planned.paths.each_ref().map(|path| path.link.as_ref().unwrap().queue.clone());
    assert!(queues[0].starts_with("pie") && queues[1].starts_with("fq_codel"), "{queues:?}");
}

#[test]
fn what_leaves_a_choice_is_refused_with_the_names() {
    let both = upload() + &flows("down", "reverse = ['up']", "40ms");
    assert_eq!(
        error(&scenario(&both, &[]), "{}"),
        "--link: home has several links; name the one from near to far: down, up"
    );
    let home = scenario(&upload(), &[]);
    let refused = |options: &str| error(&home, options);
    assert!(refused(r#"{ "link": "upp" }"#).starts_with("--link: home has no link `upp`"));
    assert!(refused(r#"{ "link": "up", "reverse_link": "up" }"#).starts_with("--reverse-link: "));
    let limit = refused(r#"{ "reverse": { "limit": "9p" } }"#);
    assert!(limit.starts_with("--reverse-limit: ") && limit.contains("links.NAME.buffer"));
    assert!(refused(r#"{ "forward": { "rate": "1mbit" } }"#).starts_with("--rate: "));
    assert!(refused(r#"{ "forward": { "aqm": "nonsuch" } }"#).starts_with("--aqm: "));
    let lone = scenario(&flows("down", "", "40ms"), &[]);
    let no_way_back = error(&lone, r#"{ "reverse": { "aqm": "pie" } }"#);
    assert_eq!(no_way_back, "--reverse-aqm: the scenario has no link from far to near");
}

#[test]
fn what_a_router_cannot_do_is_refused_with_its_place() {
    let bucket = "{ kind = 'bucket', rate = '2mbit', burst = '9kB', line = '9mbit' }";
    let old_rate = "{ kind = 'schedule', steps = [['0s', '5mbit']], in_service = 'old-rate' }";
    for (key, value) in [
        ("links.up.rate", bucket),
        ("links.up.rate", old_rate),
        ("links.up.device", "{ bytes = '3kB' }"),
        ("links.up.ecn_bleaching", "true"),
        ("links.up.policer", "{ rate = '1mbit', burst = '9kB' }"),
    ] {
        let found = error(&scenario(&upload(), &[(key, value)]), "{}");
        assert!(found.starts_with(key), "{found}");
    }
}

use sojourn_aqm::Span;
use sojourn_record::rows::Fate;
use sojourn_scenario::{Scenario, Source};

use super::*;

const SCENARIO: &str = r#"
    name = "session"
    duration = "3s"
    [links.bottleneck]
    rate = "5mbit"
    delay = "20ms"
    buffer = "45kB"
    queue = "codel"
    [[flows]]
    count = 3
    path = ["bottleneck"]
    rtt = "50ms"
    app = { kind = "bulk" }
    [[flows]]
    name = "voice"
    path = ["bottleneck"]
    rtt = "50ms"
    app = { kind = "cbr", rate = "200kbit", packet = "200B" }
"#;

const WIRELESS: &str = r#"
    name = "home"
    duration = "5s"
    [wlans.home]
    [links.ap]
    rate = { kind = "wireless", wlan = "home", airtime_fairness = true }
    queue = "fq_codel"
    [links.near]
    rate = { kind = "wireless", wlan = "home" }
    [links.far]
    rate = { kind = "wireless", wlan = "home", rate = "6mbit" }
    [[flows]]
    path = ["ap"]
    reverse = ["near"]
    rtt = "40ms"
    app = { kind = "bulk" }
    [[flows]]
    name = "other"
    path = ["ap"]
    reverse = ["far"]
    rtt = "40ms"
    app = { kind = "bulk" }
"#;

fn loaded(text: &str) -> Scenario {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    Scenario::load(text, &Source::default(), &none).expect("it is legal")
}

fn scenario() -> Scenario {
    loaded(SCENARIO)
}

fn session() -> Session {
    Session::new(scenario().resolved(), 0).expect("it can be built")
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

#[test]
fn a_run_in_steps_of_any_kind_has_the_digest_and_the_summary_of_a_run_at_once() {
    let scenario = scenario();
    let at_once = crate::run(scenario.resolved(), &|_| true).expect("it runs");
    let mut session = session();
    session.advance(at(700), u64::MAX);
    for _ in 0..200 {
        session.advance_one_packet(at(3_000));
        session.take();
    }
    while !session.is_over() {
        session.advance(at(5_000), 777);
        session.take();
    }
    assert_eq!((session.now(), session.digest()), (at(3_000), at_once.digest));
    let run = session.finish();
    let events = |run: &Run| run.summary.iter().filter(|row| row.metric != "events").count();
    assert_eq!(events(&run), events(&at_once));
    let rows = run.summary.iter().zip(&at_once.summary).filter(|(row, _)| row.metric != "events");
    for (found, expected) in rows {
        assert_eq!(found, expected);
    }
}

#[test]
fn with_each_step_one_packet_comes_or_one_leaves_behind_what_is_dropped_at_the_head() {
    let mut session = session();
    session.advance(at(1_000), u64::MAX);
    session.take();
    let mut before = session.waiting().len();
    let mut changes = 0;
    for _ in 0..300 {
        session.advance_one_packet(at(3_000));
        let gone = session.take().packets;
        let sent = gone.iter().filter(|row| row.fate == Fate::Sent).count();
        let now = session.waiting().len();
        let came = (now + gone.len()).checked_sub(before);
        assert!(sent <= 1 && came.is_some_and(|came| came <= 1), "{before}, then {now}: {gone:?}");
        assert_eq!(now, session.world.path.links()[0].backlog().packets as usize);
        changes += usize::from(now != before || !gone.is_empty());
        before = now;
    }
    assert_eq!(changes, 300);
}

#[test]
fn a_queue_that_is_replaced_hands_over_its_backlog_with_the_times_of_arrival() {
    for aqm in ["taildrop", "pie", "fq_codel", "codel:target=1ms"] {
        let mut session = session();
        session.advance(at(400), u64::MAX);
        while session.waiting().len() < 10 {
            session.advance_one_packet(at(3_000));
        }
        session.take();
        let before = session.waiting().to_vec();
        let changed = scenario().with_queue("bottleneck", aqm).expect("it is legal");
        session.set_queue(0, &changed.resolved().links[0]).expect("it can be built");
        let after = session.waiting().to_vec();
        let dropped = session.world.probe.notes.signals.len();
        assert_eq!(before.len() - after.len(), dropped, "{aqm}: every missing packet was dropped");
        assert_eq!(after.len(), session.world.path.links()[0].backlog().packets as usize, "{aqm}");
        assert!(after.iter().all(|one| before.contains(one)), "{aqm}");
        while !session.is_over() {
            session.advance(at(5_000), u64::MAX);
        }
        assert!(session.waiting().is_empty(), "{aqm}: every packet has a fate");
        session.finish();
    }
}

/// An access point with per-station queues hands over to another one with per-station queues.
#[test]
fn queues_of_stations_that_are_replaced_hand_over_their_backlog() {
    let scenario = loaded(WIRELESS);
    let mut session = Session::new(scenario.resolved(), 0).expect("it can be built");
    session.advance(at(400), u64::MAX);
    while session.waiting().len() < 10 {
        session.advance_one_packet(at(3_000));
    }
    session.take();
    let before = session.waiting().to_vec();
    let changed = scenario.with_queue("ap", "codel").expect("it is legal");
    session.set_queue(0, &changed.resolved().links[0]).expect("it can be built");
    assert!(session.waiting().iter().all(|one| before.contains(one)));
    while !session.is_over() {
        session.advance(at(5_000), u64::MAX);
    }
    assert!(session.waiting().is_empty(), "every packet has a fate");
}

#[test]
fn an_unknown_parameter_leaves_the_queue_as_it_was() {
    let (mut one, mut other) = (session(), session());
    one.advance(at(500), u64::MAX);
    let mut wrong = scenario().resolved().links[0].clone();
    wrong.queue.settings.push(("nonsense".to_owned(), "1".to_owned()));
    assert!(one.set_queue(0, &wrong).is_err());
    one.advance(at(9_000), u64::MAX);
    other.advance(at(9_000), u64::MAX);
    assert_eq!(one.digest(), other.digest());
}

#[test]
fn time_goes_on_to_where_nothing_happens_but_not_past_events_that_are_left() {
    let mut session = session();
    session.advance(at(700), u64::MAX);
    assert_eq!(session.now(), at(700));
    session.advance(at(2_000), 3);
    assert!(session.now() >= at(700) && session.now() < at(2_000), "{:?}", session.now());
}

#[test]
fn a_queue_that_is_replaced_has_the_variables_of_its_discipline() {
    let mut session = session();
    session.advance(at(500), u64::MAX);
    let names = |session: &Session| -> Vec<_> {
        session.world.path.links()[0].vars().iter().map(|var| var.name).collect()
    };
    assert!(names(&session).contains(&"drop_next"), "{:?}", names(&session));
    let pie = scenario().with_queue("bottleneck", "pie").expect("it is legal");
    session.set_queue(0, &pie.resolved().links[0]).expect("it can be built");
    assert!(!names(&session).contains(&"drop_next") && !names(&session).is_empty());
}

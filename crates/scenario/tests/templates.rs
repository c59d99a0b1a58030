//! Templates of links: the resolved form of a scenario that uses one.

use std::io;

use sojourn_aqm::{Rate, Span, Time};
use sojourn_scenario::resolved::{Capacity, Extra};
use sojourn_scenario::{Format, Scenario, ScenarioError, Source};

const TEXT: &str = r#"
name = "away"
duration = "60s"
[links.down]
template = "starlink:seed=4"
queue = "codel"
[links.up]
rate = "5mbit"
delay = "30ms"
[[flows]]
path = ["down"]
reverse = ["up"]
rtt = "300ms"
app = { kind = "bulk" }
"#;

fn load(text: &str, sets: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let sets: Vec<_> = sets.iter().map(own).collect();
    let format = if text.starts_with('{') { Format::Json } else { Format::Toml };
    let source = Source { format, origin: "", sets: &sets };
    Scenario::load(text, &source, &|_| Err(io::ErrorKind::NotFound.into()))
}

#[test]
fn starlink_becomes_schedules_of_rate_and_delay() {
    let scenario = load(TEXT, &[]).unwrap();
    let link = &scenario.resolved().links[0];
    let Capacity::Schedule(rates) = &link.capacity else { panic!("{:?}", link.capacity) };
    let delays = &link.delay_changes.as_ref().unwrap().above_least;
    let at: Vec<Time> = delays.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [0, 12, 27, 42, 57].map(|s| Time::ZERO + Span::from_secs(s)));
    assert_ne!(rates.rate_at(at[1]), rates.rate_at(at[2]));
    assert!(link.delay >= Span::from_millis(10), "half of the least round trip");
}

#[test]
fn a_scenario_with_a_template_is_read_again_for_a_longer_run() {
    let scenario = load(TEXT, &[]).unwrap();
    let again = load(&scenario.document_json(), &[]).unwrap();
    assert_eq!(again.resolved(), scenario.resolved());
    let longer = load(&scenario.document_json(), &[("duration", "90s")]).unwrap();
    assert_eq!(longer.resolved().links[0].delay_changes.as_ref().unwrap().above_least.len(), 7);
    let other = scenario.with_queue("down", "pie").unwrap();
    assert_eq!(other.resolved().links[0].capacity, scenario.resolved().links[0].capacity);
}

#[test]
fn an_override_with_a_template_replaces_what_it_sets() {
    let scenario = load(TEXT, &[("links.up.template", "docsis:rate=20mbit")]).unwrap();
    let link = &scenario.resolved().links[1];
    assert_eq!(link.capacity, Capacity::Constant(Rate::from_bps(20_000_000)));
    assert_eq!(link.delay, Span::from_micros(4_335));
}

#[test]
fn media_with_grants_become_blocks() {
    let scenario = load(TEXT, &[("links.up.template", "lte:direction=up,handover=20s")]).unwrap();
    let link = &scenario.resolved().links[1];
    let Some(Extra::Blocks(blocks)) = link.jitter.clone().map(|jitter| jitter.extra) else {
        panic!()
    };
    let ms = Span::from_millis;
    assert_eq!((blocks.every, blocks.request, blocks.pause), (ms(1), ms(10), ms(8)));
    let Capacity::Schedule(rates) = &link.capacity else { panic!("{:?}", link.capacity) };
    assert!(rates.has_outage());
    let scenario = load(TEXT, &[("links.up.template", "gpon:rate=100mbit")]).unwrap();
    let link = &scenario.resolved().links[1];
    assert_eq!(link.capacity, Capacity::Constant(Rate::from_bps(100_000_000)));
    assert_eq!((link.framing_bytes, link.delay), (23, Span::from_micros(1_100)));
    let error = load(TEXT, &[("links.up.template", "gpon:onus=0")]).unwrap_err();
    assert!(error.place.ends_with("links.up.template"), "{}", error.place);
}

#[test]
fn what_a_template_sets_cannot_be_written_as_well() {
    let both = TEXT.replace("queue = ", "rate = \"1mbit\"\nqueue = ");
    let error = load(&both, &[]).unwrap_err();
    assert!(error.place.ends_with("links.down.rate"), "{}", error.place);
    assert!(error.message.contains("remove one of the two"), "{}", error.message);
    let error = load(TEXT, &[("links.down.delay", "5ms")]).unwrap_err();
    assert!(error.place.ends_with("links.down.delay"), "{}", error.place);
    let error = load(&TEXT.replace("template = \"starlink:seed=4\"", ""), &[]).unwrap_err();
    assert!(error.message.contains("this key is missing; write for example rate = "));
    let error = load(TEXT, &[("links.down.template", "starlnk")]).unwrap_err();
    assert!(error.message.contains("did you mean `starlink`?"), "{}", error.message);
}

#[test]
fn a_run_of_years_is_refused() {
    let error = load(TEXT, &[("duration", "40000000s")]).unwrap_err();
    assert!(error.message.contains("100 days"), "{}", error.message);
}

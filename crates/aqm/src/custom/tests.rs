use std::string::ToString;
use std::sync::{Arc as StdArc, Mutex};
use std::vec;
use std::vec::Vec;

use super::*;
use crate::law::{Cause, Verdict};
use crate::laws::codel::{CoDel, CoDelParams};
use crate::packet::{Backlog, Ecn, Head};
use crate::params::ValueKind;
use crate::params::configure;
use crate::rng::Rng;
use crate::testing::{Log, Numbered, env, ms};
use crate::{Law, Qdisc, QdiscSpec, Span, registry};

/// CoDel as a custom law with one of its parameters.
struct CoDelMaker;

impl Maker for CoDelMaker {
    fn make(&self, values: &[Value], env: &Env, _: &Arc<dyn Failures>) -> Box<dyn Aqm> {
        let Value::Span(target) = values[0] else { panic!("it is declared as a time") };
        let text = target.to_string();
        let params: CoDelParams = configure("codel", None, [("target", text.as_str())]).unwrap();
        Box::new(CoDel::new(&params, env))
    }
}

/// A law that misbehaves as configured.
#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    MarksAll,
    TimerStandsStill,
    TimerAtEveryNanosecond,
    TimerMovesWithArrivals,
}

impl Aqm for (Wrong, Time) {
    fn on_enqueue(&mut self, now: Time, _: Head, _: Backlog, _: &mut Rng) -> Verdict {
        match self.0 {
            Wrong::MarksAll => return Verdict::Mark(Cause::Deterministic),
            Wrong::TimerMovesWithArrivals => self.1 = now + Span::from_millis(7),
            _ => {}
        }
        Verdict::Pass
    }
    fn next_timer(&self) -> Option<Time> {
        (self.0 != Wrong::MarksAll).then_some(self.1)
    }
    fn on_timer(&mut self, now: Time, _: Backlog) {
        match self.0 {
            Wrong::TimerAtEveryNanosecond => self.1 = now + Span::from_nanos(1),
            Wrong::TimerMovesWithArrivals => self.1 = now + Span::from_millis(10),
            Wrong::MarksAll | Wrong::TimerStandsStill => {}
        }
    }
}

impl Maker for Wrong {
    fn make(&self, _: &[Value], _: &Env, _: &Arc<dyn Failures>) -> Box<dyn Aqm> {
        Box::new((*self, ms(1)))
    }
}

#[derive(Default)]
struct Noted(Mutex<Vec<String>>);

impl Failures for Noted {
    fn report(&self, failure: LawFailure) {
        self.0.lock().unwrap().push(failure.to_string());
    }
}

fn target() -> ParamDeclaration {
    ParamDeclaration {
        name: "target".into(),
        doc: "Delay aimed at".into(),
        kind: ValueKind::Span,
        absent: None,
        words: Vec::new(),
        rule: "positive".into(),
        default: "5ms".into(),
        source: "RFC 8289".into(),
    }
}

fn declaration(name: &str, params: Vec<ParamDeclaration>) -> Declaration {
    let (name, doc) = (name.into(), "A law".into());
    let (source, place) = ("a test".into(), "wrong.py:1".into());
    Declaration { name, doc, source, place, file: None, params, vars: Vec::new() }
}

fn own_codel() -> CustomLaws {
    let law = registry::declare(declaration("Own", vec![target()]), Arc::new(CoDelMaker));
    CustomLaws::new([law.expect("a legal declaration")]).expect("one law")
}

fn refusal(text: &str) -> String {
    QdiscSpec::parse_with(text, &own_codel()).unwrap_err().message
}

/// Offers two arrivals per departure and returns the events, packet by packet.
fn events(spec: &QdiscSpec) -> (Vec<u64>, Vec<u64>) {
    let mut qdisc = registry::build::<Numbered>(spec, &env()).expect("a legal description");
    let (mut log, mut rng, mut left) = (Log::default(), Rng::stream(1, "t", 0), Vec::new());
    for step in 0..6000_u64 {
        let now = Time::from_nanos(step * 500_000);
        qdisc.enqueue(now, Numbered::new(step, step % 7, 1500), &mut rng, &mut log);
        if step % 2 == 0 {
            left.extend(qdisc.dequeue(now, &mut rng, &mut log).map(|it| it.packet.id));
        }
    }
    (log.dropped_ids(), left)
}

#[test]
fn a_custom_law_decides_as_the_same_law_in_the_registry_alone_and_under_flow_queues() {
    let laws = own_codel();
    for (own, known) in [("Own:target=7ms", "codel:target=7ms"), ("fq(Own)", "fq(codel)")] {
        let own = events(&QdiscSpec::parse_with(own, &laws).unwrap());
        assert_eq!(own, events(&QdiscSpec::parse(known).unwrap()));
        assert!(own.0.len() > 100, "{} drops", own.0.len());
    }
}

#[test]
fn settings_name_every_parameter_of_law_and_discipline_with_its_value() {
    let spec = QdiscSpec::parse_with("Own:target=7ms,limit=50p", &own_codel()).unwrap();
    let settings = registry::settings(&spec).unwrap();
    let of = |name: &str| settings.iter().find(|(known, _)| *known == name).unwrap().1.clone();
    assert_eq!((of("target"), of("limit")), ("7ms".to_string(), "50p".to_string()));
    assert_eq!(
        (spec.to_string().as_str(), registry::dialect_of(&spec)),
        ("Own:target=7ms,limit=50p", "own")
    );
}

#[test]
fn a_wrong_setting_of_a_custom_law_is_refused_as_for_a_law_in_the_registry() {
    assert_eq!(refusal("Own:target=0ms"), "`0ms` must be positive (target: RFC 8289)");
    assert!(refusal("Own:target=5").contains("a time needs a unit"));
    assert!(refusal("Own:targt=5ms").contains("did you mean `target`"));
    assert!(refusal("Own@linux").contains("Own has no dialect `linux`"));
    assert!(refusal("Onw").contains("did you mean `Own`"));
    assert!(QdiscSpec::parse("Own").unwrap_err().message.contains("unknown AQM `Own`"));
}

#[test]
fn a_declaration_that_says_too_little_or_takes_a_name_is_refused() {
    let refused = |declaration: Declaration| {
        registry::declare(declaration, Arc::new(CoDelMaker)).unwrap_err().message
    };
    let param = |change: fn(&mut ParamDeclaration)| {
        let mut param = target();
        change(&mut param);
        refused(declaration("Own", vec![param]))
    };
    assert!(refused(declaration("codel", vec![])).contains("two laws have the name `codel`"));
    assert!(refused(declaration("no name", vec![])).contains("cannot be the name of a law"));
    assert!(param(|p| p.default = "5".into()).contains("a time needs a unit"));
    assert!(param(|p| p.default = "0ms".into()).contains("must be positive"));
    assert!(param(|p| p.source = " ".into()).contains("where its default comes from"));
    assert!(param(|p| p.name = "limit".into()).contains("the discipline around the law has"));
    let twice = declaration("Own", vec![target(), target()]);
    assert!(refused(twice).contains("declares `target` twice"));
}

#[test]
fn two_laws_of_one_name_are_refused_and_one_law_may_be_listed_twice() {
    let law = |source: &str| {
        let declaration = Declaration { source: source.into(), ..declaration("Own", vec![]) };
        registry::declare(declaration, Arc::new(CoDelMaker)).unwrap()
    };
    assert!(CustomLaws::new([law("a.py"), law("a.py")]).is_ok());
    let error = CustomLaws::new([law("a.py"), law("b.py")]).unwrap_err().message;
    assert_eq!(error, "two laws have the name `Own`: a.py and b.py; rename one of them");
}

fn wrong_law(wrong: Wrong, noted: &StdArc<Noted>) -> Box<dyn Qdisc<Numbered>> {
    let law = registry::declare(declaration("Wrong", vec![]), Arc::new(wrong)).unwrap();
    let laws = CustomLaws::new([law.reporting_to(noted.clone())]).unwrap();
    let spec = QdiscSpec::parse_with("Wrong", &laws).unwrap();
    registry::build::<Numbered>(&spec, &env()).unwrap()
}

fn failures_of(wrong: Wrong) -> Vec<String> {
    let noted = StdArc::new(Noted::default());
    let mut qdisc = wrong_law(wrong, &noted);
    let (mut log, mut rng) = (Log::default(), Rng::stream(1, "t", 0));
    while let Some(due) = qdisc.next_timer().filter(|&due| due <= ms(4)) {
        qdisc.on_timer(due);
    }
    for id in 0..3 {
        let ecn = if id == 0 { Ecn::Ect0 } else { Ecn::NotEct };
        qdisc.enqueue(ms(5), Numbered { ecn, ..Numbered::new(id, 0, 1500) }, &mut rng, &mut log);
    }
    if let Some(due) = qdisc.next_timer() {
        qdisc.on_timer(due);
    }
    assert_eq!(qdisc.backlog().packets, 3, "after a failure every packet passes");
    let noted = noted.0.lock().unwrap();
    noted.clone()
}

#[test]
fn a_broken_promise_is_reported_once_with_law_hook_and_time_and_has_no_effect() {
    let only = |wrong, text: &str| {
        let failures = failures_of(wrong);
        assert!(failures.len() == 1 && failures[0].starts_with(text), "{failures:?}");
    };
    let call = "wrong.py:1: Wrong.on_enqueue at 0.005000000 s (packet accepted at 0.005000000 s)";
    only(Wrong::MarksAll, &std::format!("{call}: it marks a packet that is not ECN-capable"));
    let timer = "wrong.py:1: Wrong.next_timer at 0.001";
    only(
        Wrong::TimerStandsStill,
        &std::format!("{timer}000000 s: the next timer is at 1000000 ns"),
    );
    // With a timer every nanosecond from 1 ms on, the millionth is at 2 ms.
    let endless = "wrong.py:1: Wrong.next_timer at 0.002000000 s: it asked for more than";
    only(Wrong::TimerAtEveryNanosecond, endless);
    let moved = "wrong.py:1: Wrong.next_timer at 0.011000000 s: the next timer was at 11000000 ns \
                 and is at 12000000 ns";
    only(Wrong::TimerMovesWithArrivals, moved);
}

#[test]
fn a_timer_that_moves_with_arrivals_is_noticed_although_no_timer_is_due() {
    let noted = StdArc::new(Noted::default());
    let mut qdisc = wrong_law(Wrong::TimerMovesWithArrivals, &noted);
    let (mut log, mut rng) = (Log::default(), Rng::stream(1, "t", 0));
    qdisc.enqueue(Time::ZERO, Numbered::new(1, 0, 1500), &mut rng, &mut log);
    qdisc.dequeue(Time::ZERO, &mut rng, &mut log);
    assert!(noted.0.lock().unwrap().is_empty());
    assert!(qdisc.dequeue(Time::ZERO, &mut rng, &mut log).is_none(), "the queue is empty");
    let noted = noted.0.lock().unwrap();
    assert!(noted.len() == 1 && noted[0].contains("and is at 7000000 ns"), "{noted:?}");
}

#[test]
fn every_verdict_has_a_number_that_is_read_back_and_other_numbers_are_refused() {
    let signals =
        Cause::ALL.into_iter().flat_map(|cause| [Verdict::Mark(cause), Verdict::Drop(cause)]);
    for verdict in signals.chain([Verdict::Pass]) {
        assert_eq!(Verdict::of_code(verdict.code()), Some(verdict));
    }
    for code in [1, 2, 0x1f, 0x30, 0x122, u32::MAX] {
        assert_eq!(Verdict::of_code(code), None, "{code:#x}");
    }
}

//! A law that is not in the registry, as given by `--aqm`. A scenario names no code, so a comment
//! in its first line says where the law goes.

use std::sync::{Arc, LazyLock};

use sojourn_aqm::custom::{
    CustomLaw, Declaration, Failures, Maker, ParamDeclaration, Value, VarDeclaration,
};
use sojourn_aqm::law::{Aqm, Cause, Env, Verdict};
use sojourn_aqm::params::ValueKind;
use sojourn_aqm::{Backlog, Head, Rng, Span, Time, registry};

use super::choice::Choice;

const PREFIX: &str = "# --aqm ";

/// The line that puts the law on a link.
pub(crate) fn line(link: &str, choice: &mut Choice) -> String {
    let discipline = choice.of_these(&["Erratic", "fq(Erratic)"]);
    let (part, pause) = (choice.between(0.001, 0.5), choice.whole(1, 50));
    format!("{PREFIX}{link} {discipline}:part={part:.4},pause={pause}ms\n")
}

/// The link and the AQM of the first line, if it names the law.
pub(crate) fn of(text: &str) -> Option<(&str, &str)> {
    text.lines().next()?.strip_prefix(PREFIX)?.split_once(' ')
}

/// The law. Its declaration is kept until the program ends.
pub(crate) static LAW: LazyLock<CustomLaw> = LazyLock::new(|| {
    let param = |name: &str, kind, rule: &str, default: &str| ParamDeclaration {
        name: name.to_owned(),
        doc: "A parameter".to_owned(),
        kind,
        absent: None,
        words: Vec::new(),
        rule: rule.to_owned(),
        default: default.to_owned(),
        source: "ours".to_owned(),
    };
    let declaration = Declaration {
        name: "Erratic".to_owned(),
        doc: "Decides at random at every hook".to_owned(),
        source: "storm".to_owned(),
        place: "storm".to_owned(),
        file: None,
        params: vec![
            param("part", ValueKind::Number, "probability", "0.1"),
            param("pause", ValueKind::Span, "positive", "10ms"),
        ],
        vars: vec![VarDeclaration {
            name: "timers".to_owned(),
            unit: "1".to_owned(),
            doc: "Timers so far".to_owned(),
        }],
    };
    registry::declare(declaration, Arc::new(Erratic)).expect("a legal declaration")
});

struct Erratic;

impl Maker for Erratic {
    fn make(&self, values: &[Value], _: &Env, _: &Arc<dyn Failures>) -> Box<dyn Aqm> {
        let [Value::Number(part), Value::Span(pause)] = *values else {
            panic!("they are declared as a number and a time")
        };
        Box::new(State { part, pause, due: Time::ZERO + pause, timers: 0 })
    }
}

struct State {
    part: f64,
    pause: Span,
    due: Time,
    timers: u64,
}

impl State {
    fn verdict(&self, head: Head, rng: &mut Rng) -> Verdict {
        match rng.uniform() < self.part {
            true => Verdict::signal(head.ecn.can_mark(), Cause::Random),
            false => Verdict::Pass,
        }
    }
}

impl Aqm for State {
    fn on_enqueue(&mut self, _: Time, head: Head, _: Backlog, rng: &mut Rng) -> Verdict {
        self.verdict(head, rng)
    }
    fn on_dequeue(&mut self, _: Time, head: Head, _: Backlog, rng: &mut Rng) -> Verdict {
        self.verdict(head, rng)
    }
    fn next_timer(&self) -> Option<Time> {
        Some(self.due)
    }
    fn on_timer(&mut self, now: Time, _: Backlog) {
        self.timers += 1;
        self.due = now + self.pause;
    }
    fn observe(&self, out: &mut [f64]) {
        out[0] = self.timers as f64;
    }
}

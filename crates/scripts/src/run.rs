//! Runs a script: steps the host through its events and compares its behaviour.

use sojourn_aqm::{Span, Time};

use crate::assertions::{self, Trouble};
use crate::compare;
use crate::host::{SentSegment, Settings, StepError, TestedHost};
use crate::read::{Action, Call, Event, ReadError, Script, Segment, SegmentDirection, When, read};
use crate::shell::{self, FileTexts};

/// The result of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ScriptOutcome {
    /// Every requirement of the script holds.
    Passed,
    /// The endpoint lacks something that the script needs.
    NotApplicable {
        /// Line of the script.
        line: u32,
        /// What the endpoint lacks.
        reason: String,
    },
    /// The endpoint behaves differently.
    Failed {
        /// Line of the script.
        line: u32,
        /// The behaviour in the script.
        expected: String,
        /// The behaviour of the endpoint.
        got: String,
    },
}

/// packetdrill's `--tolerance_usecs` and `--tolerance_percent`, unless a script sets them: how far
/// a time may be off, in absolute terms and in eighths of the time since the previous event.
const TOLERANCE: Span = Span::from_millis(4);
const TOLERANCE_PARTS: u64 = 8;

/// Runs a script. `files` returns the text of the commands that it names.
///
/// # Errors
/// [`ReadError`] if the text is not a script.
pub fn run(text: &str, files: FileTexts<'_>) -> Result<ScriptOutcome, ReadError> {
    let script = read(text)?;
    Ok(match run_script(&script, files) {
        Ok(()) => ScriptOutcome::Passed,
        Err((line, StepError::NotModelled(reason))) => {
            ScriptOutcome::NotApplicable { line, reason }
        }
        Err((line, StepError::Differs { expected, got })) => {
            ScriptOutcome::Failed { line, expected, got }
        }
    })
}

type Step = Result<(), (u32, StepError)>;

fn run_script(script: &Script, files: FileTexts<'_>) -> Step {
    let mut settings = Settings::default();
    for commands in &script.setup {
        shell::apply(&commands.text, &mut settings, files).map_err(|why| (commands.line, why))?;
    }
    let arrivals = script.events.iter().filter_map(|event| match &event.action {
        Action::Segment(segment) if segment.direction == SegmentDirection::Inbound => {
            let start = segment.seq.saturating_sub(1);
            (segment.payload > 0 && !segment.flags.syn).then(|| (start, start + segment.payload))
        }
        _ => None,
    });
    let ticks = script.options.iter().any(|(name, _)| name == "tcp_ts_tick_usecs");
    let mut run = Run {
        host: TestedHost::new(settings, arrivals),
        files,
        now: Time::ZERO,
        tolerance: tolerance(script),
        stamps: ticks.then(|| tolerance(script)),
        blocked: None,
    };
    script.events.iter().try_for_each(|event| run.event(event))?;
    match run.blocked {
        None => Ok(()),
        Some((line, call)) => Err((line, differs(format!("{} returns", call.name), "it blocks"))),
    }
}

fn tolerance(script: &Script) -> Span {
    let said = script.options.iter().rfind(|(name, _)| name == "tolerance_usecs");
    let micros: Option<u32> = said.and_then(|(_, value)| value.parse().ok());
    micros.map_or(TOLERANCE, |micros| Span::from_micros(micros.into()))
}

fn differs(expected: impl Into<String>, got: impl Into<String>) -> StepError {
    StepError::Differs { expected: expected.into(), got: got.into() }
}

/// A script in progress.
struct Run<'a> {
    host: TestedHost,
    files: FileTexts<'a>,
    /// When the last event ended.
    now: Time,
    tolerance: Span,
    /// How far a timestamp may be off, if timestamps are compared.
    stamps: Option<Span>,
    /// A blocked call.
    blocked: Option<(u32, Call)>,
}

impl Run<'_> {
    fn event(&mut self, event: &Event) -> Step {
        let result = match &event.action {
            Action::Segment(segment) if segment.direction == SegmentDirection::Outbound => {
                self.expect(event.when, segment)
            }
            action => {
                let (from, _) = self.times(event.when);
                self.advance(from);
                self.act(event.line, action)
            }
        };
        result.map_err(|why| (event.line, why))?;
        self.retry_blocked()
    }

    /// The earliest and the latest time of an event.
    fn times(&self, when: When) -> (Time, Time) {
        match when {
            When::Any => (Time::ZERO, self.now + Span::from_secs(1_000)),
            When::At(from, to) => (Time::ZERO + from, Time::ZERO + to),
            When::After(from, to) => (self.now + from, self.now + to),
        }
    }

    /// Advances time, and handles timers until then.
    fn advance(&mut self, until: Time) {
        while self.host.next_timer() <= until {
            let due = self.host.next_timer();
            self.host.on_timer(due);
        }
        self.now = self.now.max(until);
    }

    fn act(&mut self, line: u32, action: &Action) -> Result<(), StepError> {
        match action {
            Action::Segment(segment) => self.host.arrive(self.now, segment),
            Action::Call(call) => self.call(line, call),
            Action::Shell(text) => shell::apply(text, self.host.settings(), self.files),
            Action::Code(code) => self.judge(code),
            Action::Foreign(text) => {
                Err(StepError::not_modelled(format!("other than TCP: {text}")))
            }
        }
    }

    fn call(&mut self, line: u32, call: &Call) -> Result<(), StepError> {
        match self.host.call(self.now, call)? {
            Some(returned) => compare::returned(call, returned),
            None => {
                self.blocked = Some((line, call.clone()));
                Ok(())
            }
        }
    }

    /// Retries a blocked call; called after every event.
    fn retry_blocked(&mut self) -> Step {
        let Some((line, call)) = self.blocked.take() else { return Ok(()) };
        self.call(line, &call).map_err(|why| (line, why))
    }

    fn judge(&self, code: &str) -> Result<(), StepError> {
        let value = |name: &str| self.host.value(self.now, name);
        assertions::judge(code, &value).map_err(|(statement, trouble)| match trouble {
            Trouble::False(values) => differs(statement, values),
            Trouble::Beyond(why) => StepError::not_modelled(format!("{statement}: {why}")),
        })
    }

    /// Requires that a segment was sent, or is sent in time.
    fn expect(&mut self, when: When, expected: &Segment) -> Result<(), StepError> {
        if expected.flags.rst {
            return Err(StepError::not_modelled("a RST: the endpoint sends none"));
        }
        let (from, to) = self.times(when);
        let relative = from.since(self.now.min(from));
        let off = self.tolerance.max(Span::from_nanos(relative.as_nanos() / TOLERANCE_PARTS));
        let mut sent: Option<SentSegment> = None;
        loop {
            let Some(next) = self.next_sent(to + off) else {
                return Err(match sent {
                    None => differs(compare::written(expected), "nothing is sent in time"),
                    Some(part) => differs(compare::written(expected), compare::shown(&part)),
                });
            };
            let whole = match sent.take() {
                None => next,
                Some(part) => compare::joined(part, &next).ok_or_else(|| {
                    differs(
                        compare::written(expected),
                        format!("{} after it", compare::shown(&next)),
                    )
                })?,
            };
            if whole.payload >= expected.payload {
                sent = Some(whole);
                break;
            }
            sent = Some(whole);
        }
        let sent = sent.expect("the loop ends with a segment");
        compare::sent(expected, &sent, &mut self.host, self.stamps)?;
        if when != When::Any && sent.at + off < from {
            let at = |time: Time| format!("{} s", time.as_secs());
            return Err(differs(format!("at {}", at(from)), format!("at {}", at(sent.at))));
        }
        self.now = self.now.max(sent.at);
        Ok(())
    }

    /// The next segment sent before `until`.
    fn next_sent(&mut self, until: Time) -> Option<SentSegment> {
        while self.host.sent().is_empty() && self.host.next_timer() <= until {
            let due = self.host.next_timer();
            self.host.on_timer(due);
        }
        self.host.sent().pop_front()
    }
}

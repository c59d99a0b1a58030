//! The disciplines of dummynet with their defaults: a law and its parameters.

use super::units::show_time;

/// The law of a queue or of a scheduler with flows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Law {
    #[default]
    DropTail,
    Codel,
    Pie,
    FqCodel,
    FqPie,
}

impl Law {
    /// Whether flows have queues of their own.
    pub(super) fn is_fair(self) -> bool {
        matches!(self, Law::FqCodel | Law::FqPie)
    }

    /// Its name in messages.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Law::DropTail => "dummynet droptail",
            Law::Codel => "dummynet codel",
            Law::Pie => "dummynet pie",
            Law::FqCodel => "dummynet fq_codel",
            Law::FqPie => "dummynet fq_pie",
        }
    }

    fn has_codel(self) -> bool {
        matches!(self, Law::Codel | Law::FqCodel)
    }
}

/// A law with the parameters that the text gives.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Discipline {
    pub(super) law: Law,
    /// Our names and values.
    given: Vec<(&'static str, String)>,
    /// The limit of the queue, which holds with every law.
    queue: Option<String>,
}

impl Discipline {
    /// Handles a word of the configuration; returns whether it is one of a discipline.
    pub(super) fn word<'t>(
        &mut self,
        word: &str,
        rest: &mut impl Iterator<Item = &'t str>,
    ) -> Result<bool, String> {
        let lower = word.to_ascii_lowercase();
        let flag = |name: &'static str, value: &str| Some((name, value.to_owned()));
        let found = match lower.as_str() {
            "ecn" => flag("ecn", "true"),
            "noecn" => flag("ecn", "false"),
            "capdrop" => flag("cap_step", "true"),
            "nocapdrop" => flag("cap_step", "false"),
            "derand" => flag("derandomise", "true"),
            "noderand" => flag("derandomise", "false"),
            "onoff" => flag("on_off", "true"),
            "nonoff" => flag("on_off", "false"),
            "dre" => flag("delay", "rate"),
            "ts" => flag("delay", "stamps"),
            _ => None,
        };
        if let Some(found) = found {
            self.set(found);
            return Ok(true);
        }
        match lower.as_str() {
            "droptail" => self.law = Law::DropTail,
            "codel" => self.law = Law::Codel,
            "pie" => self.law = Law::Pie,
            "type" => {
                let given = rest.next().unwrap_or("").to_ascii_lowercase();
                self.kind(&given)?;
            }
            "queue" => self.slots(rest.next().unwrap_or(""))?,
            name => match parameter(name) {
                Some(parameter) => {
                    let value = value(name, rest.next().unwrap_or(""), parameter.1)?;
                    self.set((parameter.0, value));
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn set(&mut self, (name, value): (&'static str, String)) {
        self.given.retain(|it| it.0 != name);
        self.given.push((name, value));
    }

    /// The type of a scheduler.
    pub(super) fn kind(&mut self, kind: &str) -> Result<(), String> {
        self.law = match kind {
            "fq_codel" => Law::FqCodel,
            "fq_pie" => Law::FqPie,
            "fifo" | "wf2q+" | "rr" | "qfq" | "drr" | "prio" => Law::DropTail,
            other => return Err(format!("dummynet has no scheduler `{other}`")),
        };
        Ok(())
    }

    /// The size of the queue: slots, or bytes.
    pub(super) fn slots(&mut self, text: &str) -> Result<(), String> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let refuse = || format!("queue: `{text}` is not a number of slots, or bytes as in 50KB");
        let number: u64 = text[..end].parse().map_err(|_| refuse())?;
        self.queue = Some(match text[end..].to_ascii_lowercase().as_str() {
            "" => format!("{number}p"),
            "k" | "kb" | "kbytes" => format!("{}B", number * 1024),
            "b" | "bytes" => format!("{number}B"),
            _ => return Err(refuse()),
        });
        Ok(())
    }

    /// The AQM in FreeBSD's dialect, whose defaults are those of ipfw; 50 slots if the text gives
    /// no queue.
    pub(super) fn text(&self) -> Result<String, String> {
        let queue = self.queue.as_deref().unwrap_or("50p");
        if self.law == Law::DropTail {
            let dialect = if queue.ends_with('B') { "@bytes" } else { "" };
            return Ok(format!("taildrop{dialect}:limit={queue}"));
        }
        let mut all: Vec<String> = Vec::new();
        all.extend((!self.law.is_fair()).then(|| format!("limit={queue}")));
        for (name, value) in &self.given {
            let is_of_pie = matches!(
                *name,
                "tupdate"
                    | "alpha"
                    | "beta"
                    | "max_burst"
                    | "ecn_mark_limit"
                    | "cap_step"
                    | "derandomise"
                    | "on_off"
                    | "delay"
            );
            let is_of_flows = matches!(*name, "limit" | "flows" | "quantum");
            if is_of_pie && self.law.has_codel()
                || *name == "interval" && !self.law.has_codel()
                || is_of_flows && !self.law.is_fair()
            {
                return Err(format!("{} has no `{name}`: delete it", self.law.kind()));
            }
            all.push(format!("{name}={value}"));
        }
        let name = self.law.kind().trim_start_matches("dummynet ");
        let colon = if all.is_empty() { "" } else { ":" };
        Ok(format!("{name}@freebsd{colon}{}", all.join(",")))
    }
}

/// How a value is written.
#[derive(Clone, Copy)]
enum Form {
    /// A time; a bare number is in milliseconds (`time_to_us`).
    Time,
    /// An integer from 1 to a bound, and the unit of ours.
    Count(u64, &'static str),
    /// A number, and the unit of ours.
    Number(&'static str),
}

fn parameter(name: &str) -> Option<(&'static str, Form)> {
    Some(match name {
        "target" => ("target", Form::Time),
        "interval" => ("interval", Form::Time),
        "tupdate" => ("tupdate", Form::Time),
        "max_burst" => ("max_burst", Form::Time),
        "alpha" => ("alpha", Form::Number("hz")),
        "beta" => ("beta", Form::Number("hz")),
        "max_ecnth" => ("ecn_mark_limit", Form::Number("")),
        "quantum" => ("quantum", Form::Count(9000, "B")),
        "limit" => ("limit", Form::Count(20_480, "p")),
        "flows" => ("flows", Form::Count(65_536, "")),
        _ => return None,
    })
}

fn value(name: &str, text: &str, form: Form) -> Result<String, String> {
    let refuse = |what: &str| format!("{name}: `{text}` is not {what}");
    match form {
        Form::Time => {
            let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
            let number: f64 = text[..end].parse().map_err(|_| refuse("a time, such as 5ms"))?;
            let micros = match text[end..].to_ascii_lowercase().as_str() {
                "us" => number.trunc(),
                "" | "ms" => (number * 1e3).trunc(),
                // `ipfw` prints seconds as `fs`.
                "s" | "fs" => (number * 1e6).trunc(),
                _ => return Err(refuse("a time, such as 5ms")),
            };
            Ok(show_time(micros as u64 * 1000))
        }
        Form::Count(most, unit) => match text.parse::<u64>() {
            Ok(number @ 1..) if number <= most => Ok(format!("{number}{unit}")),
            _ => Err(refuse(&format!("a whole number from 1 to {most}"))),
        },
        Form::Number(unit) => match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(format!("{number}{unit}")),
            _ => Err(refuse("a number")),
        },
    }
}

//! Problems in a set-up: each finding has a reason, evidence, a remedy, and scenarios before and
//! after if they can be simulated.

mod framing;
mod gateway;
mod queues;
mod shapers;
mod trial;

use sojourn_aqm::Framing;

use super::line::lines;
use super::shaped::ShapedLine;
use super::tree::{TcNoteKind, TcSetup};
use super::values::TcPolicer;

pub use trial::TcTrial;

/// How sure a finding is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TcSeverity {
    /// The configuration does not do what it appears to do.
    Wrong,
    /// The setting may be right for a purpose that the text does not show.
    Doubtful,
}

impl TcSeverity {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TcSeverity::Wrong => "wrong",
            TcSeverity::Doubtful => "doubtful",
        }
    }
}

/// Something wrong or doubtful.
#[derive(Clone, PartialEq, Debug)]
pub struct TcFinding {
    /// A stable short name, such as `netem-limit`.
    pub code: &'static str,
    /// How sure it is.
    pub severity: TcSeverity,
    /// The line of the text, counted from 1.
    pub line: usize,
    /// The problem, in plain words.
    pub title: String,
    /// Why it is a problem.
    pub reason: String,
    /// The evidence in the text; may be empty if the line itself is enough.
    pub evidence: String,
    /// The remedy.
    pub remedy: String,
    /// Before and after as scenarios, if they can be simulated.
    pub trial: Option<TcTrial>,
}

/// What the user states about the line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcCircumstances {
    /// Rate of the line behind the shaper, bit/s, if known.
    pub line_bps: Option<u64>,
    /// What that line adds to an IP packet, if known.
    pub framing: Option<Framing>,
    /// Base round-trip time, ns.
    pub rtt_ns: u64,
    /// Concurrent bulk transfers.
    pub load: u64,
}

/// Findings under construction.
struct Findings<'a> {
    setup: &'a TcSetup,
    given: TcCircumstances,
    all: Vec<TcFinding>,
}

impl Findings<'_> {
    fn add(&mut self, finding: TcFinding) {
        self.all.push(finding);
    }

    /// The rate of a line: its shaper's, or the one that the user gave.
    fn bps(&self, line: &ShapedLine) -> Option<u64> {
        line.bps().or(self.given.line_bps)
    }

    /// The bytes that the line behind the shaper adds to a packet: as given by the user, else as
    /// counted by the shaper.
    fn framing(&self, line: &ShapedLine) -> Framing {
        self.given.framing.unwrap_or_else(|| line.counted())
    }
}

/// Finds wrong and doubtful settings; wrong ones come first.
pub fn check(setup: &TcSetup, given: TcCircumstances) -> Vec<TcFinding> {
    let mut findings = Findings { setup, given, all: Vec::new() };
    of_notes(&mut findings);
    setup.qdiscs.iter().for_each(|it| queues::bare_time(it, &mut findings));
    let all = lines(setup);
    let is_shaped = all.iter().any(|it| it.bps().is_some());
    for line in all.iter().filter(|it| it.device != "lo") {
        // A pipe of dummynet delays packets behind its queue, and has no option for overhead.
        if !line.chain.iter().any(|it| it == "pipe") {
            shapers::check(line, is_shaped, &mut findings);
            framing::check(line, &mut findings);
        }
        queues::check(line, &mut findings);
    }
    gateway::check(&all, &mut findings);
    for TcPolicer { device, line, .. } in &setup.policers {
        findings.add(TcFinding {
            code: "policer",
            severity: TcSeverity::Doubtful,
            line: *line,
            title: format!("arrivals on {device} are dropped above a rate, not queued"),
            reason: "a policer holds no packet, so TCP sees bursts of loss and uses less than the \
                     rate; an AQM has nothing to manage"
                .to_owned(),
            evidence: format!("a filter with `police` on {device}"),
            remedy: format!(
                "redirect the arrivals of {device} to an ifb and shape them there with cake"
            ),
            trial: None,
        });
    }
    let mut all = findings.all;
    all.sort_by_key(|it| (it.severity, it.line));
    all
}

/// The quoted words of a text.
fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    words.join(" ")
}

/// Findings of the parser.
fn of_notes(findings: &mut Findings<'_>) {
    for note in &findings.setup.notes {
        let (code, title) = match note.kind {
            TcNoteKind::Contradiction => ("contradiction", "two options contradict each other"),
            TcNoteKind::Ineffective => ("ineffective", "an option has no effect"),
            TcNoteKind::Refused => ("refused", "the kernel refuses a command"),
            TcNoteKind::Unknown | TcNoteKind::Rounded => continue,
        };
        let (title, reason) = (title.to_owned(), note.text.clone());
        // A handle ends in a colon too.
        let parts = reason.split_once("; ").or_else(|| reason.split_once(": "));
        let (why, remedy) = match parts {
            Some((why, remedy)) => (why.trim().to_owned(), remedy.trim().to_owned()),
            None => (reason.clone(), "delete one of the two".to_owned()),
        };
        findings.all.push(TcFinding {
            code,
            severity: TcSeverity::Wrong,
            line: note.line,
            title,
            reason: why,
            evidence: match note.kind {
                TcNoteKind::Contradiction => quoted(&note.text),
                _ => String::new(),
            },
            remedy,
            trial: None,
        });
    }
}

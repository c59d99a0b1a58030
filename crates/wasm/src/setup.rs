//! Pasted output of `tc qdisc show`, for the page.

use serde_json::{Value, json};
use sojourn_formats::FormatError;
use sojourn_formats::tc::{self, TcFinding, TcQueue, TcWish};

use crate::page_call::PastedSetup;

/// Name of the scenario of a set-up.
const NAME: &str = "pasted";

/// Everything about a set-up, as `sojourn tc import` and `sojourn tc check` say it.
pub(crate) fn read(given: PastedSetup) -> Result<Value, FormatError> {
    let PastedSetup { text, rate, rtt, device } = given;
    let wish = TcWish { name: NAME.to_owned(), rate, rtt, device };
    let report = tc::report(&tc::read_shown(&text)?, &wish)?;
    let (scenario, read, refusal) = match report.scenario {
        Ok(import) => (Some(import.toml), import.read, None),
        Err(error) => (None, Vec::new(), Some(error.to_string())),
    };
    Ok(json!({
        "devices": report.devices,
        "queue": report.queue.map(queue),
        "scenario": scenario,
        "refusal": refusal,
        "read": read,
        "unknown": report.unknown,
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    }))
}

fn queue(of: TcQueue) -> Value {
    json!({ "device": of.device, "kind": of.kind, "aqm": of.aqm.text })
}

fn finding(of: &TcFinding) -> Value {
    json!({
        "severity": of.severity.name(),
        "code": of.code,
        "line": of.line,
        "title": of.title,
        "reason": of.reason,
        "evidence": of.evidence,
        "remedy": of.remedy,
    })
}

"""Decisions for machines: JUnit XML, TAP 14, annotations and the step summary of GitHub, JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

from sojourn.testing import figure
from sojourn.testing.decisions import Decision
from sojourn.testing.remedies import commands

# XML 1.0 §2.2: characters that no document may contain.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(decisions: Sequence[Decision], began: datetime) -> str:
    """Decisions as JUnit XML, a suite for each file; undecided and invalid ones become errors.

    Args:
        decisions: the worst first.
        began: when the first run began; JUnit's schema has no time zone, so it is written in UTC.
    """
    root = ET.Element("testsuites", _suite("sojourn", decisions))
    stamp = began.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    for file in dict.fromkeys(decision.expected.file for decision in decisions):
        inside = [decision for decision in decisions if decision.expected.file == file]
        suite = ET.SubElement(root, "testsuite", _suite(file, inside) | {"timestamp": stamp})
        for decision in inside:
            _case(suite, decision)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(name: str, decisions: Sequence[Decision]) -> dict[str, str]:
    counts = _counts(decisions)
    return {
        "name": _xml(name), "tests": str(len(decisions)), "failures": str(counts["failed"]),
        "errors": str(counts["invalid"] + counts["undecided"]), "skipped": "0",
        "time": f"{sum(map(_milliseconds, decisions)) / 1e3:.3f}",
    }  # fmt: skip


def _case(suite: ET.Element, decision: Decision) -> None:
    expected = decision.expected
    case = ET.SubElement(
        suite, "testcase", name=_xml(expected.name), classname=_xml(expected.file),
        file=_xml(expected.file), line=str(expected.line),
        time=f"{_milliseconds(decision) / 1e3:.3f}",
    )  # fmt: skip
    if decision.outcome == "passed":
        ET.SubElement(case, "system-out").text = _xml(decision.measured)
        return
    element = "failure" if decision.outcome == "failed" else "error"
    message = f"{decision.outcome}: {decision.measured}"
    found = ET.SubElement(case, element, message=_xml(message), type=decision.outcome)
    found.text = _xml("\n".join(commands(decision)))


def _milliseconds(decision: Decision) -> int:
    """Whole milliseconds, so that a suite's time is the sum of its cases."""
    return round(decision.seconds * 1e3)


def tap(decisions: Sequence[Decision]) -> str:
    """Decisions as TAP 14; undecided and invalid ones are not ok, with their outcome."""
    lines = ["TAP version 14", f"1..{len(decisions)}"]
    for number, decision in enumerate(decisions, 1):
        name = re.sub(r"([\\#])", r"\\\1", f"{decision.expected.place} {decision.expected.name}")
        is_bad = decision.outcome != "passed"
        lines.append(f"{'not ok' if is_bad else 'ok'} {number} - {name}")
        if is_bad:
            lines += ["  ---", f"  outcome: {decision.outcome}", "  measured: |"]
            lines += [f"    {decision.measured}", "  show:"]
            shown = [text.replace("'", "''") for text in commands(decision)]
            lines += [f"    - '{text}'" for text in shown]
            lines.append("  ...")
    return "\n".join(lines)


def github_annotations(decisions: Sequence[Decision]) -> list[str]:
    """Workflow commands of GitHub, one for each decision that is not passed."""
    found = []
    for decision in decisions:
        if decision.outcome != "passed":
            level = "warning" if decision.outcome == "undecided" else "error"
            expected = decision.expected
            line = f",line={expected.line}" if expected.line else ""
            title = _property(f"{expected.name}: {decision.outcome}")
            message = "\n".join([decision.measured, *commands(decision)])
            place = f"file={_property(expected.file)}{line}"
            found.append(f"::{level} {place},title={title}::{_data(message)}")
    return found


def step_summary(decisions: Sequence[Decision]) -> str:
    """Decisions as Markdown, for ``$GITHUB_STEP_SUMMARY``."""
    lines = ["| | expectation | measured |", "|---|---|---|"]
    for decision in decisions:
        expected = decision.expected
        cells = (f"{expected.place} {expected.name}", decision.measured)
        escaped = [re.sub(r"([\\|`*_<>&#\[\]])", r"\\\1", cell) for cell in cells]
        lines.append(f"| {decision.outcome} | {escaped[0]} | {escaped[1]} |")
    table = "\n".join(lines) + "\n"
    return f"### {headline(decisions)}\n\n{table}\n{figure.draw(decisions)}"


def headline(decisions: Sequence[Decision]) -> str:
    """The number of each outcome: ``1 failed, 3 passed``."""
    counts = _counts(decisions)
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"


def as_data(decision: Decision) -> dict[str, Any]:
    """The decision as data for JSON."""
    expected = decision.expected
    return {
        "file": expected.file, "line": expected.line, "name": expected.name, "key": expected.key,
        "outcome": decision.outcome, "centre": decision.centre, "low": decision.low,
        "high": decision.high, "seeds": len(decision.values), "values": list(decision.values),
        "reason": decision.reason, "warnings": list(decision.warnings),
        "seconds": round(decision.seconds, 3),
        "show": [] if decision.outcome == "passed" else commands(decision),
    }  # fmt: skip


def _counts(decisions: Sequence[Decision]) -> Mapping[str, int]:
    outcomes = [decision.outcome for decision in decisions]
    return {name: outcomes.count(name) for name in ("failed", "invalid", "undecided", "passed")}


def _xml(text: str) -> str:
    return _NOT_XML.sub("?", text)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

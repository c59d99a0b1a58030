"""Findings of ``sojourn tc check`` as text, each with its numbers."""

from __future__ import annotations

import math

from sojourn.advising.setup import Circumstances, SetupFinding, TrialMetric
from sojourn.describing.formatting import counted

_WHOLE_FROM = 1000


def show(findings: list[SetupFinding], unknown: list[str], given: Circumstances) -> None:
    """Print all findings, the wrong first."""
    wrong = sum(it.severity == "wrong" for it in findings)
    if not findings:
        print("Nothing wrong was found.")
    else:
        print(f"{wrong} wrong, {len(findings) - wrong} doubtful.")
    for finding in findings:
        print()
        for line in _lines(finding):
            print(line)
    if any(it.measured for it in findings):
        line = f"{given.line_bps / 1e6:g} Mbit/s" if given.line_bps else "not given (--line)"
        line += f" of {given.medium} (--medium)" if given.medium else ""
        print(
            f"\nAssumed: round trip {given.rtt_s * 1e3:g} ms (--rtt), "
            f"{counted(given.load, 'bulk transfer')} and a voice call (--load), line {line}; means "
            f"over {counted(given.seeds, 'seed')}, differences with 95 % intervals."
        )
    for text in unknown:
        print(f"note: {text}")


def _lines(finding: SetupFinding) -> list[str]:
    seen = f"line {finding.line}" + (f": {finding.evidence}" if finding.evidence else "")
    lines = [
        f"{finding.severity.upper()}: {finding.title} [{finding.code}]",
        f"  why:    {finding.reason}",
        f"  seen:   {seen}",
        f"  remedy: {finding.remedy}",
    ]
    if finding.measured:
        lines.append(f"  simulated: {finding.model}")
        lines += [f"    {_row(it)}" for it in finding.measured]
    return lines


def _row(measured: TrialMetric) -> str:
    before, after = _number(measured.before), _number(measured.after)
    difference = measured.test.difference
    text = f"{measured.label:<25} {before} -> {after} {measured.unit}"
    if math.isnan(difference.half_width):
        return text
    low, high = _number(difference.low), _number(difference.high)
    return f"{text}  ({_number(difference.mean)}, {low} to {high})"


def _number(value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= _WHOLE_FROM else f"{value:.3g}"

"""Wrong and doubtful set-ups of tc, each simulated as it is and with its remedy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sojourn import _core
from sojourn.advising.media import MEDIA
from sojourn.advising.trials import check_rtt, run_each, value
from sojourn.comparing.statistics import PairedTest, paired
from sojourn.running.replicas import Progress
from sojourn.running.store import DEFAULT_STORE, Store

METRICS = (
    ("delay of the call, p95", "class/call/owd_p95", 1e3, "ms"),
    ("rate of the transfers", "class/bulk/goodput", 1e-6, "Mbit/s"),
    ("lost packets of the call", "class/call/loss_rate", 1e2, "%"),
)
"""What a trial measures: label, place in the summary, factor to the unit of display, that unit."""


@dataclass(frozen=True)
class TrialMetric:
    """One metric of a trial over its seeds, in the unit of display.

    Attributes:
        label: label of the axis, in words.
        unit: unit of all numbers.
        before: mean of the set-up as it is.
        after: mean with the remedy.
        test: after minus before, paired by seed, with its 95 % interval.
    """

    label: str
    unit: str
    before: float
    after: float
    test: PairedTest


@dataclass(frozen=True)
class SetupFinding:
    """Something wrong or doubtful.

    Attributes:
        code: a stable short name, such as ``netem-limit``.
        severity: ``wrong`` or ``doubtful``.
        line: line of the text, from 1.
        title: the problem, in plain words.
        reason: why.
        evidence: the input text that shows it.
        remedy: the fix.
        model: what the trial's scenarios model; None if it is not simulated.
        measured: the trial, or empty.
    """

    code: str
    severity: str
    line: int
    title: str
    reason: str
    evidence: str
    remedy: str
    model: str | None = None
    measured: tuple[TrialMetric, ...] = ()


@dataclass(frozen=True)
class Circumstances:
    """Assumptions about the line.

    Attributes:
        line_bps: rate of the line behind the shaper, bit/s; None if it is not known.
        medium: one of `sojourn.advising.media.MEDIA`, for what that line adds to a packet; None if
            it is not known.
        rtt_s: base round-trip time, seconds.
        load: concurrent bulk transfers.
        seeds: number of seeds; 0 simulates nothing.
    """

    line_bps: int | None = None
    medium: str | None = None
    rtt_s: float = 0.04
    load: int = 4
    seeds: int = 5


def check(
    text: str,
    given: Circumstances,
    *,
    progress: Progress | None = None,
    store: Store | None = DEFAULT_STORE,
) -> tuple[list[SetupFinding], list[str]]:
    """Find what is wrong or doubtful, and measure what it costs.

    Args:
        text: commands, output of tc, or ``/etc/config/sqm``.
        given: assumptions about the line.
        progress: receives the progress of the runs.
        store: the store in which earlier runs are found.

    Returns:
        Findings, the wrong first; and the parts of the text that were not understood.

    Raises:
        InputError: a number is out of range.
        ScenarioError: the text is not a set-up of tc.
    """
    check_rtt(given.rtt_s)
    framing = MEDIA[given.medium].framing if given.medium else None
    rtt_ns = round(given.rtt_s * 1e9)
    rows, unknown = _core.tc_check(text, given.line_bps, framing, rtt_ns, given.load)
    trials = [row[7] if given.seeds else None for row in rows]
    setups = [
        (f"{row[0]} {phase}", toml)
        for row, trial in zip(rows, trials, strict=True)
        if trial
        for phase, toml in zip(("before", "after"), trial[:2], strict=True)
    ]
    results = iter(run_each(setups, given.seeds, progress, store))
    findings = []
    for row, trial in zip(rows, trials, strict=True):
        found = SetupFinding(*row[:7])
        if trial:
            found = SetupFinding(*row[:7], trial[2], _measured(next(results), next(results)))
        findings.append(found)
    return findings, unknown


def _measured(before: list[Any], after: list[Any]) -> tuple[TrialMetric, ...]:
    rows = []
    for label, key, factor, unit in METRICS:
        pair = [[value(run, key) * factor for run in runs] for runs in (before, after)]
        test = paired(pair[1], pair[0])
        means = [math.fsum(values) / len(values) for values in pair]
        rows.append(TrialMetric(label, unit, means[0], means[1], test))
    return tuple(rows)

"""Wrong and doubtful set-ups of tc, each simulated as it is and with its remedy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sojourn import _core
from sojourn.comparing.statistics import PairedTest, paired
from sojourn.describing.library import seeded
from sojourn.errors import InputError
from sojourn.running.replicas import Progress, Task, run_all
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
        title: what is wrong, in plain words.
        reason: why.
        evidence: the text it rests on.
        remedy: how to fix it.
        model: what the scenarios of the trial stand for; None if it is not simulated.
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
        rtt_s: base round-trip time, seconds.
        load: concurrent bulk transfers.
        seeds: number of seeds; 0 simulates nothing.
    """

    line_bps: int | None = None
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
        progress: receives how far the runs are.
        store: the store in which earlier runs are found.

    Returns:
        Findings, the wrong first; and the parts of the text that were not understood.

    Raises:
        InputError: a number is out of range.
        ScenarioError: the text is not a set-up of tc.
    """
    if not 1e-4 <= given.rtt_s <= 10.0:
        raise InputError("--rtt: from 100us to 10s")
    rows, unknown = _core.tc_check(text, given.line_bps, round(given.rtt_s * 1e9), given.load)
    trials = [row[7] if given.seeds else None for row in rows]
    tasks = [
        Task(f"{row[0]} {phase}, seed {seed}", seeded(_core.Scenario.load(toml), seed))
        for row, trial in zip(rows, trials, strict=True)
        if trial
        for phase, toml in zip(("before", "after"), trial[:2], strict=True)
        for seed in range(1, given.seeds + 1)
    ]
    outcomes = iter(run_all(tasks, progress=progress, store=store) if tasks else [])
    findings = []
    for row, trial in zip(rows, trials, strict=True):
        found = SetupFinding(*row[:7])
        if trial:
            results = [[next(outcomes) for _ in range(given.seeds)] for _ in range(2)]
            found = SetupFinding(*row[:7], trial[2], _measured(*results))
        findings.append(found)
    return findings, unknown


def _measured(before: list[Any], after: list[Any]) -> tuple[TrialMetric, ...]:
    rows = []
    for label, key, factor, unit in METRICS:
        pair = [[_value(run, key) * factor for run in runs] for runs in (before, after)]
        test = paired(pair[1], pair[0])
        means = [math.fsum(values) / len(values) for values in pair]
        rows.append(TrialMetric(label, unit, means[0], means[1], test))
    return tuple(rows)


def _value(run: Any, key: str) -> float:
    """A number of a run's summary; NaN if the run failed or lacks it."""
    return math.nan if isinstance(run, str) else float(run.summary.get(key, math.nan))

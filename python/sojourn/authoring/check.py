"""Checks a law: the contract on random operations, and standard scenarios with known AQMs."""

from __future__ import annotations

import itertools
import json
import shlex
from dataclasses import dataclass

import numpy as np

from sojourn import _core
from sojourn.authoring import check_scenarios
from sojourn.authoring.cells import Finding, WorldResult
from sojourn.describing.queues import queue_of
from sojourn.loading.bring import AqmLike, bring
from sojourn.running.replicas import Progress, Task, run_each
from sojourn.running.result import Result
from sojourn.stability.model.parameters import seconds

OPERATIONS = 1_000_000
REFERENCES = ("codel", "pie", "fq_codel")


@dataclass(frozen=True)
class Checked:
    """The results of a check.

    Attributes:
        law: the law in text form.
        source: its code, empty for a built-in law.
        doc: what it does.
        target_s: its delay target; None without one.
        findings: the contract.
        aqms: the law, then the known AQMs.
        grid: keyed by AQM, then by (flows, base RTT in ms); the values are cells.
        others: keyed by AQM, then by name of a standard scenario; the values are cells.
        sentences: the conclusions from the standard scenarios.
        command: the command that repeats this check.
    """

    law: str
    source: str
    doc: str
    target_s: float | None
    findings: list[Finding]
    aqms: list[str]
    grid: dict[str, dict[tuple[int, int], WorldResult]]
    others: dict[str, dict[str, WorldResult]]
    sentences: list[str]
    command: str

    @property
    def is_kept(self) -> bool:
        """Whether every rule of the contract holds."""
        return all(finding.held is not False for finding in self.findings)


def check(
    law: AqmLike,
    *,
    quick: bool = False,
    operations: int = OPERATIONS,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Check a law.

    Args:
        law: a name, ``mine.py:MyLaw``, a library or a class; parameters as for a comparison.
        quick: a tenth of the random operations, without standard scenarios.
        operations: random operations in each of the long tests of the contract; a million take some
            seconds for a law in Python.
        jobs: concurrent runs; the number of cores by default.
        progress: receives the progress of the runs.

    Raises:
        InputError: the law is unknown.
        ScenarioError: the law is not legal.
        LawError: the law failed in a standard scenario, although it kept the contract.
    """
    brought = bring([law])
    name, laws = brought.aqms[0], brought.laws
    each = max(operations // (10 if quick else 1), 1)
    findings = [Finding(*row) for row in _core.examine_law(name, laws, each)]
    info = _core.describe_aqm(name, laws)
    aqms = _contenders(name)
    made = Checked(
        law=name,
        source=laws[0].source if laws else "",
        doc=info["doc"],
        target_s=_target(name, laws),
        findings=findings,
        aqms=aqms,
        grid={aqm: {} for aqm in aqms},
        others={aqm: {} for aqm in aqms},
        sentences=[],
        command=_command(law if isinstance(law, str) else name, quick, operations),
    )
    if not quick and made.is_kept:
        _run(made, laws, jobs, progress)
        made.sentences.extend(check_scenarios.sentences(made.grid, made.others, made.target_s))
    return made


def _command(law: str, quick: bool, operations: int) -> str:
    options = ["--quick"] * quick
    if operations != OPERATIONS:
        options += ["--operations", str(operations)]
    return shlex.join(["sojourn", "check", law, *options])


def _contenders(name: str) -> list[str]:
    """The law, the law under flow queueing, and the known AQMs."""
    kind, colon, settings = name.partition(":")
    return list(dict.fromkeys([name, f"fq({kind}){colon}{settings}", *REFERENCES]))


def _target(aqm: str, laws: list[_core.CustomLaw]) -> float | None:
    loaded = (
        _core.Scenario.load(check_scenarios.grid(1, 20))
        .with_laws(laws)
        .with_queue("bottleneck", aqm)
    )
    text = queue_of(json.loads(loaded.resolved_json()), "bottleneck")["settings"].get("target")
    return seconds(text) if text else None


def _run(
    made: Checked, laws: list[_core.CustomLaw], jobs: int | None, progress: Progress | None
) -> None:
    """Every AQM in every standard scenario, under one seed."""
    places: list[tuple[str, tuple[int, int] | str]] = []
    tasks = []
    texts: dict[tuple[int, int] | str, str] = {
        (n, rtt): check_scenarios.grid(n, rtt)
        for n, rtt in itertools.product(*check_scenarios.AXES)
    }
    texts.update(check_scenarios.OTHERS)
    for aqm in made.aqms:
        for place, text in texts.items():
            loaded = _core.Scenario.load(text).with_laws(laws).with_queue("bottleneck", aqm)
            places.append((aqm, place))
            tasks.append(Task(f"{aqm}, {place}", loaded))
    cells = run_each(tasks, lambda _index, result: _cell(result), jobs=jobs, progress=progress)
    for (aqm, place), cell in zip(places, cells, strict=True):
        assert isinstance(cell, WorldResult), cell
        if isinstance(place, str):
            made.others[aqm][place] = cell
        else:
            made.grid[aqm][place] = cell


def _cell(result: Result) -> WorldResult:
    summary, nothing = result.summary, float("nan")
    states = result.columns("states")
    is_backlog = np.asarray(states["var"], dtype=object) == "backlog_bytes"
    is_counted = np.asarray(states["t_ns"]) >= check_scenarios.WARMUP_S * 1e9
    backlog = np.asarray(states["value"])[is_backlog & is_counted]
    mean = float(backlog.mean())
    others = {key: value for key, value in summary.items() if key.startswith("class/")}
    return WorldResult(
        delay_p50_s=summary.get("queue/bottleneck/delay_p50", nothing),
        delay_p95_s=summary.get("queue/bottleneck/delay_p95", nothing),
        utilisation=summary.get("queue/bottleneck/utilisation", nothing),
        jain=summary.get("class/bulk/jain", nothing),
        swing=float(backlog.std()) / mean if mean > 0 else 0.0,
        others=others,
    )

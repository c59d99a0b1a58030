"""Comparisons with `--until` from the seeds of `measure.py`: error rates, and the seeds saved.

Contenders are pie, codel, and pie again under other seeds, whose differences from pie are 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sojourn.comparing.compared_runs import ComparedRuns
from sojourn.comparing.equivalence import margin
from sojourn.comparing.stopping import StoppingRule
from sojourn.comparing.until import MAX_SEEDS, add_seeds
from sojourn.describing.metrics import row_of

Floats = NDArray[np.float64]
LINK = "bottleneck"
FIRST, AGAIN, OTHER = "pie", "pie again", "codel"
RULES = (
    StoppingRule("decided", MAX_SEEDS), StoppingRule("decided", MAX_SEEDS, is_race=True),
    StoppingRule("5%", MAX_SEEDS), StoppingRule("5%", MAX_SEEDS, is_race=True),
)  # fmt: skip
# With all headline metrics nearly every comparison of this scenario goes on to the last look.
FAMILIES = (
    (f"queue/{LINK}/delay_p95",),
    (f"queue/{LINK}/delay_p95", f"queue/{LINK}/utilisation", "class/bulk/goodput"),
)
SHUFFLES = 10


@dataclass
class Tally:
    """The outcomes of comparisons with one rule.

    Attributes:
        comparisons: number of comparisons.
        runs: runs that they made.
        undecided: those that reached the most seeds with a difference still open.
        false: those with a verdict that pie differs from pie.
        wrong_same: those that call contenders equivalent whose difference exceeds the margin.
        wrong_stop: those that stop one of two equal AQMs because the other beats it.
        held: by metric, intervals of the difference of codel that contain the truth.
    """

    comparisons: int = 0
    runs: int = 0
    undecided: int = 0
    false: int = 0
    wrong_same: int = 0
    wrong_stop: int = 0
    held: dict[str, list[bool]] = field(default_factory=dict)


def rows(values: Mapping[str, Mapping[str, Floats]]) -> Iterator[str]:
    """A row per rule.

    Args:
        values: every number by AQM and key, one per seed.
    """
    yield (
        f"| headline | rule | comparisons | seeds per AQM, of at most {MAX_SEEDS} | open at the "
        "end % | verdict on pie against pie % | wrong `≈` % | wrong stop % "
        "| intervals of codel − pie that hold %, least |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    pie, codel = values.values()
    for keys, rule in itertools.product(FAMILIES, RULES):
        tally = _tally(keys, rule, pie, codel)
        n = tally.comparisons
        shares = [
            f"{100 * count / n:.1f}"
            for count in (tally.undecided, tally.false, tally.wrong_same, tally.wrong_stop)
        ]
        least = min(float(np.mean(each)) for each in tally.held.values())
        name = f"`--until {rule.text}{' --race' if rule.is_race else ''}`"
        seeds = tally.runs / n / 3
        of = ", ".join(key.rpartition("/")[2] for key in keys)
        yield f"| {of} | {name} | {n:,} | {seeds:.1f} | {' | '.join(shares)} | {100 * least:.1f} |"


def _tally(
    keys: Sequence[str], rule: StoppingRule, pie: Mapping[str, Floats], codel: Mapping[str, Floats]
) -> Tally:
    truths = {key: float(np.mean(codel[key]) - np.mean(pie[key])) for key in keys}
    means = {key: float(np.mean(pie[key])) for key in keys}
    n = len(pie[keys[0]])
    tally = Tally()
    for turn in range(SHUFFLES):
        order = np.random.default_rng(turn).permutation(n)
        for group in order[: n // (2 * MAX_SEEDS) * 2 * MAX_SEEDS].reshape(-1, 2, MAX_SEEDS):
            runs = {
                FIRST: [_run(pie, keys, i) for i in group[0]],
                AGAIN: [_run(pie, keys, i) for i in group[1]],
                OTHER: [_run(codel, keys, i) for i in group[0]],
            }
            _count(tally, _compare(rule, runs), truths, means)
    return tally


def _run(values: Mapping[str, Floats], keys: Sequence[str], seed: int) -> Any:
    summary = {key: float(values[key][seed]) for key in keys}
    rows = [(*key.split("/"), value, row_of(key).unit) for key, value in summary.items()]
    return SimpleNamespace(
        summary=summary, summary_rows=rows, warnings=[], invalid=[], manifest={"seed": seed}
    )


def _compare(rule: StoppingRule, runs: Mapping[str, Sequence[Any]]) -> ComparedRuns:
    cells = [(aqm, seed) for seed in range(rule.max_seeds) for aqm in runs]

    def compared(seeds: Sequence[int], outcomes: Any, rule: StoppingRule) -> ComparedRuns:
        results = {aqm: [outcomes.get((aqm, seed)) for seed in seeds] for aqm in runs}
        scenario: Any = SimpleNamespace(name="coverage")
        return ComparedRuns(scenario, LINK, seeds, results, until=rule)

    return add_seeds(rule, cells, lambda due: {(a, s): runs[a][s] for a, s in due}, compared)


def _count(
    tally: Tally, found: ComparedRuns, truths: Mapping[str, float], means: Mapping[str, float]
) -> None:
    rule = found.until
    assert rule is not None, "the comparison was made with a rule"
    tally.comparisons += 1
    tally.runs += sum(len(found.of(aqm)) for aqm in found.aqms)
    tally.undecided += rule.open > 0
    rivals = (f"{FIRST} beats it", f"{AGAIN} beats it")
    tally.wrong_stop += any(one.aqm == AGAIN and one.why.startswith(rivals) for one in rule.stopped)
    tally.false += any(row.aqm == AGAIN and row.verdict not in ("", "same") for row in found.tests)
    codel = [row for row in found.tests if row.aqm == OTHER]
    tally.wrong_same += any(
        row.is_equivalent
        and abs(truths[row.metric.key]) > margin(row.metric, means[row.metric.key])
        for row in codel
    )
    for row in codel:
        held = row.test.difference.low <= truths[row.metric.key] <= row.test.difference.high
        tally.held.setdefault(row.metric.key, []).append(held)

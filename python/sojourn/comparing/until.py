"""Adds seeds to a comparison until its headline differences are known well enough.

The number of seeds at the end is one of the planned looks (`sojourn.comparing.looks`), so tests and
intervals stay valid although that number depends on them. In a race an AQM gets no further seeds
once each of its differences is known, or another AQM beats it in queue delay p95 and utilisation
together: as in the verdict (`sojourn.comparing.dominance`), with Bonferroni's correction over
rivals and both metrics, so that the best AQM is stopped in at most 5 % of comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from sojourn.comparing import dominance
from sojourn.comparing.idle import is_idle
from sojourn.comparing.statistics import ALPHA
from sojourn.comparing.stopping import StoppedContender, StoppingRule
from sojourn.describing.arguments import whole
from sojourn.describing.formatting import counted
from sojourn.describing.quantity import required
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.comparing.rows import PairedDifference
    from sojourn.running.result import Result

Cell = tuple[str, int]
"""A contender and a seed."""
C = TypeVar("C", bound="ComparedRuns")

DECIDED = "decided"
MAX_SEEDS = 60
_NEEDS = "write a share such as 5%, or `decided`"


def going(rule: StoppingRule, comparison: ComparedRuns) -> tuple[StoppingRule, list[str]]:
    """The rule with the contenders that have stopped now, and those that need more seeds.

    Args:
        rule: the rule.
        comparison: the contenders after the seeds so far.
    """
    known = {one.aqm for one in rule.stopped}
    running = [aqm for aqm in comparison.aqms[1:] if aqm not in known]
    left = {aqm: _open(rule, comparison, aqm) for aqm in running}
    if is_idle(comparison) or not any(left.values()):
        return replace(rule, open=0), []
    if not rule.is_race:
        return replace(rule, open=sum(left.values())), comparison.aqms
    stops = [one for aqm in running for one in _stop(rule, comparison, aqm, left[aqm])]
    still = [aqm for aqm in running if aqm not in [one.aqm for one in stops]]
    rule = replace(rule, stopped=(*rule.stopped, *stops), open=sum(left[aqm] for aqm in still))
    return rule, [comparison.baseline, *still] if still else []


def _stop(
    rule: StoppingRule, comparison: ComparedRuns, aqm: str, left: int
) -> list[StoppedContender]:
    """Why an AQM needs no more seeds while others go on; empty if it needs more."""
    seeds = len(comparison.seeds)
    if not left and _is_lasting(rule, comparison, aqm):
        return [StoppedContender(aqm, seeds, "each of its headline differences is known")]
    for other in comparison.aqms:
        if _beats(comparison, other, aqm):
            why = f"{other} beats it, with {counted(left, 'headline difference')} open"
            return [StoppedContender(aqm, seeds, why)]
    return []


def _open(rule: StoppingRule, comparison: ComparedRuns, aqm: str) -> int:
    """The number of the contender's headline differences that are not known well enough."""
    rows = [row for row in comparison.tests if row.aqm == aqm and row.headline]
    return sum(not _is_known(rule, comparison, row) for row in rows)


def _is_lasting(rule: StoppingRule, comparison: ComparedRuns, aqm: str) -> bool:
    """Whether its verdicts stay the same if p-values of other AQMs change.

    Holm's correction depends on these p-values; Bonferroni's does not.
    """
    family = [row for row in comparison.tests if not math.isnan(row.p_adjusted)]
    return rule.text != DECIDED or all(
        row.is_equivalent or len(family) * row.test.p_value < ALPHA
        for row in family
        if row.aqm == aqm
    )


def _is_known(rule: StoppingRule, comparison: ComparedRuns, row: PairedDifference) -> bool:
    # Without a p-value no test is possible, even with more seeds.
    if math.isnan(row.test.p_value):
        return True
    if rule.text == DECIDED:
        return row.verdict != ""
    values = [comparison.estimate(row.metric, aqm).mean for aqm in (row.aqm, row.baseline)]
    most = max(_share(rule.text) * max(map(abs, values)), row.metric.row.least)
    return row.test.difference.half_width <= most


def add_seeds(
    rule: StoppingRule,
    cells: Sequence[Cell],
    make: Callable[[Sequence[Cell]], dict[Cell, Result | str]],
    compared: Callable[[Sequence[int], Mapping[Cell, Result | str], StoppingRule], C],
) -> C:
    """Make runs look by look until the rule is met, or a run fails or is not valid.

    Args:
        rule: the rule.
        cells: contender and seed of every run that may be made, seed by seed.
        make: makes runs.
        compared: the comparison of the runs so far.
    """
    outcomes: dict[Cell, Result | str] = {}
    running = list(dict.fromkeys(aqm for aqm, _ in cells))
    every = list(dict.fromkeys(seed for _, seed in cells))
    for look in rule.looks.counts:
        seeds = every[:look]
        due = set(seeds)
        outcomes |= make([
            cell for cell in cells
            if cell[0] in running and cell[1] in due and cell not in outcomes
        ])  # fmt: skip
        found = compared(seeds, outcomes, rule)
        # A contender's tests do not change: they depend on planned looks, not on stopped
        # contenders.
        rule, running = going(rule, found)
        found.until = rule
        if not running or found.failures or found.invalid:
            break
    return found


def read_until(text: str | None, max_seeds: int | None, race: bool) -> StoppingRule | None:
    """The rule of ``--until``, ``--max-seeds`` and ``--race``; None if the first is not given.

    Raises:
        InputError: it is neither a share nor `decided`, or the others are given without it.
    """
    if text is None:
        for name, given in (("--max-seeds", max_seeds is not None), ("--race", race)):
            if given:
                raise InputError(f"{name}: belongs to a rule of when to stop; add --until decided")
        return None
    if text != DECIDED:
        _share(text)
    most = MAX_SEEDS
    if max_seeds is not None:
        most = whole("--max-seeds", max_seeds, 2, remedy="an interval needs at least 2 seeds")
    return StoppingRule(text, most, race)


def check_contenders(contenders: Sequence[str], engines: int) -> None:
    """Refuse a rule without differences between AQMs.

    Raises:
        InputError: there is one AQM, or several engines.
    """
    if engines > 1:
        raise InputError("--until: compares AQMs on one engine; for several give --seeds")
    if len(contenders) < 2:
        raise InputError("--until: differences need at least two AQMs; name another in --aqm")


def _share(text: str) -> float:
    if not isinstance(text, str):
        raise InputError(f"--until: {text!r} is not a text; {_NEEDS}")
    if not text.endswith("%"):
        raise InputError(f"--until {text}: {_NEEDS}")
    try:
        number = required("--until", text.removesuffix("%"))
    except InputError:
        raise InputError(f"--until {text}: {_NEEDS}") from None
    share = number.number / 100.0
    if number.unit or not 0.0 < share < 1.0:
        raise InputError(f"--until {text}: is not above 0 and below 100%; {_NEEDS}")
    return share


def _beats(comparison: ComparedRuns, winner: str, aqm: str) -> bool:
    """Whether an AQM is worse than another in queue delay p95 and utilisation together."""
    metrics = dominance.metrics_of_plane(comparison)
    if winner == aqm or comparison.shaped or len(metrics) < len(dominance.PAIR):
        return False
    tests = len(metrics) * (len(comparison.aqms) - 1)
    delay, share = (comparison.paired_with(metric, aqm, winner, tests) for metric in metrics)
    seeds = dominance.seed_by_seed(comparison, aqm, winner)
    return dominance.verdict(delay, share, seeds, comparison.looks.one_sided) == "worse"


def lines(until: StoppingRule, seeds: int) -> list[str]:
    """Sentences with the number of seeds and its reason, for the head of a comparison.

    Args:
        until: the rule at the end.
        seeds: the largest number of seeds of a contender.
    """
    within = f"within {until.text} of the larger value"
    wish = DECIDED if until.text == DECIDED else within
    planned = until.looks.counts
    made = sum(look <= seeds for look in planned)
    end = f"and {until.open} are not" if until.open else "and all are"
    return [
        f"Seeds were added until every headline difference is {wish}, {end}: {seeds} of at most "
        f"{until.max_seeds}, after look {made} of the {len(planned)} planned. Tests and intervals "
        "hold for all looks together (Pocock 1977).",
        *(f"{one.aqm} stopped after {one.seeds} seeds: {one.why}." for one in until.stopped),
    ]

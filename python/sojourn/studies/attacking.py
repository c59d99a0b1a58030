"""`attack`: a scenario within stated bounds in which an AQM is bad, found by search, made small.

The score of a scenario is how bad the AQM is there, or how much worse than the best of the AQMs
that it is compared with, as a mean over seeds. What was found is made small by giving words back
the value of the base scenario, one after the other, as long as four fifths of what the search has
gained over the base scenario remain: the words that are left are those that matter.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import files
from sojourn.running.replicas import Progress
from sojourn.running.store import warn
from sojourn.scenario import document_toml
from sojourn.studies import asking
from sojourn.studies.attack_file import BADNESS, AttackSearch
from sojourn.studies.axes import Value
from sojourn.studies.executors import Workers
from sojourn.studies.trials import Trials, Wish, opened

KEPT = 0.8
"""Share of the gain over the base scenario that making it small must leave."""


@dataclass(frozen=True)
class Attacked:
    """A scenario that was tried.

    Attributes:
        values: value by word; words that are not here are the base scenario's.
        score: how bad the AQM is, beyond the best of the others; larger is worse.
        badness: mean over seeds by AQM.
    """

    values: dict[str, Value]
    score: float
    badness: dict[str, float]


@dataclass(frozen=True)
class AttackResult:
    """What an attack has found.

    Attributes:
        search: what was asked.
        base: the base scenario.
        tried: every scenario, in order.
        worst: the worst of these.
        small: the same with as few words as matter.
        runs: how many runs were made, not found in the store.
        failed: reason by run, of those that could not be made.
    """

    search: AttackSearch
    base: Attacked
    tried: list[Attacked]
    worst: Attacked
    small: Attacked
    runs: int
    failed: dict[str, str]


def attack(
    search: AttackSearch,
    store: str,
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    report: Callable[[str], None] = warn,
) -> AttackResult:
    """Search a bad scenario and make it small.

    Args:
        search: what is asked.
        store: folder, or any address that fsspec reads; a search goes on where it stopped.
        executor: where runs are made; processes of this machine by default.
        jobs: how many of these processes; one per core by default.
        progress: receives how far the runs of each step are.
        report: called with a sentence about every damaged file of the store.

    Raises:
        InputError: Optuna is not installed, or a scenario within the bounds is not legal.
        OSError: the store cannot be written.
    """
    study = asking.sampler(1, search.seed)
    facts = {"search": search.name, "document": dict(search.document)}
    with opened(store, facts, executor, jobs, progress, report) as trials:
        return _search(search, trials, study)


def _search(search: AttackSearch, trials: Trials, study: Any) -> AttackResult:
    (base,) = _try(search, trials, [{}])
    tried: list[Attacked] = []
    while len(tried) < search.trials:
        asked = [study.ask() for _ in range(min(asking.TOGETHER, search.trials - len(tried)))]
        found = _try(search, trials, [asking.suggest(each, search.words) for each in asked])
        for trial, one in zip(asked, found, strict=True):
            asking.tell(study, trial, [-one.score], {})
        tried += found
    known = [one for one in (base, *tried) if not math.isnan(one.score)]
    worst = max(known, key=lambda one: one.score) if known else base
    small = _smaller(search, trials, base, worst)
    return AttackResult(search, base, tried, worst, small, trials.made, trials.failed)


def _smaller(search: AttackSearch, trials: Trials, base: Attacked, worst: Attacked) -> Attacked:
    """The scenario without the words that do not matter."""
    least = base.score + KEPT * (worst.score - base.score)
    small = worst
    while small.values:
        fewer = [
            {name: value for name, value in small.values.items() if name != left}
            for left in small.values
        ]
        best = max(_try(search, trials, fewer), key=lambda one: _or_less(one.score))
        if not best.score >= least:
            break
        small = best
    return small


def _try(
    search: AttackSearch, trials: Trials, values: Sequence[Mapping[str, Value]]
) -> list[Attacked]:  # fmt: skip
    aqms = (search.aqm, *search.against)
    key, seeds = f"links.{search.link}.queue", tuple(range(1, search.seeds + 1))
    wishes = [
        Wish(search.scenario, search.scenario.point(search.sets(each) | {key: aqm}), seeds)
        for each in values
        for aqm in aqms
    ]
    found = [
        math.fsum(map(search.badness, runs)) / len(runs) for runs in trials.numbers(wishes)
    ]  # fmt: skip
    rows = [found[i * len(aqms) : (i + 1) * len(aqms)] for i in range(len(values))]
    return [
        Attacked(dict(each), row[0] - min(row[1:], default=0.0), dict(zip(aqms, row, strict=True)))
        for each, row in zip(values, rows, strict=True)
    ]


def _or_less(score: float) -> float:
    return -math.inf if math.isnan(score) else score


def save(result: AttackResult, folder: Path) -> Path:
    """Write the small scenario as a file for `sojourn run`, and the figures that it gave beside it.

    Returns:
        The scenario's file; ``NAME.finding.json`` has AQMs, seeds and figures.

    Raises:
        OSError: a file cannot be written.
    """
    search = result.search
    sets = search.sets(result.small.values) | {f"links.{search.link}.queue": search.aqm}
    document = json.loads(search.scenario.point(sets).scenario.document_json())
    document["name"] = search.name
    path = folder / f"{search.name}.toml"
    what = BADNESS[search.worst][1]
    header = f"# Found by `sojourn attack`: {search.worst} of {search.aqm}, {what}.\n"
    files.write(path, header + document_toml(document))
    facts = {
        "aqm": search.aqm, "against": list(search.against), "worst": search.worst,
        "link": search.link, "classes": list(search.classes), "seeds": search.seeds,
        "words": result.small.values, "badness": result.small.badness,
        "score": result.small.score, "base": result.base.score,
    }  # fmt: skip
    files.write(folder / f"{search.name}.finding.json", json.dumps(facts, indent=1) + "\n")
    return path

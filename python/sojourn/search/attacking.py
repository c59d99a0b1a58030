"""`attack`: searches, within stated bounds, a scenario in which an AQM does badly; simplifies it.

The score of a scenario is how bad the AQM is there, or how much worse than the best of the AQMs
that it is compared with, as a mean over seeds. A search that tries many scenarios under few seeds
overestimates its result, so the final scenario is judged under separate seeds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core, files
from sojourn.comparing.statistics import Estimate, estimate
from sojourn.running.replicas import Progress
from sojourn.running.store import warn
from sojourn.scenario import document_toml
from sojourn.search import asking
from sojourn.search.attack_file import BADNESS, AttackSearch, check_classes
from sojourn.search.simplifying import simplify
from sojourn.search.trials import opened, report_doubts
from sojourn.search.tune_file import FIRST_HELD_OUT
from sojourn.search.variants import Attacked, ScenarioVariant, Variants
from sojourn.study.executors import Workers
from sojourn.study.tables import value_columns
from sojourn.tabular import Tabular, known

if TYPE_CHECKING:
    import pyarrow as pa

JUDGED_SEEDS = 10


@dataclass(frozen=True)
class Judged:
    """The result under seeds that the search has not used.

    Attributes:
        badness: mean by AQM with its 95 % interval.
        score: mean difference from the best of the other AQMs, paired by seed; without other AQMs
            the same as `badness`.
    """

    badness: dict[str, Estimate]
    score: Estimate


@dataclass(frozen=True)
class AttackResult(Tabular):
    """The result of an attack.

    Attributes:
        search: the search.
        base: the base scenario.
        tried: every scenario, in order.
        worst: the worst of these.
        small: the worst scenario, simplified.
        judged: the simplified scenario's result under other seeds.
        scenario: the simplified scenario.
        runs: number of runs that were not found in the store.
        failed: reason by run, of failed runs.
    """

    search: AttackSearch
    base: Attacked
    tried: list[Attacked]
    worst: Attacked
    small: Attacked
    judged: Judged
    scenario: _core.Scenario
    runs: int
    failed: dict[str, str]

    def to_arrow(self) -> pa.Table:
        """One row for each tried scenario and AQM.

        Returns:
            Columns ``variant`` (its index among those tried), each varied key (null for the base
            scenario's value), ``aqm``, ``badness`` (mean over seeds) and ``score`` (of the variant,
            larger is worse).
        """
        import pyarrow as pa

        rows = [
            (i, each, aqm, bad)
            for i, each in enumerate(self.tried)
            for aqm, bad in each.badness.items()
        ]
        columns = {"variant": pa.array([i for i, *_ in rows], pa.int64())}
        names = list(dict.fromkeys(name for each in self.tried for name in each.variant.values))
        columns |= value_columns(names, [each.variant.values for _, each, *_ in rows])
        columns["aqm"] = pa.array([aqm for *_, aqm, _ in rows], pa.string())
        columns["badness"] = pa.array([known(bad) for *_, bad in rows], pa.float64())
        columns["score"] = pa.array([known(each.score) for _, each, *_ in rows], pa.float64())
        return pa.table(columns)


def attack(
    search: AttackSearch,
    store: str,
    *,
    executor: Executor | Workers | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    report: Callable[[str], None] = warn,
) -> AttackResult:
    """Search a bad scenario and simplify it.

    Args:
        search: the search.
        store: folder, or any address that fsspec reads; an interrupted search continues.
        executor: executes the runs; processes of this machine by default.
        jobs: number of these processes; one per core by default.
        progress: receives the progress of the runs of each step.
        report: called with every warning about the scenario that was found, or a damaged file of
            the store.

    Raises:
        InputError: Optuna is not installed, or a scenario within the bounds is not legal.
        OSError: the store cannot be written.
    """
    study = asking.sampler(1, search.seed)
    check_classes(search)
    with opened(search, store, executor, jobs, progress, report) as trials:
        found = _search(search, trials, study)
    report_doubts(search.name, found.scenario, report)
    return found


def _search(search: AttackSearch, trials: Any, study: Any) -> AttackResult:
    variants = Variants(search, trials)
    (base,) = variants.attacked([ScenarioVariant()])
    tried: list[Attacked] = []
    while len(tried) < search.trials:
        asked = [study.ask() for _ in range(min(asking.TOGETHER, search.trials - len(tried)))]
        found = variants.attacked(
            [ScenarioVariant(asking.suggest(each, search.words)) for each in asked]
        )
        for trial, one in zip(asked, found, strict=True):
            asking.tell(study, trial, [-one.score], {})
        tried += found
    known = [one for one in (base, *tried) if not math.isnan(one.score)]
    worst = max(known, key=lambda one: one.score) if known else base
    small = simplify(variants, base, worst)
    judged = _judge(variants, small.variant)
    scenario = variants.scenario(small.variant, search.aqm)
    return AttackResult(
        search, base, tried, worst, small, judged, scenario, trials.made, trials.failed
    )


def _judge(variants: Variants, variant: ScenarioVariant) -> Judged:
    seeds = range(FIRST_HELD_OUT, FIRST_HELD_OUT + JUDGED_SEEDS)
    (found,) = variants.badness([variant], seeds)
    return judge(found, variants.search.aqm, variants.search.against)


def judge(found: Mapping[str, Sequence[float]], aqm: str, against: Sequence[str]) -> Judged:
    """Mean badness by AQM, and how much worse the attacked AQM is than the best other one.

    Args:
        found: badness by AQM, one value per seed, of the same seeds.
        aqm: the AQM that is attacked.
        against: the others; may be empty.
    """
    badness = {name: estimate(values) for name, values in found.items()}
    if not against:
        return Judged(badness, badness[aqm])
    best = best_of(against, badness)
    pairs = zip(found[aqm], found[best], strict=True)
    return Judged(badness, estimate([one - other for one, other in pairs]))


def best_of(against: Sequence[str], badness: Mapping[str, Estimate]) -> str:
    """The AQM that an attacked one is judged against."""
    return min(against, key=lambda name: badness[name].mean)


def save(result: AttackResult, folder: Path) -> Path:
    """Write the small scenario as a file for `sojourn run`, and its figures next to it.

    Returns:
        The scenario's file; ``NAME.finding.json`` has AQMs, seeds and figures.

    Raises:
        OSError: a file cannot be written.
    """
    search, judged = result.search, result.judged
    document = json.loads(result.scenario.document_json())
    document["name"] = search.name
    path = folder / f"{search.name}.toml"
    header = f"# Found by `sojourn attack`: {search.worst} of {search.aqm}.\n"
    if search.laws:
        base = json.loads(search.scenario.point({}).scenario.document_json())
        document["links"][search.link]["queue"] = base["links"][search.link]["queue"]
        header += f"# A scenario names no code: run it with --aqm and {search.aqm}.\n"
    files.write(path, header + document_toml(_written(document, search)))
    facts = {
        "aqm": search.aqm, "against": list(search.against), "worst": search.worst,
        "badness_is": BADNESS[search.worst][1],
        "link": search.link, "classes": list(search.classes),
        "base": result.base.score, "found": result.worst.variant.values,
        "found_score": result.worst.score, "words": result.small.variant.values,
        "without": list(result.small.variant.without), "score": result.small.score,
        "seeds": search.seeds, "badness": result.small.badness,
        "judged_seeds": [FIRST_HELD_OUT, FIRST_HELD_OUT + JUDGED_SEEDS - 1],
        **judged_facts(judged),
    }  # fmt: skip
    files.write(folder / f"{search.name}.finding.json", json.dumps(facts, indent=1) + "\n")
    return path


def judged_facts(judged: Judged) -> dict[str, Any]:
    """The judgement in the file of a finding."""
    return {
        "judged": {aqm: _ends(each) for aqm, each in judged.badness.items()},
        "judged_score": _ends(judged.score),
    }


def _ends(found: Estimate) -> list[float]:
    """Mean and both ends of the interval, with four digits."""
    return [float(f"{each:.4g}") for each in (found.mean, found.low, found.high)]


def _written(document: dict[str, Any], search: AttackSearch) -> dict[str, Any]:
    """The document without default values."""
    whole = _resolved(document, search)

    def visit(table: Any) -> None:
        for key in list(table) if isinstance(table, dict) else range(len(table)):
            kept = table[key]
            if isinstance(table, dict):
                del table[key]
                if _resolved(document, search) == whole:
                    continue
                table[key] = kept
            if isinstance(kept, dict | list):
                visit(kept)

    visit(document)
    return document


def _resolved(document: dict[str, Any], search: AttackSearch) -> str | None:
    """The scenario of a document, all defaults filled in; None if it is invalid."""
    try:
        text, folder = json.dumps(document), search.scenario.base.folder
        return _core.Scenario.load(text, format="json", folder=folder).document_json()
    except _core.ScenarioError:
        return None

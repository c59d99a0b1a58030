"""The file of `sojourn attack`: AQM, scenario, bounds of its keys, and what to maximise."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.describing.queues import choose_link
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike
from sojourn.search.trials import Numbers, SearchScenario
from sojourn.search.tune_file import read_search
from sojourn.study.axes import StudyAxis, Value, read_axis, refuse_twice
from sojourn.study.keys import (
    at_least_one,
    choice,
    file_name,
    known_keys,
    near,
    seeds,
    text_list,
    whole,
)
from sojourn.study.laws import LawFile, named

_KEYS = (
    "name", "aqm", "against", "link", "scenario", "set", "worst", "classes", "words", "trials",
    "seeds", "seed",
)  # fmt: skip
_Badness = Callable[[Numbers, str, tuple[str, ...]], float]


def _delay(run: Numbers, queue: str, _classes: tuple[str, ...]) -> float:
    delay_s = run.get(f"{queue}/delay_p95", math.nan)
    return math.log10(delay_s) if delay_s > 0.0 else math.nan


def _idle(run: Numbers, queue: str, _classes: tuple[str, ...]) -> float:
    return 1.0 - run.get(f"{queue}/utilisation", math.nan)


def _spread(run: Numbers, queue: str, _classes: tuple[str, ...]) -> float:
    middle, high, mean = (
        run.get(f"{queue}/{name}", math.nan) for name in ("delay_p50", "delay_p95", "delay_mean")
    )
    return (high - middle) / mean if mean > 0.0 else math.nan


def _unfairness(run: Numbers, _queue: str, classes: tuple[str, ...]) -> float:
    """One minus Jain's index of all flows of the classes, from the sums of each class."""
    sums, squares, flows = 0.0, 0.0, 0.0
    for name in classes:
        count, goodput = (run.get(f"class/{name}/{key}", math.nan) for key in ("flows", "goodput"))
        jain = run.get(f"class/{name}/jain", 1.0)
        sums, flows = sums + goodput, flows + count
        squares += goodput**2 / (count * jain) if goodput > 0.0 else 0.0
    return 1.0 - sums**2 / (flows * squares) if squares > 0.0 else math.nan


def _starvation(run: Numbers, _queue: str, classes: tuple[str, ...]) -> float:
    """One minus the ratio of the poorest class's goodput per flow to that of all flows."""
    pairs = [
        tuple(run.get(f"class/{name}/{key}", math.nan) for key in ("flows", "goodput"))
        for name in classes
    ]
    fair = math.fsum(goodput for _, goodput in pairs) / math.fsum(count for count, _ in pairs)
    return 1.0 - min(goodput / count for count, goodput in pairs) / fair if fair else math.nan


BADNESS: dict[str, tuple[_Badness, str]] = {
    "delay": (_delay, "log10 of delay_p95 in s"),
    "utilisation": (_idle, "share of the rate that is not used"),
    "oscillation": (_spread, "(delay_p95 - delay_p50) / delay_mean"),
    "unfairness": (_unfairness, "1 - Jain's index over the flows of all classes"),
    "starvation": (_starvation, "1 - goodput per flow of the poorest class / that of all"),
}
"""The measures that can be maximised (larger is worse), and their descriptions."""


@dataclass(frozen=True)
class AttackSearch:
    """A search for a bad scenario that has been read and checked.

    Attributes:
        name: its name.
        aqm: the AQM that is attacked.
        against: AQMs that should do better in the same scenario; empty to maximise badness itself.
        link: the link that has it.
        scenario: the base scenario; the values of its keys count as simple.
        worst: one of `BADNESS`.
        classes: the classes of flows for unfairness and starvation.
        words: scenario keys with the bounds of the search.
        trials: number of scenarios to try.
        seeds: seeds of each, from 1 on.
        seed: seed of the sampler.
        document: the search as written, with the given AQMs.
        laws: custom laws among its AQMs.
    """

    name: str
    aqm: str
    against: tuple[str, ...]
    link: str
    scenario: SearchScenario
    worst: str
    classes: tuple[str, ...]
    words: tuple[StudyAxis, ...]
    trials: int
    seeds: int
    seed: int
    document: Mapping[str, Any]
    laws: tuple[LawFile, ...] = ()

    def badness(self, run: Numbers) -> float:
        """The badness of a run; NaN if it failed."""
        return BADNESS[self.worst][0](run, f"queue/{self.link}", self.classes)

    def sets(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The scenario keys and values of a point."""
        keys = {axis.name: axis.keys for axis in self.words}
        return {key: value for name, value in values.items() for key in keys[name]}


def read_attack(source: str | Path, *, aqms: AqmsLike | None = None) -> AttackSearch:
    """Read the file of an attack, or a shipped one by name.

    Args:
        source: the file or the name.
        aqms: see `parse_attack`.

    Raises:
        InputError: the file or name does not exist, or its content is not such a search.
    """
    return read_search(source, "attack", parse_attack, aqms)


def parse_attack(
    document: Mapping[str, Any], folder: Path | None = None, *, aqms: AqmsLike | None = None
) -> AttackSearch:
    """An attack from the tables of its file.

    Args:
        document: the file as TOML reads it.
        folder: base of relative paths; the working folder by default.
        aqms: the AQM that is attacked, then those of `against`, instead of the file's; custom laws
            are ``mine.py:MyLaw``.

    Raises:
        InputError: a key or a value is invalid.
    """
    known_keys("attack", document, _KEYS)
    laws: tuple[LawFile, ...] = ()
    if aqms is not None:
        texts, laws = named(aqms)
        document = {
            **document,
            "aqm": texts[0],
            "against": texts[1:] or document.get("against", []),
        }
    for key in ("name", "aqm", "scenario"):
        if not isinstance(document.get(key), str):
            raise InputError(f"{key}: is missing; it is a text")
    sets = document.get("set", {})
    if not isinstance(sets, Mapping):
        raise InputError("set: must be a table from scenario words to values")
    scenario = SearchScenario(document["scenario"], sets, folder or Path(), laws)
    worst = choice("worst", document.get("worst"), tuple(BADNESS))
    classes = tuple(text_list("classes", document["classes"])) if "classes" in document else ()
    if worst in ("unfairness", "starvation") and not classes:
        raise InputError(f'classes: are missing; {worst} is of classes such as ["bulk"]')
    if worst == "starvation" and len(classes) < 2:
        raise InputError("classes: starvation compares at least two")
    tables = document.get("words")
    if not isinstance(tables, list) or not tables:
        raise InputError("words: are missing; an attack has at least one [[words]] with bounds")
    link = choose_link(scenario.point({}).scenario, document.get("link"))
    against = document.get("against", [])
    found = AttackSearch(
        file_name("name", document["name"]), document["aqm"],
        tuple(text_list("against", against)) if against else (),
        link, scenario, worst, classes,
        tuple(read_axis(i, table, "words") for i, table in enumerate(tables)),
        at_least_one("trials", document.get("trials", 64)),
        seeds("seeds", document.get("seeds", 3)),
        whole("seed", document.get("seed", 1)), document, laws,
    )  # fmt: skip
    refuse_twice(found.words, "words")
    if found.aqm in found.against:
        raise InputError(f"against: {found.aqm} is compared with itself; name other AQMs")
    for aqm in (found.aqm, *found.against):
        scenario.point({f"links.{link}.queue": aqm})
    return found


def check_classes(search: AttackSearch) -> None:
    """Refuse classes that the base scenario lacks; their goodputs would be unknown.

    Raises:
        InputError: one is unknown.
    """
    resolved = json.loads(search.scenario.point({}).scenario.resolved_json())
    known = [*dict.fromkeys(group["class"] for group in resolved["flows"])]
    for name in search.classes:
        if name not in known:
            raise InputError(f"classes: unknown class `{name}`{near(name, known)}")

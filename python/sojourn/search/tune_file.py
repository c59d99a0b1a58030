"""The file of `sojourn tune`: an AQM, its searched parameters, the goal, the scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sojourn import _core, reading
from sojourn.describing.queues import choose_link
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike
from sojourn.search.goals import Goal, read_goal
from sojourn.search.trials import SearchScenario
from sojourn.study.axes import StudyAxis, Value, read_axis
from sojourn.study.keys import at_least_one, known_keys, near, seeds, title, whole
from sojourn.study.laws import LawFile, named

_KEYS = (
    "name", "aqm", "link", "goal", "parameters", "scenarios", "held_out", "trials", "seeds",
    "held_out_seeds", "seed",
)  # fmt: skip
FIRST_HELD_OUT = 1_000_001
"""The first seed that is held out from the search."""
_SET = re.compile(r"[:,]\s*(\w+)\s*=")
"""A parameter that the text of an AQM sets."""
_SHIPPED = Path(__file__).parent / "shipped"


Search = TypeVar("Search")


@dataclass(frozen=True)
class TuneSearch:
    """A search for parameters that has been read and checked.

    Attributes:
        name: its name.
        aqm: the AQM with the settings that are its default here.
        link: the link that has it.
        goal: the goal.
        parameters: names of varied parameters with ranges or lists of values.
        scenarios: scenarios of the search.
        held_out: scenarios that judge the result.
        trials: number of settings to try.
        seeds: seeds per setting and scenario, from 1 on.
        held_out_seeds: seeds of the judgement, from `FIRST_HELD_OUT` on.
        seed: seed of the sampler.
        document: the search as written, with the given AQM.
        laws: the AQM, if it is a custom law.
    """

    name: str
    aqm: str
    link: str
    goal: Goal
    parameters: tuple[StudyAxis, ...]
    scenarios: tuple[SearchScenario, ...]
    held_out: tuple[SearchScenario, ...]
    trials: int
    seeds: int
    held_out_seeds: int
    seed: int
    document: Mapping[str, Any]
    laws: tuple[LawFile, ...] = ()

    def text(self, settings: Mapping[str, Value]) -> str:
        """The AQM's text form with these settings."""
        if not settings:
            return self.aqm
        more = ",".join(f"{name}={value}" for name, value in settings.items())
        return f"{self.aqm}{',' if ':' in self.aqm else ':'}{more}"


def shipped(kind: str) -> dict[str, Path]:
    """The searches that come with Sojourn, ``tune`` or ``attack``: file by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob(f"{kind}-*.toml"))}


def read_search(
    source: str | Path, kind: str, parse: Callable[..., Search], aqms: AqmsLike | None
) -> Search:
    """Read the file of a search, or a shipped one by name.

    Raises:
        InputError: the file or name does not exist, or its content is not such a search.
    """
    document, folder = _document_of(source, kind)
    try:
        return parse(document, folder, aqms=aqms)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _document_of(source: str | Path, kind: str) -> tuple[dict[str, Any], Path]:
    """The tables of a search's file and its folder."""
    path = Path(source)
    if not path.is_file():
        known = shipped(kind)
        if str(source) not in known:
            raise InputError(
                f"{source}: no such file, and no shipped search of that name"
                f"{near(str(source), known)}"
            )
        path = known[str(source)]
    return reading.toml(path, "search"), path.parent


def read_tune(source: str | Path, *, aqms: AqmsLike | None = None) -> TuneSearch:
    """Read the file of a search for parameters, or a shipped one by name.

    Args:
        source: the file or the name.
        aqms: see `parse_tune`.

    Raises:
        InputError: the file or name does not exist, or its content is not such a search.
    """
    return read_search(source, "tune", parse_tune, aqms)


def parse_tune(
    document: Mapping[str, Any], folder: Path | None = None, *, aqms: AqmsLike | None = None
) -> TuneSearch:
    """A search for parameters from the tables of its file.

    Args:
        document: the file as TOML reads it.
        folder: base of relative paths; the working folder by default.
        aqms: the AQM, exactly one, instead of the file's; a custom law is ``mine.py:MyLaw``.

    Raises:
        InputError: a key or a value is invalid.
    """
    known_keys("tune", document, _KEYS)
    laws: tuple[LawFile, ...] = ()
    if aqms is not None:
        texts, laws = named(aqms)
        if len(texts) != 1:
            raise InputError(f"aqms: a search tunes one AQM, not {len(texts)}")
        document = {**document, "aqm": texts[0]}
    name = title("name", document.get("name"))
    if not isinstance(document.get("aqm"), str):
        raise InputError("aqm: is missing; it is a text")
    where = folder or Path()
    seen, unseen = (
        _places(key, document.get(key), where, laws) for key in ("scenarios", "held_out")
    )  # fmt: skip
    if both := {place.name for place in seen} & {place.name for place in unseen}:
        raise InputError(f"held_out: {min(both)} is among `scenarios`; the search has seen it")
    link = choose_link(seen[0].point({}).scenario, document.get("link"))
    found = TuneSearch(
        name=name,
        aqm=document["aqm"],
        link=link,
        goal=read_goal(document.get("goal"), link),
        parameters=_parameters(document.get("parameters"), document["aqm"], laws),
        scenarios=seen,
        held_out=unseen,
        trials=at_least_one("trials", document.get("trials", 64)),
        seeds=seeds("seeds", document.get("seeds", 6)),
        held_out_seeds=seeds("held_out_seeds", document.get("held_out_seeds", 20)),
        seed=whole("seed", document.get("seed", 1)),
        document=document,
        laws=laws,
    )
    if found.seeds < 2 or found.held_out_seeds < 2:
        raise InputError("seeds, held_out_seeds: an interval needs at least 2")
    for place in (*seen, *unseen):
        place.point({f"links.{link}.queue": found.aqm})
    return found


def _places(
    key: str, entries: object, folder: Path, laws: tuple[LawFile, ...]
) -> tuple[SearchScenario, ...]:
    if not isinstance(entries, list) or not entries:
        raise InputError(
            f'{key}: is missing; a list of scenarios such as "dumbbell-reno" or '
            '{ scenario = "dumbbell-reno", set = { "flows.bulk.count" = 20 } }'
        )
    places = []
    for index, entry in enumerate(entries):
        table = {"scenario": entry} if isinstance(entry, str) else entry
        known_keys(f"{key}[{index}]", table, ("scenario", "set"))
        source, sets = table.get("scenario"), table.get("set", {})
        if not isinstance(source, str) or not isinstance(sets, Mapping):
            raise InputError(f"{key}[{index}]: must have a text `scenario` and a table `set`")
        places.append(SearchScenario(source, sets, folder, laws))
    names = [place.name for place in places]
    if len(set(names)) < len(names):
        raise InputError(f"{key}: a scenario is listed twice; write each once")
    return tuple(places)


def _parameters(tables: object, aqm: str, laws: tuple[LawFile, ...]) -> tuple[StudyAxis, ...]:
    if not isinstance(tables, list) or not tables:
        raise InputError("parameters: are missing; a search has at least one [[parameters]]")
    try:
        known = [
            each["name"] for each in _core.describe_aqm(aqm, [law.load() for law in laws])["params"]
        ]
    except (_core.ScenarioError, ValueError) as error:
        raise InputError(f"aqm: {error}") from error
    axes = tuple(read_axis(i, table, "parameters") for i, table in enumerate(tables))
    for axis in axes:
        if axis.name not in known:
            raise InputError(f"parameters: {aqm} has no `{axis.name}`{near(axis.name, known)}")
        if axis.name in _SET.findall(aqm):
            raise InputError(f"parameters.{axis.name}: {aqm} sets it as well; remove it there")
        if axis.ends is None and len(axis.values) < 2:
            raise InputError(f"parameters.{axis.name}: one value is nothing to choose from")
    if len({axis.name for axis in axes}) < len(axes):
        raise InputError("parameters: a name is listed twice; write each once")
    return axes

"""The definition of a study: base scenario, axes, filters, metrics, seeds, stopping rule."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sojourn import reading
from sojourn.describing.library import find as find_scenario
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike
from sojourn.study import filters
from sojourn.study.axes import Sampling, StudyAxis, read_axis, read_sampling, refuse_twice
from sojourn.study.endpoints import EndpointLibrary, named_endpoints
from sojourn.study.filters import Filter
from sojourn.study.given import with_values
from sojourn.study.keys import at_least_one, known_keys, near, text_list, title
from sojourn.study.laws import LawFile
from sojourn.study.until import Until, read_until

STUDY_KEYS = (
    "name", "description", "scenario", "set", "axes", "sample", "only", "skip", "metrics", "seeds",
    "until", "max_points",
)  # fmt: skip
MOST_POINTS = 100_000
"""The largest number of points of a study, unless it sets ``max_points``."""
DEFAULT_SEEDS = 3
_SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class Study:
    """A study that has been read and checked; `sojourn.study.points` expands it.

    Attributes:
        name: its name.
        scenario: file or shipped name of the base scenario.
        axes: the axes.
        sets: dotted keys and values that hold for every point.
        only: filters, if any, one of which a point must match.
        skip: filters that a point must not match.
        metrics: keys of table ``summary`` that tables and pages show, such as
            ``queue/bottleneck/delay_p95``.
        seeds: seeds per point, from 1 on; with `until` the rule decides.
        until: the stopping rule, if any.
        sampling: the sampling of axes without a number of points.
        max_points: the largest number of points that is accepted.
        folder: base of a relative path of the scenario.
        document: the study as written, with the changes by `aqms` and `engine`.
        laws: custom laws that an axis names.
        endpoints: transport libraries of the scenario's flows.
    """

    name: str
    scenario: str
    axes: tuple[StudyAxis, ...]
    sets: Mapping[str, Any] = field(default_factory=dict)
    only: tuple[Filter, ...] = ()
    skip: tuple[Filter, ...] = ()
    metrics: tuple[str, ...] = ()
    seeds: int = DEFAULT_SEEDS
    until: Until | None = None
    sampling: Sampling | None = None
    max_points: int = MOST_POINTS
    folder: Path = Path()
    document: Mapping[str, Any] = field(default_factory=dict)
    laws: tuple[LawFile, ...] = ()
    endpoints: tuple[EndpointLibrary, ...] = ()

    @functools.cached_property
    def source(self) -> Path:
        """The file of the base scenario: next to the study's file, or a shipped one.

        Raises:
            InputError: neither exists.
        """
        sibling = self.folder / self.scenario
        return find_scenario(sibling if sibling.is_file() else self.scenario)


def shipped() -> dict[str, Path]:
    """The studies that come with Sojourn: file by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.toml"))}


def read(
    source: str | Path,
    *,
    aqms: AqmsLike | None = None,
    engine: str | Sequence[str] | None = None,
    endpoints: Mapping[str, str] | None = None,
) -> Study:
    """Read a study file, or a shipped study by name; other arguments are those of `parse`.

    Args:
        source: the file or the name.
        aqms: replace the AQMs of the file.
        engine: replaces the engines of the file.
        endpoints: transport libraries, as for `sojourn.run`.

    Raises:
        InputError: the file or name does not exist, or its content is not a study.
    """
    path = Path(source)
    if not path.is_file():
        if str(source) in shipped():
            path = shipped()[str(source)]
        elif not path.exists():
            raise InputError(
                f"{source}: no such file, and no shipped study of that name"
                f"{near(str(source), shipped())}"
            )
    document = reading.toml(path, "study")
    try:
        return parse(document, path.parent, aqms=aqms, engine=engine, endpoints=endpoints)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def parse(
    document: Mapping[str, Any],
    folder: Path | None = None,
    *,
    aqms: AqmsLike | None = None,
    engine: str | Sequence[str] | None = None,
    endpoints: Mapping[str, str] | None = None,
) -> Study:
    """A study from the tables of its file.

    Args:
        document: the file as TOML reads it.
        folder: base of a relative path of the scenario; the working folder by default.
        aqms: values of the axis that sets the queue of a link, instead of the file's; an axis
            ``aqm`` is added if the study has none. A custom law is a file, ``mine.py:MyLaw``: only
            a call names code, never a study.
        engine: values of the axis ``engine`` in the same way, such as ``"sim,linux"``.
        endpoints: transport libraries, as for `sojourn.run`.

    Raises:
        InputError: a key or a value is invalid.
        ScenarioError: an AQM or a transport library is not legal.
    """
    known_keys("study", document, STUDY_KEYS)
    document, laws = with_values(document, folder or Path(), aqms, engine)
    name = title("name", document.get("name"))
    if not isinstance(document.get("scenario"), str):
        raise InputError("scenario: is missing; it is a text")
    axes = _axes(document.get("axes", []))
    sets = document.get("set", {})
    if not isinstance(sets, Mapping):
        raise InputError('set: must be a table such as { duration = "10s" }')
    sets = _flat(sets)
    _check_keys(axes, sets)
    if "until" in document and "seeds" in document:
        raise InputError("seeds: `until` decides how many; its `max_seeds` is the bound")
    sampling = read_sampling(document["sample"]) if "sample" in document else None
    _check_sampling(axes, sampling)
    if "metrics" not in document:
        raise InputError("metrics: are missing; name some, such as queue/bottleneck/delay_p95")
    metrics = text_list("metrics", document["metrics"])
    if len(set(metrics)) < len(metrics):
        raise InputError("metrics: a metric is listed twice; write each once")
    return Study(
        name=name,
        scenario=document["scenario"],
        axes=axes,
        sets=sets,
        only=filters.check("only", document.get("only", []), axes),
        skip=filters.check("skip", document.get("skip", []), axes),
        metrics=tuple(metrics),
        seeds=at_least_one("seeds", document.get("seeds", DEFAULT_SEEDS)),
        until=read_until(document["until"], metrics) if "until" in document else None,
        sampling=sampling,
        max_points=at_least_one("max_points", document.get("max_points", MOST_POINTS)),
        folder=folder or Path(),
        document=document,
        laws=laws,
        endpoints=named_endpoints(endpoints),
    )


def _axes(tables: object) -> tuple[StudyAxis, ...]:
    if not isinstance(tables, list) or not tables:
        raise InputError("axes: are missing; a study has at least one [[axes]]")
    axes = tuple(read_axis(i, table) for i, table in enumerate(tables))
    refuse_twice(axes, "axes")
    return axes


def _check_keys(axes: tuple[StudyAxis, ...], sets: Mapping[str, Any]) -> None:
    """Refuse set keys whose value would be lost, since `seeds` or an axis replaces it."""
    keys = {key: f"axes.{axis.name}" for axis in axes for key in axis.keys}
    for key in sets:
        if key == "seed":
            raise InputError("set.seed: `seeds` gives the seeds of a point; leave it out")
        if found := [axis for axis in keys if key == axis or key.startswith(f"{axis}.")]:
            raise InputError(f"set.{key}: is replaced by {keys[found[0]]}; remove one of them")


def _check_sampling(axes: tuple[StudyAxis, ...], sampling: Sampling | None) -> None:
    sampled = [axis.name for axis in axes if axis.ends is not None]
    if sampled and sampling is None:
        raise InputError(
            f"axes.{sampled[0]}.points: is missing; or give the study a table `sample`"
        )
    if sampling is not None and not sampled:
        raise InputError(
            "sample: every axis has its values; leave out `points` of one, or `sample`"
        )


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Dotted keys of nested tables: TOML reads ``a.b = 1`` as a table in a table."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[before + key] = value
    return flat

"""The tables of a study for other programs: typed columns with units in their names.

Axes whose values are quantities of one kind are numbers in SI units (``rtt_s``, ``rate_bps``), so
other programs compare them as numbers; `docs/how-to/studies.md` lists the columns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sojourn.describing.quantity import base_unit, quantity
from sojourn.study.axes import Value

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.study.definition import Study
    from sojourn.study.points import PointScenario
    from sojourn.study.storage import StudyStore

_OF_AXES = {
    "s": "_s", "bit": "_bps", "B": "_bytes", "hz": "_hz", "bdp": "_bdp", "packets": "_packets",
    "p": "_packets",
}  # fmt: skip
_OF_METRICS = {"": "", "1": "", "s": "_s", "bit/s": "_bps", "bytes": "_bytes", "B": "_bytes"}


class _Results(Protocol):
    study: Study
    store: StudyStore

    @property
    def points(self) -> Sequence[PointScenario]: ...

    def wanted_seeds(self) -> list[int]: ...

    def units(self, enough: Sequence[str]) -> dict[str, str]: ...

    def numbers(self, metrics: Sequence[str]) -> dict[str, dict[str, float]]: ...

    def estimates(self) -> Sequence[Any]: ...


def value_columns(
    names: Sequence[str], rows: Sequence[Mapping[str, Value]]
) -> dict[str, pa.ChunkedArray | pa.Array]:
    """Columns of values in the notation of scenarios, by column name.

    Values of one kind with a unit become numbers in SI units, in a column that ends in the unit;
    values of several types become texts; missing values are null.

    Args:
        names: names of the values.
        rows: values by name.
    """
    found = {}
    for name in names:
        values = [row.get(name) for row in rows]
        there = [value for value in values if value is not None]
        unit = _unit_of(there)
        if unit is None:
            found[name] = _plain(values, {type(value) for value in there})
        else:
            found[name.removesuffix(_OF_AXES[unit]) + _OF_AXES[unit]] = _sizes(values)
    return found


def metric_columns(
    metrics: Sequence[str], units: Mapping[str, str], taken: Sequence[str]
) -> dict[str, str]:
    """The columns of metrics, by their keys.

    Args:
        metrics: keys, such as ``queue/bottleneck/delay_p95``.
        units: unit by key.
        taken: names of existing columns.
    """
    found = {key: _word(_with_unit(key.rpartition("/")[2], units.get(key, ""))) for key in metrics}
    for depth in (2, 3):
        names = [*taken, *found.values()]
        for key, name in found.items():
            if names.count(name) > 1:
                parts = key.rpartition("/")[0].split("/")[1 if depth == 2 else 0 :]
                last = _with_unit(key.rpartition("/")[2], units.get(key, ""))
                found[key] = _word("_".join([*parts, last]))
    return found


def runs_table(results: _Results) -> pa.Table:
    """One row per run; see `sojourn.study.Results.table`."""
    import pyarrow as pa

    base, numbers = _base(results), results.numbers(results.study.metrics)
    runs = base["run"].to_pylist()
    columns = metric_columns(
        results.study.metrics, results.units(results.study.metrics), base.column_names
    )
    for metric, name in columns.items():
        values = pa.array([numbers[run].get(metric) for run in runs], pa.float64())
        base = base.append_column(name, values)
    return base


def points_table(results: _Results) -> pa.Table:
    """One row per point; see `sojourn.study.Results.table`."""
    import pyarrow as pa

    found = results.estimates()
    table = _axes(results, range(len(found)))
    table["seeds"] = pa.array([each.seeds for each in found], pa.int64())
    columns = metric_columns(
        results.study.metrics, results.units(results.study.metrics), list(table)
    )
    for metric, name in columns.items():
        estimates = [each.estimates[metric] for each in found]
        for ending, values in (
            ("", [each.mean for each in estimates]),
            ("_low", [each.low for each in estimates]),
            ("_high", [each.high for each in estimates]),
        ):
            known = [None if math.isnan(value) else value for value in values]
            table[name + ending] = pa.array(known, pa.float64())
    return pa.table(table)


def values_table(results: _Results) -> pa.Table:
    """One row per number of a run; see `sojourn.study.Results.table`."""
    import pyarrow as pa

    base = _base(results)
    places = {run: i for i, run in enumerate(base["run"].to_pylist())}
    columns = ["run", "scope", "name", "metric", "value", "unit"]
    parts = [base.slice(0, 0).select(["run"])]
    indices: list[int] = []
    for rows in results.store.tables(columns):
        at = [places.get(run, -1) for run in rows["run"].to_pylist()]
        kept = rows.filter(pa.array([place >= 0 for place in at], pa.bool_()))
        texts = [kept[c] if c == "value" else kept[c].cast(pa.string()) for c in columns]
        parts.append(pa.table(dict(zip(columns, texts, strict=True))))
        indices += [place for place in at if place >= 0]
    rows = pa.concat_tables(parts, promote_options="default")
    table = base.take(pa.array(indices, pa.int64()))
    for name in columns[1:]:
        column = rows[name] if name in rows.column_names else pa.nulls(0, pa.string())
        table = table.append_column(name, column)
    return table.sort_by([(c, "ascending") for c in ("point", "seed", "scope", "name", "metric")])


def _base(results: _Results) -> pa.Table:
    """Point, axes, seed and name of every stored run, by point and seed."""
    import pyarrow as pa

    kept = results.store.runs()
    rows = [
        (place, seed, run)
        for place, (each, wanted) in enumerate(
            zip(results.points, results.wanted_seeds(), strict=True)
        )
        for seed, run in enumerate(each.addresses(wanted), 1)
        if run in kept
    ]
    table = _axes(results, [place for place, _, _ in rows])
    table["seed"] = pa.array([seed for _, seed, _ in rows], pa.int64())
    table["run"] = pa.array([run for _, _, run in rows], pa.string())
    return pa.table(table)


def _axes(results: _Results, places: Sequence[int]) -> dict[str, Any]:
    """Number and axes of the points at these places among those of the results."""
    import pyarrow as pa

    # The values of all points, so types do not depend on which points have runs.
    points = [each.point for each in results.points]
    columns = {"point": pa.array([each.index for each in points], pa.int64())}
    names = [axis.name for axis in results.study.axes]
    columns |= value_columns(names, [each.values for each in points])
    chosen = pa.array(places, pa.int64())
    return {name: column.take(chosen) for name, column in columns.items()}


def _unit_of(values: Sequence[Value]) -> str | None:
    """The first unit of the common family of all values; None if they are not quantities.

    A plain 0 belongs to every family, as in scenarios.
    """
    found = [quantity(value) for value in values]
    units = set()
    for each in found:
        if each is None:
            return None
        if each.unit or each.number != 0.0:
            units.add(base_unit(each.unit))
    return next(iter(units)) if len(units) == 1 and units <= _OF_AXES.keys() else None


def _sizes(values: Sequence[Value | None]) -> pa.Array:
    import pyarrow as pa

    found = [None if value is None else quantity(value) for value in values]
    # Twelve digits, so 35ms equals 0.035 in a query.
    return pa.array([each and float(f"{each.size:.12g}") for each in found], pa.float64())


def _plain(values: Sequence[Value | None], types: set[type]) -> pa.Array:
    import pyarrow as pa

    if types == {int, float}:
        return pa.array(values, pa.float64())
    if len(types) > 1 or not types:
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    return pa.array(values)


def _with_unit(name: str, unit: str) -> str:
    ending = _OF_METRICS.get(unit, f"_{unit}")
    return name.removesuffix(ending) + ending


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name)

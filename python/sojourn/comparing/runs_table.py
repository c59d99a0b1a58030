"""The runs of a comparison as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from sojourn.tabular import Columns, Kind, known

if TYPE_CHECKING:
    from sojourn.comparing.metrics import Metric


class _Comparison(Protocol):
    aqms: list[str]
    seeds: list[int]
    results: dict[str, Sequence[Any]]

    @property
    def metrics(self) -> list[Metric]: ...

    def values(self, metric: Metric, aqm: str) -> list[float]: ...


def runs_table(comparison: _Comparison) -> Columns:
    """One row per run and metric; see `ComparedRuns.to_arrow`."""
    kinds: dict[str, Kind] = {
        "aqm": "text", "seed": "integer", "scope": "text", "name": "text", "metric": "text",
        "value": "number", "unit": "text",
    }  # fmt: skip
    rows = [
        (aqm, seed, metric.scope, metric.name, metric.metric,
         known(value), metric.unit)
        for aqm in comparison.aqms
        for metric in comparison.metrics
        for seed, result, value in zip(
            comparison.seeds, comparison.results[aqm], comparison.values(metric, aqm), strict=True
        )
        if result is not None
    ]  # fmt: skip
    return Columns.of_rows(kinds, rows)

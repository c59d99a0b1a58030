"""The runs of a comparison as one Arrow table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.comparing.metrics import Metric


class _Comparison(Protocol):
    aqms: list[str]
    seeds: list[int]
    results: dict[str, Sequence[Any]]

    @property
    def metrics(self) -> list[Metric]: ...

    def values(self, metric: Metric, aqm: str) -> list[float]: ...


def runs_table(comparison: _Comparison) -> pa.Table:
    """One row per run and metric; see `ComparedRuns.to_arrow`."""
    import pyarrow as pa

    schema = pa.schema([
        ("aqm", pa.string()), ("seed", pa.int64()), ("scope", pa.string()), ("name", pa.string()),
        ("metric", pa.string()), ("value", pa.float64()), ("unit", pa.string()),
    ])  # fmt: skip
    rows = [
        (aqm, seed, metric.scope, metric.name, metric.metric,
         None if math.isnan(value) else value, metric.unit)
        for aqm in comparison.aqms
        for metric in comparison.metrics
        for seed, result, value in zip(
            comparison.seeds, comparison.results[aqm], comparison.values(metric, aqm), strict=True
        )
        if result is not None
    ]  # fmt: skip
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema)

"""Rows of the table of metrics by name, and rows for metrics that the table lacks."""

from __future__ import annotations

from sojourn.describing.metric_table import ROWS, USUAL_MARGINS, MetricKind, MetricRow

TABLE: dict[str, MetricRow] = {row.name: row for row in ROWS}
"""Every metric by name, in the order in which comparisons show them."""
OWN = "own"
"""The scope of custom metrics."""

_KINDS: dict[str, MetricKind] = {"s": "time", "bit/s": "rate", "1": "score"}


def row_of(metric: str, unit: str = "1") -> MetricRow:
    """The row of a metric of table ``summary``.

    Args:
        metric: its name or its key, such as ``queue/bottleneck/delay_p95``.
        unit: its unit, if the table lacks the metric, such as one in a store of another version.
    """
    scope, _, name = metric.rpartition("/")
    scope = scope.partition("/")[0]
    found = None if scope == OWN else TABLE.get(name)
    return found or usual_row(scope, name, unit)


def usual_row(scope: str, name: str, unit: str, kind: MetricKind | None = None) -> MetricRow:
    """A row with the defaults of a kind: no direction, mean, exploratory.

    Args:
        scope: scope of the metric.
        name: name of the metric; also its label.
        unit: unit in tables.
        kind: kind of number; by default that of the unit.
    """
    kind = kind or _KINDS.get(unit, "count")
    relative, least = USUAL_MARGINS[kind]
    return MetricRow(
        scope=scope, name=name, kind=kind, unit=unit, label=name, relative=relative, least=least
    )


def shown_in(table: str) -> list[MetricRow]:
    """The metrics of an output, such as ``compare``, in the order of the table."""
    return [row for row in TABLE.values() if table in row.tables]

"""The metrics that a comparison shows, in their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sojourn.describing.metric_table import Centre, Direction, MetricRow
from sojourn.describing.metrics import shown_in
from sojourn.running.series import SummaryRow

ABOVE = "_above"
"""Suffix of the name of a lower bound of an unknown number: ``completion_p95_above``."""


@dataclass(frozen=True)
class Metric:
    """A metric of one queue, leaf or class, as a comparison shows it.

    Attributes:
        row: its row in the table of metrics.
        name: name of that queue or class; ``LINK.CLASS`` of a leaf.
        is_of_leaf: whether it is a metric of a queue for a leaf class of a scheduler.
    """

    row: MetricRow
    name: str
    is_of_leaf: bool = False

    @property
    def scope(self) -> str:
        """``queue``, ``leaf`` or ``class``; ``own`` of a custom metric."""
        return "leaf" if self.is_of_leaf else self.row.scope

    @property
    def metric(self) -> str:
        """Name in table ``summary``, such as ``delay_p95``."""
        return self.row.name

    @property
    def unit(self) -> str:
        """Unit in table ``summary``: ``s``, ``bit/s``, ``1``."""
        return self.row.unit

    @property
    def label(self) -> str:
        """The metric's name in tables and sentences, without the unit."""
        is_of_part = self.scope in ("class", "leaf")
        return f"{self.row.label} {self.name}" if is_of_part else self.row.label

    @property
    def better(self) -> Direction | Literal[""]:
        """Which direction is an improvement; empty if neither is by itself."""
        return self.row.better

    @property
    def is_headline(self) -> bool:
        """Whether it belongs to the headline family, declared before any result.

        Holm's correction and verdicts apply to that family. All other metrics are exploratory:
        their differences have unadjusted intervals and are not claims.
        """
        return bool(self.row.headline) and not self.is_of_leaf

    @property
    def key(self) -> str:
        """A name for machines: ``class/voip/owd_p95``."""
        return f"{self.scope}/{self.name}/{self.metric}"

    @property
    def centre(self) -> Centre:
        """Whether tables show the metric's mean or its median over seeds."""
        return self.row.centre


def every() -> list[Metric]:
    """The metrics that comparisons can show, without the name of a queue or class."""
    return [Metric(row, "") for row in shown_in("compare")]


def headline_text(metrics: Iterable[Metric] | None = None) -> str:
    """The headline family in words: ``queue delay p95, utilisation and ...``.

    Args:
        metrics: the family, if it is not that of all comparisons.
    """
    metrics = every() if metrics is None else metrics
    names = list(dict.fromkeys(each.row.headline for each in metrics if each.is_headline))
    return f"{', '.join(names[:-1])} and {names[-1]}"


def select(rows: Iterable[SummaryRow], link: str) -> list[Metric]:
    """The metrics of a comparison that a summary has.

    Args:
        rows: table ``summary`` as (scope, name, metric, value, unit).
        link: the queue whose metrics are shown, with the leaves of its scheduler; all classes are
            shown.

    Returns:
        Metrics in the order of display, leaves last; classes in the order of the summary.
    """
    of_kind: dict[tuple[str, str], list[str]] = {}
    for scope, name, metric, _, _ in rows:
        is_of_link = (scope == "queue" and name == link) or (
            scope == "leaf" and name.startswith(f"{link}.")
        )
        if scope == "class" or is_of_link:
            of_kind.setdefault((scope, metric), []).append(name)
    shown = shown_in("compare")
    return [
        *(Metric(row, name) for row in shown for name in _named(of_kind, row.scope, row.name)),
        *(
            Metric(row, name, is_of_leaf=True)
            for row in shown_in("leaf")
            for name in _named(of_kind, "leaf", row.name)
        ),
    ]


def _named(of_kind: dict[tuple[str, str], list[str]], scope: str, metric: str) -> Iterable[str]:
    """Names of the queues, leaves or classes that have a metric, or a bound of it."""
    keys = ((scope, metric), (scope, metric + ABOVE))
    return dict.fromkeys(name for key in keys for name in of_kind.get(key, []))


def bulk_classes(rows: Iterable[SummaryRow]) -> list[str]:
    """The classes of bulk flows: they have goodput, but neither transfers nor datagrams."""
    metrics: dict[str, set[str]] = {}
    for scope, name, metric, _, _ in rows:
        if scope == "class":
            metrics.setdefault(name, set()).add(metric)
    others = {"completion_p50", "loss_rate", "transfers"}
    return [name for name, has in metrics.items() if "goodput" in has and not has & others]

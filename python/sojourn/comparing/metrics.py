"""The metrics that a comparison shows, in their order, and which direction of each is better."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sojourn.comparing.centres import centre_of
from sojourn.comparing.statistics import Centre
from sojourn.running.series import SummaryRow

Better = Literal["lower", "higher", ""]
Names = Iterable[tuple[str, str]]

ABOVE = "_above"
"""Ends the name of a bound below a number that is not known: ``completion_p95_above``."""


@dataclass(frozen=True)
class Metric:
    """One number of a run's summary, as a comparison shows it.

    Attributes:
        scope: ``queue`` or ``class``.
        name: name of that queue or class.
        metric: name in table ``summary``, such as ``delay_p95``.
        unit: unit in table ``summary``: ``s``, ``bit/s``, ``1``.
        label: its name in tables and sentences, without the unit.
        better: which direction is an improvement; empty where neither is as such.
        headline: whether the sentences of the conclusion mention it.
    """

    scope: str
    name: str
    metric: str
    unit: str
    label: str
    better: Better
    headline: bool

    @property
    def key(self) -> str:
        """A name for machines: ``class/voip/owd_p95``."""
        return f"{self.scope}/{self.name}/{self.metric}"

    @property
    def centre(self) -> Centre:
        """Whether its mean or its median over seeds is shown."""
        return centre_of(self.metric)


@dataclass(frozen=True)
class _MetricKind:
    """A metric of table ``summary``; ``{}`` in the label is the name of the class."""

    scope: str
    metric: str
    label: str
    better: Better
    headline: bool = False


# Delay of a queue, and RTTs of flows that fill it, have no direction of their own: an idle link has
# the least. Nor has utilisation, which a standing queue raises. They are judged together
# (`sojourn.comparing.dominance`).
_KINDS = (
    _MetricKind("queue", "delay_mean", "queue delay mean", ""),
    _MetricKind("queue", "delay_p50", "queue delay p50", ""),
    _MetricKind("queue", "delay_p95", "queue delay p95", "", headline=True),
    _MetricKind("queue", "delay_p99", "queue delay p99", ""),
    _MetricKind("queue", "delay_max", "queue delay max", ""),
    _MetricKind("queue", "utilisation", "utilisation", "", headline=True),
    _MetricKind("class", "goodput", "goodput {}", "higher", headline=True),
    _MetricKind("class", "jain", "Jain's index {}", "higher", headline=True),
    _MetricKind("class", "completion_p50", "completion p50 {}", "lower", headline=True),
    _MetricKind("class", "completion_p95", "completion p95 {}", "lower", headline=True),
    _MetricKind("class", "owd_p95", "one-way delay p95 {}", "lower", headline=True),
    _MetricKind("class", "unfinished_share", "unfinished {}", "lower"),
    _MetricKind("class", "loss_rate", "loss {}", "lower"),
    _MetricKind("class", "rtt_p50", "path RTT p50 {}", ""),
    _MetricKind("class", "rtt_p95", "path RTT p95 {}", ""),
    _MetricKind("queue", "drop_rate", "drop rate", ""),
    _MetricKind("queue", "drop_rate_overflow", "overflow drop rate", ""),
    _MetricKind("queue", "drop_rate_random", "random drop rate", ""),
    _MetricKind("queue", "drop_rate_deterministic", "deterministic drop rate", ""),
    _MetricKind("queue", "mark_rate", "mark rate", ""),
    _MetricKind("queue", "mark_rate_random", "random mark rate", ""),
    _MetricKind("queue", "mark_rate_deterministic", "deterministic mark rate", ""),
)


def select(rows: Iterable[SummaryRow], link: str) -> list[Metric]:
    """The metrics of a comparison that a summary has.

    Args:
        rows: table ``summary`` as (scope, name, metric, value, unit).
        link: the queue whose metrics are shown; classes are shown all.

    Returns:
        Metrics in the order of display; classes in the order of the summary.
    """
    of_kind: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for scope, name, metric, _, unit in rows:
        if scope == "class" or (scope == "queue" and name == link):
            of_kind.setdefault((scope, metric), []).append((name, unit))
    return [
        Metric(
            kind.scope, name, kind.metric, unit, kind.label.format(name), kind.better, kind.headline
        )
        for kind in _KINDS
        for name, unit in _named(of_kind, kind)
    ]


def _named(of_kind: dict[tuple[str, str], list[tuple[str, str]]], kind: _MetricKind) -> Names:
    """Names and units of what has a metric, or the bound of one that is not known."""
    keys = ((kind.scope, kind.metric), (kind.scope, kind.metric + ABOVE))
    return dict(pair for key in keys for pair in of_kind.get(key, [])).items()


def bulk_classes(rows: Iterable[SummaryRow]) -> list[str]:
    """The classes of bulk flows: they have goodput, but neither transfers nor datagrams."""
    metrics: dict[str, set[str]] = {}
    for scope, name, metric, _, _ in rows:
        if scope == "class":
            metrics.setdefault(name, set()).add(metric)
    others = {"completion_p50", "loss_rate", "transfers"}
    return [name for name, has in metrics.items() if "goodput" in has and not has & others]

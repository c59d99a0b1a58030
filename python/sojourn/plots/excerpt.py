"""The data of runs that figures read, as arrays, which can be sent to another process."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Union
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sojourn.running.result import Result
    from sojourn.running.series import SummaryRow

Floats = NDArray[np.float64]
Histograms = dict[tuple[str, str, str], Floats]
"""Lower edges in ns, upper edges and counts, shape ``(3, n)``, by scope, name and metric."""
Series = dict[str, tuple[Floats, Floats]]
"""Seconds and values, each of shape ``(n_samples,)``, by variable."""


FlowSeries = dict[str, Floats]
"""Columns of table ``flows`` of one flow, each of shape ``(n_samples,)``: ``t_s`` and others."""


@dataclass(frozen=True)
class Excerpt:
    """The data of a run that figures read, without the tables themselves.

    Attributes:
        summary_rows: table ``summary``.
        histograms: table ``histograms``.
        queue: the queue of `series`; None if they were left out.
        series: series of table ``states``.
        flows: series of each flow, from table ``flows``.
    """

    summary_rows: list[SummaryRow]
    histograms: Histograms
    queue: str | None
    series: Series
    flows: dict[str, FlowSeries]

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """The summary, as in a result."""
        return {"/".join(filter(None, row[:3])): row[3] for row in self.summary_rows}

    def series_of(self, queue: str) -> Series:
        """The series of a queue."""
        assert queue == self.queue, "an excerpt of an AQM's first run has those of the link"
        return self.series


Run = Union["Result", Excerpt]
Results = Mapping[str, Sequence[Run]]


def excerpt(result: Result, queue: str | None) -> Excerpt:
    """Extract what figures read of a run.

    Args:
        result: result of the run.
        queue: the queue whose series are extracted; None for none.
    """
    found = states(result, queue) if queue is not None else {}
    of_flows = flows(result) if queue is not None else {}
    return Excerpt(result.summary_rows, histograms(result), queue, found, of_flows)


_read: WeakKeyDictionary[Result, Histograms] = WeakKeyDictionary()


def histograms(run: Run) -> Histograms:
    """Table ``histograms`` in arrays.

    It is read once per run, because filtering for each distribution takes five times as long.
    """
    if isinstance(run, Excerpt):
        return run.histograms
    if run not in _read:
        table = run.columns("histograms")
        numbers = np.array([table[name] for name in ("lower_ns", "upper_ns", "count")], np.float64)
        # The bins of a distribution are adjacent rows.
        distributions = zip(table["scope"], table["name"], table["metric"], strict=True)
        groups = [(key, len(list(group))) for key, group in itertools.groupby(distributions)]
        ends = list(itertools.accumulate(length for _, length in groups))
        parts = np.split(numbers, ends[:-1], axis=1)
        _read[run] = {key: part for (key, _), part in zip(groups, parts, strict=bool(groups))}
        assert len(_read[run]) == len(groups)
    return _read[run]


_read_states: WeakKeyDictionary[Result, dict[str, Series]] = WeakKeyDictionary()


def states(result: Result, queue: str) -> Series:
    """The variables of a queue over time, from table ``states``, which is read once per run."""
    known = _read_states.setdefault(result, {})
    if queue not in known:
        known[queue] = _states(result, queue)
    return known[queue]


def _states(result: Result, queue: str) -> Series:
    table = result.columns("states")
    places: dict[str, list[int]] = {}
    for place, (of_queue, var) in enumerate(zip(table["queue"], table["var"], strict=True)):
        if of_queue == queue:
            places.setdefault(var, []).append(place)
    t_s, values = np.array(table["t_ns"], np.float64) * 1e-9, np.array(table["value"], np.float64)
    return {var: (t_s[at], values[at]) for var, at in places.items()}


def flows(run: Run) -> dict[str, FlowSeries]:
    """Each flow over time, from table ``flows``; empty if it was not recorded."""
    if isinstance(run, Excerpt):
        return run.flows
    table = run.columns("flows")
    places: dict[str, list[int]] = {}
    for place, flow in enumerate(table["flow"]):
        places.setdefault(flow, []).append(place)
    columns = {
        "t_s": np.array(table["t_ns"], np.float64) * 1e-9,
        "delivered": np.array(table["delivered_bytes"], np.float64),
        **{name: np.array(table[name], np.float64) for name in ("cwnd_bytes", "srtt_ns")},
    }
    return {
        flow: {name: values[at] for name, values in columns.items()} for flow, at in places.items()
    }

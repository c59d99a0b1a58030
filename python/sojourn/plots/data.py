"""From result tables to arrays that figures draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.running.result import Result

Floats = NDArray[np.float64]
Results = Mapping[str, Sequence["Result"]]


class Distribution:
    """A distribution in bins.

    Attributes:
        upper_s: upper edges in seconds, increasing, shape ``(n_bins,)``.
        counts: values per bin, same shape.
    """

    def __init__(self, upper_s: Floats, counts: Floats) -> None:
        self.upper_s, places = np.unique(upper_s, return_inverse=True)
        self.counts = np.bincount(places, counts, len(self.upper_s))

    def __bool__(self) -> bool:
        """Whether it has values."""
        return bool(self.counts.sum() > 0)

    def share_below(self, x_s: Floats) -> Floats:
        """The fraction of values at or below each of ``x_s`` (seconds), same shape."""
        sums = np.concatenate(([0.0], np.cumsum(self.counts)))
        shares: Floats = sums[np.searchsorted(self.upper_s, x_s, side="right")] / sums[-1]
        return shares

    def quantile_s(self, q: float) -> float:
        """The upper edge of the bin that holds quantile ``q``, in seconds."""
        sums = np.cumsum(self.counts)
        return float(self.upper_s[np.searchsorted(sums, q * sums[-1])])

    @property
    def mean_s(self) -> float:
        """The mean in seconds, to the width of a bin (0.1 %)."""
        return float(np.average(self.upper_s, weights=self.counts))

    @property
    def deviation_s(self) -> float:
        """The standard deviation in seconds."""
        spread = np.average((self.upper_s - self.mean_s) ** 2, weights=self.counts)
        return float(np.sqrt(spread))


class Completions:
    """Completion times of transfers, of which some did not finish.

    Attributes:
        finished: times of those that finished.
        unfinished: how long the others were seen; they took longer.
    """

    def __init__(self, finished: Distribution, unfinished: Distribution) -> None:
        self.finished, self.unfinished = finished, unfinished

    def __bool__(self) -> bool:
        """Whether there are transfers."""
        return bool(self.finished) or bool(self.unfinished)

    @property
    def longest_s(self) -> float:
        """The longest time seen, in seconds."""
        edges = [one.upper_s[-1] for one in (self.finished, self.unfinished) if one]
        return float(max(edges))

    def quantile_s(self, q: float) -> float:
        """Quantile ``q`` in seconds by Kaplan and Meier 1958; infinite if too few finished."""
        times, counts = self.finished.upper_s, self.finished.counts
        seen = np.concatenate(([0.0], np.cumsum(self.unfinished.counts)))
        gone = seen[np.searchsorted(self.unfinished.upper_s, times)] + np.cumsum(counts) - counts
        at_risk = self.finished.counts.sum() + self.unfinished.counts.sum() - gone
        longer = np.cumprod(1.0 - counts / at_risk)
        reached = np.flatnonzero(longer <= 1.0 - q + 1e-12)
        return float(times[reached[0]]) if len(reached) else float("inf")


def completions(results: Sequence[Result], name: str) -> Completions:
    """The completion times of a class, pooled over runs."""
    metrics = ("completion", "unfinished")
    return Completions(*(distribution(results, "class", name, metric) for metric in metrics))


def distribution(results: Sequence[Result], scope: str, name: str, metric: str) -> Distribution:
    """A distribution of table ``histograms``, pooled over runs."""
    parts = [_rows(r.histograms, scope=scope, name=name, metric=metric) for r in results]
    upper = [np.asarray(part["upper_ns"], np.float64) * 1e-9 for part in parts]
    counts = [np.asarray(part["count"], np.float64) for part in parts]
    return Distribution(np.concatenate([*upper, []]), np.concatenate([*counts, []]))


def names(results: Results, scope: str, metric: str) -> list[str]:
    """The queues or classes that have a distribution, in the order of the tables."""
    found: dict[str, None] = {}
    for result in (r for rs in results.values() for r in rs):
        rows = _rows(result.histograms, scope=scope, metric=metric)
        found.update(dict.fromkeys(rows["name"].unique().to_pylist()))
    return list(found)


def series(result: Result, queue: str, var: str) -> tuple[Floats, Floats]:
    """A variable of a queue over time: seconds and values, each of shape ``(n_samples,)``."""
    rows = _rows(result.states, queue=queue, var=var)
    return np.asarray(rows["t_ns"], np.float64) * 1e-9, np.asarray(rows["value"], np.float64)


def summaries(results: Sequence[Result], key: str) -> Floats:
    """A number of the summary by ``scope/name/metric``, one per run; NaN where there is none."""
    return np.asarray([r.summary.get(key, np.nan) for r in results], np.float64)


def _rows(table: pa.Table, **wanted: str) -> Any:
    """The rows whose columns have the wanted texts."""
    import pyarrow.compute as pc

    mask: Any = None
    for column, text in wanted.items():
        if column not in table.column_names:
            raise KeyError(f"the table has no column `{column}`")
        is_word = pc.equal(table[column].cast("string"), text)
        mask = is_word if mask is None else pc.and_(mask, is_word)
    return table.filter(mask)

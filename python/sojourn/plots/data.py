"""From result tables to arrays that figures draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.running.result import Result

Floats = NDArray[np.float64]
Results = Mapping[str, Sequence["Result"]]


class Distribution:
    """A distribution in bins, within which values count as evenly spread.

    Bins may overlap, as those of several runs do at their smallest and largest values. A bin
    without width holds values that are all the same.

    Args:
        lower_s: lower edges in seconds, shape ``(n,)``.
        upper_s: upper edges in seconds, not below the lower ones, same shape.
        counts: values per bin, same shape.

    Attributes:
        lower_s: lower edges of parts of bins that do not overlap and have values, increasing, in
            seconds, shape ``(n_parts,)``.
        upper_s: their upper edges, same shape.
        counts: values in each, same shape; not always whole numbers.
    """

    def __init__(self, lower_s: Floats, upper_s: Floats, counts: Floats) -> None:
        edges = np.unique(np.concatenate([lower_s, upper_s]))
        first, last = np.searchsorted(edges, lower_s), np.searchsorted(edges, upper_s)
        # Places 2i are the edges themselves, places 2i + 1 what lies between them.
        parts = np.zeros(max(2 * len(edges) - 1, 0))
        whole = last - first <= 1
        np.add.at(parts, first[whole] + last[whole], counts[whole])
        for i in np.flatnonzero(~whole):
            widths = np.diff(edges[first[i] : last[i] + 1])
            parts[2 * first[i] + 1 : 2 * last[i] : 2] += counts[i] * widths / widths.sum()
        filled = np.flatnonzero(parts)
        self.lower_s: Floats = edges[filled // 2]
        self.upper_s: Floats = edges[(filled + 1) // 2]
        self.counts: Floats = parts[filled]
        self._sums = np.cumsum(self.counts)

    def __bool__(self) -> bool:
        """Whether it has values."""
        return bool(self.counts.size)

    def share_below(self, x_s: Floats) -> Floats:
        """The fraction of values at or below each of ``x_s`` (seconds), same shape."""
        x_s = np.asarray(x_s, np.float64)
        # All bins that end at or before x, and the part of the next one that x reaches.
        ended = np.searchsorted(self.upper_s, x_s, side="right")
        place = np.minimum(ended, self.counts.size - 1)
        lower, upper = self.lower_s[place], self.upper_s[place]
        width = np.where(upper > lower, upper - lower, 1.0)
        reached = np.where(ended > place, 1.0, np.clip((x_s - lower) / width, 0.0, 1.0))
        shares: Floats = (self._sums[place] - self.counts[place] * (1 - reached)) / self._sums[-1]
        return shares

    def quantile_s(self, q: float) -> float:
        """The value in seconds that the fraction ``q`` (0 to 1) of all values do not exceed.

        It is interpolated within its bin, as table ``summary`` does it; 0 gives the smallest value
        and 1 the largest.
        """
        rank = q * self._sums[-1]
        place = min(int(np.searchsorted(self._sums, rank)), self.counts.size - 1)
        into_bin = 1.0 - (self._sums[place] - rank) / self.counts[place]
        lower, upper = self.lower_s[place], self.upper_s[place]
        return float(lower + (upper - lower) * into_bin)

    @property
    def mean_s(self) -> float:
        """The mean in seconds, to a part of the width of a bin (0.1 %)."""
        return float(np.average((self.lower_s + self.upper_s) / 2, weights=self.counts))

    @property
    def deviation_s(self) -> float:
        """The standard deviation in seconds."""
        middles = (self.lower_s + self.upper_s) / 2
        spread = np.average((middles - self.mean_s) ** 2, weights=self.counts)
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
        """Quantile ``q`` in seconds by Kaplan and Meier 1958; infinite if too few finished.

        It is interpolated within its bin, as table ``summary`` does it.
        """
        times, counts = self.finished.upper_s, self.finished.counts
        seen = np.concatenate(([0.0], np.cumsum(self.unfinished.counts)))
        gone = seen[np.searchsorted(self.unfinished.upper_s, times)] + np.cumsum(counts) - counts
        at_risk = self.finished.counts.sum() + self.unfinished.counts.sum() - gone
        longer = np.cumprod(1.0 - counts / at_risk)
        reached = np.flatnonzero(longer <= 1.0 - q + 1e-12)
        if not len(reached):
            return float("inf")
        first = reached[0]
        before = longer[first - 1] if first else 1.0
        into_bin = min((before - (1.0 - q)) / (before - longer[first]), 1.0)
        lower = self.finished.lower_s[first]
        return float(lower + (times[first] - lower) * into_bin)


def completions(results: Sequence[Result], name: str) -> Completions:
    """The completion times of a class, pooled over runs."""
    metrics = ("completion", "unfinished")
    return Completions(*(distribution(results, "class", name, metric) for metric in metrics))


def distribution(results: Sequence[Result], scope: str, name: str, metric: str) -> Distribution:
    """A distribution of table ``histograms``, pooled over runs."""
    key = (scope, name, metric)
    parts = [part for r in results if (part := _histograms(r).get(key)) is not None]
    lower, upper, counts = np.concatenate([*parts, np.empty((3, 0))], axis=1)
    return Distribution(lower * 1e-9, upper * 1e-9, counts)


def names(results: Results, scope: str, metric: str) -> list[str]:
    """The queues or classes that have a distribution, in the order of the tables."""
    found: dict[str, None] = {}
    for result in (r for rs in results.values() for r in rs):
        keys = _histograms(result)
        found.update(
            dict.fromkeys(name for of, name, what in keys if (of, what) == (scope, metric))
        )
    return list(found)


def series(result: Result, queue: str, var: str) -> tuple[Floats, Floats]:
    """A variable of a queue over time: seconds and values, each of shape ``(n_samples,)``."""
    rows = _rows(result.states, queue=queue, var=var)
    return np.asarray(rows["t_ns"], np.float64) * 1e-9, np.asarray(rows["value"], np.float64)


def summaries(results: Sequence[Result], key: str) -> Floats:
    """A number of the summary by ``scope/name/metric``, one per run; NaN where there is none."""
    return np.asarray([r.summary.get(key, np.nan) for r in results], np.float64)


_read: WeakKeyDictionary[Result, dict[tuple[str, str, str], Floats]] = WeakKeyDictionary()


def _histograms(result: Result) -> dict[tuple[str, str, str], Floats]:
    """Table ``histograms`` by scope, name and metric: lower edges, upper edges and counts.

    It is read once per run: a filter for each of several distributions takes five times as long.
    """
    if result not in _read:
        table = result.histograms
        numbers = np.array([table[name] for name in ("lower_ns", "upper_ns", "count")], np.float64)
        columns = [_encoded(table[name]) for name in ("scope", "name", "metric")]
        codes = np.array([column.indices for column in columns])
        words = [column.dictionary.to_pylist() for column in columns]
        # The bins of a distribution are neighbours.
        begins = np.flatnonzero(np.any(np.diff(codes, prepend=-1) != 0, axis=0))
        parts = np.split(numbers, begins[1:], axis=1)
        keys = [tuple(map(list.__getitem__, words, codes[:, place])) for place in begins]
        _read[result] = dict(zip(keys, parts, strict=True)) if keys else {}
        assert len(_read[result]) == len(keys)
    return _read[result]


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of texts as numbers and what they stand for, however its table has it."""
    import pyarrow as pa

    whole = column.combine_chunks()
    return whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()


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

"""Turns result tables into arrays for figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sojourn.comparing.dominance import PAIR
from sojourn.comparing.metrics import bulk_classes
from sojourn.plots.excerpt import Excerpt, Floats, Results, Run, histograms, states

__all__ = [
    "FLOOR_MS", "Completions", "Distribution", "Floats", "Results", "Run", "bulk_points",
    "cloud_of_delay", "completions", "delay_grid", "distribution", "names", "series", "summaries",
]  # fmt: skip

FLOOR_MS = 0.01
MOST_POINTS = 3000
_POINTS = 600
_LEAST_S = 5e-4


class Distribution:
    """A distribution in bins, with values uniformly distributed within a bin.

    Bins may overlap, as those of several runs do at their smallest and largest values. The values
    of a bin without width are equal.

    Args:
        lower_s: lower edges in seconds, shape ``(n,)``.
        upper_s: upper edges in seconds, not below the lower ones, same shape.
        counts: values per bin, same shape.

    Attributes:
        lower_s: lower edges of disjoint parts of bins with values, increasing, in seconds, shape
            ``(n_parts,)``.
        upper_s: their upper edges, same shape.
        counts: values in each, same shape; possibly fractional.
    """

    def __init__(self, lower_s: Floats, upper_s: Floats, counts: Floats) -> None:
        edges = np.unique(np.concatenate([lower_s, upper_s]))
        first, last = np.searchsorted(edges, lower_s), np.searchsorted(edges, upper_s)
        # Indices 2i are the edges, indices 2i + 1 the intervals between them.
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
        """The quantile ``q`` (0 to 1) in seconds.

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
        """The mean in seconds, with an error below the width of a bin (0.1 %)."""
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
        unfinished: observed durations of the others, which took longer.
    """

    def __init__(self, finished: Distribution, unfinished: Distribution) -> None:
        self.finished, self.unfinished = finished, unfinished

    def __bool__(self) -> bool:
        """Whether there are transfers."""
        return bool(self.finished) or bool(self.unfinished)

    @property
    def longest_s(self) -> float:
        """The longest observed time, in seconds."""
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


def completions(runs: Sequence[Run], name: str) -> Completions:
    """The completion times of a class, pooled over runs."""
    metrics = ("completion", "unfinished")
    return Completions(*(distribution(runs, "class", name, metric) for metric in metrics))


def distribution(runs: Sequence[Run], scope: str, name: str, metric: str) -> Distribution:
    """A distribution of table ``histograms``, pooled over runs."""
    key = (scope, name, metric)
    parts = [part for r in runs if (part := histograms(r).get(key)) is not None]
    lower, upper, counts = np.concatenate([*parts, np.empty((3, 0))], axis=1)
    return Distribution(lower * 1e-9, upper * 1e-9, counts)


def names(results: Results, scope: str, metric: str) -> list[str]:
    """The queues or classes that have a distribution, in the order of the tables."""
    found: dict[str, None] = {}
    for run in (r for rs in results.values() for r in rs):
        keys = histograms(run)
        found.update(
            dict.fromkeys(name for of, name, what in keys if (of, what) == (scope, metric))
        )
    return list(found)


def series(run: Run, queue: str, var: str) -> tuple[Floats, Floats]:
    """A variable of a queue over time: seconds and values, each of shape ``(n_samples,)``."""
    found = run.series_of(queue) if isinstance(run, Excerpt) else states(run, queue)
    return found.get(var, (np.empty(0), np.empty(0)))


def summaries(runs: Sequence[Run], key: str) -> Floats:
    """A number of the summary by ``scope/name/metric``, one per run; NaN if missing."""
    return np.asarray([r.summary.get(key, np.nan) for r in runs], np.float64)


def delay_grid(found: Sequence[Distribution]) -> Floats:
    """Delays in seconds at which to draw on the logarithmic axis of all figures."""
    low = max([_LEAST_S, min(one.quantile_s(0.05) for one in found)])
    high = max([2 * low, *(one.quantile_s(0.9995) for one in found)])
    return np.geomspace(low, high * 1.15, _POINTS)


def delay_and_utilisation(results: Results, link: str) -> dict[str, Floats]:
    """Per AQM milliseconds of delay p95 and percent of utilisation, shape ``(n_seeds, 2)``."""
    found = {}
    for aqm, runs in results.items():
        delay, share = (summaries(runs, f"queue/{link}/{metric}") for metric in PAIR)
        found[aqm] = cloud_of_delay(delay, share * 1e2)
    return {aqm: cloud for aqm, cloud in found.items() if len(cloud)}


def bulk_points(results: Results, link: str) -> dict[str, Floats]:
    """Per AQM ms of mean delay and Mbit/s of all bulk flows, shape ``(n_seeds, 2)``."""
    points: dict[str, Floats] = {}
    for aqm, runs in results.items():
        if not runs:
            continue
        delay = summaries(runs, f"queue/{link}/delay_mean")
        rows = runs[0].summary_rows
        classes = bulk_classes(rows) or [r[1] for r in rows if r[::2][:2] == ("class", "goodput")]
        goodputs = [summaries(runs, f"class/{name}/goodput") for name in classes]
        if goodputs:
            points[aqm] = cloud_of_delay(delay, np.sum(goodputs, 0) * 1e-6)
    return {aqm: cloud for aqm, cloud in points.items() if len(cloud)}


def cloud_of_delay(delay_s: Floats, other: Floats) -> Floats:
    """A point for each seed with both values; zero delay is moved onto the logarithmic axis."""
    cloud: Floats = np.column_stack([np.maximum(delay_s * 1e3, FLOOR_MS), other])
    return cloud[np.isfinite(cloud).all(1)]


def thinned(x: Floats, y: Floats, most: int = MOST_POINTS) -> tuple[Floats, Floats]:
    """Thin out a long series; minimum and maximum of each stretch remain, so peaks stay visible."""
    if len(x) <= most:
        return x, y
    per = -(-2 * len(x) // most)
    whole = len(x) // per * per
    stretches = y[:whole].reshape(-1, per)
    first = np.arange(0, whole, per)
    with np.errstate(invalid="ignore"):
        low = first + np.argmin(np.where(np.isnan(stretches), np.inf, stretches), axis=1)
        high = first + np.argmax(np.where(np.isnan(stretches), -np.inf, stretches), axis=1)
    keep = np.unique(np.concatenate([low, high, np.arange(whole, len(x))]))
    return x[keep], y[keep]

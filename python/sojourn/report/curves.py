"""The data of a report's interactive plots: the curves of the printed figures and their bands.

Axes are logarithmic where those of the printed figures are (`sojourn.plots`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn.comparing import dominance
from sojourn.comparing.compared_runs import ComparedRuns
from sojourn.comparing.shaping import omitted_figures
from sojourn.describing.formatting import axis_label
from sojourn.describing.metrics import row_of

if TYPE_CHECKING:
    from sojourn.plots.data import Floats, Results, Run

_DIGITS = 4
# Number of points of a series, about one per screen column, and of all other runs together.
_MOST_POINTS = 2000
_ALL_POINTS = 200_000


def figures(comparison: ComparedRuns) -> list[dict[str, Any]]:
    """Every figure with values: labels, scales, and the curves or points of each AQM.

    Plots with the same ``cursor`` share the quantity of their horizontal axis.
    """
    found = [_distribution(comparison), _delay_over_time(comparison), *_planes(comparison)]
    return [each for each in found if each["curves"]]


def runs(comparison: ComparedRuns) -> list[dict[str, Any]]:
    """The delay over time of every run, which opens from a point of a plane."""
    from sojourn.plots import data

    pairs = [pair for aqm in comparison.aqms for pair in _runs(comparison, aqm)]
    most = max(100, min(600, _ALL_POINTS // max(1, len(pairs))))
    found = []
    for aqm, seed, run in pairs:
        t_s, delay_s = data.series(run, comparison.link, "delay_mean")
        if np.isfinite(delay_s).any():
            x, y = _thinned(t_s, delay_s, most)
            found.append({"aqm": aqm, "seed": seed, "x": x, "y": y})
    return found


def _runs(comparison: ComparedRuns, aqm: str) -> Iterator[tuple[str, int, Run]]:
    for seed, run in zip(comparison.seeds, comparison.results[aqm], strict=True):
        if run is not None:
            yield aqm, seed, run


def _distribution(comparison: ComparedRuns) -> dict[str, Any]:
    """Shares of packets, with minimum and maximum over the seeds as a band."""
    from sojourn.plots import data

    def of(some: list[Run]) -> data.Distribution:
        return data.distribution(some, "queue", comparison.link, "delay")

    pooled = {aqm: of(list(comparison.of(aqm))) for aqm in comparison.aqms}
    pooled = {aqm: each for aqm, each in pooled.items() if each}
    curves = []
    if pooled:
        x_s = data.delay_grid(list(pooled.values()))
        for aqm, whole in pooled.items():
            each = [of([run]) for run in comparison.of(aqm)]
            shares = np.array([one.share_below(x_s) for one in each if one])
            curves.append({
                "aqm": aqm, "x": _numbers(x_s * 1e3), "y": _numbers(whole.share_below(x_s)),
                "low": _numbers(shares.min(0)), "high": _numbers(shares.max(0)),
            })  # fmt: skip
    return {
        "name": "delay_cdf", "cursor": "delay", "curves": curves,
        "x": {"label": "queue delay [ms]", "log": True},
        "y": {"label": "fraction of packets at or below", "log": False},
    }  # fmt: skip


def _delay_over_time(comparison: ComparedRuns) -> dict[str, Any]:
    """The series of the first seed; every n-th sample if there are more than a screen shows."""
    from sojourn.plots import data

    curves = []
    for aqm in comparison.aqms:
        for run in comparison.of(aqm)[:1]:
            t_s, delay_s = data.series(run, comparison.link, "delay_mean")
            if np.isfinite(delay_s).any():
                x, y = _thinned(t_s, delay_s, _MOST_POINTS)
                curves.append({"aqm": aqm, "x": x, "y": y})
    return {
        "name": "delay_time", "cursor": "time", "curves": curves,
        "x": {"label": "time [s]", "log": False}, "y": {"label": "queue delay [ms]", "log": True},
    }  # fmt: skip


def _planes(comparison: ComparedRuns) -> Iterator[dict[str, Any]]:
    from sojourn.plots.data import bulk_points, delay_and_utilisation

    delay_mean, delay_p95, utilisation = (
        axis_label(row_of(name)) for name in ("delay_mean", *dominance.PAIR)
    )
    for name, x, y, of in (
        ("plane", delay_mean, "goodput of all bulk flows [Mbit/s]", bulk_points),
        ("pareto", delay_p95, utilisation, delay_and_utilisation),
    ):
        if name in omitted_figures(comparison.shaped):
            continue
        yield {
            "name": name, "cursor": "delay", "curves": _clouds(comparison, of),
            "x": {"label": x, "log": True, "reversed": True}, "y": {"label": y, "log": False},
        }  # fmt: skip


def _clouds(
    comparison: ComparedRuns, of: Callable[[Results, str], dict[str, Floats]]
) -> list[dict[str, Any]]:
    """One point per AQM and seed, from the shortest delay to the longest."""
    curves = []
    for aqm in comparison.aqms:
        found = [
            (*(float(value) for value in of({aqm: [run]}, comparison.link)[aqm][0]), seed)
            for _, seed, run in _runs(comparison, aqm)
            if of({aqm: [run]}, comparison.link)
        ]
        found.sort()
        if found:
            x, y, seeds = zip(*found, strict=True)
            curves.append({
                "aqm": aqm, "x": _numbers(np.array(x)), "y": _numbers(np.array(y)),
                "seeds": list(seeds),
            })  # fmt: skip
    return curves


def _thinned(t_s: Floats, delay_s: Floats, most: int) -> tuple[list[float | None], ...]:
    """Seconds and milliseconds, every n-th sample."""
    every = max(1, -(-len(t_s) // most))
    return _numbers(t_s[::every]), _numbers(delay_s[::every] * 1e3)


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None for value in values]

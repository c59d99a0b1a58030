"""Clouds, series and boxes as numbers, for matplotlib's figures and those of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sojourn.comparing.statistics import estimate, share_estimate
from sojourn.plots.data import FLOOR_MS, Completions
from sojourn.plots.excerpt import Floats

# Factor by which the delay axis extends beyond the points at each end.
_ROOM = 1.35
_LEAST_MS = 0.1
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def cloud_limits(every: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Lower and upper ends of both axes, with margins around all points.

    Args:
        every: all points, shape ``(n, 2)``.
    """
    low, high = every.min(0), every.max(0)
    margin = max(0.12 * (high[1] - low[1]), 0.004 * high[1])
    return (low[0] / _ROOM, high[0] * _ROOM), (low[1] - margin, high[1] + 1.6 * margin)


def is_spread(cloud: Floats) -> bool:
    """Whether the points of a cloud differ; one seed, or equal runs, are a single dot."""
    return len(np.unique(cloud, axis=0)) > 1


def ellipse(cloud: Floats) -> Floats:
    """One standard deviation around the mean, along the principal axes of the covariance.

    Args:
        cloud: three or more points, shape ``(n, 2)``; the first coordinate is logarithmic.

    Returns:
        The outline, shape ``(181, 2)``.
    """
    shaped = np.column_stack([np.log10(cloud[:, 0]), cloud[:, 1]])
    centre = shaped.mean(0)
    variances, directions = np.linalg.eigh(np.cov(shaped.T))
    radii = np.sqrt(np.maximum(variances, 0.0))
    turn = np.linspace(0, 2 * np.pi, 181)
    outline: Floats = centre + (directions @ (radii[:, None] * [np.cos(turn), np.sin(turn)])).T
    outline[:, 0] = 10.0 ** outline[:, 0]
    return outline


@dataclass(frozen=True)
class Cross:
    """The mean of a cloud of delay and utilisation with its 95 % intervals.

    Attributes:
        mean: ms and percent.
        x: ends along the delay; equal to the mean with fewer than two points.
        y: ends along the utilisation.
    """

    mean: tuple[float, float]
    x: tuple[float, float]
    y: tuple[float, float]


def cross(cloud: Floats) -> Cross:
    """The cross of a cloud; on a logarithmic axis an interval may reach zero."""
    delay, share = estimate(cloud[:, 0].tolist()), share_estimate((cloud[:, 1] / 100).tolist())
    mean = delay.mean, 100 * share.mean
    if len(cloud) < 2:
        return Cross(mean, (mean[0], mean[0]), (mean[1], mean[1]))
    reach = min(delay.half_width, delay.mean - FLOOR_MS)
    ends = mean[0] - reach, mean[0] + delay.half_width
    return Cross(mean, ends, (100 * share.low, 100 * share.high))


def front(means: Iterable[Floats]) -> list[Floats]:
    """The means that no other beats in both, shortest delay first."""
    found: list[Floats] = []
    for point in sorted(means, key=lambda mean: (mean[0], -mean[1])):
        if not found or point[1] > found[-1][1]:
            found.append(point)
    return found


def delay_limits(delays: Sequence[tuple[Floats, Floats]]) -> tuple[float, float]:
    """Lower and upper end in ms for series of delays; smaller values are drawn at the lower end."""
    high_ms = max(2 * _LEAST_MS, *(float(np.nanmax(d)) * 1e3 for _, d in delays)) * 1.1
    low_ms = max(_LEAST_MS, min(float(np.nanquantile(d, 0.02)) for _, d in delays) * 1e3)
    room_for_ticks = (high_ms / low_ms) ** 0.12
    return low_ms / room_for_ticks, high_ms * room_for_ticks


@dataclass(frozen=True)
class CompletionBox:
    """Five quantiles of completion times in seconds, at most the longest observed time.

    Attributes:
        ends: 5, 25, 50, 75 and 95 %.
        known: whether each of them is known.
    """

    ends: tuple[float, ...]
    known: tuple[bool, ...]


def completion_box(one: Completions) -> CompletionBox:
    """The box of a class of transfers."""
    found = [one.quantile_s(q) for q in _QUANTILES]
    ends = tuple(min(time, one.longest_s) for time in found)
    return CompletionBox(ends, tuple(time <= one.longest_s for time in found))


def completion_limits(found: Sequence[Completions]) -> tuple[float, float]:
    """Lower and upper end in seconds, of classes that have transfers."""
    low = min(min(one.quantile_s(0.05), one.longest_s) for one in found) / 1.3
    return low, max(min(one.quantile_s(0.95), one.longest_s) for one in found) * 1.3

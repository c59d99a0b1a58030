"""The content of a measurement file, in one form for all formats."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from operator import lt, sub
from typing import Any

from sojourn.errors import InputError
from sojourn.importing.traffic import Traffic

_PROBES = 10
"""Each loss rate is counted over this number of probes."""

JITTER_MOST = 3.0
"""Two independent uniform numbers up to 1 differ by 1/3 on average, so delays that differ by their
jitter (RFC 3550 section 6.4.1) are uniform up to three times it."""
JITTER_MEAN = JITTER_MOST / 2
"""The mean of these delays, in multiples of the jitter."""

APART_S = 2e-6
"""Points closer than this would get the same time in a scenario."""


@dataclass(frozen=True)
class StepCurve:
    """A quantity over time: each value holds from its time until the next one."""

    times_s: tuple[float, ...]
    """Increasing times, from 0 on."""
    values: tuple[float, ...]
    end_s: float
    """When the last value ends."""

    @property
    def mean(self) -> float:
        """The mean over time."""
        ends = (*self.times_s[1:], self.end_s)
        spans = [end - start for start, end in zip(self.times_s, ends, strict=True)]
        total = sum(span * value for span, value in zip(spans, self.values, strict=True))
        return total / self.end_s

    def at(self, time_s: float) -> float:
        """The value at a time; before the first step, the first value."""
        return self.values[max(bisect_right(self.times_s, time_s) - 1, 0)]


def curve(points: Iterable[tuple[float, float, str]], name: str, end_s: float = 0.0) -> StepCurve:
    """A curve through points of a file; the first one becomes time 0.

    Args:
        points: time in seconds, value, and the place in the file, such as ``line 12``.
        name: name of the file.
        end_s: when the last value ends, from the first point; by default it lasts as long as the
            median of the others.

    Raises:
        InputError: there are fewer than two points, or times do not increase.
    """
    found = list(points)
    if len(found) < 2:
        raise InputError(
            f"{name}: has {len(found)} point{'' if len(found) == 1 else 's'} in time; a recording "
            "needs two or more"
        )
    times, values, places = zip(*found, strict=True)
    if not _increase(times):
        back = next(at for at, pair in enumerate(pairwise(times), 1) if pair[1] <= pair[0])
        raise InputError(
            f"{name}, {places[back]}: time {times[back]:.12g} s does not come after "
            f"{times[back - 1]:.12g} s; sort the file by time and remove repeated times"
        )
    # Times since 1970 are exact to a quarter of a microsecond.
    times = tuple(round(time - times[0], 6) for time in times)
    if not _increase(times):
        raise InputError(f"{name}: has times less than 1 us from each other")
    step = statistics.median(map(sub, times[1:], times))
    return StepCurve(times, values, end_s or times[-1] + step)


def _increase(times: tuple[float, ...]) -> bool:
    return all(map(lt, times, times[1:]))


def share_curve(
    points: Iterable[tuple[float, float, str]], name: str, end_s: float = 0.0
) -> StepCurve:
    """`curve` for shares, from 0 to 1.

    Raises:
        InputError: as `curve`; a value is not a share.
    """
    found = list(points)
    for _, share, place in found:
        if not 0 <= share <= 1:
            raise InputError(f"{name}, {place}: a loss of {share:g} is not a share from 0 to 1")
    return curve(found, name, end_s)


def loss_curve(probes: Iterable[tuple[float, bool]]) -> StepCurve | None:
    """The share of lost probes for each ten probes; None if too few were sent, or none was lost.

    Args:
        probes: when each was sent, in seconds, and whether it was lost.
    """
    found = sorted(probes)
    if len(found) < 2 * _PROBES or not any(lost for _, lost in found):
        return None
    begin = found[0][0]
    windows = [found[at : at + _PROBES] for at in range(0, len(found), _PROBES)]
    if len(windows[-1]) < _PROBES:
        windows[-2:] = [windows[-2] + windows[-1]]
    times = tuple(round(window[0][0] - begin, 6) for window in windows)
    if not _increase(times):
        return None
    shares = tuple(sum(lost for _, lost in window) / len(window) for window in windows)
    return StepCurve(times, shares, found[-1][0] - begin)


@dataclass
class Measurement:
    """The content of a file."""

    format: str
    """The file's format in words, such as ``iperf3 report (TCP)``."""
    down: StepCurve | None = None
    """Rate towards the measuring host, bit/s."""
    up: StepCurve | None = None
    """Rate away from the measuring host, bit/s."""
    rtt: StepCurve | None = None
    """Round-trip time, s."""
    base_rtt_s: float | None = None
    is_loaded: bool = False
    """Whether a transfer filled the queue while round trips were measured."""
    delay: StepCurve | None = None
    """One-way delay towards the measuring host, s."""
    jitter: StepCurve | None = None
    """Mean difference between the delays of successive packets towards the measuring host, s."""
    loss: float | None = None
    """Share of packets lost."""
    losses: StepCurve | None = None
    """The same over time."""
    opportunities_ms: list[int] | None = None
    """Delivery opportunities, as Mahimahi records them."""
    traffic: Traffic | None = None
    """The flows of a capture."""
    details: dict[str, Any] | None = None
    """All values from a capture, in the units in their names."""
    cc: str | None = None
    streams: int | None = None
    read: list[str] = field(default_factory=list)
    """Information in the file, a sentence each."""
    unknown: list[str] = field(default_factory=list)
    """Missing information, or what was left out and why, a sentence each."""

    @property
    def shows_only_probes(self) -> bool:
        """Whether delays were measured without any other traffic in the file."""
        has_rate = self.down or self.up or self.opportunities_ms is not None
        has_delay = self.base_rtt_s is not None or self.delay is not None
        return has_delay and not (has_rate or self.traffic or self.is_loaded)


def rate_curve(
    points: Iterable[tuple[float, float, str]], name: str, end_s: float = 0.0
) -> StepCurve:
    """`curve` for rates in bit/s.

    Raises:
        InputError: as `curve`; a rate is negative or not a number, or all are zero.
    """
    found = list(points)
    for _, rate, place in found:
        if not 0 <= rate < 1e15:
            raise InputError(f"{name}, {place}: {rate:g} bit/s is not a rate")
    result = curve(found, name, end_s)
    if not any(result.values):
        raise InputError(f"{name}: every rate in it is 0, so it describes no link")
    return result

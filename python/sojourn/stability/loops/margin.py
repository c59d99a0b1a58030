"""Gain, phase and delay margin of open loops, whole grids of them at once.

The loop is evaluated on a frequency grid in units of its own time scale; sign changes of gain and
phase are refined by Chandrupatla's method, all at once (`scipy.optimize.elementwise`). The phase is
unwrapped from low frequencies, and the pure delay added exactly, so a margin of -300 degrees is not
mistaken for one of 60.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import Bools, Complexes, Floats, Indices
from sojourn.stability.loops.feedback import Loop

# In units of 1/scale. Below 0.01 no curve bends sharply, so few points suffice.
_GRID = np.concatenate([np.geomspace(1e-4, 1e-2, 16, endpoint=False), np.geomspace(1e-2, 1e2, 96)])
_WIDE_GRID = np.geomspace(1e-12, 1e7, 1200)
_CHUNK = 1024  # points whose grids fit into the cache
_FINE = 1e-13  # relative error of a crossover


@dataclass(frozen=True)
class Margins:
    """Margins of a grid of loops, every array of the grid's shape.

    Attributes:
        gain_margin_db: how much the gain may grow before the loop oscillates; negative if it
            oscillates. Infinite without a phase crossing.
        phase_margin_deg: 180 degrees plus the unwrapped phase where the gain is 1; the smallest of
            several. Infinite if the gain stays below 1.
        delay_margin_s: how much the delay may grow: phase margin divided by crossover frequency,
            the smallest of several.
        crossover_rad_per_s: where the gain is 1, at the smallest phase margin; NaN if nowhere.
        phase_crossover_rad_per_s: where the phase is -180 degrees, at the gain margin; NaN if
            nowhere.
    """

    gain_margin_db: Floats
    phase_margin_deg: Floats
    delay_margin_s: Floats
    crossover_rad_per_s: Floats
    phase_crossover_rad_per_s: Floats

    @property
    def is_stable(self) -> Bools:
        """Whether the closed loop is predicted to be stable: both margins are positive."""
        return (self.phase_margin_deg > 0.0) & (self.gain_margin_db > 0.0)


def margins(loop: Loop) -> Margins:
    """The margins of every loop of a grid.

    Args:
        loop: open loops with negative feedback that are stable, except for an integrator.
    """
    n = len(loop.delay_s)
    found = _Found(n)
    for start in range(0, n, _CHUNK):
        points = np.arange(start, min(n, start + _CHUNK))
        sample = _Sample.of(loop, points, _GRID)
        is_whole = sample.is_whole()
        if is_whole.any():
            found.take(sample.rows(is_whole))
        if not is_whole.all():
            found.take(_Sample.of(loop, points[~is_whole], _WIDE_GRID))
    return found.margins(loop.shape)


@dataclass(frozen=True)
class _Sample:
    """Loops on their frequency grids.

    Attributes:
        loop: the loops of all points.
        points: the sampled ones, shape ``(n,)``.
        frequency: rad/s, shape ``(n, m)``.
        values: loops without pure delay, same shape.
    """

    loop: Loop
    points: Indices
    frequency: Floats
    values: Complexes

    @classmethod
    def of(cls, loop: Loop, points: Indices, grid: Floats) -> _Sample:
        frequency = grid / loop.scale_s[points, None]
        return cls(loop, points, frequency, loop.without_delay(1j * frequency, points))

    def rows(self, wanted: Bools) -> _Sample:
        return _Sample(self.loop, self.points[wanted], self.frequency[wanted], self.values[wanted])

    def gain_crosses(self) -> Bools:
        """Whether the gain crosses 1 between neighbours, shape ``(n, m - 1)``."""
        above = np.abs(self.values) > 1.0
        crosses: Bools = above[:, 1:] != above[:, :-1]
        return crosses

    def is_whole(self) -> Bools:
        """Whether gain and, with a delay, phase cross within the grid; shape ``(n,)``."""
        turns = self.phase()[:, -1] < -np.pi
        whole: Bools = self.gain_crosses().any(1) & (turns | (self._delay == 0.0))
        return whole

    @property
    def _delay(self) -> Floats:
        return self.loop.delay_s[self.points]

    def phase(self) -> Floats:
        """The unwrapped phase, delay included, shape ``(n, m)``."""
        without_delay = np.unwrap(np.angle(self.values))
        phase: Floats = without_delay - self.frequency * self._delay[:, None]
        return phase


class _Found:
    """The worst margins found so far, by point."""

    def __init__(self, n: int) -> None:
        self.gain = np.zeros(n)
        self.phase_rad = np.full(n, np.inf)
        self.delay_s = np.full(n, np.inf)
        self.crossover = np.full(n, np.nan)
        self.phase_crossover = np.full(n, np.nan)

    def take(self, sample: _Sample) -> None:
        """Refine all crossings of a sample."""
        phase = sample.phase()
        self._take_gain_crossings(sample, phase)
        self._take_phase_crossings(sample, phase)

    def _take_gain_crossings(self, sample: _Sample, phase: Floats) -> None:
        row, column = np.nonzero(sample.gain_crosses())
        if not len(row):
            return
        bracket = _Bracket(sample, phase, row, column)
        frequency = bracket.refine(lambda values, *_: np.log(np.abs(values)))
        margin = np.pi + bracket.phase_at(frequency)
        points = sample.points[row]
        np.minimum.at(self.delay_s, points, margin / frequency)
        # The worst is written last.
        order = np.argsort(-margin)
        self.phase_rad[points[order]] = margin[order]
        self.crossover[points[order]] = frequency[order]

    def _take_phase_crossings(self, sample: _Sample, phase: Floats) -> None:
        turns = np.floor((phase + np.pi) / (2.0 * np.pi))
        row, column = np.nonzero(np.diff(turns, axis=1))
        if not len(row):
            return
        row, column = _worth_refining(sample, row, column)
        bracket = _Bracket(sample, phase, row, column)
        # The first odd multiple of pi that is crossed, downwards or (with phase lead) upwards.
        passed = np.maximum(turns[row, column], turns[row, column + 1])
        goal = (2.0 * passed - 1.0) * np.pi
        frequency = bracket.refine(lambda _, phase, goal: phase - goal, goal)
        gain = np.abs(sample.loop.without_delay(1j * frequency, sample.points[row]))
        points, order = sample.points[row], np.argsort(gain)
        self.gain[points[order]] = gain[order]
        self.phase_crossover[points[order]] = frequency[order]

    def margins(self, shape: tuple[int, ...]) -> Margins:
        """The margins in public units and in the shape of the grid."""
        with np.errstate(divide="ignore"):
            gain_db = -20.0 * np.log10(self.gain)
        return Margins(
            gain_margin_db=gain_db.reshape(shape),
            phase_margin_deg=np.degrees(self.phase_rad).reshape(shape),
            delay_margin_s=self.delay_s.reshape(shape),
            crossover_rad_per_s=self.crossover.reshape(shape),
            phase_crossover_rad_per_s=self.phase_crossover.reshape(shape),
        )


def _worth_refining(sample: _Sample, row: Indices, column: Indices) -> tuple[Indices, Indices]:
    """The phase crossings at which a loop's gain can be highest, by the ends of their brackets."""
    gain = np.abs(sample.values)
    left, right = gain[row, column], gain[row, column + 1]
    sure = np.zeros(len(sample.points))
    np.maximum.at(sure, row, np.minimum(left, right))
    keep = np.maximum(left, right) >= sure[row]
    return row[keep], column[keep]


class _Bracket:
    """Neighbours on the grid between which a quantity crosses a value, shapes ``(n_brackets,)``."""

    def __init__(self, sample: _Sample, phase: Floats, row: Indices, column: Indices) -> None:
        self._loop = sample.loop
        self._low = sample.frequency[row, column]
        self._high = sample.frequency[row, column + 1]
        self._at_low = sample.values[row, column]
        self._phase_at_low = phase[row, column]
        self._points = sample.points[row]

    def refine(self, of: Callable[..., Floats], *more: Floats) -> Floats:
        """The frequency at which ``of(values, phase, *more)`` is zero."""

        def difference(log_frequency: Floats, place: Floats, *more: Floats) -> Floats:
            values, phase = self._evaluate(np.exp(log_frequency), place.astype(np.intp))
            return of(values, phase, *more)

        ends = (np.log(self._low), np.log(self._high))
        places = np.arange(len(self._low), dtype=np.float64)
        root = _elementwise().find_root(
            difference, ends, args=(places, *more), tolerances={"xatol": _FINE, "xrtol": 0.0}
        )
        frequency: Floats = np.exp(root.x)
        return frequency

    def phase_at(self, frequency: Floats) -> Floats:
        """The unwrapped phase within the brackets."""
        return self._evaluate(frequency, np.arange(len(frequency)))[1]

    def _evaluate(self, frequency: Floats, place: Indices) -> tuple[Complexes, Floats]:
        points = self._points[place]
        values = self._loop.without_delay(1j * frequency, points)
        turned = np.angle(values / self._at_low[place])
        later = (frequency - self._low[place]) * self._loop.delay_s[points]
        return values, self._phase_at_low[place] + turned - later


def _elementwise() -> Any:
    try:
        from scipy.optimize import elementwise
    except ImportError:
        raise InputError("stability: needs scipy; pip install 'sojourn[stability]'") from None
    return elementwise

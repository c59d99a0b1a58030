"""Integration of delay differential equations whose delays depend on the state.

Classic Runge-Kutta of fourth order with a fixed step; the past is read by cubic Hermite
interpolation, which is of the same order. No library is suitable: SciPy has no solver with delays,
`ddeint` solves one point at a time and is unmaintained, `jitcdde` needs a C compiler at run time.
All operating points of a grid advance together.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from sojourn.stability.arrays import Bools, Floats


class Past:
    """The solution so far, and a constant before the start.

    Attributes:
        values: shape ``(n_steps + 1, n_states, n_points)``.
    """

    def __init__(self, before: Floats, start: Floats, step_s: float, steps: int, held: Bools):
        self._before = before
        self.values = np.zeros((steps + 1, *start.shape))
        self.values[0] = start
        self.slopes = np.zeros_like(self.values)
        self.last = 0
        self._step_s = step_s
        self._held = held
        self._points = np.arange(start.shape[1])

    def at(self, t_s: Floats) -> Floats:
        """The state at past times.

        Args:
            t_s: one time per point, shape ``(n_points,)``.

        Returns:
            Shape ``(n_states, n_points)``; held states do not change between steps.
        """
        place = np.maximum(t_s / self._step_s, 0.0)
        left = np.minimum(place.astype(np.intp), max(0, self.last - 1))
        x = np.minimum(place - left, 1.0)
        right = np.minimum(left + 1, self.last)
        points = self._points
        low, high = self.values[left, :, points].T, self.values[right, :, points].T
        rise = self._step_s * self.slopes[left, :, points].T
        fall = self._step_s * self.slopes[right, :, points].T
        jump = high - low
        bend = (1.0 - x) * (rise - jump) - x * (fall - jump)
        between: Floats = low + x * (jump + (1.0 - x) * bend)
        if self._held.any():
            exact = np.minimum((place + 1e-9).astype(np.intp), self.last)
            between[self._held] = self.values[exact, :, points].T[self._held]
        return np.where(t_s < 0.0, self._before, between)


class System(Protocol):
    """Equations of motion."""

    @property
    def held(self) -> Bools:
        """Which states only jump, shape ``(n_states,)``."""

    def slopes(self, index: int, t_s: float, state: Floats, past: Past) -> Floats:
        """The derivative of the state within step ``index``, shape ``(n_states, n_points)``."""

    def jump(self, index: int, t_s: float, state: Floats, past: Past) -> Floats:
        """The state after the events at the start of step ``index``, bounds included."""


def integrate(system: System, before: Floats, start: Floats, step_s: float, steps: int) -> Floats:
    """The solution at every step.

    Args:
        system: equations; their delays must be at least two steps.
        before: constant state before the start, shape ``(n_states, n_points)``.
        start: state at the start, same shape.
        step_s: step.
        steps: number of steps.

    Returns:
        Shape ``(steps + 1, n_states, n_points)``.
    """
    past = Past(before, start, step_s, steps, system.held)
    state = start.copy()
    for index in range(steps):
        t_s = index * step_s
        state = system.jump(index, t_s, state, past)
        past.values[index] = state
        past.last = index
        k1 = system.slopes(index, t_s, state, past)
        past.slopes[index] = k1
        half = step_s / 2.0
        k2 = system.slopes(index, t_s + half, state + half * k1, past)
        k3 = system.slopes(index, t_s + half, state + half * k2, past)
        k4 = system.slopes(index, t_s + step_s, state + step_s * k3, past)
        state = state + step_s / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    past.last = steps
    past.values[steps] = system.jump(steps, steps * step_s, state, past)
    return past.values

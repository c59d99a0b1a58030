"""An AQM's response to the queue delay: two kinds of controller as transfer functions.

Both map a deviation of the queue delay in seconds to one of the controller's output, a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sojourn.stability.arrays import Complexes, Floats, Indices


class Controller(Protocol):
    """A transfer function from queue delay to output."""

    def response(self, s: Complexes, points: Indices, *, held: bool) -> Complexes:
        """Output per second of delay.

        Args:
            s: complex frequency in 1/s, shape ``(n, ...)``.
            points: indices of operating points, shape ``(n,)``.
            held: whether to include the hold between two updates, or treat updates as continuous.
        """


@dataclass(frozen=True)
class PiControl:
    """A proportional-integral controller updated every ``period_s``, shapes ``(n_points,)``.

    Every update adds ``alpha (D - target) + beta (D - D_old)``. As if continuous (Pan et al. 2013
    §V) that is ``alpha/(T s) + beta + alpha/2``. With a zero-order hold it is
    ``(alpha + beta (1 - exp(-sT))) / (sT)`` (fact stability-4); images above half the update rate
    are left out.
    """

    alpha_hz: Floats
    beta_hz: Floats
    period_s: Floats

    def response(self, s: Complexes, points: Indices, *, held: bool) -> Complexes:
        """See `Controller`."""
        alpha, beta, period = (
            _along(part[points], s) for part in (self.alpha_hz, self.beta_hz, self.period_s)
        )
        st = s * period
        lead: Complexes = -beta * np.expm1(-st) if held else (beta + alpha / 2.0) * st
        output: Complexes = (alpha + lead) / st
        return output


@dataclass(frozen=True)
class AverageControl:
    """RED: a line over the averaged backlog, shapes ``(n_points,)``.

    Attributes:
        slope_per_s: probability per second of averaged queue delay.
        average_s: time constant of the average.
    """

    slope_per_s: Floats
    average_s: Floats

    def response(self, s: Complexes, points: Indices, *, held: bool) -> Complexes:
        """See `Controller`; RED averages at every arrival, so nothing is held."""
        del held
        slope, average = (_along(part[points], s) for part in (self.slope_per_s, self.average_s))
        output: Complexes = slope / (1.0 + s * average)
        return output


def _along(values: Floats, s: Complexes) -> Floats:
    """Values of points, shaped to broadcast with frequencies of points."""
    return values.reshape(values.shape + (1,) * (s.ndim - 1))

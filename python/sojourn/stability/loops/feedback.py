"""The open loop: windows, queue and controller around one operating point, evaluated exactly.

Signals reach the windows one round trip later; the queue sums their sending rates. With ``e =
exp(-s R)``, and with populations i of ``N`` flows each (one for a plain AQM, two for DualPI2)::

    dW_i (s - w_i - w_late_i e_i) = (r_i + r_late_i e_i) dtau + c_i e_i F_i slope_i du
    dtau C s = sum_i (N_i/R_i) dW_i - dtau sum_i N_i W_i/R_i^2

from which ``L = -K dtau/du`` follows by elimination. docs/how-to/stability.md derives it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import Bools, Complexes, Floats, Indices, floats
from sojourn.stability.model.controllers import Controller
from sojourn.stability.model.population import Population

Part = TypeVar("Part")


@dataclass(frozen=True)
class Variant:
    """A simplification of a loop.

    Attributes:
        doc: one line.
        inner_delay: whether windows and queue depend on their own past within the round trip;
            without, the plant is rational times one delay, as in Hollot, Misra, Towsley and Gong
            2001 and Pan et al. 2013.
        held: whether the controller's output is held between updates and its measurement delayed.
        gain: factor on the loop gain.
    """

    doc: str
    inner_delay: bool
    held: bool
    gain: float = 1.0


VARIANTS = {
    "exact": Variant("nothing left out that is linear", inner_delay=True, held=True),
    "continuous": Variant("as exact, but updates are continuous", inner_delay=True, held=False),
    "derived": Variant(
        "the PIE paper's form as it follows from its equations: rational times one delay",
        inner_delay=False,
        held=False,
    ),
    "printed": Variant(
        "the PIE paper's form with the gain it prints, twice the derived one",
        inner_delay=False,
        held=False,
        gain=2.0,
    ),
}


def variant(name: str) -> Variant:
    """A variant by name.

    Raises:
        InputError: the name is unknown.
    """
    if name not in VARIANTS:
        raise InputError(f"variant: unknown `{name}`; known: {', '.join(VARIANTS)}")
    return VARIANTS[name]


class Loop(Protocol):
    """The interface of an open loop for margins."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the grid of operating points, which is flattened below."""

    @property
    def delay_s(self) -> Floats:
        """Pure delay in series with `without_delay`, shape ``(n_points,)``."""

    @property
    def scale_s(self) -> Floats:
        """A time scale; the frequency grid is around its inverse, shape ``(n_points,)``."""

    def without_delay(self, s: Complexes, points: Indices) -> Complexes:
        """The loop without its pure delay.

        Args:
            s: complex frequency in 1/s, shape ``(n, ...)``.
            points: indices of loops, shape ``(n,)``.
        """


@dataclass(frozen=True)
class FluidLoop:
    """The open loop of windows, queue and controller.

    Attributes:
        shape: shape of the grid of operating points; all arrays below are flat.
        populations: the flows.
        controller: controller of the AQM.
        capacity_pps: capacity of the link, packets per second.
        variant: the simplification.
        with_delay: whether the pure delay is included (Figure 13 of Pan et al. 2013 seems to lack
            it, fact stability-2).
    """

    shape: tuple[int, ...]
    populations: tuple[Population, ...]
    controller: Controller
    capacity_pps: Floats
    variant: Variant
    with_delay: bool = True

    @cached_property
    def scale_s(self) -> Floats:
        """The shortest round-trip time."""
        return floats(np.min([population.rtt_s for population in self.populations], axis=0))

    @cached_property
    def delay_s(self) -> Floats:
        """The shortest time from queue delay to window."""
        if not self.with_delay:
            return np.zeros_like(self.scale_s)
        return floats(np.min([self._delay_of(part) for part in self.populations], axis=0))

    def _delay_of(self, population: Population) -> Floats:
        return population.rtt_s + (population.late_s if self.variant.held else 0.0)

    def without_delay(self, s: Complexes, points: Indices) -> Complexes:
        """See `Loop`."""
        output = self.controller.response(s, points, held=self.variant.held)
        result: Complexes = -self.variant.gain * output * self._plant(s, points)
        return result

    def _plant(self, s: Complexes, points: Indices) -> Complexes:
        """Queue delay per controller output, without the pure delay."""

        def at(values: Floats) -> Floats:
            return values[points].reshape((len(points),) + (1,) * (s.ndim - 1))

        pushed: Complexes = np.zeros_like(s)
        drag: Complexes = np.zeros_like(s)
        capacity = at(self.capacity_pps)
        for population in self.populations:
            part, rtt_s = population.linear, at(population.rtt_s)
            late = np.exp(-s * rtt_s) if self.variant.inner_delay else 1.0
            window = s - at(part.on_window) - at(part.on_window_late) * late
            sent = at(population.flows) / rtt_s / window
            signal = at(part.on_signal_late * population.signal_slope) * sent
            if population.window.average_weight:
                signal = signal / (1.0 + s * at(part.average_s))
            if len(self.populations) > 1 and self.with_delay:
                signal = signal * np.exp(-s * at(self._delay_of(population) - self.delay_s))
            pushed = pushed + signal
            if population.waits:
                drag = drag + at(population.sent_pps) / rtt_s
                drag = drag - sent * (at(part.on_rtt) + at(part.on_rtt_late) * late)
            else:
                capacity = capacity - at(population.sent_pps)
        plant: Complexes = pushed / (capacity * s + drag)
        return plant

    def take(self, wanted: Bools) -> FluidLoop:
        """The loop at some operating points, as a flat grid."""
        controller = _only(self.controller, wanted)
        populations = tuple(_only(population, wanted) for population in self.populations)
        capacity = self.capacity_pps[wanted]
        return FluidLoop(
            capacity.shape, populations, controller, capacity, self.variant, self.with_delay
        )

    def response(self, frequency_rad_per_s: Floats) -> Complexes:
        """The loop, delay included, at real frequencies.

        Args:
            frequency_rad_per_s: shape ``(n_frequencies,)``.

        Returns:
            Shape ``(*shape, n_frequencies)``.
        """
        points = np.arange(len(self.capacity_pps))
        s = 1j * np.broadcast_to(frequency_rad_per_s, (len(points), len(frequency_rad_per_s)))
        values = self.without_delay(s, points) * np.exp(-s * self.delay_s[:, None])
        shaped: Complexes = values.reshape(*self.shape, len(frequency_rad_per_s))
        return shaped


def _only(part: Part, wanted: Bools) -> Part:
    """A dataclass with its arrays restricted to some points."""
    names = [field.name for field in fields(part)]  # type: ignore[arg-type]
    arrays = {name: getattr(part, name) for name in names}
    cut = {name: a[wanted] for name, a in arrays.items() if isinstance(a, np.ndarray)}
    return replace(part, **cut)  # type: ignore[type-var]

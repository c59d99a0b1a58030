"""The open loops of an AQM over a grid of links and flows, and their Bode data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, Complexes, Floats, floats
from sojourn.stability.loops.feedback import FluidLoop, variant
from sojourn.stability.model.aqms import FluidAqm, Link, PiAqm, fluid
from sojourn.stability.model.conditions import Conditions, Rest, at_rest, conditions
from sojourn.stability.model.controllers import AverageControl, Controller, PiControl

DEFAULT_VARIANT = "exact"


def loop(
    aqm: str,
    rtt_s: ArrayLike,
    rate_bps: ArrayLike,
    flows: ArrayLike,
    *,
    variant: str = DEFAULT_VARIANT,
    with_delay: bool = True,
    step_scaling: bool = True,
    **more: Any,
) -> FluidLoop:
    """The open loops of a grid; arguments as in `analyse`.

    Raises:
        InputError: a point of the grid has no equilibrium, or an argument is wrong.
        ScenarioError: the AQM does not exist, or a parameter is out of range.
    """
    where = conditions(rtt_s, rate_bps, flows, **more)
    model = model_of(aqm, where, step_scaling=step_scaling)
    rest = at_rest(model, where)
    for problem in filter(None, rest.problem):
        raise InputError(problem)
    return make_loop(model, rest, where.shape, variant, with_delay=with_delay)


def model_of(aqm: str, where: Conditions, *, step_scaling: bool = True) -> FluidAqm:
    """The fluid model of an AQM on the links of a grid."""
    link = Link(where.capacity_pps, where.packet_bytes)
    return fluid(aqm, link, step_scaling=step_scaling)


def make_loop(
    model: FluidAqm, rest: Rest, shape: tuple[int, ...], name: str, *, with_delay: bool = True
) -> FluidLoop:
    """The open loops around all operating points, those without an equilibrium included."""
    return FluidLoop(
        shape, rest.populations, controller_at(model, rest), rest.capacity_pps,
        variant(name), with_delay,
    )  # fmt: skip


def controller_at(model: FluidAqm, rest: Rest) -> Controller:
    """An AQM's controller around operating points."""
    if not isinstance(model, PiAqm):
        return AverageControl(model.signal_slope_per_s(rest.delay_s), model.average_s)
    factor = model.step_factor(rest.output)
    period_s = np.full_like(factor, model.period_s)
    return PiControl(factor * model.alpha_hz, factor * model.beta_hz, period_s)


@dataclass(frozen=True)
class Bode:
    """A loop over frequency.

    Attributes:
        frequency_rad_per_s: shape ``(n_frequencies,)``.
        gain_db: shape ``(*grid, n_frequencies)``.
        phase_deg: unwrapped from low frequencies, same shape.
    """

    frequency_rad_per_s: Floats
    gain_db: Floats
    phase_deg: Floats


def bode(open_loop: FluidLoop, frequency_rad_per_s: ArrayLike | None = None) -> Bode:
    """Gain and phase of loops.

    Args:
        open_loop: the result of `loop`.
        frequency_rad_per_s: increasing and dense enough that the phase without delay turns less
            than 180 degrees from one to the next; by default two decades on each side of 1/RTT.
    """
    if frequency_rad_per_s is None:
        scale_s = open_loop.scale_s
        ends = 1e-3 / scale_s.max(), 30.0 / scale_s.min()
        frequency_rad_per_s = np.geomspace(*ends, 1200)
    frequency = floats(frequency_rad_per_s)
    points = np.arange(len(open_loop.delay_s))
    s: Complexes = 1j * np.broadcast_to(frequency, (len(points), len(frequency)))
    values = open_loop.without_delay(s, points)
    phase = np.unwrap(np.angle(values)) - frequency * open_loop.delay_s[:, None]
    shape = (*open_loop.shape, len(frequency))
    return Bode(
        frequency,
        (20.0 * np.log10(np.abs(values))).reshape(shape),
        np.degrees(phase).reshape(shape),
    )

"""Responses to steps of load and rate: the nonlinear fluid model in time, and its linearisation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.errors import InputError
from sojourn.stability.arrays import ArrayLike, Floats, floats
from sojourn.stability.loops.dde import integrate
from sojourn.stability.loops.feedback import variant as variant_of
from sojourn.stability.loops.motion import Linearised, Phase, Whole, start_at
from sojourn.stability.loops.open_loop import DEFAULT_VARIANT, controller_at, model_of
from sojourn.stability.model.aqms import FluidAqm, PiAqm, RedAqm
from sojourn.stability.model.conditions import Conditions, Rest, at_rest, conditions
from sojourn.stability.model.controllers import AverageControl, PiControl

_STEPS_PER_RTT = 16
_MOST_STEPS = 2_000_000


@dataclass(frozen=True)
class Step:
    """A change of load or rate.

    Attributes:
        at_s: time of the step.
        flows: number of flows from then on; broadcasts to the grid; None means no change.
        rate_bps: rate of the link from then on; also broadcasts.
    """

    at_s: float
    flows: ArrayLike | None = None
    rate_bps: ArrayLike | None = None


@dataclass(frozen=True)
class Response:
    """The response to steps; series have the shape ``(n_times, *grid)``.

    Attributes:
        aqm: canonical text.
        t_s: shape ``(n_times,)``.
        delay_s: queue delay.
        window_packets: window (of the classic flows).
        signal_prob: probability of a signal (for the classic flows).
        rest_s: queue delay at rest after the last step, shape of the grid.
        last_step_s: time of the last step.
    """

    aqm: str
    t_s: Floats
    delay_s: Floats
    window_packets: Floats
    signal_prob: Floats
    rest_s: Floats
    last_step_s: float

    def settling_s(self, band: float = 0.1) -> Floats:
        """Time from the last step until the delay stays within a band around rest; NaN if never.

        Args:
            band: half of its width, relative to the delay at rest.
        """
        after = self.t_s >= self.last_step_s
        t_s, off = self.t_s[after], np.abs(self.delay_s[after] - self.rest_s) > band * self.rest_s
        backwards = off[::-1]
        last = len(t_s) - 1 - np.argmax(backwards, axis=0)
        settled = t_s[np.minimum(last + 1, len(t_s) - 1)] - self.last_step_s
        settled = np.where(backwards[0], np.nan, settled)
        return np.where(off.any(axis=0), settled, 0.0)

    def overshoot(self) -> Floats:
        """The largest excess over the delay at rest after the last step, relative to that delay."""
        after = self.t_s >= self.last_step_s
        share: Floats = self.delay_s[after].max(axis=0) / self.rest_s - 1.0
        return share


def respond(
    aqm: str,
    rtt_s: ArrayLike,
    rate_bps: ArrayLike,
    flows: ArrayLike,
    steps: Sequence[Step],
    *,
    duration_s: float = 60.0,
    linearised: bool = False,
    variant: str = DEFAULT_VARIANT,
    step_scaling: bool = True,
    **more: Any,
) -> Response:
    """Integrate the fluid model from rest through steps of load and rate.

    Args:
        aqm: text form.
        rtt_s: round-trip time without queue; this and the next two broadcast to the grid.
        rate_bps: initial rate of the link.
        flows: initial number of flows.
        steps: changes, in order.
        duration_s: end.
        linearised: the equations linearised around the last rest, for a single step.
        variant: ``exact`` (updates held) or ``continuous``.
        step_scaling: whether PIE scales its steps.
        more: see `conditions`.

    Raises:
        InputError: a point has no equilibrium before or after a step, or an argument is wrong.
        ScenarioError: the AQM does not exist, or a parameter is out of range.
    """
    if not variant_of(variant).inner_delay:
        raise InputError(f"variant: `{variant}` has no equations of motion; exact or continuous")
    scenes = _scenes(conditions(rtt_s, rate_bps, flows, **more), steps, duration_s)
    models = [model_of(aqm, where, step_scaling=step_scaling) for _, where in scenes]
    rests = [_rest(model, where) for model, (_, where) in zip(models, scenes, strict=True)]
    step_s, every = _grid(models[0], rests, held=variant_of(variant).held)
    count = math.ceil(duration_s / step_s)
    if count > _MOST_STEPS:
        raise InputError(f"duration_s: {duration_s:g} s take {count} steps; give a shorter time")
    starts = [round(at_s / step_s) for at_s, _ in scenes]
    parts = zip(starts, models, rests, strict=True)
    phases = [Phase(*part) for part in parts]
    before = start_at(rests[0], models[0])
    if linearised:
        states = _linear(phases, before, step_s, every, count)
    else:
        states = integrate(Whole(tuple(phases), step_s, every), before, before, step_s, count)
    return _response(states, phases, scenes[0][1].shape, step_s, starts[-1])


def _scenes(
    where: Conditions, steps: Sequence[Step], duration_s: float
) -> list[tuple[float, Conditions]]:
    """Conditions with their start times."""
    times = [step.at_s for step in steps]
    if not times or sorted(times) != times or not 0.0 < times[0] <= times[-1] < duration_s:
        raise InputError(
            f"steps: at {times} s within {duration_s:g} s; give at least one, in order, after the "
            "start and before the end"
        )
    scenes = [(0.0, where)]
    for step in steps:
        flows = where.flows if step.flows is None else _spread(step.flows, where)
        rate = where.rate_bps if step.rate_bps is None else _spread(step.rate_bps, where)
        conditions(where.rtt_s, rate, flows, cc=where.cc.name)
        where = replace(where, flows=flows, rate_bps=rate)
        scenes.append((step.at_s, where))
    return scenes


def _spread(value: ArrayLike, where: Conditions) -> Floats:
    return np.broadcast_to(floats(value), where.shape).ravel()


def _rest(model: FluidAqm, where: Conditions) -> Rest:
    rest = at_rest(model, where)
    for problem in filter(None, rest.problem):
        raise InputError(problem)
    return rest


def _grid(model: FluidAqm, rests: list[Rest], *, held: bool) -> tuple[float, int]:
    """The step, and steps per update interval (0 if updates are not held)."""
    shortest = min(float(kind.base_rtt_s.min()) for rest in rests for kind in rest.populations)
    fine_s = shortest / _STEPS_PER_RTT
    if not held or isinstance(model, RedAqm):
        return fine_s, 0
    every = math.ceil(model.period_s / fine_s)
    return model.period_s / every, every


def _linear(phases: list[Phase], before: Floats, step_s: float, every: int, count: int) -> Floats:
    """Convert deviations from the last rest to absolute values."""
    if len(phases) != 2:
        raise InputError(f"steps: {len(phases) - 1} of them; the linear response is of one")
    first, last = phases
    control = controller_at(last.model, last.rest)
    assert isinstance(control, PiControl | AverageControl), "only two kinds of loop exist"
    rest = start_at(last.rest, last.model)
    scale = np.ones_like(rest)
    if isinstance(control, AverageControl):
        scale[-1] = control.slope_per_s  # its output is a probability
    past = (before - rest) * scale
    start = past.copy()
    start[-2] = before[-2] * first.rest.capacity_pps / last.rest.capacity_pps - rest[-2]
    system = Linearised(last, control, step_s, every)
    deviations = integrate(system, past, start, step_s, count - last.from_step)
    flat = np.broadcast_to(before, (last.from_step, *before.shape))
    return np.concatenate([flat, rest + deviations / scale])


def _response(
    states: Floats, phases: list[Phase], shape: tuple[int, ...], step_s: float, last_start: int
) -> Response:
    model, rest = phases[-1].model, phases[-1].rest

    def on_grid(values: Floats) -> Floats:
        return values.reshape((*values.shape[:-1], *shape))

    output = states[:, -1]
    window = rest.populations[0].window
    signal = model.signal(output, window) if isinstance(model, PiAqm) else model.signal(output)
    return Response(
        aqm=model.settings.text,
        t_s=floats(np.arange(len(states)) * step_s),
        delay_s=on_grid(states[:, -2]),
        window_packets=on_grid(states[:, 0]),
        signal_prob=on_grid(signal),
        rest_s=on_grid(rest.delay_s),
        last_step_s=last_start * step_s,
    )

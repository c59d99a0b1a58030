"""Windows, queue and controller in time: the fluid model's equations, nonlinear and linearised.

States, in rows: one window per population (packets), one average of marks per population, the
backlog as time at the link's present rate (seconds), the controller's output (RED: its averaged
delay in seconds). In the linearised system they are deviations from rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sojourn.stability.arrays import Bools, Floats
from sojourn.stability.loops.dde import Past
from sojourn.stability.model.aqms import FluidAqm, PiAqm, RedAqm
from sojourn.stability.model.conditions import Rest
from sojourn.stability.model.controllers import AverageControl, PiControl
from sojourn.stability.model.population import Population

# DualPI2 (RFC 9332 §4.2.2) reserves a sixteenth of the link for the classic queue.
_CLASSIC_SHARE = 1.0 / 16.0


@dataclass(frozen=True)
class Phase:
    """A period in which neither load nor link changes.

    Attributes:
        from_step: its first step.
        model: the AQM on this link.
        rest: its equilibrium.
    """

    from_step: int
    model: FluidAqm
    rest: Rest


def start_at(rest: Rest, model: FluidAqm) -> Floats:
    """The state at rest, shape ``(n_states, n_points)``."""
    windows = [population.packets for population in rest.populations]
    averages = [population.signal_prob for population in rest.populations]
    output = rest.output if isinstance(model, PiAqm) else rest.delay_s
    return np.asarray([*windows, *averages, rest.delay_s, output])


@dataclass(frozen=True)
class Whole:
    """The nonlinear equations, through phases of load and rate.

    Attributes:
        phases: sorted by `from_step`, the first from 0.
        step_s: step of the integration.
        updates_every: steps between two updates of a held controller; 0 is continuous.
    """

    phases: tuple[Phase, ...]
    step_s: float
    updates_every: int

    @property
    def held(self) -> Bools:
        """See `System`."""
        return _held(len(self.phases[0].rest.populations), self.updates_every)

    def jump(self, index: int, t_s: float, state: Floats, past: Past) -> Floats:
        """Apply a change of rate, an update of a held controller, and bounds."""
        phase, state = self._phase(index), state.copy()
        if index and phase.from_step == index:
            # The backlog in bytes stays, but the time to send it changes.
            before = self._phase(index - 1).rest.capacity_pps
            state[-2] *= before / phase.rest.capacity_pps
        state[-2] = np.maximum(state[-2], 0.0)
        model = phase.model
        if isinstance(model, PiAqm):
            if self.updates_every and index % self.updates_every == 0 and index:
                state[-1] += self._update(model, t_s, state, past)
            state[-1] = np.clip(state[-1], 0.0, model.largest_output)
        return state

    def _update(self, model: PiAqm, t_s: float, state: Floats, past: Past) -> Floats:
        """One step of the controller."""
        period_s = self.updates_every * self.step_s
        now, before = state[-2], past.at(np.full_like(state[-2], t_s - period_s))[-2]
        if model.stamped:
            before = past.at(t_s - period_s - before)[-2]
            now = past.at(t_s - now)[-2]
        step = model.alpha_hz * (now - model.target_s) + model.beta_hz * (now - before)
        scaled: Floats = model.step_factor(state[-1]) * step
        return scaled

    def slopes(self, index: int, t_s: float, state: Floats, past: Past) -> Floats:
        """See `System`."""
        phase = self._phase(index)
        capacity, model, kinds = phase.rest.capacity_pps, phase.model, phase.rest.populations
        change = np.zeros_like(state)
        delay_s = state[-2]
        sent: list[Floats] = []
        for i, kind in enumerate(kinds):
            rtt_s = kind.base_rtt_s + (delay_s if kind.waits else 0.0)
            late = past.at(t_s - rtt_s)
            late_rtt_s = kind.base_rtt_s + (late[-2] if kind.waits else 0.0)
            signal = _signal(model, kind, late[-1])
            if kind.window.average_weight:
                weight = kind.window.average_weight / rtt_s
                change[len(kinds) + i] = weight * (signal - state[len(kinds) + i])
                signal = state[len(kinds) + i]
            change[i] = kind.window.slope(state[i], rtt_s, late[i], late_rtt_s, signal)
            sent.append(kind.flows * state[i] / rtt_s)
        waiting = sum(s for s, kind in zip(sent, kinds, strict=True) if kind.waits)
        passing = sum(s for s, kind in zip(sent, kinds, strict=True) if not kind.waits)
        service = np.maximum(capacity - passing, _CLASSIC_SHARE * capacity)
        growth = waiting / service - 1.0
        change[-2] = np.where((delay_s <= 0.0) & (growth < 0.0), 0.0, growth)
        change[-1] = self._controller(model, state, change[-2])
        return change

    def _controller(self, model: FluidAqm, state: Floats, growth: Floats) -> Floats:
        """The derivative of a controller that is not held."""
        if isinstance(model, RedAqm):
            slope: Floats = (state[-2] - state[-1]) / model.average_s
            return slope
        if self.updates_every:
            return np.zeros_like(growth)
        integral = model.alpha_hz / model.period_s * (state[-2] - model.target_s)
        both = integral + (model.beta_hz + model.alpha_hz / 2.0) * growth
        scaled: Floats = model.step_factor(state[-1]) * both
        return scaled

    def _phase(self, index: int) -> Phase:
        return next(phase for phase in reversed(self.phases) if phase.from_step <= index)


def _signal(model: FluidAqm, kind: Population, output: Floats) -> Floats:
    if isinstance(model, RedAqm):
        return model.signal(output)
    bounded = np.clip(output, 0.0, model.largest_output)
    return model.signal(bounded, kind.window)


def _held(populations: int, updates_every: int) -> Bools:
    held = np.zeros(2 * populations + 2, np.bool_)
    held[-1] = updates_every > 0
    return held


@dataclass(frozen=True)
class Linearised:
    """The same equations linearised around one state of rest; states are deviations from it."""

    phase: Phase
    control: PiControl | AverageControl
    step_s: float
    updates_every: int

    @property
    def held(self) -> Bools:
        """See `System`."""
        return _held(len(self.phase.rest.populations), self.updates_every)

    def jump(self, index: int, t_s: float, state: Floats, past: Past) -> Floats:
        """Apply an update of a held controller."""
        is_due = self.updates_every and index % self.updates_every == 0 and index
        if not is_due or not isinstance(self.control, PiControl):
            return state
        model = self.phase.model
        lag = self.phase.rest.delay_s if isinstance(model, PiAqm) and model.stamped else 0.0
        period_s = self.updates_every * self.step_s
        here = np.full_like(state[-2], t_s)
        now = past.at(here - lag)[-2] if np.any(lag) else state[-2]
        before = past.at(here - period_s - lag)[-2]
        state = state.copy()
        state[-1] += self.control.alpha_hz * now + self.control.beta_hz * (now - before)
        return state

    def slopes(self, index: int, t_s: float, state: Floats, past: Past) -> Floats:
        """See `System`."""
        del index
        rest, change = self.phase.rest, np.zeros_like(state)
        kinds, delay = rest.populations, state[-2]
        pushed, service = np.zeros_like(delay), rest.capacity_pps
        for i, kind in enumerate(kinds):
            part, late = kind.linear, past.at(t_s - kind.rtt_s)
            rtt, late_rtt = (delay, late[-2]) if kind.waits else (0.0, 0.0)
            signal = kind.signal_slope * late[-1]
            if kind.window.average_weight:
                change[len(kinds) + i] = (signal - state[len(kinds) + i]) / part.average_s
                signal = state[len(kinds) + i]
            change[i] = (
                part.on_window * state[i] + part.on_window_late * late[i]
                + part.on_rtt * rtt + part.on_rtt_late * late_rtt + part.on_signal_late * signal
            )  # fmt: skip
            pushed = pushed + kind.flows * state[i] / kind.rtt_s - kind.sent_pps * rtt / kind.rtt_s
            service = service if kind.waits else service - kind.sent_pps
        change[-2] = pushed / service
        change[-1] = self._controller(state, change[-2])
        return change

    def _controller(self, state: Floats, growth: Floats) -> Floats:
        control = self.control
        if isinstance(control, AverageControl):
            slope: Floats = (control.slope_per_s * state[-2] - state[-1]) / control.average_s
            return slope
        if self.updates_every:
            return np.zeros_like(growth)
        both: Floats = (
            control.alpha_hz / control.period_s * state[-2]
            + (control.beta_hz + control.alpha_hz / 2.0) * growth
        )
        return both

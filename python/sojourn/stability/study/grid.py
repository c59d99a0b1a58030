"""Margins on a grid of RTTs, flows and rates, and operating points that can be simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from sojourn import _core
from sojourn.describing.formatting import counted
from sojourn.errors import InputError
from sojourn.running.replicas import Progress
from sojourn.stability.arrays import Floats
from sojourn.stability.model.conditions import PACKET_BYTES
from sojourn.stability.study.analysis import Stability, analyse
from sojourn.stability.study.observation import (
    DURATION_S,
    WARMUP_S,
    Observation,
    observe_all,
    scenario_of,
)


@dataclass(frozen=True)
class Point:
    """One operating point of a map, which can be simulated.

    Attributes:
        aqm: text form.
        rtt_s: round-trip time without queue.
        rate_bps: rate of the link.
        flows: number of flows.
        cc: their congestion control.
        more: other arguments of `analysis.analyse`.
        phase_margin_deg: predicted; NaN without an equilibrium.
        gain_margin_db: predicted.
        delay_s: queue delay at rest, predicted.
        crossover_rad_per_s: loop frequency, predicted.
        observation: result of the simulator, if it was run.
    """

    aqm: str
    rtt_s: float
    rate_bps: float
    flows: float
    cc: str
    more: Mapping[str, Any]
    phase_margin_deg: float
    gain_margin_db: float
    delay_s: float
    crossover_rad_per_s: float
    observation: Observation | None = None

    def run(self, *, seed: int = 1, duration_s: float = DURATION_S) -> Observation:
        """Simulate the point; the series is in the observation, all tables in its result.

        Raises:
            InputError: the point cannot be simulated.
            RunFailed: the simulator failed; please report it.
        """
        scenario = self.scenario(seed=seed, duration_s=duration_s)
        return observe_all([scenario], jobs=1, warmup_s=min(WARMUP_S, duration_s / 3.0))[0]

    def scenario(self, *, seed: int = 1, duration_s: float = DURATION_S) -> _core.Scenario:
        """The scenario of the point.

        Raises:
            InputError: the simulator lacks a part of it.
        """
        if not self.more.get("step_scaling", True):
            raise InputError("step_scaling: the simulator's PIE scales its steps; leave it on")
        return scenario_of(
            self.aqm, self.rtt_s, self.rate_bps, self.flows, cc=self.cc, seed=seed,
            scalable_flows=self.more.get("scalable_flows", 0.0),
            scalable_cc=self.more.get("scalable_cc", "dctcp"),
            packet_bytes=self.more.get("packet_bytes", PACKET_BYTES),
            duration_s=duration_s,
        )  # fmt: skip

    def __str__(self) -> str:
        """For example ``100 ms, 10 Mbit/s, 20 flows``."""
        line = f"{self.rtt_s * 1e3:.4g} ms, {self.rate_bps * 1e-6:.4g} Mbit/s"
        return f"{line}, {counted(float(self.flows), 'flow')}"


@dataclass(frozen=True)
class MarginGrid:
    """Margins on a grid of rates, RTTs and flows, and observed points.

    Attributes:
        predicted: arrays of shape ``(n_rates, n_rtts, n_flows)``.
        rtt_s: shape ``(n_rtts,)``.
        rate_bps: shape ``(n_rates,)``.
        flows: shape ``(n_flows,)``.
        more: other arguments of `analysis.analyse`.
        observed: points that were simulated.
    """

    predicted: Stability
    rtt_s: Floats
    rate_bps: Floats
    flows: Floats
    more: Mapping[str, Any]
    observed: list[Point] = field(default_factory=list)

    def point(self, rtt_s: float, flows: float, rate_bps: float | None = None) -> Point:
        """The operating point at these values, with computed, not interpolated, margins.

        Args:
            rtt_s: round-trip time without queue.
            flows: number of flows.
            rate_bps: rate of the link; optional if the map has only one rate.

        Raises:
            InputError: the rate is left out, or the point has no equilibrium.
        """
        if rate_bps is None:
            if len(self.rate_bps) > 1:
                raise InputError(f"rate_bps: the map has {len(self.rate_bps)} rates; name one")
            rate_bps = float(self.rate_bps[0])
        of = self.predicted
        here = analyse(of.aqm, rtt_s, rate_bps, flows, **self.more)
        return Point(
            of.aqm, rtt_s, rate_bps, flows, of.cc, self.more,
            float(here.phase_margin_deg), float(here.gain_margin_db),
            float(here.delay_s), float(here.crossover_rad_per_s),
        )  # fmt: skip

    def observe(
        self,
        *,
        per_axis: int = 4,
        seed: int = 1,
        duration_s: float = DURATION_S,
        jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Simulate points of the grid that have an equilibrium, evenly spaced on every axis.

        Args:
            per_axis: number of values of RTT and of flows; all rates.
            seed: seed of every run.
            duration_s: duration of every run; a third, at most 20 s, is warm-up.
            jobs: concurrent runs.
            progress: receives the progress of the runs.

        Raises:
            InputError: the congestion control exists only as a model.
            Interrupted: Ctrl-C.
        """
        points = [
            self.point(rtt_s, flows, rate_bps)
            for i, rate_bps in enumerate(self.rate_bps)
            for j, rtt_s in _some(self.rtt_s, per_axis)
            for k, flows in _some(self.flows, per_axis)
            if np.isfinite(self.predicted.phase_margin_deg[i, j, k])
        ]
        scenarios = [point.scenario(seed=seed, duration_s=duration_s) for point in points]
        warmup_s = min(WARMUP_S, duration_s / 3.0)
        found = observe_all(scenarios, jobs=jobs, progress=progress, warmup_s=warmup_s)
        observed = [replace(p, observation=o) for p, o in zip(points, found, strict=True)]
        return replace(self, observed=observed)


def _some(values: Floats, most: int) -> list[tuple[int, float]]:
    """At most `most` of the values with their indices, evenly spaced, without the edges."""
    count = min(most, len(values))
    places = ((np.arange(count) + 0.5) * len(values) / count).astype(int)
    return [(int(place), float(values[place])) for place in places]

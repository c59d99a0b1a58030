"""Predicted against observed: margins over RTT, flows and rate, and runs at some points."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sojourn import _core, files
from sojourn.errors import InputError
from sojourn.running.replicas import Progress
from sojourn.stability.analysis import Stability, analyse
from sojourn.stability.arrays import ArrayLike, Floats, floats
from sojourn.stability.conditions import PACKET_BYTES
from sojourn.stability.observation import (
    DURATION_S,
    WARMUP_S,
    Observation,
    observe_all,
    scenario_of,
)
from sojourn.stability.to_json import to_json

_MEASURES = ("delay_mean_s", "variation", "peak_share", "peak_rad_per_s", "utilisation")


@dataclass(frozen=True)
class Point:
    """One operating point of a map, from which its time series is one call away.

    Attributes:
        aqm: text form.
        rtt_s: round-trip time without queue.
        rate_bps: of the link.
        flows: how many.
        cc: their congestion control.
        more: what else was said of the model, as of `analysis.analyse`.
        phase_margin_deg: predicted; NaN where the model has no rest.
        gain_margin_db: predicted.
        delay_s: queue delay at rest, predicted.
        crossover_rad_per_s: loop frequency, predicted.
        observation: what the simulator showed, if it was asked.
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
        """The scenario that stands for the point.

        Raises:
            InputError: the simulator has nothing like it.
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
        return f"{self.rtt_s * 1e3:.4g} ms, {self.rate_bps * 1e-6:.4g} Mbit/s, {self.flows:g} flows"


@dataclass(frozen=True)
class Map:
    """Margins on a grid of rates, RTTs and flows, and observed points.

    Attributes:
        predicted: arrays of shape ``(n_rates, n_rtts, n_flows)``.
        rtt_s: shape ``(n_rtts,)``.
        rate_bps: shape ``(n_rates,)``.
        flows: shape ``(n_flows,)``.
        more: what else was said of the model, as of `analysis.analyse`.
        observed: points that were simulated.
    """

    predicted: Stability
    rtt_s: Floats
    rate_bps: Floats
    flows: Floats
    more: Mapping[str, Any]
    observed: list[Point] = field(default_factory=list)

    def point(self, rtt_s: float, flows: float, rate_bps: float | None = None) -> Point:
        """The operating point at these values, margins computed there and not interpolated.

        Args:
            rtt_s: round-trip time without queue.
            flows: how many.
            rate_bps: of the link; may be left out if the map has one rate only.

        Raises:
            InputError: the rate is left out, or the point cannot be.
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
    ) -> Map:
        """Simulate points of the grid, evenly chosen from every axis; points without rest are left.

        Args:
            per_axis: how many values of RTT and of flows; all rates.
            seed: of every run.
            duration_s: of every run; a third, at most 20 s, is warm-up.
            jobs: runs at a time.
            progress: who is told how far it is.

        Raises:
            InputError: the congestion control is a model only.
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
        seen = [replace(p, observation=o) for p, o in zip(points, found, strict=True)]
        return replace(self, observed=seen)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the map as SVG, PNG, HTML and JSON, and one figure per observed point.

        In ``map.html`` and ``map.svg`` every observed point is a link to its time series.

        Raises:
            InputError: the folder cannot be written.
        """
        from sojourn.plots import stability_map, style

        folder = Path(folder)
        files.prepare(folder)
        names = [f"point-{i + 1}.svg" for i in range(len(self.observed))]
        drawing = stability_map.stability_map(self, links=names)
        picture = style.svg(drawing)
        written: dict[str, str | bytes] = {"map.svg": picture, "map.png": style.png(drawing)}
        for name, point in zip(names, self.observed, strict=True):
            written[name] = style.svg(stability_map.point_series(point))
        written["map.html"] = _page(self, picture, names)
        written["map.json"] = json.dumps(self._numbers(names), indent=1)
        for name, content in written.items():
            files.write(folder / name, content)
        return [folder / name for name in written]

    def _numbers(self, names: list[str]) -> dict[str, Any]:
        """Everything on the map but the series."""
        observed = [
            {key: value for key, value in vars(point).items() if key not in ("observation", "more")}
            | {key: value for key, value in vars(point.observation).items() if key in _MEASURES}
            | {"series": name}
            for point, name in zip(self.observed, names, strict=True)
        ]
        numbers: dict[str, Any] = to_json({"predicted": self.predicted, "observed": observed})
        return numbers


def make_map(aqm: str, rtt_s: ArrayLike, rate_bps: ArrayLike, flows: ArrayLike, **more: Any) -> Map:
    """Predict the margins on the grid that three lists span.

    Args:
        aqm: text form.
        rtt_s: round-trip times without queue.
        rate_bps: rates of the link.
        flows: numbers of flows.
        more: as of `analysis.analyse`.

    Raises:
        InputError: no point of the grid can be, or an argument is wrong.
        ScenarioError: there is no such AQM, or a parameter breaks its rule.
    """
    rtt, rate, count = (np.atleast_1d(floats(axis)) for axis in (rtt_s, rate_bps, flows))
    grid = rtt[None, :, None], rate[:, None, None], count[None, None, :]
    return Map(analyse(aqm, *grid, **more), rtt, rate, count, more)


def _some(values: Floats, most: int) -> list[tuple[int, float]]:
    """At most so many of the values with their places, evenly chosen, not at the edges."""
    count = min(most, len(values))
    places = ((np.arange(count) + 0.5) * len(values) / count).astype(int)
    return [(int(place), float(values[place])) for place in places]


def _page(of: Map, svg: str, names: list[str]) -> str:
    """The map and a table of its observed points, each linked to its series."""
    head = ("point", "phase margin [°]", "delay at rest [ms]", "mean delay [ms]",
            "coefficient of variation", "spectral peak", "utilisation")  # fmt: skip
    rows = []
    for point, name in zip(of.observed, names, strict=True):
        seen = point.observation
        assert seen is not None, "observed points carry their observation"
        cells = (
            f"<a href='{name}'>{html.escape(str(point))}</a>",
            f"{point.phase_margin_deg:.1f}", f"{point.delay_s * 1e3:.1f}",
            f"{seen.delay_mean_s * 1e3:.1f}", f"{seen.variation:.2f}", f"{seen.peak_share:.2f}",
            f"{seen.utilisation:.1%}",
        )  # fmt: skip
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    table = "".join(f"<th>{cell}</th>" for cell in head)
    title = html.escape(f"{of.predicted.aqm}: predicted and observed")
    body = svg[svg.index("<svg") :]
    return (
        f"<!doctype html>\n<html lang='en'><meta charset='utf-8'><title>{title}</title>\n"
        "<style>body{font-family:sans-serif;max-width:60rem;margin:2rem auto;color:#22262b}"
        "svg{max-width:100%;height:auto}td,th{padding:.2rem .8rem;text-align:right}"
        "td:first-child,th:first-child{text-align:left}</style>\n"
        f"<h1>{title}</h1>\n{body}\n<table><tr>{table}</tr>\n" + "\n".join(rows) + "</table>\n"
    )

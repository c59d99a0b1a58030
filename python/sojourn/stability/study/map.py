"""The map of predicted margins and observations as figures, page and numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn import files
from sojourn.describing.formatting import counted
from sojourn.errors import named
from sojourn.stability.arrays import ArrayLike, floats
from sojourn.stability.study.analysis import analyse
from sojourn.stability.study.grid import MarginGrid, Point
from sojourn.stability.study.to_json import to_json

__all__ = ["Map", "Point", "make_map"]

_HEAD = (
    "point", "phase margin [°]", "delay at rest [ms]", "mean delay [ms]",
    "coefficient of variation", "spectral peak", "utilisation [%]",
)  # fmt: skip
_MEASURES = ("delay_mean_s", "variation", "peak_share", "peak_rad_per_s", "utilisation")


@dataclass(frozen=True)
class Map(MarginGrid):
    """Margins on a grid of rates, RTTs and flows, and observed points, as files.

    Attributes:
        predicted: arrays of shape ``(n_rates, n_rtts, n_flows)``.
        rtt_s: shape ``(n_rtts,)``.
        rate_bps: shape ``(n_rates,)``.
        flows: shape ``(n_flows,)``.
        more: other arguments of `analysis.analyse`.
        observed: points that were simulated.
    """

    def save(self, folder: str | Path) -> list[Path]:
        """Write the map as SVG, PNG, HTML and JSON, and one figure per observed point.

        In ``map.html`` and ``map.svg`` every observed point is a link to its time series.

        Raises:
            InputError: the folder cannot be written.
        """
        from sojourn.plots import stability_map, style

        folder = named(folder, "folder")
        names = [f"point-{i + 1}.svg" for i in range(len(self.observed))]
        drawing = stability_map.stability_map(self, links=names)
        picture = style.svg(drawing)
        written: dict[str, str | bytes] = {"map.svg": picture, "map.png": style.png(drawing)}
        for name, point in zip(names, self.observed, strict=True):
            written[name] = style.svg(stability_map.point_series(point))
        written["map.html"] = _page(self, picture, names)
        written["map.json"] = json.dumps(self._numbers(names), indent=1)
        with files.writing_to(folder):
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
        more: other arguments of `analysis.analyse`.

    Raises:
        InputError: no point of the grid has an equilibrium, or an argument is wrong.
        ScenarioError: the AQM does not exist, or a parameter is out of range.
    """
    rtt, rate, count = (np.atleast_1d(floats(axis)) for axis in (rtt_s, rate_bps, flows))
    grid = rtt[None, :, None], rate[:, None, None], count[None, None, :]
    return Map(analyse(aqm, *grid, **more), rtt, rate, count, more)


def _page(of: Map, svg: str, names: list[str]) -> str:
    """The map and a table of its observed points, each linked to its series."""
    from sojourn.markup import policy
    from sojourn.report import page_style, template
    from sojourn.report.inline import inline_svg

    rows = [_row(point, name) for point, name in zip(of.observed, names, strict=True)]
    links = {name: str(point) for point, name in zip(of.observed, names, strict=True)}
    whole = {
        "title": f"{of.predicted.aqm}: predicted and observed stability",
        "verdicts": verdicts(of),
        "css": page_style(".answer { margin-bottom: 10px; } figure svg { max-width: 900px; }"),
        "policy": policy(),
        "picture": inline_svg(svg, "map", "Predicted phase margin", links),
        "head": _HEAD,
        "rows": rows,
    }
    return str(template(Path(__file__).parent, "page.html.j2").render(whole))


def _row(point: Point, name: str) -> dict[str, Any]:
    seen = point.observation
    assert seen is not None, "observed points carry their observation"
    cells = [
        f"{point.phase_margin_deg:.1f}", f"{point.delay_s * 1e3:.1f}",
        f"{seen.delay_mean_s * 1e3:.1f}", f"{seen.variation:.2f}", f"{seen.peak_share:.2f}",
        f"{100 * seen.utilisation:.1f}",
    ]  # fmt: skip
    return {"link": name, "point": str(point), "cells": [it.replace("-", "−") for it in cells]}


def verdicts(of: MarginGrid) -> list[str]:
    """What the map shows, in a sentence each: the predicted share of it, and what was observed."""
    margin = of.predicted.phase_margin_deg
    known = int(np.isfinite(margin).sum())
    stable = int((margin > 0.0).sum())
    found = [
        f"The fluid model predicts that {of.predicted.aqm} is stable at {stable} of {known} points "
        "of the map that have an equilibrium."
    ]
    groups = {
        "stability": [_variation(each) for each in of.observed if each.phase_margin_deg > 0.0],
        "instability": [
            _variation(each) for each in of.observed if not each.phase_margin_deg > 0.0
        ],
    }
    seen = [
        f"{np.mean(values):.2f} where the model predicts {name} ({counted(len(values), 'point')})"
        for name, values in groups.items()
        if values
    ]
    if seen:
        text = " and ".join(seen)
        found.append(f"In simulations, the queue delay's mean coefficient of variation is {text}.")
    return found


def _variation(point: Point) -> float:
    assert point.observation is not None, "observed points carry their observation"
    return point.observation.variation

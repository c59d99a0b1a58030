"""What a report offers where the browser runs script: figures to explore, runs to play.

The script and the live page come from `make web`; an installation without them writes the report
without this part, and a browser without script shows the report without it.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn import _core
from sojourn.comparing.compared_runs import ComparedRuns
from sojourn.describing.formatting import axis_label
from sojourn.describing.metrics import row_of
from sojourn.errors import InputError, ScenarioError
from sojourn.live import page
from sojourn.live.texts import written
from sojourn.markup import json_in_html

if TYPE_CHECKING:
    from sojourn.plots.data import Floats, Results

_DIGITS = 4
# As many points of a series as a screen has columns, about.
_MOST_POINTS = 2000


def parts(comparison: ComparedRuns) -> dict[str, str] | None:
    """Script, style, data and live page of a report; None where `make web` has not run."""
    if not (page.FOLDER / "report.js").is_file():
        return None
    play = _play(comparison)
    whole = (page.FOLDER / page.ONE_FILE).read_bytes() if play else b""
    data = {"figures": list(_figures(comparison)), "play": play}
    return {
        "data": json_in_html(data),
        "page": base64.b64encode(gzip.compress(whole, mtime=0)).decode() if play else "",
        "script": (page.FOLDER / "report.js").read_text(encoding="utf-8"),
        "style": (page.FOLDER / "report.css").read_text(encoding="utf-8"),
    }


def _play(comparison: ComparedRuns) -> dict[str, Any] | None:
    """What the live page needs to repeat a run; None where it cannot, as with a law of one's own.

    Only runs of the engine `sim` are repeated: the page has no other.
    """
    runs = [run for aqm in comparison.aqms for run in comparison.of(aqm)]
    if not runs or {run.manifest.get("engine") for run in runs} != {"sim"}:
        return None
    try:
        text = written(comparison.scenario)
        for aqm in comparison.aqms:
            _core.Scenario.load(text, sets=[(f"links.{comparison.link}.queue", json.dumps(aqm))])
    except (InputError, ScenarioError):
        return None
    return {
        "text": text,
        "link": comparison.link,
        "aqms": comparison.aqms,
        "seeds": [str(seed) for seed in comparison.seeds],
    }


def _figures(comparison: ComparedRuns) -> Iterator[dict[str, Any]]:
    results = {aqm: comparison.of(aqm) for aqm in comparison.aqms}
    places = {aqm: place for place, aqm in enumerate(comparison.aqms)}
    for name, x, y, curves, dots in (
        ("delay_cdf", "queue delay [ms]", "fraction of packets at or below",
         _distributions(results, comparison.link), False),
        ("delay_time", "time [s]", "queue delay [ms]", _delays(results, comparison.link), False),
        ("plane", axis_label(row_of("delay_mean")), "goodput of all bulk flows [Mbit/s]",
         _clouds(results, comparison.link), True),
    ):  # fmt: skip
        if curves:
            lines = [
                {"label": aqm, "colour": places[aqm], "x": _numbers(xs), "y": _numbers(ys)}
                for aqm, (xs, ys) in curves.items()
            ]
            yield {"name": name, "x": x, "y": y, "dots": dots, "curves": lines}


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else None for value in values]


def _distributions(results: Results, link: str) -> Mapping[str, tuple[Floats, Floats]]:
    from sojourn.plots import data

    pooled = {a: data.distribution(runs, "queue", link, "delay") for a, runs in results.items()}
    pooled = {aqm: found for aqm, found in pooled.items() if found}
    if not pooled:
        return {}
    x_s, _is_log = data.delay_grid(list(pooled.values()))
    return {aqm: (x_s * 1e3, found.share_below(x_s)) for aqm, found in pooled.items()}


def _delays(results: Results, link: str) -> Mapping[str, tuple[Floats, Floats]]:
    """Of the first seed; every n-th sample where there are more than a screen shows."""
    from sojourn.plots import data

    curves = {}
    for aqm, runs in results.items():
        if not runs:
            continue
        t_s, delay_s = data.series(runs[0], link, "delay_mean")
        every = max(1, -(-len(t_s) // _MOST_POINTS))
        if np.isfinite(delay_s).any():
            curves[aqm] = (t_s[::every], delay_s[::every] * 1e3)
    return curves


def _clouds(results: Results, link: str) -> Mapping[str, tuple[Floats, Floats]]:
    from sojourn.plots.data import bulk_points

    clouds = {
        aqm: cloud[np.argsort(cloud[:, 0])] for aqm, cloud in bulk_points(results, link).items()
    }
    return {aqm: (cloud[:, 0], cloud[:, 1]) for aqm, cloud in clouds.items()}

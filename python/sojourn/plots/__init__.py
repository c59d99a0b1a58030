"""Figures of a comparison: one file per kind, one function per file, tables in, figure out."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import reading
from sojourn.errors import NothingToPlot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.comparing.compared_runs import ComparedRuns

__all__ = ["KINDS", "OF_FIRST_RUN", "draw_all", "kind"]

KINDS = {
    "delay_cdf": "distribution of the queue delay, one line per AQM, a band over the seeds",
    "plane": "delay against bulk goodput, one ellipse per AQM; up and to the right is better",
    "pareto": "delay against utilisation with the AQMs that no other dominates",
    "delay_time": "queue delay over time with drops and marks, one panel per AQM",
    "completion": "completion times of short transfers as boxes",
    "window_time": "congestion windows over time, one panel per AQM, one line per flow",
    "rtt_time": "smoothed round trips over time, alike",
    "goodput_time": "goodput over time, alike",
}
# Kinds that read an AQM's first run only; they are drawn during the other runs.
OF_FIRST_RUN = ("delay_time", "window_time", "rtt_time", "goodput_time")


def _check_matplotlibrc() -> None:
    """Refuse a settings file on which the import of matplotlib would fail.

    Matplotlib takes the first settings file that exists (`matplotlib.matplotlib_fname`).

    Raises:
        InputError: it is not a regular file of UTF-8 text, or cannot be read.
    """
    named = os.environ.get("MATPLOTLIBRC")
    config = os.environ.get("MPLCONFIGDIR")
    candidates = [Path("matplotlibrc")]
    if named:
        candidates += [Path(named), Path(named) / "matplotlibrc"]
    if config:
        candidates.append(Path(config) / "matplotlibrc")
    for path in candidates:
        if path.exists() and not path.is_dir():
            reading.text(path, "matplotlibrc")
            return


_check_matplotlibrc()


def kind(name: str) -> Callable[..., Figure]:
    """The function that draws figures of a kind: ``(results per AQM, link) -> Figure``.

    Raises:
        KeyError: the kind does not exist.
    """
    if name not in KINDS:
        raise KeyError(f"unknown figure `{name}`; known: {', '.join(KINDS)}")
    draw: Callable[..., Figure] = getattr(import_module(f"sojourn.plots.{name}"), name)
    return draw


def draw_all(comparison: ComparedRuns) -> dict[str, Figure]:
    """Every figure for which the comparison has values, by kind."""
    from sojourn.comparing.shaping import omitted_figures

    results = {aqm: comparison.of(aqm) for aqm in comparison.aqms}
    omitted, figures = omitted_figures(comparison.shaped), {}
    for name in KINDS:
        if name in omitted:
            continue
        try:
            figures[name] = kind(name)(results, comparison.link)
        except NothingToPlot:
            continue
    return figures

"""A check as a page and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sojourn
from sojourn import files
from sojourn.authoring import check_scenarios
from sojourn.authoring.cells import WorldResult
from sojourn.authoring.check import Checked
from sojourn.describing.finite import without_nan
from sojourn.markup import policy
from sojourn.report import inline_svg, page_style, template

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HERE = Path(__file__).parent
_MARKS = {True: "holds", False: "broken", None: "does not apply"}
# Text colours on a heat map. Unlike ink and paper of `style` they do not swap in dark mode, because
# the map keeps its colours.
_ON_DARK, _ON_LIGHT = "#fdfdfd", "#101214"
# Title, value of a cell, colours from good to bad, the value of the last colour.
_MAPS: tuple[tuple[str, Callable[[WorldResult], float], str, float], ...] = (
    ("95 % quantile of queue delay [ms]", lambda cell: 1e3 * cell.delay_p95_s, "Oranges", 300.0),
    ("utilisation [%]", lambda cell: 100 * cell.utilisation, "Blues", 100.0),
    ("swing of the backlog: standard deviation / mean", lambda cell: cell.swing, "Purples", 2.0),
)


def save(checked: Checked, folder: Path) -> None:
    """Write ``check.html`` and, last, ``check.json``.

    Raises:
        OSError: the folder cannot be written, or the disk is full.
    """
    files.write(folder / "check.html", page(checked))
    files.write(folder / "check.json", json.dumps(to_json(checked), indent=1) + "\n")


def to_json(checked: Checked) -> dict[str, Any]:
    """Everything on the page."""
    facts = {
        "law": checked.law,
        "source": checked.source,
        "version": sojourn.__version__,
        "command": checked.command,
        "kept": checked.is_kept,
        "findings": [asdict(finding) for finding in checked.findings],
        "grid": {
            aqm: [{"flows": n, "rtt_ms": rtt, **asdict(cell)} for (n, rtt), cell in cells.items()]
            for aqm, cells in checked.grid.items()
        },
        "scenarios": {
            aqm: {name: asdict(cell) for name, cell in cells.items()}
            for aqm, cells in checked.others.items()
        },
        "sentences": checked.sentences,
    }
    made: dict[str, Any] = without_nan(facts)
    return made


def page(checked: Checked) -> str:
    """The page, without scripts and external addresses."""
    from sojourn.plots import style

    drawings = []
    if checked.grid[checked.law]:
        for place, (title, value, colours, most) in enumerate(_MAPS):
            svg = style.svg(heat_map(checked, title, value, colours, most))
            drawings.append({"title": title, "svg": inline_svg(svg, f"map{place}")})
    context = {
        "checked": checked,
        "marks": _MARKS,
        "drawings": drawings,
        "rows": _rows(checked),
        "style": page_style(),
        "policy": policy(),
        "version": sojourn.__version__,
    }
    return str(template(_HERE, "check.html.j2").render(context))


def heat_map(
    checked: Checked, title: str, value: Callable[[WorldResult], float], colours: str, most: float
) -> Figure:
    """One measure of every AQM over load and RTT, on a common scale.

    Args:
        checked: the results to show.
        title: title of the figure.
        value: value of a cell.
        colours: name of a colour map.
        most: the value of its last colour.
    """
    from sojourn.plots import style

    @style.figure
    def draw() -> Figure:
        drawing, axes = style.panels(title, len(checked.aqms), len(checked.aqms), 1.9)
        for axis, aqm in zip(axes, checked.aqms, strict=True):
            cells = checked.grid[aqm]
            table = np.array([[value(cells[n, rtt]) for rtt in check_scenarios.RTTS_MS]
                              for n in check_scenarios.FLOWS])  # fmt: skip
            axis.imshow(table, cmap=colours, vmin=0.0, vmax=most, aspect="auto", origin="lower")
            axis.grid(visible=False)
            axis.set_title(aqm, fontsize=8, loc="left")
            axis.set_xticks(
                range(len(check_scenarios.RTTS_MS)), [str(rtt) for rtt in check_scenarios.RTTS_MS]
            )
            axis.set_yticks(
                range(len(check_scenarios.FLOWS)), [str(n) for n in check_scenarios.FLOWS]
            )
            axis.tick_params(labelsize=7.5)
            axis.set_xlabel("base RTT [ms]", fontsize=8)
            for (row, column), x in np.ndenumerate(table):
                ink = _ON_DARK if x > 0.6 * most else _ON_LIGHT
                axis.text(column, row, _number(float(x)), ha="center", va="center", fontsize=7.2,
                          color=ink)  # fmt: skip
        axes[0].set_ylabel("flows", fontsize=8)
        return drawing

    return draw()


def _number(x: float) -> str:
    if math.isnan(x):
        return "–"
    return f"{x:.{0 if x >= 10 else 1 if x >= 1 else 2}f}"


def _rows(checked: Checked) -> list[tuple[str, list[str]]]:
    """The scenarios outside the grid, a row for each measure."""

    def row(
        name: str, of: Callable[[dict[str, WorldResult]], float], scale: float
    ) -> tuple[str, list[str]]:
        cells = [checked.others[aqm] for aqm in checked.aqms]
        return name, [_number(scale * of(each)) if each else "–" for each in cells]

    mixed, flood = check_scenarios.MIXED, check_scenarios.FLOOD

    def other(world: str, key: str) -> Callable[[dict[str, WorldResult]], float]:
        return lambda cells: cells[world].others.get(f"class/{key}", math.nan)

    return [
        row(f"{mixed}: goodput of 160 ms flows [Mbit/s]", other(mixed, "long/goodput"), 1e-6),
        row(f"{mixed}: goodput of 10 ms flows [Mbit/s]", other(mixed, "short/goodput"), 1e-6),
        row(f"{mixed}: the call's loss [%]", other(mixed, "call/loss_rate"), 100),
        row(f"{mixed}: the call's one-way delay p95 [ms]", other(mixed, "call/owd_p95"), 1e3),
        row(f"{flood}: queue delay p95 [ms]", lambda cells: cells[flood].delay_p95_s, 1e3),
        row(f"{flood}: goodput of 4 TCP flows [Mbit/s]", other(flood, "bulk/goodput"), 1e-6),
    ]

"""The style of all figures: size, type, ink, one colour per AQM, reproducible bytes.

Its colours are in `palette`, formats and widths in `outputs`, which do not need matplotlib.

A user's matplotlibrc, style file or rcParams override everything set here; `sized` makes figures as
wide as a paper's column or page.
"""

from __future__ import annotations

import functools
import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, ParamSpec

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from sojourn.plots.outputs import SIZES_IN, WIDTH_IN, check_format, check_size, tex_system
from sojourn.plots.palette import (
    AQM_COLOURS,
    DASHES,
    GRID,
    INK,
    LOSS,
    MARK,
    MARKERS,
    MUTED,
    PALETTE,
    PAPER,
)

__all__ = [
    "AQM_COLOURS", "GRID", "INK", "LOSS", "MARK", "MUTED", "PALETTE", "PAPER", "WIDTH_IN",
    "colour_of", "colours", "curves", "dashes", "figure", "filled", "lay_out", "lay_out_grid",
    "legend", "legend_place", "markers", "markers_of_curves", "new", "panels", "plain_log", "png",
    "saved", "shared", "shared_legend", "sized", "styled", "svg",
]  # fmt: skip

# Space above a title, in points.
_EDGE = 4.0
_width_in = ContextVar("width_in", default=WIDTH_IN)

_RC: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "svg.fonttype": "path",
    # TrueType: publishers such as IEEE and ACM refuse the Type 3 fonts that are the default.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.hashsalt": "sojourn",
    "savefig.dpi": 200,
}

_RC_OF_COLUMN: dict[Any, Any] = {
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "legend.fontsize": 6.5,
    "lines.linewidth": 1.2,
}

# The canvas of a format, and the settings without which `savefig` would write a different file.
_CANVASES = {"svg": FigureCanvasSVG, "png": FigureCanvasAgg}
_PLAIN: dict[Any, Any] = {
    "savefig.bbox": None,
    "savefig.transparent": False,
    "savefig.facecolor": "auto",
    "savefig.edgecolor": "auto",
    "savefig.orientation": "portrait",
}

P = ParamSpec("P")


@contextmanager
def styled() -> Iterator[None]:
    """The settings of this module, unless the user overrides them, while figures are drawn."""
    free = [key for key in _RC if mpl.rcParams[key] == mpl.rcParamsDefault[key]]
    settings = {key: _RC[key] for key in free}
    if _width_in.get() < WIDTH_IN:
        settings |= {key: value for key, value in _RC_OF_COLUMN.items() if key in free}
    with mpl.rc_context(settings):
        yield


@contextmanager
def sized(size: str) -> Iterator[None]:
    """Figures drawn within the block are as wide as a ``page`` or a ``column`` of a paper.

    Raises:
        InputError: the size does not exist.
    """
    check_size(size)
    token = _width_in.set(SIZES_IN[size])
    try:
        yield
    finally:
        _width_in.reset(token)


def figure(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Make a function draw its figure with the settings of this module.

    The layout is computed once, because it would differ slightly between files.
    """

    @functools.wraps(draw)
    def with_style(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with styled():
            drawing = draw(*args, **kwargs)
            lay_out(drawing)
            return drawing

    return with_style


def lay_out(drawing: Figure) -> None:
    """Compute the layout once; drawing would do so too, but takes three times as long."""
    engine = drawing.get_layout_engine()
    if engine is not None:
        engine.execute(drawing)
        drawing.set_layout_engine("none")


def lay_out_grid(drawing: Figure, axes: Sequence[Axes], rows: int, columns: int) -> None:
    """Lay out panels that share both scales, once their limits are known.

    Margins follow from font sizes: measuring all texts of six panels, as `lay_out` does twice,
    would take half of the time of such a figure.

    Args:
        drawing: a figure with a title above and axis labels at its edges.
        axes: row by row.
        rows: rows of panels.
        columns: columns of panels.
    """
    first, (width, height) = axes[0], 72.0 * drawing.get_size_inches()
    letter, gap = _points(mpl.rcParams["ytick.labelsize"]), _points(mpl.rcParams["font.size"])
    low, high = first.get_ylim()
    shown = [tick for tick in first.get_yticks() if low <= tick <= high]
    numbers = first.yaxis.get_major_formatter().format_ticks(shown)
    titles, lines = _points(first.title.get_fontsize()), drawing.get_suptitle().count("\n") + 1
    left = 0.02 * width + 2.2 * gap + 0.65 * letter * max(map(len, numbers), default=0)
    bottom = 0.01 * height + 1.8 * gap + 1.8 * letter
    top = _EDGE + 1.25 * lines * _title_points() + 1.5 * titles
    between = 1.5 * titles + 0.8 * letter
    across = (width - left - gap - (columns - 1) * 1.8 * gap) / columns
    down = (height - bottom - top - (rows - 1) * between) / rows
    drawing.set_layout_engine(None)
    _title(drawing, drawing.get_suptitle(), 1 - _EDGE / height)
    drawing.subplots_adjust(
        left / width, bottom / height, 1 - gap / width, 1 - top / height,
        1.8 * gap / across, between / down,
    )  # fmt: skip


def _points(size: float | str) -> float:
    """A font size in points; it may be a word such as ``medium``."""
    return float(FontProperties(size=size).get_size_in_points())


def _title_points() -> float:
    return 11.0 if _width_in.get() == WIDTH_IN else 8.0


def colours(aqms: Iterable[str]) -> dict[str, str]:
    """One colour per AQM, by its index in the comparison, so all figures agree."""
    return {aqm: PALETTE[i % len(PALETTE)] for i, aqm in enumerate(aqms)}


def dashes(aqms: Iterable[str]) -> dict[str, object]:
    """One line style per AQM, so curves also differ without colours."""
    return {
        aqm: (0, DASHES[i % len(DASHES)]) if DASHES[i % len(DASHES)] else "solid"
        for i, aqm in enumerate(aqms)
    }


def curves(labels: Iterable[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Colour and line style of curves other than AQMs; they also differ in greyscale."""
    names = list(labels)
    found = {name: PALETTE[1 + i % (len(PALETTE) - 1)] for i, name in enumerate(names)}
    return found, dashes(names)


def markers(aqms: Iterable[str]) -> dict[str, str]:
    """One marker per AQM, so points also differ without colours."""
    return {aqm: MARKERS[i % len(MARKERS)] for i, aqm in enumerate(aqms)}


def markers_of_curves(aqms: Iterable[str]) -> dict[str, str]:
    """One marker per AQM if there are more AQMs than dashes; else none."""
    found = markers(aqms)
    return found if len(found) > len(DASHES) else dict.fromkeys(found, "")


def new(height_in: float, title: str, rows: int = 1, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with a title and axes, row by row, that share both scales."""
    drawing = Figure(figsize=(_width_in.get(), height_in), layout="constrained")
    _title(drawing, title)
    axes = drawing.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    return drawing, list(axes.flat)


def panels(title: str, count: int, columns: int, height_in: float) -> tuple[Figure, list[Axes]]:
    """A figure with a title and axes, row by row, each with its own scales.

    Args:
        title: title of the figure.
        count: number of axes.
        columns: axes in a row, at most.
        height_in: height of a row in inches, without title and legend.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    drawing = Figure(figsize=(_width_in.get(), height_in * rows + 0.7), layout="constrained")
    _title(drawing, title)
    axes = list(drawing.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[count:]:
        unused.set_axis_off()
    return drawing, axes[:count]


def shared(drawing: Figure, axes: Sequence[Axes]) -> None:
    """Give axes that show the same quantity the same limits, and the figure one legend."""
    _share_limits(axes)
    shared_legend(drawing, axes)


def _share_limits(axes: Sequence[Axes]) -> None:
    """Axes with the same label show the same quantity."""
    for label, limits, put in (
        (Axes.get_xlabel, Axes.get_xlim, Axes.set_xlim),
        (Axes.get_ylabel, Axes.get_ylim, Axes.set_ylim),
    ):
        groups: dict[str, list[Axes]] = {}
        for one in axes:
            groups.setdefault(label(one), []).append(one)
        for group in groups.values():
            ends = [limits(one) for one in group]
            for one in group:
                put(one, min(low for low, _ in ends), max(high for _, high in ends))


def _title(drawing: Figure, title: str, y: float | None = None) -> None:
    share = _width_in.get() / WIDTH_IN
    text = textwrap.fill(title, int(78 * share) + 1) if len(title) > 78 * share else title
    drawing.suptitle(
        text, x=0.01, y=y, ha="left", fontsize=_title_points(), fontweight="bold", color=INK
    )


def filled(text: str) -> str:
    """Wrap a long label to the width of the figure."""
    return textwrap.fill(text, int(92 * _width_in.get() / WIDTH_IN))


def legend_place() -> Literal["outside upper right", "outside lower right"]:
    """Position of a small legend: next to the title on a page, below it in a column."""
    is_page = _width_in.get() >= WIDTH_IN
    return "outside upper right" if is_page else "outside lower right"


def shared_legend(drawing: Figure, axes: Iterable[Axes]) -> None:
    """One legend below for the labelled lines of all axes, each label once; none for one line."""
    found: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if len(found) > 1:
        longest = max(map(len, found))
        room = int(100 * _width_in.get() / WIDTH_IN)
        columns = max(1, min(len(found), room // (longest + 7)))
        drawing.legend(list(found.values()), list(found), loc="outside lower center", ncols=columns)


def colour_of(aqm: str) -> str:
    """The colour of an AQM in all figures of papers; its name may have a dialect or parameters."""
    name = aqm.partition("@")[0].partition(":")[0].lower().replace("-", "_")
    return AQM_COLOURS[name]


def legend(drawing: Figure, aqms: list[str]) -> None:
    """A legend of the labelled lines below the axes, in as many columns as the names allow."""
    room = int(96 * _width_in.get() / WIDTH_IN)
    columns = max(1, min(len(aqms), room // (max(map(len, aqms)) + 7)))
    drawing.legend(loc="outside lower center", ncols=columns)


def plain_log(axis: mpl.axis.Axis, low: float, high: float) -> None:
    """Label a logarithmic axis with plain numbers: 1, 2, 5 up to three decades, else decades.

    Within a factor of four, where these are too few, the labels are evenly spaced numbers.
    """
    from matplotlib.ticker import (
        FuncFormatter,
        LogLocator,
        MaxNLocator,
        NullFormatter,
        NullLocator,
    )  # fmt: skip

    few = high / low < 1000
    decades = LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,))
    is_narrow = high / low < 4
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]) if is_narrow else decades)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator() if few else LogLocator(subs=(2.0, 5.0)))
    axis.set_minor_formatter(NullFormatter())


def svg(drawing: Figure) -> str:
    """A figure as SVG; the same figure gives the same bytes."""
    return _written(drawing, "svg", {"Date": None, "Creator": None}).decode()


def saved(drawing: Figure, form: str) -> bytes:
    """A figure in one of `outputs.FORMATS`; the same figure gives the same bytes.

    Raises:
        InputError: the format does not exist, or needs LaTeX, which is not installed.
    """
    check_format(form)
    if form == "svg":
        return svg(drawing).encode()
    if form == "png":
        return png(drawing)
    return _written(drawing, form, {"CreationDate": None, "Creator": None, "Producer": None})


def png(drawing: Figure) -> bytes:
    """A figure as PNG at 200 dots per inch; the same figure gives the same bytes."""
    return _written(drawing, "png", {"Software": None})


def _written(drawing: Figure, form: str, metadata: dict[str, None]) -> bytes:
    """The bytes of a figure.

    `Figure.savefig` draws every figure twice, first for a layout that is already fixed here. So the
    two usual formats are written by their canvas, unless the user's settings need `savefig`.
    """
    buffer = io.BytesIO()
    with styled():
        if form in _CANVASES and all(mpl.rcParams[key] == usual for key, usual in _PLAIN.items()):
            _draw_once(drawing, form, metadata, buffer)
        elif form == "pgf":
            with mpl.rc_context({"pgf.texsystem": tex_system()}):
                drawing.savefig(buffer, format=form)
        else:
            drawing.savefig(buffer, format=form, metadata=metadata)
    return buffer.getvalue()


def _draw_once(drawing: Figure, form: str, metadata: dict[str, None], buffer: io.BytesIO) -> None:
    """Draw the figure once, as `savefig` does without a bounding box."""
    canvas, dpi, wanted = drawing.canvas, drawing.dpi, mpl.rcParams["savefig.dpi"]
    drawing.set_dpi(dpi if wanted == "figure" else wanted)
    try:
        printer = _CANVASES[form](drawing)
        getattr(printer, f"print_{form}")(buffer, metadata=metadata)
    finally:
        drawing.set_dpi(dpi)
        drawing.set_canvas(canvas)

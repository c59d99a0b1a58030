"""Writes figures as files, in this process or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn import plots
from sojourn.errors import NothingToPlot
from sojourn.plots.excerpt import Results

__all__ = ["Drawing", "Form", "Results", "Written", "wanted", "write"]

Form = tuple[str, str]
"""Width and format, such as ``("page", "svg")``."""
Written = dict[Form, bytes]
"""A figure in each form; empty if there is nothing to plot."""


@dataclass(frozen=True)
class Drawing:
    """A figure to draw.

    Attributes:
        kind: one of `plots.KINDS`.
        link: the link whose queue is shown.
        forms: forms in which it is written.
    """

    kind: str
    link: str
    forms: tuple[Form, ...]


def wanted(formats: Sequence[str], size: str) -> tuple[Form, ...]:
    """The forms, of this size, in which a figure is written in these formats."""
    return tuple(dict.fromkeys((size, form) for form in formats))


def write(drawing: Drawing, results: Results) -> Written:
    """Draw a figure once for each width; the same results give the same bytes.

    Args:
        drawing: what to draw.
        results: per AQM one result, or its excerpt, per seed.

    Raises:
        InputError: the format or size does not exist.
    """
    from sojourn.plots import style

    written: Written = {}
    for size in dict.fromkeys(size for size, _ in drawing.forms):
        with style.sized(size):
            try:
                figure = plots.kind(drawing.kind)(results, drawing.link)
            except NothingToPlot:
                return {}
            for form in (form for each, form in drawing.forms if each == size):
                written[size, form] = style.saved(figure, form)
    return written

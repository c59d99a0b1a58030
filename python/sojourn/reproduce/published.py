"""Published values in the figures: the numbers of claims, drawn at their place in the paper.

A number is a hollow diamond, a range a bar between its ends, a bound a triangle that points to the
values that meet it, a level a dotted line across the axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sojourn.reproduce.paper import Mark, Paper, Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def at(
    figure: str,
    panel: int,
    claim: str,
    x: float,
    part: int = 0,
    scale: float = 1.0,
    offset: float = 0.0,
) -> Mark:
    """A published value at a position of the horizontal axis."""
    return Mark(figure, panel, claim, part, x=x, scale=scale, offset=offset)


def level(figure: str, panel: int, claim: str, part: int = 0, scale: float = 1.0) -> Mark:
    """A published value as a line across the axes."""
    return Mark(figure, panel, claim, part, level="y", scale=scale)


def draw(figure: Figure, name: str, paper: Paper) -> None:
    """Draw the paper's published values into a figure.

    Args:
        figure: drawn; changed in place.
        name: name of the figure, such as ``F10``.
        paper: its claims and marks.

    Raises:
        KeyError: a mark names a claim that the paper does not have.
    """
    claims = {"-".join(claim.id.split("-")[-2:]): claim for claim in paper.claims}
    for mark in paper.marks:
        if mark.figure == name:
            _draw(figure.axes[mark.panel], mark, claims[mark.claim].parts[mark.part])


def _draw(axes: Axes, mark: Mark, part: Part) -> None:
    from sojourn.plots import style

    assert part.published is not None, "a mark is that of a number"
    ends = [part.published.low, part.published.high]
    distinct = dict.fromkeys(end for end in ends if end is not None)
    found = [end * mark.scale + mark.offset for end in distinct]
    kept = axes.get_xlim(), axes.get_ylim()
    if mark.level:
        line = axes.axhline if mark.level == "y" else axes.axvline
        for value in found:
            line(value, color=style.INK, lw=0.9, linestyle=(0, (1, 1.6)), zorder=5)
    else:
        _point(axes, mark, found, is_lower_bound=ends[1] is None, is_bound=None in ends)
    axes.set_xlim(*kept[0])
    axes.set_ylim(*_including(kept[1], found if _is_upright(mark) else []))


def _is_upright(mark: Mark) -> bool:
    """Whether the published value is on the vertical axis."""
    return mark.level == "y" or (not mark.level and mark.y is None)


def _including(limits: tuple[float, float], heights: Sequence[float]) -> tuple[float, float]:
    """The limits, wide enough for what is drawn."""
    low, high = limits
    room = 0.04 * (high - low)
    return min([low, *(y - room for y in heights if y < low)]), max(
        [high, *(y + room for y in heights if y > high)]
    )


def _point(
    axes: Axes, mark: Mark, found: Sequence[float], *, is_lower_bound: bool, is_bound: bool
) -> None:
    from sojourn.plots import style

    upright = mark.y is None
    place = mark.x if upright else mark.y
    assert place is not None, "a point has a place on the other axis"
    here = [place] * len(found)
    xs, ys = (here, found) if upright else (found, here)
    rises = is_lower_bound == (mark.scale > 0)
    pointing = ("^" if rises else "v") if upright else (">" if rises else "<")
    shape = pointing if is_bound else "D"
    if len(found) > 1:
        shape = "_" if upright else "|"
        axes.plot(xs, ys, color=style.INK, lw=1.1, zorder=6)
    axes.plot(
        xs, ys, linestyle="none", marker=shape, color=style.INK, mfc=style.PAPER, mec=style.INK,
        ms=5.5, mew=1.1, zorder=6,
    )  # fmt: skip

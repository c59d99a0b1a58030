"""The colour, dash and marker of each AQM, the same in every figure and table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sojourn.plots.palette import DASHES, MARKERS, PALETTE

# The markers of matplotlib as SVG paths around the origin, four units to each side.
_SHAPES = {
    "o": "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "s": "M-3.2-3.2h6.4v6.4h-6.4z",
    "^": "M0-4L4 3.5h-8z",
    "D": "M0-4.2L4.2 0L0 4.2L-4.2 0z",
    "v": "M0 4L4-3.5h-8z",
    "P": "M-1.4-4h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z",
    "X": "M-3.8-2l1.8-1.8l2 2l2-2l1.8 1.8l-2 2l2 2l-1.8 1.8l-2-2l-2 2l-1.8-1.8l2-2z",
}


@dataclass(frozen=True)
class Key:
    """The key of one AQM.

    Attributes:
        colour: its index in the palette, ``--series-N`` of the page.
        dash: lengths of strokes and gaps in line widths; empty for a solid line.
        shape: its marker as an SVG path around the origin.
    """

    colour: int
    dash: tuple[float, ...]
    shape: str

    @property
    def dash_array(self) -> str:
        """The dash of a line two units wide, as SVG writes it; ``none`` for a solid line."""
        return " ".join(f"{2 * length:g}" for length in self.dash) or "none"


def keys(aqms: Iterable[str]) -> dict[str, Key]:
    """One key per AQM, by its index in the comparison, as in `sojourn.plots.style`."""
    return {
        aqm: Key(i % len(PALETTE), DASHES[i % len(DASHES)], _SHAPES[MARKERS[i % len(MARKERS)]])
        for i, aqm in enumerate(aqms)
    }

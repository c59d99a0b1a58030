"""Positions of published values in the figures."""

from __future__ import annotations

from sojourn.papers.kids.common import AQMS, TARGETS_MS
from sojourn.plots.boxes import shift_of
from sojourn.reproduce.published import at, level

_SHIFT = {aqm: shift_of(place, len(AQMS)) for place, aqm in enumerate(AQMS)}

# Panels of F4: light, moderate and heavy load; of F9 and F10: RTT and goodput.
MARKS = (
    *(at("F4", 0, "F4-1", i + 1 + _SHIFT["ared"], part=i) for i in range(len(TARGETS_MS) - 1)),
    *(at("F4", 0, "F4-2", i + _SHIFT["pie"], part=i) for i in range(len(TARGETS_MS))),
    level("F4", 2, "F4-5"),
    at("F9", 1, "F9-2", _SHIFT["ared"]),
    at("F9", 1, "F9-3", _SHIFT["pie"]),
    *(at("F10", 0, "F10-1", _SHIFT[aqm], part=i) for i, aqm in enumerate(AQMS)),
)

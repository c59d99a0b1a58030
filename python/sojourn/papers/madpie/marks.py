"""Positions of published values in the figures."""

from __future__ import annotations

from sojourn.reproduce.paper import Mark
from sojourn.reproduce.published import level

MARKS = (
    Mark("F2", 0, "F2-1", y=1.0),
    Mark("F2", 0, "F2-5", y=0.8),
    Mark("F2", 2, "F2-4", y=0.8),
    Mark("F2", 2, "F2-7", y=0.9),
    level("F3", 0, "F3-5", scale=1e-3),
    level("F4", 0, "F4-1", scale=0.01),
    Mark("F4", 0, "F4-2", level="x"),
    Mark("F10", 0, "F10-1", level="x"),
)

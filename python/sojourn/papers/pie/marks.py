"""Positions of published values in the figures."""

from __future__ import annotations

from sojourn.reproduce.paper import Mark
from sojourn.reproduce.published import at, level

# Panels of F10 and F11: references of 5 and 20 ms.
MARKS = (
    *(level("F4", panel, f"F4-{claim}") for panel, claim in enumerate((1, 3, 5))),
    *(level("F5", panel, f"F5-{claim}") for panel, claim in enumerate((1, 3, 4))),
    Mark("F6", 0, "F6-2", level="x"),
    at("F7", 0, "F7-2", 25),
    at("F7", 0, "F7-3", 25),
    at("F7", 0, "F7-7", 125),
    at("F7", 0, "F7-8", 125),
    at("F10", 0, "F10-1", 20, scale=0.01),
    at("F10", 0, "F10-2", 20, scale=0.01),
    at("F10", 0, "F10-3", 5, scale=0.01),
    at("F10", 1, "F10-5", 20, scale=0.01),
    at("F10", 1, "F10-6", 20, scale=0.01),
    at("F11", 0, "F11-1", 100, scale=-0.01, offset=1.0),
    at("F11", 1, "F11-2", 100, scale=-0.01, offset=1.0),
    at("F11", 0, "F11-3", 5, scale=0.01),
    at("F11", 0, "F11-4", 10, scale=0.01),
    at("F11", 1, "F11-5", 40, scale=0.01),
)

"""Positions of published values in the figures."""

from __future__ import annotations

from sojourn.reproduce.paper import Mark
from sojourn.reproduce.published import at, level

# Panels of F3 and X1: mean delay of CoDel, CoDel-ACT and PIE, then their utilisation.
MARKS = (
    *(Mark("F1", panel, "F1-1", level="x") for panel in range(4)),
    at("F2", 0, "F2-3", 10, scale=0.01),
    Mark("F2", 0, "F2-4", y=0.5),
    at("F3", 3, "F3-8", 5),
    at("F3", 4, "F3-11", 5),
    at("F3", 5, "F3-13", 16),
    at("X1", 2, "X1-3", 16),
    at("X1", 3, "X1-6", 100),
    at("X1", 3, "X1-7", 25),
    at("X1", 5, "X1-10", 16),
    at("X1", 5, "X1-10", 150, part=4),
    level("F4", 1, "F4-4"),
    level("F4", 1, "F4-5"),
    level("F4", 1, "F4-6"),
    Mark("F5", 3, "F5-2", level="x"),
    Mark("F5", 3, "F5-3", level="x"),
    at("X2", 0, "X2-2", 3),
    at("X2", 0, "X2-3", 30),
    level("X2", 1, "X2-5"),
)

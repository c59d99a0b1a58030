"""The errors that a user can meet."""

from __future__ import annotations

from sojourn._core import (
    AppError,
    Cancelled,
    ControlError,
    LawError,
    ScenarioError,
    shortened,
)

__all__ = [
    "AppError",
    "Cancelled",
    "ControlError",
    "InputError",
    "Interrupted",
    "LawError",
    "NothingToPlot",
    "RunFailed",
    "ScenarioError",
    "shortened",
]


class InputError(ValueError):
    """Something given to Sojourn, other than a scenario's content, is not what it should be.

    The text is one sentence: where, what, and what would be right. Very long words, which can only
    be echoes of what was given, are cut.
    """

    def __init__(self, text: str) -> None:
        super().__init__(shortened(text))


class NothingToPlot(ValueError):
    """The results hold no values for a figure; the text says which are missing."""


class RunFailed(RuntimeError):
    """A run ended in an error that is not the user's; please report it."""


class Interrupted(Exception):
    """Ctrl-C stopped a series of runs.

    Attributes:
        finished: labels of the runs that were complete, such as ``pie, seed 3``.
    """

    def __init__(self, finished: list[str], total: int) -> None:
        super().__init__(f"interrupted after {len(finished)} of {total} runs")
        self.finished = finished
        self.total = total

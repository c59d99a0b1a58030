"""Whether any run of a comparison exercised an AQM."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns

_WARNING = "no AQM had anything to do"
"""The beginning of the warning about a run in which no AQM was exercised."""


def is_idle(comparison: ComparedRuns) -> bool:
    """Whether no AQM had anything to do in any run, so that the runs do not compare them."""
    runs = [run for aqm in comparison.aqms for run in comparison.of(aqm)]
    return bool(runs) and all(
        any(text.startswith(_WARNING) for text in run.warnings) for run in runs
    )

"""Whether the runs of a comparison exercised its AQMs, and whether these differ in any packet."""

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


def alike(comparison: ComparedRuns) -> list[list[str]]:
    """Contenders in groups that give the same runs under all seeds; none between engines.

    Numbers of the whole run do not count: a law with a timer needs more events.
    """
    groups: dict[str, list[str]] = {}
    for aqm in [] if comparison.references else comparison.aqms:
        runs = [
            (run.digest, [row for row in run.summary_rows if row[0] != "run"])
            for run in comparison.of(aqm)
        ]
        if runs:
            groups.setdefault(repr(runs), []).append(aqm)
    return [names for names in groups.values() if len(names) > 1]


def all_alike(comparison: ComparedRuns) -> bool:
    """Whether all contenders give the same runs, so that the runs do not compare them."""
    return any(len(names) == len(comparison.aqms) for names in alike(comparison))

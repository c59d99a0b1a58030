"""The table of a comparison as rows of text, for the terminal, the report and notebooks alike."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.comparing.families import is_headline
from sojourn.comparing.statistics import Estimate
from sojourn.describing.formatting import Scale, decimals_for, scale_of, show

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns, DifferenceVerdict, PairedDifference

SIGNS = {
    "better": "✓", "worse": "✗", "different": "≠", "same": "≈", "agrees": "=", "apart": "≠", "": "",
}  # fmt: skip
_LEGEND = (
    "mean ± half of the 95 % interval; * headline metrics, against {}: ✓ significantly better, "
    "✗ significantly worse, ≈ no practical difference, no sign: not significant; the other metrics "
    "are exploratory"
)
_ENGINE_LEGEND = (
    "mean ± half of the 95 % interval; against the same AQM on the last engine: = agrees, ≠ apart, "
    "no sign: outside the tolerance, but within the noise of the seeds"
)


@dataclass(frozen=True)
class TableCell:
    """One metric of one AQM: text, verdict against the first AQM, and the difference as a note."""

    text: str
    verdict: DifferenceVerdict
    note: str

    @property
    def sign(self) -> str:
        """The verdict as one character, or nothing."""
        return SIGNS[self.verdict]


@dataclass(frozen=True)
class TableRow:
    """One metric: label, unit of display, and a cell per AQM."""

    label: str
    unit: str
    cells: list[TableCell]
    headline: bool = False


def legend(comparison: ComparedRuns) -> str:
    """What the signs mean; empty for one AQM alone."""
    if comparison.references:
        return _ENGINE_LEGEND
    return _LEGEND.format(comparison.baseline) if len(comparison.aqms) > 1 else ""


def table_rows(comparison: ComparedRuns) -> list[TableRow]:
    """All shown metrics, one row each; cells in the order of the AQMs."""
    tests = {(row.metric.key, row.aqm): row for row in comparison.tests}
    rows = []
    for metric in comparison.metrics:
        cells = [cell for cell in comparison.cells if cell.metric == metric]
        means = [cell.estimate.mean for cell in cells if not math.isnan(cell.estimate.mean)]
        scale = scale_of(metric.metric, metric.unit, means)
        shown = [
            _cell(show_estimate(cell.estimate, scale), tests.get((metric.key, cell.aqm)), scale)
            for cell in cells
        ]
        rows.append(
            TableRow(
                metric.label, scale.unit, shown, is_headline(metric) and not comparison.references
            )
        )
    return rows


def zero_note(comparison: ComparedRuns) -> str:
    """Which metrics are left out because they are zero in every run; empty if none."""
    labels = ", ".join(metric.label for metric in comparison.zero_metrics)
    return f"zero in every run: {labels}" if labels else ""


def show_estimate(estimate: Estimate, scale: Scale, *, sign: bool = False) -> str:
    """``12.3 ± 0.4`` in the unit of display, the unit left out; without an interval the mean."""
    mean = estimate.mean * scale.factor
    half = estimate.half_width * scale.factor
    decimals = decimals_for(half, mean)
    if math.isnan(half):
        return show(mean, decimals, sign=sign)
    return f"{show(mean, decimals, sign=sign)} ± {show(half, decimals if half else 0)}"


def _cell(text: str, row: PairedDifference | None, scale: Scale) -> TableCell:
    if row is not None and row.agreement is not None:
        return TableCell(text, row.verdict, _agreement_note(row, scale))
    if row is None or math.isnan(row.test.p_value):
        return TableCell(text, "", "")
    d = row.test.difference
    decimals = decimals_for(d.half_width * scale.factor, d.mean * scale.factor)
    mean, low, high = (
        show(value * scale.factor, decimals, sign=True) for value in (d.mean, d.low, d.high)
    )
    allowed = show(row.margin * scale.factor, decimals)
    tested = f"corrected {row.p_adjusted:.2g}, margin ±{allowed}" if row.headline else "exploratory"
    paired = "" if math.isnan(row.correlation) else f", correlation {row.correlation:.2f}"
    note = (
        f"{mean} {scale.unit} against {row.baseline}, 95 % interval {low} to {high}, "
        f"p {row.test.p_value:.2g}, {tested}{paired}"
    )
    return TableCell(text, row.verdict, note)


def _agreement_note(row: PairedDifference, scale: Scale) -> str:
    found = row.agreement
    assert found is not None, "engines are compared"
    values = [value * scale.factor for value in (found.difference, found.tolerance, found.noise)]
    decimals = decimals_for(values[1], values[0])
    difference, (tolerance, noise) = (
        show(values[0], decimals, sign=True), [show(value, decimals) for value in values[1:]],
    )  # fmt: skip
    said = {"agrees": "agrees", "apart": "apart", "": "within the noise of the seeds"}
    return (
        f"{difference} {scale.unit} against {row.baseline}, tolerance {tolerance}, "
        f"noise {noise}: {said[row.verdict]}"
    )

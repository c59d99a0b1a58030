"""The table of a comparison as rows of text, for the terminal, the report and notebooks alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn.comparing import dominance
from sojourn.comparing.dominance import JointVerdict
from sojourn.comparing.statistics import Estimate
from sojourn.describing.formatting import Scale, decimals_for, scale_of, show
from sojourn.describing.metrics import row_of

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.comparing.rows import DifferenceVerdict, MetricEstimate, PairedDifference

SIGNS = {
    "better": "✓", "worse": "✗", "different": "≠", "same": "≈", "agrees": "=", "differs": "≠",
    "trade": "⇄", "": "",
}  # fmt: skip
_HEADLINE = "* marks headline metrics."
_LEGEND = (
    "Against {}: ✓ significantly better, ✗ significantly worse, ≠ significantly different, ≈ no "
    "practical difference, ⇄ lower delay for lower utilisation, or both higher; no sign: not "
    f"significant. {_HEADLINE}"
)
_ENGINE_LEGEND = (
    "Against the same AQM on the last engine: = agrees, ≠ differs; no sign: outside the tolerance, "
    "but within the noise of the seeds, or too few seeds to know."
)


@dataclass(frozen=True)
class TableCell:
    """One metric of one AQM: text, verdict against the first AQM, and the difference as a note."""

    text: str
    verdict: DifferenceVerdict | JointVerdict
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
    """The meaning of the signs; empty for a single AQM."""
    if comparison.references:
        return _ENGINE_LEGEND
    if len(comparison.aqms) == 1:
        return ""
    return _LEGEND.format(comparison.baseline) if has_tests(comparison) else _HEADLINE


def has_tests(comparison: ComparedRuns) -> bool:
    """Whether any headline metric is tested: not with one seed, nor where all seeds are alike."""
    return any(not math.isnan(row.p_adjusted) for row in comparison.tests)


def table_rows(comparison: ComparedRuns) -> list[TableRow]:
    """All shown metrics, one row each; cells in the order of the AQMs."""
    tests = {(row.metric.key, row.aqm): row for row in comparison.tests}
    rows = _joint_rows(comparison)
    for metric in comparison.metrics:
        cells = [cell for cell in comparison.cells if cell.metric == metric]
        means = [cell.estimate.mean for cell in cells if math.isfinite(cell.estimate.mean)]
        scale = scale_of(metric.row, means)
        shown = [
            _cell(_shown(cell, scale), tests.get((metric.key, cell.aqm)), scale) for cell in cells
        ]
        rows.append(
            TableRow(
                metric.label, scale.unit, shown, metric.is_headline and not comparison.references
            )
        )
    return rows


def _joint_rows(comparison: ComparedRuns) -> list[TableRow]:
    """Queue delay p95 at utilisation, if both are known: ``12.3 at 98.1 %``."""
    if comparison.references or comparison.shaped:
        return []
    of = {(cell.metric.scope, cell.metric.metric, cell.aqm): cell for cell in comparison.cells}
    found = [[of.get(("queue", name, aqm)) for name in dominance.PAIR] for aqm in comparison.aqms]
    pairs = [(delay, share) for delay, share in found if delay and share]
    if len(pairs) < len(comparison.aqms):
        return []
    scale = scale_of(row_of(dominance.PAIR[0]), [delay.estimate.mean for delay, _ in pairs])
    judged = dominance.joint_verdicts(comparison)
    cells = []
    for aqm, (delay, share) in zip(comparison.aqms, pairs, strict=True):
        text = f"{_alone(delay.estimate, scale)} at {_alone(share.estimate, _PERCENT)} %"
        cells.append(_joint_cell(comparison, aqm, text, judged))
    return [TableRow(dominance.LABEL, scale.unit, cells, headline=True)]


def dominance_table(comparison: ComparedRuns) -> list[TableRow]:
    """A row and a column per AQM: the probability that the row's AQM dominates the column's."""
    pairs = {(pair.aqm, pair.over): pair for pair in dominance.plane(comparison)}
    if all(math.isnan(pair.probability) for pair in pairs.values()):
        return []
    return [
        TableRow(aqm, "%", [_dominance_cell(pairs.get((aqm, over))) for over in comparison.aqms])
        for aqm in comparison.aqms
    ]


def _dominance_cell(pair: dominance.Dominance | None) -> TableCell:
    if pair is None:
        return TableCell("", "", "")
    delay = show(pair.delay * 1e3, decimals_for(math.nan, pair.delay * 1e3), sign=True)
    share = show(pair.utilisation * 100, 2, sign=True)
    note = f"{delay} ms of delay p95 and {share} points of utilisation against {pair.over}"
    if math.isnan(pair.probability):
        return TableCell("–", "", note)
    text = f"{show(100 * pair.probability, 0)} %"
    return TableCell(text, "better" if pair.is_sure else "", note)


_PERCENT = Scale("%", 100.0)


def _alone(estimate: Estimate, scale: Scale) -> str:
    """A value with the digits that its interval justifies, without the interval."""
    value, half = estimate.mean * scale.factor, estimate.half_width * scale.factor
    return show(value, decimals_for(half, value))


def _joint_cell(
    comparison: ComparedRuns, aqm: str, text: str, judged: Mapping[str, JointVerdict]
) -> TableCell:
    if aqm not in judged:
        return TableCell(text, "", "")
    found = judged[aqm]
    said = {
        "better": "dominates it", "worse": "is dominated by it",
        "trade": "a trade: better in one, worse in the other",
        "same": "no practical difference in either", "": "neither dominates for sure",
    }[found]  # fmt: skip
    return TableCell(text, found, f"against {comparison.baseline}: {said}")


def zero_note(comparison: ComparedRuns) -> str:
    """Which metrics are left out because they are zero in every run; empty if none."""
    labels = ", ".join(metric.label for metric in comparison.zero_metrics)
    return f"Zero in every run: {labels}." if labels else ""


def show_estimate(estimate: Estimate, scale: Scale, *, sign: bool = False) -> str:
    """``12.3 ± 0.4`` in the unit of display, without the unit; only the mean without an interval.

    A median is ``12.3 (11.8–14.0)``, as is a mean whose interval is not symmetric in the digits
    shown; an end beyond what was observed is ``∞``.
    """
    mean = estimate.mean * scale.factor
    half = estimate.half_width * scale.factor
    decimals = decimals_for(half if math.isfinite(half) else math.nan, mean)
    if math.isnan(half):
        return show(mean, decimals, sign=sign)
    if estimate.ends and not _is_symmetric(estimate, scale, decimals):
        low, high = (_end(end * scale.factor, decimals) for end in estimate.ends)
        return f"{show(mean, decimals, sign=sign)} ({low}–{high})"
    return f"{show(mean, decimals, sign=sign)} ± {show(half, decimals if half else 0)}"


def _is_symmetric(estimate: Estimate, scale: Scale, decimals: int) -> bool:
    """Whether an interval about a mean is symmetric in the digits shown."""
    ends = (estimate.mean - estimate.low, estimate.high - estimate.mean)
    below, above = (show(end * scale.factor, decimals) for end in ends)
    return estimate.centre == "mean" and below == above


def show_p(p_value: float) -> str:
    """``0.031``, ``< 0.001``: two digits of what is known, never 0."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.2g}"


def _shown(cell: MetricEstimate, scale: Scale) -> str:
    """An unknown median: ``> 12.3``, the lower bound that the seeds allow."""
    if math.isinf(cell.estimate.mean):
        above = cell.above * scale.factor
        return f"> {show(above, decimals_for(math.nan, above))}"
    return show_estimate(cell.estimate, scale)


def _end(value: float, decimals: int) -> str:
    return "∞" if math.isinf(value) else show(value, decimals)


def _cell(text: str, row: PairedDifference | None, scale: Scale) -> TableCell:
    if row is not None and row.agreement is not None:
        return TableCell(text, row.verdict, _agreement_note(row, scale))
    if row is None or math.isnan(row.test.p_value):
        return TableCell(text, "", "")
    d = row.test.difference
    if any(map(math.isinf, (d.mean, d.low, d.high))):
        return TableCell(text, row.verdict, _unknown_note(row))
    decimals = decimals_for(d.half_width * scale.factor, d.mean * scale.factor)
    mean, low, high = (
        show(value * scale.factor, decimals, sign=True) for value in (d.mean, d.low, d.high)
    )
    allowed = show(row.margin * scale.factor, decimals)
    corrected = f"corrected {show_p(row.p_adjusted)}, margin ±{allowed}"
    tested = corrected if row.headline else "exploratory"
    paired = "" if math.isnan(row.correlation) else f", correlation {row.correlation:.2f}"
    note = (
        f"{mean} {scale.unit} against {row.baseline}, 95 % interval {low} to {high}, "
        f"p {show_p(row.test.p_value)}, {tested}{paired}"
    )
    return TableCell(text, row.verdict, note)


def _unknown_note(row: PairedDifference) -> str:
    """A difference without an amount, because a value is beyond what was observed."""
    corrected = f", corrected {show_p(row.p_adjusted)}" if row.headline else ", exploratory"
    return (
        f"against {row.baseline}: no amount and no interval is known; sign test over "
        f"{row.test.difference.n} seeds, p {show_p(row.test.p_value)}{corrected}"
    )


def _agreement_note(row: PairedDifference, scale: Scale) -> str:
    found = row.agreement
    assert found is not None, "engines are compared"
    values = [value * scale.factor for value in (found.difference, found.tolerance, found.noise)]
    decimals = decimals_for(values[1], values[0])
    difference, (tolerance, noise) = (
        show(values[0], decimals, sign=True), [show(value, decimals) for value in values[1:]],
    )  # fmt: skip
    known = f"tolerance {tolerance}, noise {noise}"
    said = {"agrees": "agrees", "differs": "differs", "": "within the noise of the seeds"}
    if math.isnan(found.noise):
        known, said[""] = f"tolerance {tolerance}", "too few seeds to know the noise"
    return f"{difference} {scale.unit} against {row.baseline}, {known}: {said[row.verdict]}"

"""The conclusions of a comparison: the headline differences from the first AQM."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sojourn.comparing import between_engines, dominance
from sojourn.comparing.idle import all_alike, is_idle
from sojourn.comparing.verdict import joined
from sojourn.describing.formatting import decimals_for, scale_of, show

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.comparing.rows import PairedDifference

_DOCS = "docs/how-to/comparing-honestly.md has the rules and margins"


def sentences(comparison: ComparedRuns) -> list[str]:
    """One sentence per AQM after the first; with one seed, the reason why none can be given.

    The list is empty if no AQM had anything to do, or all did the same.
    """
    if len(comparison.aqms) < 2:
        return []
    if comparison.references:
        return [_between_engines(comparison, name) for name in comparison.references]
    if is_idle(comparison) or all_alike(comparison):
        return []
    if len(comparison.seeds) < 2:
        return ["With one seed there are no intervals and no tests; use at least two, better ten."]
    fixed = [_fixed(comparison)] if comparison.fixed else []
    fixed += _nearly_fixed(comparison)
    untested = comparison.fixed if comparison.baseline in comparison.fixed else []
    tested = [aqm for aqm in comparison.aqms[1:] if aqm not in untested]
    found = [*fixed, *(_sentence(comparison, aqm) for aqm in tested)]
    return list(filter(None, [*found, dominance.sentence(comparison)]))


def _fixed(comparison: ComparedRuns) -> str:
    return (
        f"Every seed gives the same run with {joined(comparison.fixed)}: nothing that they meet "
        "is drawn at random, so there is no interval and, between two of them, no test. Give "
        'flows a random start, such as start = "0s..1s".'
    )


def _nearly_fixed(comparison: ComparedRuns) -> Iterator[str]:
    """AQMs for which most runs are identical, such as fq_codel where flows rarely share a hash.

    Further seeds hardly add replicas, so an interval over them looks more exact than it is.
    """
    for aqm in comparison.aqms:
        digests = Counter(run.digest for run in comparison.of(aqm))
        same, runs = max(digests.values(), default=0), digests.total()
        if runs / 2 < same < runs:
            yield (
                f"{same} of {runs} seeds give the same run with {aqm}: little that it meets is "
                "drawn at random, so its interval says little. Give flows a random start, such as "
                'start = "0s..1s".'
            )


def method(comparison: ComparedRuns) -> list[str]:
    """A few sentences that explain the numbers, and one more if values are unknown."""
    n = len(comparison.seeds)
    if n == 1 and not comparison.references:
        return ["Values are those of one seed: intervals and tests need two seeds or more."]
    if comparison.references:
        means = f"Each value is the mean over {n} seeds with its 95 % interval."
        return [
            means if n > 1 else "Values are those of one seed, without an interval.",
            f"Engines agree on a metric where their means differ by at most "
            f"{100 * between_engines.RELATIVE:g} % of the last engine's or by a millisecond.",
            f"They differ where the noise of the seeds cannot explain the rest ({_DOCS}).",
        ]
    tests = sum(not math.isnan(row.p_adjusted) for row in comparison.tests)
    most = "up to " if comparison.until and comparison.until.stopped else ""
    parts = [
        f"Each value is the mean over {most}{n} seeds and its 95 % interval, as ± or as two ends "
        "where it is not symmetric. Skewed metrics show their median, with an interval from six "
        "seeds.",
        "Verdicts compare runs of the same seed, with Holm's correction at 5 % over the "
        f"{tests} tests of the headline metrics (*)." * (tests > 0),
        f"All other metrics are exploratory: they have no verdict ({_DOCS}).",
        _unknown(comparison),
    ]
    return list(filter(None, parts))


def _unknown(comparison: ComparedRuns) -> str:
    """Which numbers are unknown in some seeds; may be empty."""
    of: dict[str, list[str]] = {}
    for cell in comparison.cells:
        if cell.unknown:
            place = f"under {cell.aqm} in {cell.unknown} of {cell.estimate.n} seeds"
            of.setdefault(cell.metric.label, []).append(place)
    found = [f"{label} {joined(places)}" for label, places in of.items()]
    if not found:
        return ""
    return (
        f"Too few transfers finished to know {joined(found)}: such a value counts as longer than "
        'all that were seen, and a median that cannot be computed is shown as "> bound".'
    )


def _sentence(comparison: ComparedRuns, aqm: str) -> str:
    """The headline differences of an AQM; empty if none was tested."""
    rows = [
        row
        for row in comparison.tests
        if row.aqm == aqm and row.headline and not math.isnan(row.test.difference.mean)
    ]
    if not rows:
        return ""
    significant = [row for row in rows if row.verdict not in ("", "same")]
    lowered = [_amount(row) for row in significant if row.test.difference.mean < 0]
    raised = [_amount(row) for row in significant if row.test.difference.mean > 0]
    same = [row.metric.label for row in rows if row.verdict == "same"]
    open_ = [row.metric.label for row in rows if not row.verdict]
    parts = [
        f"lowers {joined(lowered)}" if lowered else "",
        f"raises {joined(raised)}" if raised else "",
        f"makes no practical difference to {joined(same)}" if same else "",
        f"shows no significant difference in {joined(open_)}" if open_ else "",
    ]
    return f"Against {comparison.baseline}, {aqm} {'; '.join(filter(None, parts))}."


def _between_engines(comparison: ComparedRuns, name: str) -> str:
    rows = [row for row in comparison.tests if row.aqm == name and row.agreement]
    agree = sum(row.verdict == "agrees" for row in rows)
    differing = [_gap(row) for row in rows if row.verdict == "differs"]
    unsure = [row.metric.label for row in rows if not row.verdict]
    parts = [
        f"{name} agrees with {comparison.baseline_of(name)} on {agree} of {len(rows)} metrics",
        f"differs in {joined(differing)}" if differing else "",
        f"differs within the noise of the seeds in {joined(unsure)}" if unsure else "",
    ]
    return f"{'; '.join(filter(None, parts))}."


def _gap(row: PairedDifference) -> str:
    """``queue delay p95 by +1.2 ms (tolerance 1.0 ms)``."""
    assert row.agreement is not None, "engines are compared"
    found = row.agreement
    scale = scale_of(row.metric.row, [found.difference])
    unit = "points" if scale.unit == "%" else scale.unit
    values = [value * scale.factor for value in (found.difference, found.tolerance)]
    decimals = decimals_for(values[1], values[0])
    gap, tolerance = show(values[0], decimals, sign=True), show(values[1], decimals)
    return f"{row.metric.label} by {gap} {unit} (tolerance {tolerance})"


def _amount(row: PairedDifference) -> str:
    """``queue delay p95 by 312 ms (95 % interval 298 to 326)``."""
    difference = row.test.difference
    if any(map(math.isinf, (difference.mean, difference.low, difference.high))):
        return f"{row.metric.label} (by an amount that is not known)"
    sign = -1 if difference.mean < 0 else 1
    low, high = sorted((sign * difference.low, sign * difference.high))
    scale = scale_of(row.metric.row, [difference.mean])
    unit = "points" if scale.unit == "%" else scale.unit
    mean = abs(difference.mean) * scale.factor
    decimals = decimals_for(difference.half_width * scale.factor, mean)
    interval = f"{show(low * scale.factor, decimals)} to {show(high * scale.factor, decimals)}"
    amount = f"{show(mean, decimals)} {unit}".strip()
    return f"{row.metric.label} by {amount} (95 % interval {interval})"

"""What a comparison shows, in sentences: the headline differences from the first AQM."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sojourn.comparing import between_engines, dominance, equivalence, pairing
from sojourn.comparing.metrics import headline_text
from sojourn.describing.formatting import decimals_for, scale_of, show

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns, PairedDifference


def sentences(comparison: ComparedRuns) -> list[str]:
    """One sentence per AQM after the first; with one seed the reason why there are none."""
    if len(comparison.aqms) < 2:
        return []
    if comparison.references:
        return [_between_engines(comparison, name) for name in comparison.references]
    if len(comparison.seeds) < 2:
        return ["With one seed there are no intervals and no tests; use at least two, better ten."]
    fixed = [_fixed(comparison)] if comparison.fixed else []
    untested = comparison.fixed if comparison.baseline in comparison.fixed else []
    tested = [aqm for aqm in comparison.aqms[1:] if aqm not in untested]
    together = dominance.sentence(comparison)
    return fixed + [_sentence(comparison, aqm) for aqm in tested] + ([together] if together else [])


def _fixed(comparison: ComparedRuns) -> str:
    return (
        f"Every seed gives the same run with {_joined(comparison.fixed)}: nothing that they meet "
        "is drawn at random, so there is no interval and, between two of them, no test. Give "
        'flows a random start, such as start = "0s..1s".'
    )


def method(comparison: ComparedRuns) -> str:
    """How intervals and tests are computed, in one paragraph."""
    n = len(comparison.seeds)
    one = "Values are those of one seed: intervals and tests need two seeds or more."
    means = f"Values are means over {n} seeds with two-sided 95 % intervals of Student's t"
    intervals = (
        f"{means}, of a share on the scale of its logit; where values are skewed, medians with "
        "intervals between ordered values, which need six seeds (docs/evidence/coverage.md)."
    )
    if comparison.references:
        return (
            f"{f'{means}.' if n > 1 else one} The last engine is the reference. Engines agree on a "
            f"metric where their means differ by at most {100 * between_engines.RELATIVE:g} % of "
            "the reference or by a millisecond; they are apart where no value within the noise of "
            "the seeds would agree."
        )
    if n == 1:
        return one
    tests = sum(not math.isnan(row.p_adjusted) for row in comparison.tests)
    parts = [
        intervals,
        "All AQMs met the same seeds; differences are taken seed by seed (paired t test; sign test "
        "for medians and where a value is not known), their intervals are unadjusted.",
        _unknown(comparison),
        pairing.sentence([row.correlation for row in comparison.tests if row.headline]),
        f"The headline family was declared beforehand: {headline_text()}. A difference in it is "
        "called significant if its p-value stays below 5 % after Holm's correction over the "
        f"{tests} tests (AQM × metric) of this family, and no practical difference if two "
        "one-sided tests at 5 % place it within the margin: "
        f"{equivalence.text()}. "
        "Delay and utilisation are judged together: better is lower delay or "
        "higher utilisation where the other is not worse by more than its margin. All other "
        "metrics are exploratory: intervals, no verdicts.",
    ]
    return " ".join(filter(None, parts))


def _unknown(comparison: ComparedRuns) -> str:
    """Which numbers are not known in some seeds; empty if none."""
    found = [
        f"{cell.metric.label} under {cell.aqm} in {cell.unknown} of {cell.estimate.n} seeds"
        for cell in comparison.cells
        if cell.unknown
    ]
    if not found:
        return ""
    return (
        f"Too few transfers finished to know {_joined(found)}; such a value counts as longer than "
        "all that was seen, and a median over seeds that is not known is printed as > its bound."
    )


def _sentence(comparison: ComparedRuns, aqm: str) -> str:
    rows = [row for row in comparison.tests if row.aqm == aqm and row.headline]
    significant = [row for row in rows if row.verdict not in ("", "same")]
    lowered = [_amount(row) for row in significant if row.test.difference.mean < 0]
    raised = [_amount(row) for row in significant if row.test.difference.mean > 0]
    same = [row.metric.label for row in rows if row.verdict == "same"]
    open_ = [row.metric.label for row in rows if not row.verdict]
    parts = [
        f"lowers {_joined(lowered)}" if lowered else "",
        f"raises {_joined(raised)}" if raised else "",
        f"makes no practical difference to {_joined(same)}" if same else "",
        f"shows no significant difference in {_joined(open_)}" if open_ else "",
    ]
    return f"Against {comparison.baseline}, {aqm} {'; '.join(filter(None, parts))}."


def _between_engines(comparison: ComparedRuns, name: str) -> str:
    rows = [row for row in comparison.tests if row.aqm == name and row.agreement]
    agree = sum(row.verdict == "agrees" for row in rows)
    apart = [_gap(row) for row in rows if row.verdict == "apart"]
    unsure = [row.metric.label for row in rows if not row.verdict]
    parts = [
        f"{name} agrees with {comparison.baseline_of(name)} on {agree} of {len(rows)} metrics",
        f"is apart in {_joined(apart)}" if apart else "",
        f"differs within the noise of the seeds in {_joined(unsure)}" if unsure else "",
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


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

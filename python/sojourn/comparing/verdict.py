"""The verdict of a comparison in one sentence: which AQM beats the first one, and by how much.

AQMs are judged by queue delay p95 and utilisation together, see `sojourn.comparing.dominance`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sojourn.comparing import dominance, shaping
from sojourn.comparing.idle import all_alike, is_idle
from sojourn.describing.formatting import decimals_for, scale_of, show
from sojourn.describing.metrics import row_of

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.comparing.statistics import Estimate


def verdict(comparison: ComparedRuns) -> str:
    """Which AQM beats the first one, or whether two engines agree; one sentence, never empty."""
    if comparison.references:
        return _between_engines(comparison)
    if is_idle(comparison):
        return (
            "No verdict: no AQM had anything to do in any run, so nothing compares them; lower the "
            f"rate of link {comparison.link} or raise the load."
        )
    known = [aqm for aqm in comparison.aqms if _has_both(comparison, aqm)]
    if not known:
        return "No run has both a queue delay and a utilisation, so there is no overall verdict."
    if all_alike(comparison):
        return "No verdict: all AQMs give the same runs, packet by packet."
    if comparison.shaped:
        return f"No overall verdict: contenders send at different rates; {shaping.REMEDY}."
    if len(comparison.aqms) == 1:
        return f"{known[0]} alone, with nothing to compare it with: {_both(comparison, known[0])}."
    if comparison.baseline not in known:
        return (
            f"No verdict: {comparison.baseline} sent no packet that counts, so has no queue delay."
        )
    if len(comparison.seeds) == 1:
        best = min(known, key=lambda aqm: _delay(comparison, aqm))
        return (
            f"One seed is an example and no evidence; in this run {best} has the lowest delay: "
            f"{_both(comparison, best)}."
        )
    return _between_aqms(comparison, known)


def _between_engines(comparison: ComparedRuns) -> str:
    rows = [row for row in comparison.tests if row.agreement]
    agree, differ = (sum(row.verdict == word for row in rows) for word in ("agrees", "differs"))
    unsure = len(rows) - agree - differ
    parts = [
        f"The engines agree on {agree} of {len(rows)} metrics",
        f"differ on {differ}" if differ else "",
        f"are within the noise of the seeds on {unsure}" if unsure else "",
    ]
    return f"{joined([part for part in parts if part])}."


def _between_aqms(comparison: ComparedRuns, known: list[str]) -> str:
    base = comparison.baseline
    fixed = comparison.fixed if base in comparison.fixed else []
    of = dominance.joint_verdicts(comparison)
    silent = [aqm for aqm in of if aqm not in known]
    left = {aqm: found for aqm, found in of.items() if aqm not in [*fixed, *silent]}
    groups = {
        word: [aqm for aqm, found in left.items() if found == word]
        for word in ("better", "trade", "worse", "same", "")
    }
    untested = [aqm for aqm in of if aqm in fixed and aqm not in silent]
    early = [one.aqm for one in comparison.until.stopped] if comparison.until else []
    stopped = [aqm for aqm in groups[""] if aqm in early]
    unsettled = [aqm for aqm in groups[""] if aqm not in early]
    winners = sorted(groups["better"], key=lambda aqm: _delay(comparison, aqm))
    parts = [
        _winner(comparison, winners) if winners else f"No AQM is shown to beat {base}",
        *_trades(comparison, groups["trade"], in_full=not winners),
        _lowest(comparison, known) if not winners and not groups["trade"] else "",
        _clause(groups["worse"], "is worse", "are worse"),
        _clause(groups["same"], "makes no practical difference", "make no practical difference"),
        f"{len(comparison.seeds)} seeds do not settle it for {joined(unsettled)}"
        if unsettled
        else "",
        _clause(silent, "sent no packet that counts", "sent no packet that counts"),
        f"{joined(stopped)} stopped before it was settled" if stopped else "",
        f"every seed gives the same run with {joined([base, *untested])}, so nothing is tested"
        if untested
        else "",
    ]
    return f"{'; '.join(filter(None, parts))}."


def _winner(comparison: ComparedRuns, winners: list[str]) -> str:
    best, *others = winners
    amount = _instead(comparison, best)
    too = f"; {_clause(others, 'beats it too', 'beat it too')}" if others else ""
    return f"{best} beats {comparison.baseline}: {amount}{too}"


def _lowest(comparison: ComparedRuns, known: list[str]) -> str:
    best = min(known, key=lambda aqm: _delay(comparison, aqm))
    if best == comparison.baseline:
        return f"{best} has the lowest delay too: {_both(comparison, best)}"
    return f"{best} has the lowest delay: {_instead(comparison, best)}"


def _trades(comparison: ComparedRuns, aqms: list[str], *, in_full: bool) -> list[str]:
    """One clause for AQMs with less delay and less utilisation, and one for the reverse."""
    base = _delay(comparison, comparison.baseline)
    shorter = [aqm for aqm in aqms if _delay(comparison, aqm) < base]
    longer = [aqm for aqm in aqms if aqm not in shorter]
    clauses = []
    for group, words in (
        (sorted(shorter, key=lambda aqm: _delay(comparison, aqm)), ("utilisation", "less delay")),
        (sorted(longer, key=lambda aqm: -_delay(comparison, aqm)), ("delay", "more utilisation")),
    ):
        if group:
            given, got = words
            most = f", {group[0]} most" if len(group) > 1 else ""
            amount = f"{most}: {_instead(comparison, group[0])}" if in_full else ""
            verbs = (f"trades {given} for {got}", f"trade {given} for {got}")
            clauses.append(f"{_clause(group, *verbs)}{amount}")
    return clauses


def _clause(aqms: list[str], verb: str, verbs: str) -> str:
    return f"{joined(aqms)} {verb if len(aqms) == 1 else verbs}" if aqms else ""


def _both(comparison: ComparedRuns, aqm: str) -> str:
    """``queue delay p95 12.3 ms at 98.1 % utilisation``."""
    delay, share = (_shown(name, each) for name, each in _plane(comparison, aqm).items())
    return f"queue delay p95 {delay} at {share} utilisation"


def _instead(comparison: ComparedRuns, aqm: str) -> str:
    """``queue delay p95 12 ms instead of 210 ms, at 98.1 % utilisation instead of 98.6 %``."""
    mine, base = (_plane(comparison, each) for each in (aqm, comparison.baseline))
    (delay, share), (old_delay, old_share) = (
        [_shown(name, each) for name, each in of.items()] for of in (mine, base)
    )
    return (
        f"queue delay p95 {delay} instead of {old_delay}, "
        f"at {share} utilisation instead of {old_share}"
    )


def _shown(metric: str, estimate: Estimate) -> str:
    scale = scale_of(row_of(metric), [estimate.mean])
    value, half = estimate.mean * scale.factor, estimate.half_width * scale.factor
    return f"{show(value, decimals_for(half, value))} {scale.unit}"


def _delay(comparison: ComparedRuns, aqm: str) -> float:
    return _plane(comparison, aqm)["delay_p95"].mean


def _plane(comparison: ComparedRuns, aqm: str) -> dict[str, Estimate]:
    """Estimates of queue delay p95 and utilisation, in this order."""
    found = {
        cell.metric.metric: cell.estimate
        for cell in comparison.cells
        if cell.aqm == aqm and cell.metric.scope == "queue" and cell.metric.metric in dominance.PAIR
    }
    return {name: found[name] for name in dominance.PAIR if name in found}


def _has_both(comparison: ComparedRuns, aqm: str) -> bool:
    """Whether an AQM has a queue delay and a utilisation: one that sent nothing has no delay."""
    found = _plane(comparison, aqm)
    return len(found) == len(dominance.PAIR) and not any(
        math.isnan(each.mean) for each in found.values()
    )


def joined(parts: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

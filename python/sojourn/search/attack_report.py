"""The result of an attack in readable units: milliseconds, percent, ratios.

The search itself uses a number that is larger if an AQM is worse (`attack_file.BADNESS`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sojourn.describing.formatting import counted
from sojourn.search.attacking import JUDGED_SEEDS, AttackResult, best_of
from sojourn.search.variants import Attacked


@dataclass(frozen=True)
class Measure:
    """The presentation of a badness.

    Attributes:
        what: the shown quantity, such as ``queue delay p95``.
        shown: a badness as text.
        beyond: how much worse one badness is than another, as text, from their difference.
        words: text after `beyond`.
        is_score: whether the shown number falls as badness rises.
    """

    what: str
    shown: Callable[[float], str]
    beyond: Callable[[float], str]
    words: str
    is_score: bool = False


def _delay(log10_s: float) -> str:
    delay_s = 10.0**log10_s
    return f"{delay_s:.3g} s" if delay_s >= 1.0 else f"{1e3 * delay_s:.3g} ms"


def _plain(value: float) -> str:
    return f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _points(share: float) -> str:
    return _plain(100 * share)


MEASURES = {
    "delay": Measure(
        "queue delay p95", _delay, lambda log10: _plain(10.0**log10), "times as long"
    ),
    "utilisation": Measure(
        "share of the rate that is not used", _percent, _points, "points more"
    ),
    "oscillation": Measure(
        "swing of the queue delay, (p95 - p50) / mean", _plain, _plain, "more"
    ),
    "unfairness": Measure(
        "Jain's index over the flows of all classes", lambda badness: _plain(1 - badness), _plain,
        "less", is_score=True,
    ),
    "starvation": Measure(
        "share of a fair goodput that the poorest class lacks", _percent, _points, "points more"
    ),
}  # fmt: skip
"""Presentations by measure, one of `attack_file.BADNESS`."""


def lines(result: AttackResult) -> Iterator[str]:
    """The result for people, line by line; see `is_found`."""
    search = result.search
    measure = MEASURES[search.worst]
    yield f"{search.name}: {measure.what} under {search.aqm}"
    yield f"{counted(len(result.tried), 'scenario')} tried, {counted(result.runs, 'run')} made now"
    for what, one in (("base", result.base), ("worst", result.worst), ("small", result.small)):
        yield f"{what}: {one.variant.label}"
        yield f"  {_of_each(measure, one)}"
    if not is_found(result):
        yield "nothing within the bounds is worse than the base scenario"
        return
    yield f"under {JUDGED_SEEDS} other seeds, with 95 % intervals:"
    for aqm, bad in result.judged.badness.items():
        ends = [measure.shown(bad.low), measure.shown(bad.high)]
        low, high = reversed(ends) if measure.is_score else ends
        yield f"  {aqm} {measure.shown(bad.mean)} ({low} to {high})"
    if search.against:
        best, score = best_of(search.against, result.judged.badness), result.judged.score
        mean, low, high = map(measure.beyond, (score.mean, score.low, score.high))
        yield f"  {search.aqm} against {best}: {mean} {measure.words} ({low} to {high})"


def is_found(result: AttackResult) -> bool:
    """Whether a scenario within the bounds is worse than the base scenario."""
    return bool(result.small.variant.values)


def _of_each(measure: Measure, one: Attacked) -> str:
    return ", ".join(
        f"{aqm} {'unknown' if math.isnan(bad) else measure.shown(bad)}"
        for aqm, bad in one.badness.items()
    )

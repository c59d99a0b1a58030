"""Doubts about a study: warnings of its scenarios, and points at which no AQM acted."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sojourn.comparing.shaping import REMEDY
from sojourn.describing.formatting import counted

if TYPE_CHECKING:
    from sojourn.study.points import LinkFacts, PointScenario
    from sojourn.study.results import Results

_IDLE = ("drop_rate", "mark_rate", "delay_p95")


def doubts(results: Results) -> list[str]:
    """One sentence for each kind of doubt about a study, with its points."""
    return [
        *_of_scenarios(results.points),
        *_shapers(results.points),
        *_seeds(results),
        *_idle(results),
    ]


def _of_scenarios(points: Iterable[PointScenario]) -> Iterator[str]:
    """One warning of each kind, with the number of other points that have it."""
    kinds: dict[str, list[Any]] = {}
    for each in points:
        for text in each.facts.warnings:
            kind = re.sub(r"\d[\d.,]*", "", text)
            kinds.setdefault(kind, [each.point.label, text, 0])[2] += 1
    for label, text, n in kinds.values():
        more = f" (and at {counted(n - 1, 'more point')})" if n > 1 else ""
        yield f"{label}: {text}{more}" if label else f"{text}{more}"


def _shapers(points: Iterable[PointScenario]) -> Iterator[str]:
    rates: dict[str, set[str]] = {}
    for each in points:
        for link in each.facts.links:
            rates.setdefault(link.name, set()).add(link.shaped)
    for name, found in rates.items():
        if len(found) > 1:
            texts = ", ".join(sorted(rate or "unshaped" for rate in found))
            yield (
                f"Points send at different rates over {name} ({texts}), so queue delay and "
                f"utilisation compare these rates, not the AQMs: {REMEDY}."
            )


def _seeds(results: Results) -> Iterator[str]:
    study = results.study
    if study.until is None and study.seeds == 1:
        yield "One seed per point gives no intervals; write seeds = 2 or more, better 10."
        return
    numbers = results.numbers(study.metrics)
    alike = 0
    for each, wanted in zip(results.points, results.wanted_seeds(), strict=True):
        runs = [numbers[run] for run in each.addresses(wanted) if run in numbers]
        alike += len(runs) > 1 and bool(runs[0]) and all(run == runs[0] for run in runs)
    if alike:
        yield (
            f"Every seed gives the same values at {counted(alike, 'point')}: nothing that they "
            'meet is drawn at random; give flows a random start, such as start = "0s..1s".'
        )


def _idle(results: Results) -> Iterator[str]:
    """Points at which no AQM of any link acted under any seed."""
    links = {link.name for each in results.points for link in each.facts.links}
    numbers = results.numbers([f"queue/{link}/{name}" for link in links for name in _IDLE])
    idle, made = 0, 0
    for each, wanted in zip(results.points, results.wanted_seeds(), strict=True):
        runs = [numbers[run] for run in each.addresses(wanted) if run in numbers]
        made += bool(runs)
        idle += bool(runs) and not any(_has_decided(run, each.facts.links) for run in runs)
    if idle:
        yield (
            f"At {idle:,} of {counted(made, 'point')} no AQM had anything to do: nothing was "
            "dropped or marked and hardly a packet waited; no link there is a "
            "bottleneck."
        )


def _has_decided(numbers: Mapping[str, float], links: Iterable[LinkFacts]) -> bool:
    def of(link: LinkFacts, metric: str) -> float:
        value = numbers.get(f"queue/{link.name}/{metric}", 0.0)
        return 0.0 if math.isnan(value) else value

    return any(
        of(link, "drop_rate") > 0.0
        or of(link, "mark_rate") > 0.0
        or of(link, "delay_p95") > link.packet_time_s
        for link in links
    )

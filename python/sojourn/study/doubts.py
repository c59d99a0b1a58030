"""Doubts about a study: warnings of its scenarios, and points at which no AQM acted."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sojourn.comparing.shaping import REMEDY, shaped_rate
from sojourn.describing.formatting import counted
from sojourn.describing.quantity import required

if TYPE_CHECKING:
    from sojourn.study.points import PointScenario
    from sojourn.study.results import Results

_IDLE = ("drop_rate", "mark_rate", "delay_p95")


def doubts(results: Results) -> list[str]:
    """One sentence for each kind of doubt about a study, with its points."""
    resolved = {
        each.point.index: json.loads(each.scenario.resolved_json()) for each in results.points
    }
    return [
        *_of_scenarios(results.points),
        *_shapers(resolved.values()),
        *_seeds(results),
        *_idle(results, resolved),
    ]


def _of_scenarios(points: Iterable[PointScenario]) -> Iterator[str]:
    """One warning of each kind, with the number of other points that have it."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for each in points:
        for text in each.scenario.warnings:
            kind = re.sub(r"\d[\d.,]*", "", text)
            kinds.setdefault(kind, []).append((each.point.label, text))
    for (label, text), *others in kinds.values():
        more = f" (and at {counted(len(others), 'more point')})" if others else ""
        yield f"{label}: {text}{more}" if label else f"{text}{more}"


def _shapers(resolved: Iterable[dict[str, Any]]) -> Iterator[str]:
    rates: dict[str, set[str]] = {}
    for scenario in resolved:
        for link in scenario["links"]:
            rates.setdefault(link["name"], set()).add(shaped_rate(link))
    for link, found in rates.items():
        if len(found) > 1:
            texts = ", ".join(sorted(rate or "unshaped" for rate in found))
            yield (
                f"Points send at different rates over {link} ({texts}), so queue delay and "
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


def _idle(results: Results, resolved: Mapping[int, dict[str, Any]]) -> Iterator[str]:
    """Points at which no AQM of any link acted under any seed."""
    links = {link["name"] for scenario in resolved.values() for link in scenario["links"]}
    numbers = results.numbers([f"queue/{link}/{name}" for link in links for name in _IDLE])
    idle, made = 0, 0
    for each, wanted in zip(results.points, results.wanted_seeds(), strict=True):
        runs = [numbers[run] for run in each.addresses(wanted) if run in numbers]
        scenario = resolved[each.point.index]
        made += bool(runs)
        idle += bool(runs) and not any(_has_decided(run, scenario) for run in runs)
    if idle:
        yield (
            f"At {idle:,} of {counted(made, 'point')} no AQM had anything to do: nothing was "
            "dropped or marked and hardly a packet waited; no link there is a "
            "bottleneck."
        )


def _has_decided(numbers: Mapping[str, float], scenario: dict[str, Any]) -> bool:
    def of(link: dict[str, Any], metric: str) -> float:
        value = numbers.get(f"queue/{link['name']}/{metric}", 0.0)
        return 0.0 if math.isnan(value) else value

    return any(
        of(link, "drop_rate") > 0.0
        or of(link, "mark_rate") > 0.0
        or of(link, "delay_p95") > _packet_time_s(link)
        for link in scenario["links"]
    )


def _packet_time_s(link: dict[str, Any]) -> float:
    """Transmission time of a packet of the largest size; 0 if the rate varies."""
    if not isinstance(link["rate"], str):
        return 0.0
    return 8.0 * required("mtu", link["mtu"]).size / required("rate", link["rate"]).size

"""The result of a search for parameters, as text and as plain data."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sojourn import _core
from sojourn.comparing.statistics import Estimate
from sojourn.describing.formatting import counted
from sojourn.describing.quantity import required
from sojourn.search.tuning import Judgement, PlaceJudgement, TuneResult

_ROLES = {
    "best": "best on average of the scenarios searched",
    "front": "on the front of both aims",
    "robust": "best in its worst scenario searched",
}


def tc_line(result: TuneResult, aqm: str) -> str:
    """The discipline as arguments of ``tc qdisc``, or why the kernel does not have it.

    The limit of the queue belongs to the link of the first scenario, and is left out.
    """
    if result.search.laws:
        return "none: it is a custom law"
    place = result.search.scenarios[0]
    scenario = place.point({f"links.{result.search.link}.queue": aqm}).scenario
    try:
        plan = json.loads(_core.linux_plan(scenario))
    except _core.ScenarioError as error:
        return f"none: {str(error).partition('.queue: ')[2] or error}"
    words: list[str] = next(
        each["arguments"] for each in plan["commands"] if "10:" in each["arguments"]
    )
    words = words[words.index("10:") + 1 :]
    at = words.index("limit") if "limit" in words else len(words)
    return f"tc qdisc replace dev DEV root {shlex.join(words[:at] + words[at + 2 :])}"


def lines(result: TuneResult) -> Iterator[str]:
    """The result for people, line by line; Markdown."""
    search = result.search
    stopped = sum(one.is_stopped for one in result.tried)
    yield f"{search.name}: {search.goal.text}"
    yield (
        f"{counted(len(result.tried), 'setting')} of {search.aqm}, {stopped} of them stopped after "
        f"the first seeds; {counted(result.runs, 'run')} made now"
    )
    if result.failed:
        first = next(iter(result.failed.values()))
        yield f"{counted(len(result.failed), 'run')} failed, the first: {first}"
    if not result.judged:
        yield (
            "no setting keeps every condition in every scenario that was searched; try more "
            "`trials`, wider parameters, or a condition that can be met"
        )
    yield from _conditions("default", search.aqm, result, result.default)
    for one in result.judged:
        yield from _judgement(result, one)


def _judgement(result: TuneResult, one: Judgement) -> Iterator[str]:
    yield ""
    yield f"{one.role}: {one.tried.text} ({_ROLES[one.role]})"
    yield f"  {tc_line(result, one.tried.text)}"
    for metric, ratio in one.overall.items():
        yield f"  {metric}: {_times(ratio)} the default's, over all scenarios held out"
    for place in one.places:
        for metric, ratio in place.ratios.items():
            yield f"    {place.scenario}: {metric} {_times(ratio)} the default's"
    yield from _conditions("  held out", one.tried.text, result, one.places)


def _conditions(
    what: str, aqm: str, result: TuneResult, places: list[PlaceJudgement]
) -> Iterator[str]:
    conditions = {each.text: each for each in result.search.goal.conditions}
    for place in places:
        for text, found in place.conditions.items():
            verdict = "kept" if conditions[text].excess(found.mean) <= 0.0 else "broken"
            mean, low, high = _in_unit_of(text, found.mean, found.low, found.high)
            yield (
                f"{what}: {aqm} in {place.scenario}: {mean} ({low} to {high}) where {text} is "
                f"wanted: {verdict}"
            )


def _in_unit_of(condition: str, *values: float) -> list[str]:
    """Values in the unit in which a condition has its bound, with four digits."""
    bound = required(condition, condition.rpartition("=")[2].strip())
    return [bound.at(float(f"{value:.4g}")) for value in values]


def _times(ratio: Estimate) -> str:
    return f"{ratio.mean:.3f} ({ratio.low:.3f} to {ratio.high:.3f}) times"


def plain(result: TuneResult) -> dict[str, Any]:
    """The result as JSON."""
    return {
        "search": dict(result.search.document),
        "judged": [
            asdict(one) | {"aqm": one.tried.text, "tc": tc_line(result, one.tried.text)}
            for one in result.judged
        ],
        "default": [asdict(place) for place in result.default],
        "tried": [asdict(one) for one in result.tried],
        "runs": result.runs,
        "failed": result.failed,
    }

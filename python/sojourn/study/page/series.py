"""Time series of each point for the page: its first seed, run again with samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sojourn.describing.library import load
from sojourn.engines import registry
from sojourn.running.replicas import Progress, Task, run_each
from sojourn.running.result import Result
from sojourn.running.store import Store
from sojourn.study.endpoints import with_libraries
from sojourn.study.laws import split, with_queues
from sojourn.study.results import Results

SAMPLES = 300
SEED = 1
_VARIABLES = ("delay_mean", "rate")


@dataclass(frozen=True)
class PointSeries:
    """The time series of one run of a point.

    Attributes:
        step_s: time between samples; the first is at 0.
        delay_ms: mean delay of the packets that left a queue since the last sample, in ms; None if
            none left. Shape ``(n_samples,)``.
        rate_mbps: rate at which they left, in Mbit/s; same shape.
    """

    step_s: float
    delay_ms: list[float | None]
    rate_mbps: list[float | None]


def record(
    results: Results, link: str, jobs: int | None = None, progress: Progress | None = None
) -> dict[int, PointSeries]:
    """Run the first seed of each point of the simulator with samples; kept in the user's store.

    Args:
        results: results of the study.
        link: the link whose queue is shown.
        jobs: concurrent runs; one per core by default.
        progress: receives the progress of the runs.

    Returns:
        By index of the point; points of other engines and failed runs are left out.
    """
    chosen = [each for each in results.points if each.point.engine == registry.NAMES[0]]
    steps_ms = [max(1, math.ceil(1000.0 * each.facts.duration_s / SAMPLES)) for each in chosen]
    tasks = []
    for each, step_ms in zip(chosen, steps_ms, strict=True):
        sets = {**each.point.sets, "record.states": True, "record.sample": f"{step_ms}ms"}
        plain, queues = split(sets, each.point.laws)
        scenario = with_queues(load(results.study.source, plain), queues, each.point.laws)
        scenario = with_libraries(scenario, each.point.endpoints).with_seed(SEED)
        tasks.append(Task(each.point.label, scenario))

    def series(place: int, result: Result) -> PointSeries:
        return _series(result, link, steps_ms[place] / 1000.0)

    found = run_each(tasks, series, jobs=jobs, progress=progress, store=Store())
    return {
        each.point.index: one
        for each, one in zip(chosen, found, strict=True)
        if isinstance(one, PointSeries)
    }


def _series(result: Result, link: str, step_s: float) -> PointSeries:
    import pyarrow.compute as pc

    states = result.table("states")
    states = states.filter(pc.equal(states["queue"], link))
    delays, rates = (
        states.filter(pc.equal(states["var"], name))["value"].to_pylist() for name in _VARIABLES
    )
    return PointSeries(
        step_s, [_short(1e3 * each) for each in delays], [_short(1e-6 * each) for each in rates]
    )


def _short(value: float) -> float | None:
    return float(f"{value:.3g}") if math.isfinite(value) else None

"""Estimates the cost of a study from a few pilot runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn import platforms
from sojourn.engines import registry
from sojourn.running.memory import bounded
from sojourn.study.definition import Study
from sojourn.study.grid import count
from sojourn.study.points import PointScenario, resolve
from sojourn.study.running import check_metrics

PILOTS = 4


@dataclass(frozen=True)
class StudyPlan:
    """The size of a study.

    Attributes:
        grid: points of the axes.
        points: number of points that the filters keep.
        runs: the number of runs; with a stopping rule the minimum.
        most_runs: the largest number of runs; with a stopping rule more than `runs`.
        simulated_s: simulated seconds of `runs`.
        pilots: runs for the estimate.
        run_s: mean CPU time of a pilot in seconds; NaN without pilots.
        memory_bytes: largest resident size of this process with pilots, about that of a worker.
    """

    grid: int
    points: int
    runs: int
    most_runs: int
    simulated_s: float
    pilots: int
    run_s: float
    memory_bytes: int

    @property
    def busy_s(self) -> float:
        """Estimated CPU time of `runs`."""
        return self.run_s * self.runs


def plan_study(study: Study, pilots: int = PILOTS) -> StudyPlan:
    """Count the runs of a study and estimate their cost.

    Args:
        study: the study; every point is resolved, so an illegal one is found now.
        pilots: number of runs for the estimate, spread evenly over the points.

    Raises:
        InputError: a point is not a legal scenario, or no pilot has a metric of the study.
    """
    found = resolve(study)
    rule = study.until
    least, most = (rule.looks[0], rule.max_seeds) if rule else (study.seeds, study.seeds)
    chosen = _spread(found, pilots)
    return StudyPlan(
        grid=count(study),
        points=len(found),
        runs=least * len(found),
        most_runs=most * len(found),
        simulated_s=least * sum(map(found.duration_s, range(len(found)))),
        pilots=len(chosen),
        run_s=_mean_s(study, chosen),
        memory_bytes=platforms.peak_memory_bytes(),
    )


def _spread(found: Sequence[PointScenario], wanted: int) -> list[PointScenario]:
    """Points in the middle of equal shares."""
    n = min(wanted, len(found))
    return [found[(2 * i + 1) * len(found) // (2 * n)] for i in range(n)]


def _mean_s(study: Study, pilots: Sequence[PointScenario]) -> float:
    if not pilots:
        return float("nan")
    units: dict[str, str] = {}
    began = time.process_time()
    for pilot in pilots:
        (engine,) = registry.select([pilot.point.engine], {})
        rows = engine.run(pilot.scenario, bounded()).summary()
        units |= {"/".join(filter(None, key)): unit for *key, _, unit in rows}
    took_s = time.process_time() - began
    check_metrics(study, units)
    return took_s / len(pilots)

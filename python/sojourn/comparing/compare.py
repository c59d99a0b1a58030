"""Run a scenario with several AQMs, engines or transport libraries under the same seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn.comparing.comparison import Comparison
from sojourn.comparing.own_metrics import OwnMetric
from sojourn.comparing.planned import plan
from sojourn.control import Control
from sojourn.describing.library import ScenarioLike, Sets
from sojourn.endpoint import EndpointsLike
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike
from sojourn.loading.bring import AqmsLike
from sojourn.running.replicas import Progress
from sojourn.running.store import DEFAULT_STORE, Store

if TYPE_CHECKING:
    from sojourn.plots.background import Drawers


def compare(
    scenario: ScenarioLike,
    aqms: AqmsLike,
    seeds: int | Iterable[int] | None = None,
    *,
    link: str | None = None,
    fair: Mapping[str, str] | None = None,
    jobs: int | None = None,
    sets: Sets | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    engine: EngineLike = registry.NAMES[0],
    store: Store | None = DEFAULT_STORE,
    metrics: Sequence[str | OwnMetric] = (),
    ccs: Mapping[str, type[Control]] | None = None,
    memory: str | None = None,
    apps: Mapping[str, type] | None = None,
    endpoints: EndpointsLike | None = None,
    drawing: Drawers | None = None,
    until: str | None = None,
    max_seeds: int | None = None,
    race: bool = False,
    **engine_options: Any,
) -> Comparison:
    """Run a scenario with several AQMs, engines or transport libraries under the same seeds.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        aqms: one text (``"pie:target=5ms,fq(codel)"``) or a sequence; the first is the baseline. A
            custom law is a file (``fq(mine.py:MyLaw):target=5ms``), a library, or a class.
        fair: parameters (``{"target": "20ms"}``, ``dialect``) of all AQMs that have them.
        seeds: number of seeds, counting up from the scenario's own, 10 by default; or the seeds
            themselves.
        link: the link that gets the AQM; by default the only one, or the one named ``bottleneck``.
        jobs: concurrent runs; the number of cores by default. Results do not depend on it.
        sets: dotted keys with values that override the scenario file.
        out: folder in which every run is saved once it is complete, in place of earlier ones, as
            ``runs/contender=<aqm>/replica=<seed>/``.
        progress: receives the progress of the runs.
        store: the store for earlier and new runs; None for no store.
        metrics: custom metrics, by file (``mine.py:jitter_p99``) or made by `sojourn.metric`; their
            differences are exploratory.
        ccs: see `sojourn.run`, like `apps` and `memory`; the same under every AQM.
        memory: a size such as ``32GB``; by default the free memory.
        apps: applications written in Python by the name of the flows.
        endpoints: transport libraries, as for `sojourn.run`; with several in a list for one
            transport, every AQM runs with each, as ``codel with quinn:cc=bbr``.
        engine: one or several (``"sim,linux"``): every AQM runs on each, as ``codel on linux``.
        drawing: drawers of `sojourn.plots.background` that draw during the runs, for
            `Comparison.save`.
        until: a stopping rule instead of `seeds`: ``decided`` (each headline difference has a
            verdict), or a share such as ``5%`` (the half-width of its interval, of the larger of
            the two values). Tests and intervals hold for all repetitions together.
        max_seeds: the most seeds per AQM, 60 by default.
        race: with `until`, stop AQMs that have lost or are decided before the others.
        **engine_options: options of the engines, as for `sojourn.run`.

    Raises:
        InputError: the file, link, AQM or seeds are missing, or there is too little memory.
        ScenarioError: the scenario, an AQM or the simulator's part of it is not legal.
        LawError: a custom law failed; with file, line and time.
        Interrupted: Ctrl-C; complete runs have been saved if `out` was given.
        OSError: `out` cannot be written, or the disk is full.
    """
    planned = plan(
        scenario, aqms, seeds, link=link, fair=fair, jobs=jobs, sets=sets, engine=engine,
        metrics=metrics, ccs=ccs, memory=memory, apps=apps, endpoints=endpoints,
        until=until, max_seeds=max_seeds, race=race, **engine_options,
    )  # fmt: skip
    return planned.run(jobs=jobs, out=out, progress=progress, store=store, drawing=drawing)

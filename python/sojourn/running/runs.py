"""Running a scenario once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core, files
from sojourn.app import custom_apps
from sojourn.control import Control, custom_controls
from sojourn.describing.library import ScenarioLike, Sets, load, reseeded
from sojourn.describing.queues import choose_link, framing_bytes, refuse_replaced
from sojourn.endpoint import with_endpoints
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike
from sojourn.errors import InputError, RunFailed, named
from sojourn.running.memory import check as check_memory
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.result import Result
from sojourn.running.store import DEFAULT_STORE, Store

if TYPE_CHECKING:
    from sojourn.loading.bring import AqmsLike


def run(
    scenario: ScenarioLike,
    *,
    aqms: AqmsLike | None = None,
    link: str | None = None,
    seed: int | None = None,
    sets: Sets | None = None,
    ccs: Mapping[str, type[Control]] | None = None,
    apps: Mapping[str, type] | None = None,
    endpoints: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    engine: EngineLike = registry.NAMES[0],
    store: Store | None = DEFAULT_STORE,
    memory: str | None = None,
    **engine_options: Any,
) -> Result:
    """Run a scenario once.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        aqms: the AQM that replaces the scenario's own, exactly one: a text such as
            ``pie:target=5ms``, or a custom law: ``mine.py:MyLaw``, a library, or a class (see
            `sojourn.law`). `compare` takes several.
        link: the link that gets it; by default the only one, or the one named ``bottleneck``.
        seed: seed of every random stream; the scenario's own by default.
        sets: dotted keys with values that override the scenario file.
        ccs: congestion controls written in Python by the name of the flows that use them, instead
            of the scenario's own; see `sojourn.control`.
        apps: applications written in Python by the name of the flows that have them, instead of the
            scenario's own; see `sojourn.app`.
        endpoints: transport libraries such as ``quinn:cc=bbr``, keyed by the scenario's name of the
            transport; see `sojourn.endpoint`.
        out: folder to save the result in; it is checked before the work begins.
        progress: receives the progress of the run.
        store: the store for earlier and new runs; None to simulate without a store.
        memory: a size such as ``32GB`` that the run may take, instead of the free memory.
        engine: ``sim``, the packet simulator, ``linux``, the real kernel, or ``ns3``; only one.
        **engine_options: options of the engine; ``linux`` has ``kernel``, the path of a User-Mode
            Linux kernel.

    Raises:
        InputError: the scenario or engine does not exist, `out` cannot be written, or the run needs
            too much memory.
        ScenarioError: the scenario is not legal, or not supported by the engine.
        ControlError: a congestion control of `ccs` failed; with flow, time and cause.
        AppError: an application of `apps` failed; with flow, time and cause.
        LawError: the law of `aqms` failed; with file, line and time.
        Interrupted: Ctrl-C.
        MemoryError: the run took more memory than it may.
        OSError: a trace cannot be read, `out` cannot be written, or the disk is full.
        RunFailed: the run failed.
        TypeError: no engine has an option of that name.
    """
    target = None if out is None else named(out, "out", is_required=False)
    selected = registry.select_one(engine, engine_options)
    loaded = with_aqm(load(scenario, sets), aqms, link, has_sets=bool(sets))
    loaded = with_endpoints(reseeded(loaded.with_apps(custom_apps(apps)), seed), endpoints)
    check_memory(loaded, allowed=memory)

    def finish(_index: int, result: Result) -> None:
        if target is not None:
            result.save(target)

    task = Task(f"{loaded.name}, seed {loaded.seed}", loaded, selected, custom_controls(ccs))
    with files.writing_to(target):
        (outcome,) = run_all([task], finish=finish, progress=progress, store=store, memory=memory)
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome


def with_aqm(
    scenario: _core.Scenario, aqms: AqmsLike | None, link: str | None, *, has_sets: bool = False
) -> _core.Scenario:
    """A scenario with another AQM on a link; itself if `aqms` is None.

    Args:
        scenario: the scenario.
        aqms: one AQM.
        link: the link; the only one, or ``bottleneck``, by default.
        has_sets: whether the same call overrides keys, of which none may be lost.

    Raises:
        InputError: the link or law does not exist, `link` is given without an AQM, or there are
            several AQMs.
        ScenarioError: the AQM is not legal.
    """
    if aqms is None:
        if link is not None:
            raise InputError(f"--link {link}: is for the AQM; give one with --aqm")
        return scenario
    from sojourn.loading.bring import bring, listed

    one = listed(aqms)
    if len(one) != 1:
        raise InputError(f"aqms: a run has one AQM, not {len(one)}; `compare` takes several")
    chosen = choose_link(scenario, link)
    if has_sets:
        refuse_replaced(scenario, chosen)
    brought = bring(one, runs=True, framing=lambda: framing_bytes(scenario, chosen))
    return scenario.with_laws(brought.laws).with_queue(chosen, brought.aqms[0])

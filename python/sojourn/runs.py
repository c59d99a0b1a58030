"""One run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sojourn import files
from sojourn.control import Control, brought
from sojourn.errors import RunFailed
from sojourn.library import ScenarioLike, Sets, load
from sojourn.replicas import Progress, Task, run_all
from sojourn.result import Result


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    sets: Sets | None = None,
    cc: Mapping[str, type[Control]] | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Result:
    """Simulate a scenario once.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        seed: seed of every random stream; the scenario's own by default.
        sets: dotted keys with values that override the scenario file.
        cc: congestion controls written in Python by the name of the flows that use them, instead
            of what the scenario says; see `sojourn.control`.
        out: folder to save the result in; it is checked before the work begins.
        progress: who is told how far the run is.

    Raises:
        InputError: there is no such scenario, or `out` cannot be written.
        ScenarioError: the scenario is not legal.
        ControlError: a congestion control of `cc` failed; with flow, time and cause.
        Interrupted: Ctrl-C.
        OSError: a trace cannot be read, `out` cannot be written, or the disk is full.
        RunFailed: the simulator failed; please report it.
    """
    loaded = load(scenario, sets)
    if seed is not None:
        loaded = loaded.with_seed(seed)
    if out is not None:
        files.prepare(Path(out))

    def finish(_index: int, result: Result) -> None:
        if out is not None:
            result.save(out)

    task = Task(f"{loaded.name}, seed {loaded.seed}", loaded, brought(cc or {}))
    (outcome,) = run_all([task], finish=finish, progress=progress)
    if isinstance(outcome, str):
        raise RunFailed(outcome)
    return outcome

"""A comparison before its runs, and the runs themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn import _core, files
from sojourn.app import custom_apps
from sojourn.comparing.compared_runs import run_folder
from sojourn.comparing.comparison import DEFAULT_SEEDS, Comparison
from sojourn.comparing.fairness import share
from sojourn.comparing.own_metrics import OwnMetric, bring_metrics
from sojourn.comparing.stopping import StoppingRule
from sojourn.comparing.until import Cell, add_seeds, check_contenders, read_until
from sojourn.control import Control, CustomControl, custom_controls
from sojourn.describing.arguments import in_order, optional, whole
from sojourn.describing.library import ScenarioLike, Sets, load, seeded
from sojourn.describing.queues import choose_link, framing_bytes, refuse_replaced
from sojourn.endpoint import EndpointsLike, contending_libraries, with_endpoints
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike, EngineSelection
from sojourn.errors import InputError, named
from sojourn.loading.bring import AqmsLike, bring, listed, names_code
from sojourn.running import saving
from sojourn.running.memory import check as check_memory
from sojourn.running.replicas import Progress, Task, default_jobs, run_all
from sojourn.running.result import TABLES, Result
from sojourn.running.store import DEFAULT_STORE, Store

if TYPE_CHECKING:
    from sojourn.plots.background import Drawers


_SEEDS = "give a number of them from 1 on, or a list of them"


@dataclass(frozen=True)
class Planned:
    """A comparison before its runs; made by `plan`.

    Attributes:
        scenario: as in `Comparison`; likewise `link`, `seeds` and `references`.
        cells: contender and seed of each run.
        tasks: the runs.
        metrics: custom metrics.
        memory: see `compare`.
        until: the stopping rule; None if all runs are made.
    """

    scenario: _core.Scenario
    link: str
    seeds: list[int]
    cells: list[Cell]
    tasks: list[Task]
    references: dict[str, str]
    metrics: list[OwnMetric]
    memory: str | None
    until: StoppingRule | None = None

    @cached_property
    def _task_of(self) -> dict[Cell, Task]:
        return dict(zip(self.cells, self.tasks, strict=True))

    @property
    def warnings(self) -> list[str]:
        """Warnings about the scenario that hold for all contenders."""
        kept = [task.scenario.warnings for task in self.tasks]
        return [text for text in self.scenario.warnings if all(text in each for each in kept)]

    def name(self, store: Store | None, formats: Sequence[str], size: str) -> str | None:
        """See `sojourn.comparing.kept`; None if it has no name, as with custom metrics."""
        from sojourn.comparing import kept

        if self.metrics or self.until:
            return None
        compared = (self.scenario, self.link, self.cells)
        return kept.name(compared, self.tasks, store, (formats, size))

    def run(
        self,
        *,
        jobs: int | None = None,
        out: str | Path | None = None,
        progress: Progress | None = None,
        store: Store | None = DEFAULT_STORE,
        drawing: Drawers | None = None,
    ) -> Comparison:
        """Make the runs; arguments and errors are those of `compare`."""
        if drawing is not None:
            aqms = list(dict.fromkeys(aqm for aqm, _ in self.cells))
            drawing.expect(self.link, aqms, self.seeds[0])
        folder = None if out is None else named(out, "out", is_required=False)
        with files.writing_to(folder):
            finish = _finisher(folder, drawing)

            def make(cells: Sequence[Cell]) -> dict[Cell, Result | str]:
                tasks = [self._task_of[cell] for cell in cells]
                outcomes = run_all(
                    tasks, jobs=jobs, finish=lambda i, result: finish(*cells[i], result),
                    progress=progress, store=store, memory=self.memory,
                )  # fmt: skip
                return dict(zip(cells, outcomes, strict=True))

            if self.until is None:
                return self._compared(self.seeds, make(self.cells), None)
            return add_seeds(self.until, self.cells, make, self._compared)

    def _compared(
        self, seeds: Sequence[int], outcomes: Mapping[Cell, Result | str], rule: StoppingRule | None
    ) -> Comparison:
        results: dict[str, list[Result | None]] = {}
        for aqm, seed in self.cells:
            if seed in seeds:
                outcome = outcomes.get((aqm, seed))
                results.setdefault(aqm, []).append(None if isinstance(outcome, str) else outcome)
        return Comparison(
            self.scenario, self.link, seeds, results,
            [outcome for outcome in outcomes.values() if isinstance(outcome, str)],
            self.references, self.metrics, rule,
        )  # fmt: skip


def plan(
    scenario: ScenarioLike,
    aqms: AqmsLike,
    seeds: int | Iterable[int] | None = None,
    *,
    link: str | None = None,
    fair: Mapping[str, str] | None = None,
    jobs: int | None = None,
    sets: Sets | None = None,
    engine: EngineLike = registry.NAMES[0],
    metrics: Sequence[str | OwnMetric] = (),
    ccs: Mapping[str, type[Control]] | None = None,
    memory: str | None = None,
    apps: Mapping[str, type] | None = None,
    endpoints: EndpointsLike | None = None,
    until: str | None = None,
    max_seeds: int | None = None,
    race: bool = False,
    **engine_options: Any,
) -> Planned:
    """Check the arguments of `compare` before anything runs, with the errors of `compare`."""
    rule = read_until(until, max_seeds, race)
    if rule is not None and seeds is not None:
        raise InputError("seeds: --until finds their number, and --max-seeds bounds it")
    if seeds is None:
        seeds = rule.max_seeds if rule else DEFAULT_SEEDS
    on = registry.select_variants(engine, engine_options)
    given = load(scenario, sets)
    brought = bring(
        listed(aqms), runs=True, framing=lambda: framing_bytes(given, choose_link(given, link))
    )
    measured, controls = bring_metrics(metrics), custom_controls(ccs)
    loaded = given.with_laws(brought.laws).with_apps(custom_apps(apps))
    link = choose_link(loaded, link)
    under = {
        name: with_endpoints(loaded, each) for name, each in contending_libraries(endpoints).items()
    }
    loaded = next(iter(under.values()))
    if brought.aqms and sets:
        refuse_replaced(loaded, link)
    own = _own_aqm(loaded, link, on, under)
    named = share(brought.aqms or own, [*(fair or {}).items()], brought.laws)
    aqms = _distinct(named, brought.laws)
    variants = {
        f"{name} with {libraries}" if libraries else name: variant
        for libraries, scenario in under.items()
        for name, variant in _variants(scenario, link, aqms, on).items()
    }
    if rule is not None:
        check_contenders(list(variants), len(on))
    jobs = optional("jobs", jobs)
    if not isinstance(seeds, Iterable):
        seeds = whole("seeds", seeds, 1, remedy=_SEEDS)
        check_memory(loaded, len(variants) * seeds, jobs or default_jobs(), memory)
    seed_list = choose_seeds(loaded.seed, seeds)
    # The first run of each AQM comes first, so that its figures can be drawn during the other runs.
    cells = [(aqm, seed) for seed in seed_list for aqm in variants]
    tasks = [_task(variants[aqm], aqm, seed, controls, link) for aqm, seed in cells]
    references = _references([text for *_, text in variants.values()], on)
    return Planned(loaded, link, seed_list, cells, tasks, references, measured, memory, rule)


def _task(
    variant: tuple[_core.Scenario, EngineSelection, str], name: str, seed: int,
    controls: tuple[CustomControl, ...], link: str,
) -> Task:  # fmt: skip
    scenario, engine, aqm = variant
    return Task(f"{name}, seed {seed}", seeded(scenario, seed), engine, controls, link, aqm)


def _variants(
    loaded: _core.Scenario, link: str, aqms: Sequence[str], on: Sequence[EngineSelection]
) -> dict[str, tuple[_core.Scenario, EngineSelection, str]]:
    """Scenario, engine and AQM of each contender, by its name."""
    if len({engine.label for engine in on}) < len(on):
        raise InputError("engine: contenders are named by engine and AQM; name each engine once")
    # The scenario's own queue stays; its text includes the limit from the link's buffer.
    own, version = loaded.queue(link), _kernel(loaded, on)

    def with_queue(aqm: str, engine: EngineSelection) -> _core.Scenario:
        if version and engine.name == registry.NAMES[0] and not names_code(aqm):
            aqm = _core.aqm_of_kernel(aqm, version)
        return loaded if aqm == own else loaded.with_queue(link, aqm)

    return {
        f"{aqm} on {engine.label}" if len(on) > 1 else aqm: (with_queue(aqm, engine), engine, aqm)
        for aqm in aqms
        for engine in on
    }


def _kernel(scenario: _core.Scenario, on: Sequence[EngineSelection]) -> str:
    """The version of the only kernel that the simulator is compared with; else empty."""
    kernels = [engine for engine in on if engine.name == "linux"]
    if len(kernels) != 1 or len(on) < 2:
        return ""
    from sojourn.engines.linux import engine as linux

    return linux.version_of(scenario, kernels[0].options.get("kernel"))


def _references(aqms: Sequence[str], on: Sequence[EngineSelection]) -> dict[str, str]:
    """The same AQM on the last engine for each contender, by its name."""
    return {
        f"{aqm} on {engine.label}": f"{aqm} on {on[-1].label}"
        for aqm in dict.fromkeys(aqms)
        for engine in on[:-1]
    }


def choose_seeds(first: int, seeds: int | Iterable[int]) -> list[int]:
    """A list of seeds, from their number or from the seeds themselves.

    Raises:
        InputError: it is neither a number nor a list of seeds, the list is empty, or an entry
            occurs twice.
    """
    if isinstance(seeds, Iterable) and not isinstance(seeds, str | bytes):
        listed = [whole("seeds", each) for each in in_order("seeds", seeds, _SEEDS)]
    else:
        listed = list(range(first, first + whole("seeds", seeds, 1, remedy=_SEEDS)))
    if not listed:
        raise InputError("seeds: at least one is needed, and two for intervals")
    if len(set(listed)) < len(listed):
        raise InputError("seeds: each may occur once; the same seed gives the same run")
    return listed


def _own_aqm(
    scenario: _core.Scenario, link: str, on: Sequence[EngineSelection],
    under: Mapping[str, _core.Scenario],
) -> Sequence[str]:  # fmt: skip
    """The scenario's own AQM, used when engines or transport libraries are compared."""
    if len(under) > 1 and len(on) > 1:
        raise InputError("--endpoint: several libraries run on engine sim only; name no others")
    return [scenario.queue(link)] if len(on) > 1 or len(under) > 1 else []


def _distinct(aqms: Sequence[str], laws: list[_core.CustomLaw]) -> list[str]:
    if not aqms:
        raise InputError("--aqm: name at least one AQM, such as taildrop,codel")
    canonical = [_core.check_aqm(aqm, laws) for aqm in aqms]
    for i, aqm in enumerate(canonical):
        if aqm in canonical[:i]:
            raise InputError(f"--aqm: `{aqm}` is listed twice; name each AQM once")
    return canonical


def _finisher(folder: Path | None, drawing: Drawers | None) -> Callable[[str, int, Result], None]:
    """Save each run when it is complete, then draw it."""
    if folder is not None:
        # Otherwise, if the process were killed, an old report would stand next to new runs.
        files.remove(folder / files.COMPARISON)
        saving.remove_runs(folder / "runs", TABLES)

    def finish(aqm: str, seed: int, result: Result) -> None:
        if folder is not None:
            result.save(folder / run_folder(aqm, seed))
        if drawing is not None:
            drawing.add(aqm, seed, result)

    return finish

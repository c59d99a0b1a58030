"""Running several AQMs on one link under the same seeds; figures and the report of the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sojourn import _core, files
from sojourn.app import custom_apps
from sojourn.comparing.compared_runs import ComparedRuns, run_folder
from sojourn.comparing.fairness import all_warnings, share
from sojourn.comparing.own_metrics import OwnMetric, bring_metrics
from sojourn.control import Control, CustomControl, custom_controls
from sojourn.describing.library import ScenarioLike, Sets, load, seeded
from sojourn.describing.queues import choose_link, framing_bytes
from sojourn.endpoint import with_endpoints
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike, EngineSelection
from sojourn.errors import InputError, named
from sojourn.loading.bring import AqmsLike, bring, listed
from sojourn.running import saving
from sojourn.running.memory import check as check_memory
from sojourn.running.replicas import Progress, Task, default_jobs, run_all
from sojourn.running.result import TABLES, Result
from sojourn.running.store import DEFAULT_STORE, Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.plots.background import Drawers

DEFAULT_SEEDS = 10


class Comparison(ComparedRuns):
    """Results of several AQMs on one link under the same seeds, with figures and a report.

    Attributes:
        scenario: the scenario; its AQM on `link` is replaced by each of `aqms`.
        link: the link whose AQM is compared.
        aqms: AQMs in their text form; the first is the baseline of all differences.
        seeds: the seeds, the same for every AQM.
        results: per AQM one result per seed; None where a run failed.
        failures: one sentence per failed run.
    """

    def figures(self) -> dict[str, Figure]:
        """Every figure for which values exist, by name."""
        from sojourn import plots

        return plots.draw_all(self)

    @property
    def warnings(self) -> list[str]:
        """Probable mistakes: in the scenario, between contenders, or in the runs."""
        return all_warnings(self)

    def words(self) -> list[str]:
        """What is significant, in one sentence per AQM."""
        from sojourn.comparing.conclusions import sentences

        return sentences(self)

    def save(
        self,
        folder: str | Path,
        *,
        formats: Sequence[str] = ("svg", "png"),
        size: Literal["page", "column"] = "page",
        drawing: Drawers | None = None,
    ) -> list[str]:
        """Write ``report.html``, ``figures/``, and ``comparison.json`` last; returns their names.

        Files of an earlier comparison are replaced by rename; other files stay. The runs themselves
        are saved by `compare` while it works, if it is given a folder.

        Args:
            folder: the folder.
            formats: formats of the figures: ``svg``, ``png``, ``pdf``, ``pgf`` (needs LaTeX); none
                for the report alone, whose charts do not need matplotlib.
            size: whether the figures are as wide as a paper's page or as its column.
            drawing: the drawers given to `compare`, for these formats and this size.

        Raises:
            InputError: the format or size is unknown, LaTeX is needed and missing, the folder
                cannot be made, or another process writes to it.
            OSError: the disk is full.
        """
        from sojourn.report import save

        target = named(folder, "folder")
        with files.writing_to(target):
            return save(self, target, formats, size, drawing)

    def __repr__(self) -> str:
        """The table and the conclusions."""
        from rich.console import Console

        from sojourn.cli.tables import print_comparison

        console = Console(width=100, force_terminal=False, color_system=None)
        with console.capture() as captured:
            print_comparison(self, console)
        return captured.get().rstrip()

    @classmethod
    def open(cls, folder: str | Path, *, metrics: Sequence[str | OwnMetric] = ()) -> Comparison:
        """Read back what `compare` saved in its folder, to draw it again without new runs.

        Args:
            folder: the `out` of `compare`.
            metrics: custom metrics, computed from the saved tables.

        Raises:
            InputError: the folder holds no comparison, or a run of it is missing or damaged.
        """
        from sojourn.comparing.reopened import reopen

        return reopen(cls, named(folder, "folder"), metrics)

    def _repr_html_(self) -> str:
        from sojourn.report import fragment

        return fragment(self)


def compare(
    scenario: ScenarioLike,
    aqms: AqmsLike,
    seeds: int | Iterable[int] = DEFAULT_SEEDS,
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
    endpoints: Mapping[str, str] | None = None,
    drawing: Drawers | None = None,
    **engine_options: Any,
) -> Comparison:
    """Run a scenario with several AQMs, or on several engines, under the same seeds.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        aqms: one text (``"pie:target=5ms,fq(codel)"``) or a sequence; the first is the baseline. A
            custom law is a file (``fq(mine.py:MyLaw):target=5ms``), a library, or a class.
        fair: parameters (``{"target": "20ms"}``, ``dialect``) of all AQMs that have them.
        seeds: number of seeds, counting up from the scenario's own; or the seeds themselves.
        link: the link that gets the AQM; by default the only one, or the one named ``bottleneck``.
        jobs: concurrent runs; the number of cores by default. Results do not depend on it.
        sets: dotted keys with values that override the scenario file.
        out: folder in which every run is saved once it is complete, in place of earlier ones, as
            ``runs/contender=<aqm>/replica=<seed>/``.
        progress: receives how far the runs are.
        store: where earlier runs are found and new ones kept; None for neither.
        metrics: custom metrics, by file (``mine.py:jitter_p99``) or made by `sojourn.metric`; their
            differences are exploratory.
        ccs: see `sojourn.run`, like `apps` and `memory`; the same under every AQM.
        memory: a size such as ``32GB``; by default the free memory.
        apps: applications written in Python by the name of the flows.
        endpoints: transport libraries, as for `sojourn.run`.
        engine: one or several (``"sim,linux"``): every AQM runs on each, as ``codel on linux``.
        drawing: drawers of `sojourn.plots.background` that work meanwhile, for `Comparison.save`.
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
        **engine_options,
    )  # fmt: skip
    return planned.run(jobs=jobs, out=out, progress=progress, store=store, drawing=drawing)


@dataclass(frozen=True)
class Planned:
    """A comparison before its runs; made by `plan`.

    Attributes:
        scenario: see `Comparison`, like `link`, `seeds` and `references`.
        cells: contender and seed of each run.
        tasks: the runs.
        metrics: custom metrics.
        memory: see `compare`.
    """

    scenario: _core.Scenario
    link: str
    seeds: list[int]
    cells: list[tuple[str, int]]
    tasks: list[Task]
    references: dict[str, str]
    metrics: list[OwnMetric]
    memory: str | None

    @property
    def warnings(self) -> list[str]:
        """Warnings about the scenario that hold for all contenders."""
        kept = [task.scenario.warnings for task in self.tasks]
        return [text for text in self.scenario.warnings if all(text in each for each in kept)]

    def name(self, store: Store | None, formats: Sequence[str], size: str) -> str | None:
        """See `sojourn.comparing.kept`; None if it has no name, as with custom metrics."""
        from sojourn.comparing import kept

        if self.metrics:
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
            finish = _finisher(self.cells, folder, drawing)
            outcomes = run_all(
                self.tasks, jobs=jobs, finish=finish, progress=progress, store=store,
                memory=self.memory,
            )  # fmt: skip
        results, failed = _by_contender(self.cells, outcomes)
        return Comparison(
            self.scenario, self.link, self.seeds, results, failed, self.references, self.metrics
        )


def plan(
    scenario: ScenarioLike,
    aqms: AqmsLike,
    seeds: int | Iterable[int] = DEFAULT_SEEDS,
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
    endpoints: Mapping[str, str] | None = None,
    **engine_options: Any,
) -> Planned:
    """Check what `compare` is given, with its arguments and errors, before anything runs."""
    on = registry.select_variants(engine, engine_options)
    given = load(scenario, sets)
    brought = bring(
        listed(aqms), runs=True, framing=lambda: framing_bytes(given, choose_link(given, link))
    )
    measured, controls = bring_metrics(metrics), custom_controls(ccs)
    loaded = given.with_laws(brought.laws).with_apps(custom_apps(apps))
    loaded, link = with_endpoints(loaded, endpoints), choose_link(loaded, link)
    named = share(brought.aqms or _own_aqm(loaded, link, on), [*(fair or {}).items()], brought.laws)
    variants = _variants(loaded, link, _distinct(named, brought.laws), on)
    if isinstance(seeds, int):
        check_memory(loaded, len(variants) * seeds, jobs or default_jobs(), memory)
    seed_list = choose_seeds(loaded.seed, seeds)
    # The first run of each AQM comes first, so that its figures can be drawn meanwhile.
    cells = [(aqm, seed) for seed in seed_list for aqm in variants]
    tasks = [_task(variants[aqm], aqm, seed, controls, link) for aqm, seed in cells]
    references = _references([text for *_, text in variants.values()], on)
    return Planned(loaded, link, seed_list, cells, tasks, references, measured, memory)


def _task(
    variant: tuple[_core.Scenario, EngineSelection, str], name: str, seed: int,
    controls: tuple[CustomControl, ...], link: str,
) -> Task:  # fmt: skip
    scenario, engine, aqm = variant
    return Task(f"{name}, seed {seed}", seeded(scenario, seed), engine, controls, link, aqm)


def _by_contender(
    cells: Sequence[tuple[str, int]], outcomes: Sequence[Result | str]
) -> tuple[dict[str, list[Result | None]], list[str]]:
    """Results of each contender in the order of the seeds, None for failed runs; reasons."""
    results: dict[str, list[Result | None]] = {}
    for (aqm, _), outcome in zip(cells, outcomes, strict=True):
        results.setdefault(aqm, []).append(None if isinstance(outcome, str) else outcome)
    return results, [outcome for outcome in outcomes if isinstance(outcome, str)]


def _variants(
    loaded: _core.Scenario, link: str, aqms: Sequence[str], on: Sequence[EngineSelection]
) -> dict[str, tuple[_core.Scenario, EngineSelection, str]]:
    """By the name of a contender, its scenario, engine and AQM."""
    if len({engine.label for engine in on}) < len(on):
        raise InputError("engine: contenders are named by engine and AQM; name each engine once")
    # The scenario's own queue stays; its text includes the limit from the link's buffer.
    own = loaded.queue(link)
    return {
        f"{aqm} on {engine.label}" if len(on) > 1 else aqm: (
            loaded if aqm == own else loaded.with_queue(link, aqm),
            engine,
            aqm,
        )
        for aqm in aqms
        for engine in on
    }


def _references(aqms: Sequence[str], on: Sequence[EngineSelection]) -> dict[str, str]:
    """By the name of a contender, the same AQM on the last engine."""
    return {
        f"{aqm} on {engine.label}": f"{aqm} on {on[-1].label}"
        for aqm in dict.fromkeys(aqms)
        for engine in on[:-1]
    }


def choose_seeds(first: int, seeds: int | Iterable[int]) -> list[int]:
    """The seeds themselves, from a number of seeds or as they are.

    Raises:
        InputError: the list is empty, or an entry occurs twice.
    """
    listed = list(range(first, first + seeds)) if isinstance(seeds, int) else list(seeds)
    if not listed:
        raise InputError("seeds: at least one is needed, and two for intervals")
    if len(set(listed)) < len(listed):
        raise InputError("seeds: each may occur once; the same seed gives the same run")
    return listed


def _own_aqm(scenario: _core.Scenario, link: str, on: Sequence[EngineSelection]) -> Sequence[str]:
    """The scenario's own AQM, used when engines are compared."""
    return [scenario.queue(link)] if len(on) > 1 else []


def _distinct(aqms: Sequence[str], laws: list[_core.CustomLaw]) -> list[str]:
    if not aqms:
        raise InputError("--aqm: name at least one AQM, such as taildrop,codel")
    canonical = [_core.check_aqm(aqm, laws) for aqm in aqms]
    for i, aqm in enumerate(canonical):
        if aqm in canonical[:i]:
            raise InputError(f"--aqm: `{aqm}` is listed twice; name each AQM once")
    return canonical


def _finisher(
    cells: Sequence[tuple[str, int]], folder: Path | None, drawing: Drawers | None
) -> Callable[[int, Result], None]:
    """Save each run when it is complete, then draw it."""
    if folder is not None:
        # Otherwise, if the process were killed, an old report would stand next to new runs.
        files.remove(folder / files.COMPARISON)
        saving.remove_runs(folder / "runs", TABLES)

    def finish(index: int, result: Result) -> None:
        aqm, seed = cells[index]
        if folder is not None:
            result.save(folder / run_folder(aqm, seed))
        if drawing is not None:
            drawing.add(aqm, seed, result)

    return finish

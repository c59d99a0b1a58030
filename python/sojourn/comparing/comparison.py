"""Several AQMs on one link under the same seeds: estimates, paired differences, figures, report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sojourn import _core, engines, files
from sojourn.comparing import statistics
from sojourn.comparing.metrics import Metric, select
from sojourn.comparing.statistics import Estimate, PairedTest, estimate, holm, paired
from sojourn.describing.library import ScenarioLike, Sets, load
from sojourn.errors import InputError
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.result import Result

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

DEFAULT_SEEDS = 10
ALPHA = 1 - statistics.CONFIDENCE

Verdict = Literal["better", "worse", "different", ""]


@dataclass(frozen=True)
class Cell:
    """One metric of one AQM over all seeds, in the metric's unit."""

    metric: Metric
    aqm: str
    estimate: Estimate


@dataclass(frozen=True)
class Difference:
    """One metric of one AQM minus that of the first AQM, seed by seed.

    Attributes:
        metric: the metric; the difference is in its unit.
        aqm: the AQM.
        baseline: the first AQM.
        test: mean difference with unadjusted interval, and p-value.
        p_adjusted: p-value after Holm's correction over all tests of the comparison.
    """

    metric: Metric
    aqm: str
    baseline: str
    test: PairedTest
    p_adjusted: float

    @property
    def verdict(self) -> Verdict:
        """Whether the difference is significant at 5 % after correction, and what it means.

        ``different`` stands where neither direction is better as such; empty: not significant.
        """
        if not self.p_adjusted < ALPHA:
            return ""
        if not self.metric.better:
            return "different"
        lowered = self.test.difference.mean < 0
        return "better" if lowered == (self.metric.better == "lower") else "worse"


class Comparison:
    """Results of several AQMs on one link under the same seeds.

    Attributes:
        scenario: the scenario; its AQM on `link` is replaced by each of `aqms`.
        link: the link whose AQM is compared.
        aqms: AQMs in their text form; the first is the baseline of all differences.
        seeds: the seeds, the same for every AQM.
        results: per AQM one result per seed; None where a run failed.
        failures: one sentence per failed run.
    """

    def __init__(
        self,
        scenario: _core.Scenario,
        link: str,
        seeds: Sequence[int],
        results: Mapping[str, Sequence[Result | None]],
        failures: Sequence[str] = (),
    ) -> None:
        self.scenario = scenario
        self.link = link
        self.aqms = list(results)
        self.seeds = list(seeds)
        self.results = dict(results)
        self.failures = list(failures)

    @property
    def baseline(self) -> str:
        """The first AQM, which the others are compared with."""
        return self.aqms[0]

    def of(self, aqm: str) -> list[Result]:
        """The results of an AQM, without failed runs."""
        return [result for result in self.results[aqm] if result is not None]

    @property
    def invalid(self) -> list[str]:
        """Why runs were no valid experiments, one sentence each."""
        return [
            f"{aqm}, seed {result.manifest['seed']}: {reason}"
            for aqm in self.aqms
            for result in self.of(aqm)
            for reason in result.invalid
        ]

    def values(self, metric: Metric, aqm: str) -> list[float]:
        """A metric of an AQM, one value per seed; NaN where there is none."""
        key, nothing = metric.key, float("nan")
        return [r.summary.get(key, nothing) if r else nothing for r in self.results[aqm]]

    @cached_property
    def fixed(self) -> list[str]:
        """AQMs whose runs are the same for every seed, because nothing they meet is random.

        Their runs are no replicas: there is one value, and no interval.
        """

        def rows(aqm: str) -> list[list[tuple[str, str, str, float, str]]]:
            return [result.summary_rows for result in self.of(aqm)]

        return [
            aqm
            for aqm in self.aqms
            if len(rows(aqm)) > 1 and all(other == rows(aqm)[0] for other in rows(aqm))
        ]

    def _test(self, metric: Metric, aqm: str) -> PairedTest:
        values, baseline = self.values(metric, aqm), self.values(metric, self.baseline)
        if aqm in self.fixed and self.baseline in self.fixed:
            return paired(values[:1], baseline[:1])
        return paired(values, baseline)

    def _estimate(self, metric: Metric, aqm: str) -> Estimate:
        values = self.values(metric, aqm)
        return estimate(values[:1] if aqm in self.fixed else values)

    @cached_property
    def _all_metrics(self) -> list[Metric]:
        rows = {row[:3]: row for aqm in self.aqms for r in self.of(aqm) for row in r.summary_rows}
        return select(rows.values(), self.link)

    @cached_property
    def zero_metrics(self) -> list[Metric]:
        """Metrics that are zero in every run: neither shown nor tested."""
        return [
            metric
            for metric in self._all_metrics
            if not any(value for aqm in self.aqms for value in self.values(metric, aqm))
        ]

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics shown and tested, in the order of display."""
        return [metric for metric in self._all_metrics if metric not in self.zero_metrics]

    @cached_property
    def cells(self) -> list[Cell]:
        """Estimates, metric by metric, within a metric AQM by AQM."""
        return [
            Cell(metric, aqm, self._estimate(metric, aqm))
            for metric in self.metrics
            for aqm in self.aqms
        ]

    @cached_property
    def tests(self) -> list[Difference]:
        """Paired differences against the first AQM, in the order of `cells`."""
        pairs = [(metric, aqm) for metric in self.metrics for aqm in self.aqms[1:]]
        tests = [self._test(metric, aqm) for metric, aqm in pairs]
        adjusted = holm([test.p_value for test in tests])
        return [
            Difference(metric, aqm, self.baseline, test, p)
            for (metric, aqm), test, p in zip(pairs, tests, adjusted, strict=True)
        ]

    def table(self) -> pa.Table:
        """Estimates in long form, SI units.

        Columns: metric, label, unit, aqm, mean, low, high (ends of the 95 % interval), n.
        """
        import pyarrow as pa

        return pa.Table.from_pylist([cell_record(cell) for cell in self.cells])

    def differences(self) -> pa.Table:
        """Paired differences against the first AQM in long form, SI units.

        Columns: metric, label, unit, aqm, baseline, difference, low, high (unadjusted 95 %
        interval), n (pairs), p_value, p_adjusted (Holm), verdict.
        """
        import pyarrow as pa

        return pa.Table.from_pylist([difference_record(test) for test in self.tests])

    def figures(self) -> dict[str, Figure]:
        """Every figure for which there are values, by name."""
        from sojourn import plots

        return plots.draw_all(self)

    def words(self) -> list[str]:
        """What is significant, in one sentence per AQM."""
        from sojourn.comparing.conclusions import sentences

        return sentences(self)

    def save(self, folder: str | Path) -> list[str]:
        """Write ``report.html``, ``figures/``, and ``comparison.json`` last; returns their names.

        Files of an earlier comparison are replaced by rename, other files stay. The runs themselves
        are saved by `compare` while it works, if it is given a folder.

        Raises:
            OSError: the folder cannot be written, or the disk is full.
        """
        from sojourn.report import save

        return save(self, Path(folder))

    def _repr_html_(self) -> str:
        from sojourn.report import fragment

        return fragment(self)


def compare(
    scenario: ScenarioLike,
    aqms: Sequence[str],
    seeds: int | Iterable[int] = DEFAULT_SEEDS,
    *,
    link: str | None = None,
    jobs: int | None = None,
    sets: Sets | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    on: Sequence[engines.Choice] = (engines.SIMULATOR,),
) -> Comparison:
    """Run a scenario with several AQMs, or on several engines, under the same seeds.

    Args:
        scenario: file, shipped name, `sojourn.scenario.Scenario` or loaded scenario.
        aqms: AQMs such as ``pie:target=5ms`` or ``fq(codel)``; the first is the baseline.
        seeds: how many seeds, counting up from the scenario's own; or the seeds themselves.
        link: the link that gets the AQM; by default the only one, or the one named ``bottleneck``.
        jobs: runs at a time; the number of cores by default. Results do not depend on it.
        sets: dotted keys with values that override the scenario file.
        out: folder in which every run is saved as soon as it is complete, as
            ``runs/<aqm>/seed-<n>/``.
        progress: who is told how far the runs are.
        on: the engines; with several, every AQM runs on each and is named ``codel on linux``.

    Raises:
        InputError: there is no such file or link, no AQM, or no seed.
        ScenarioError: the scenario, an AQM or the simulator's part of it is not legal.
        Interrupted: Ctrl-C; complete runs have been saved if `out` was given.
        OSError: `out` cannot be written, or the disk is full.
    """
    loaded = load(scenario, sets)
    link = choose_link(loaded, link)
    variants = {
        f"{aqm} on {engine.name}" if len(on) > 1 else aqm: (loaded.with_queue(link, aqm), engine)
        for aqm in _distinct(aqms or _own_aqm(loaded, link, on))
        for engine in on
    }
    seed_list = choose_seeds(loaded.seed, seeds)
    cells = [(aqm, seed) for aqm in variants for seed in seed_list]
    tasks = [
        Task(f"{aqm}, seed {seed}", variants[aqm][0].with_seed(seed), variants[aqm][1])
        for aqm, seed in cells
    ]
    outcomes = run_all(tasks, jobs=jobs, finish=_saver(cells, out), progress=progress)
    results: dict[str, list[Result | None]] = {aqm: [] for aqm in variants}
    for (aqm, _), outcome in zip(cells, outcomes, strict=True):
        results[aqm].append(None if isinstance(outcome, str) else outcome)
    failures = [outcome for outcome in outcomes if isinstance(outcome, str)]
    return Comparison(loaded, link, seed_list, results, failures)


def choose_link(scenario: _core.Scenario, link: str | None) -> str:
    """The link that gets the AQM: the one asked for, the only one, or ``bottleneck``.

    Raises:
        InputError: there is no such link, or there are several and none was asked for.
    """
    links = scenario.links
    known = ", ".join(links)
    if link is not None and link not in links:
        raise InputError(f"--link {link}: {scenario.name} has no such link; it has {known}")
    if link is not None:
        return link
    if len(links) == 1:
        return links[0]
    if "bottleneck" in links:
        return "bottleneck"
    raise InputError(f"{scenario.name} has the links {known}; say with --link which gets the AQM")


def choose_seeds(first: int, seeds: int | Iterable[int]) -> list[int]:
    """The seeds themselves, from a number of seeds or as they are.

    Raises:
        InputError: there is none, or one occurs twice.
    """
    chosen = list(range(first, first + seeds)) if isinstance(seeds, int) else list(seeds)
    if not chosen:
        raise InputError("seeds: at least one is needed, and two for intervals")
    if len(set(chosen)) < len(chosen):
        raise InputError("seeds: each may occur once; the same seed gives the same run")
    return chosen


def run_folder(aqms: Sequence[str], aqm: str, seed: int) -> Path:
    """Where a run is saved below the output folder."""
    slugs = [_slug(each) for each in aqms]
    place = list(aqms).index(aqm)
    again = slugs[:place].count(slugs[place])
    return Path("runs") / (slugs[place] + (f"-{again + 1}" if again else "")) / f"seed-{seed}"


def cell_record(cell: Cell) -> dict[str, Any]:
    """A row of `Comparison.table`."""
    metric, e = cell.metric, cell.estimate
    return {
        "metric": metric.key, "label": metric.label, "unit": metric.unit, "aqm": cell.aqm,
        "mean": e.mean, "low": e.low, "high": e.high, "n": e.n,
    }  # fmt: skip


def difference_record(row: Difference) -> dict[str, Any]:
    """A row of `Comparison.differences`."""
    metric, d = row.metric, row.test.difference
    return {
        "metric": metric.key, "label": metric.label, "unit": metric.unit, "aqm": row.aqm,
        "baseline": row.baseline, "difference": d.mean, "low": d.low, "high": d.high, "n": d.n,
        "p_value": row.test.p_value, "p_adjusted": row.p_adjusted, "verdict": row.verdict,
    }  # fmt: skip


def _own_aqm(scenario: _core.Scenario, link: str, on: Sequence[engines.Choice]) -> Sequence[str]:
    """The scenario's own AQM, where it is engines that are compared."""
    return [scenario.queue(link)] if len(on) > 1 else []


def _distinct(aqms: Sequence[str]) -> list[str]:
    if not aqms:
        raise InputError("--aqm: name at least one AQM, such as taildrop,codel")
    canonical = [_core.check_aqm(aqm) for aqm in aqms]
    for i, aqm in enumerate(canonical):
        if aqm in canonical[:i]:
            raise InputError(f"--aqm: `{aqm}` is listed twice; name each AQM once")
    return canonical


def _slug(aqm: str) -> str:
    return "".join(char if char.isalnum() or char in "._@=," else "-" for char in aqm).strip("-")


def _saver(
    cells: Sequence[tuple[str, int]], out: str | Path | None
) -> Callable[[int, Result], None]:
    if out is None:
        return lambda _index, _result: None
    folder = Path(out)
    files.prepare(folder)
    aqms = list(dict.fromkeys(aqm for aqm, _ in cells))
    folders = [folder / run_folder(aqms, aqm, seed) for aqm, seed in cells]
    return lambda index, result: (result.save(folders[index]), None)[1]

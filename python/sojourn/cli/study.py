"""The command ``study``: plans, runs, resumes, exports and draws sweeps."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from sojourn.cli import console, once
from sojourn.cli.options import NAME, FilePath, endpoint_option, json_option
from sojourn.cli.sweeps import JOBS, THREADS, aqms_option, given_aqms, where_options, workers_of
from sojourn.describing.formatting import about, counted
from sojourn.endpoint import parse_endpoints

if TYPE_CHECKING:
    from sojourn.study import Study
    from sojourn.study.results import Results, StudyStatus
    from sojourn.study.running import StudyPart

_INVALID = 1


def _complete(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    from sojourn.study.definition import shipped

    names = [CompletionItem(name) for name in shipped() if name.startswith(start)]
    return [*names, CompletionItem(start, type="file")]


_file = click.argument("file", type=NAME, shell_complete=_complete)
_store = click.argument("store", type=NAME)
_replaced_aqms = aqms_option(
    "AQMs in place of the file's axis, custom laws such as mine.py:MyLaw among them."
)
_laws = aqms_option("The custom laws of the study, such as mine.py:MyLaw: a store names no code.")
_where = click.option(
    "--where", multiple=True, metavar="AXIS=VALUE",
    help="Only points with this value, or one that compares so, such as 'rtt=<= 50ms'. Repeatable: "
    "of one axis any of the values, of several axes all.",
)  # fmt: skip
_engine = click.option(
    "--engine", metavar="ENGINE[,ENGINE]", help="Engines in place of the file's axis `engine`."
)


@once.group(
    epilog="""\b
Examples:
  sojourn study plan aqm-load-rtt
  sojourn study run aqm-load-rtt --store out/sweep
  sojourn study status out/sweep
  sojourn study export out/sweep table.parquet
"""
)
def study() -> None:
    """Run a sweep of many scenarios, store every run once, and resume after any interruption."""


@study.command()
@_file
@click.option(
    "--pilots", type=click.IntRange(0), default=4, show_default=True, metavar="N",
    help="Runs that are made to estimate the cost.",
)  # fmt: skip
@_replaced_aqms
@endpoint_option
@_engine
@json_option
def plan(
    file: str,
    pilots: int,
    aqms: tuple[str, ...],
    endpoints: tuple[str, ...],
    engine: str | None,
    as_json: bool,
) -> None:
    """Show the number of runs of a study, and their estimated cost.

    FILE is a study file or the name of a shipped study.
    """
    from sojourn.study.plan import plan_study

    made = plan_study(_read(file, aqms, endpoints, engine), pilots)
    if as_json:
        console.show_json(vars(made) | {"busy_s": made.busy_s})
        return
    most = f", at most {made.most_runs:,}" if made.most_runs > made.runs else ""
    print(f"{counted(made.points, 'point')} of {made.grid:,}; {counted(made.runs, 'run')}{most}")
    print(f"{about(made.simulated_s)} of simulated time")
    if made.pilots:
        print(
            f"{about(made.busy_s)} of one core and {made.memory_bytes / 1e6:.0f} MB per "
            f"worker, from {counted(made.pilots, 'run')}"
        )


@study.command()
def schema() -> None:
    """Print the JSON Schema of a study's file, for editors: schema/study.schema.json."""
    from sojourn.study.schema import study_schema

    console.show_json(study_schema())


@study.command("run")
@_file
@click.option(
    "--store", type=NAME, required=True, metavar="STORE", help="Folder, or an address of fsspec."
)
@_replaced_aqms
@endpoint_option
@_engine
@where_options
def run_study(
    file: str,
    store: str,
    aqms: tuple[str, ...],
    endpoints: tuple[str, ...],
    engine: str | None,
    **where: Any,
) -> int:
    """Run a study; runs that its store already has are not repeated.

    FILE is a study file or the name of a shipped study.
    """
    return _run(_read(file, aqms, endpoints, engine), store, None, **where)


@study.command()
@_store
@where_options
@click.option("--retry", is_flag=True, help="Retry runs that were set aside.")
@_laws
@endpoint_option
def resume(
    store: str, retry: bool, aqms: tuple[str, ...], endpoints: tuple[str, ...], **where: Any
) -> int:
    """Resume the study in STORE: only missing runs are executed."""
    results = _results(store, aqms, endpoints)
    if retry:
        results.store.retry()
    return _run(results.study, store, None, **where)


@study.command()
@_store
@click.option(
    "--part",
    required=True,
    metavar="K/N",
    help="Run only the K-th of N shares of the points, K from 1; for arrays of jobs.",
)
@_laws
@endpoint_option
@JOBS
def work(
    store: str, part: str, aqms: tuple[str, ...], endpoints: tuple[str, ...], jobs: int | None
) -> int:
    """Run a share of the study in STORE, without any scheduler.

    `sojourn study run` or `sojourn study begin` has put the study there. Shares can run at the same
    time on machines with access to STORE; `sojourn study resume` then compacts their results.
    """
    from sojourn.study.running import parse_part

    share = parse_part(part)
    found = _results(store, aqms, endpoints).study
    return _run(found, store, share, jobs, None, (), False)


@study.command()
@_file
@click.option(
    "--store", type=NAME, required=True, metavar="STORE", help="Folder, or an address of fsspec."
)
@_replaced_aqms
@endpoint_option
@_engine
def begin(
    file: str, store: str, aqms: tuple[str, ...], endpoints: tuple[str, ...], engine: str | None
) -> None:
    """Put a study into STORE without running it, for `sojourn study work`."""
    from sojourn.study.folder import open_folder
    from sojourn.study.points import resolve
    from sojourn.study.running import describe
    from sojourn.study.storage import StudyStore

    found = _read(file, aqms, endpoints, engine)
    number = len(resolve(found))
    StudyStore(open_folder(store), _warn).begin(describe(found))
    console.say(f"{store}: {found.name}, {counted(number, 'point')}")


@study.command()
@_store
@_laws
@endpoint_option
@json_option
def status(store: str, aqms: tuple[str, ...], endpoints: tuple[str, ...], as_json: bool) -> int:
    """Show the progress of the study in STORE, and the runs that were set aside."""
    from sojourn.study.doubts import doubts

    results = _results(store, aqms, endpoints)
    found, failed = results.status(), results.store.failed()
    if as_json:
        console.show_json(vars(found) | {"set_aside": failed, "warnings": doubts(results)})
    else:
        console.warn(doubts(results))
        print(f"{results.study.name}: {found.made:,} of {counted(found.wanted, 'run')} made")
        if found.unmet:
            print(_unmet(results, found))
        for run, facts in failed.items():
            point = ", ".join(f"{name} {value}" for name, value in facts["point"].items())
            print(f"set aside: {run}: {point}, seed {facts['seed']}: {facts['reason']}")
    return _INVALID if found.failed else 0


@study.command()
@_store
@click.argument("file", type=FilePath(path_type=Path))
@click.option(
    "--table", type=click.Choice(("runs", "points", "values")), default="runs", show_default=True,
    help="One row per run, per point with intervals, or per number of a run.",
)  # fmt: skip
@_where
@_laws
@endpoint_option
def export(
    store: str,
    file: Path,
    table: str,
    where: tuple[str, ...],
    aqms: tuple[str, ...],
    endpoints: tuple[str, ...],
) -> None:
    """Write a table of the study in STORE to FILE: .parquet, .csv or .arrow.

    Axes are columns of the table, in SI units where they have one, such as rtt_s;
    docs/how-to/studies.md lists the columns.
    """
    from sojourn.study.exporting import export as write

    made = _results(store, aqms, endpoints, where).table(table)
    write(made, file)
    console.say(f"{file}: {counted(made.num_rows, 'row')}, {counted(made.num_columns, 'column')}")


@study.command()
@_store
@click.option(
    "--out", type=FilePath(path_type=Path), default=Path("study.html"), show_default=True,
    metavar="FILE", help="The page; it needs neither a server nor the network.",
)  # fmt: skip
@click.option(
    "--series/--no-series", default=True, show_default=True,
    help="Run one seed of every point again, so that the page has its time series.",
)  # fmt: skip
@_where
@_laws
@endpoint_option
@THREADS
def show(
    store: str,
    out: Path,
    series: bool,
    where: tuple[str, ...],
    aqms: tuple[str, ...],
    endpoints: tuple[str, ...],
    jobs: int | None,
) -> None:
    """Draw the study in STORE: heat maps, curves with intervals, trade-off, parallel axes.

    A click selects a point in all figures and shows its scenario and time series, see
    docs/how-to/studies.md. Needs `sojourn[pages]`.
    """
    from sojourn.study.page.page import save

    results = _results(store, aqms, endpoints, where)
    save(results, out, with_series=series, jobs=jobs, progress=console.meter())
    console.say(f"page: {out}")


def _read(
    file: str, aqms: tuple[str, ...], endpoints: tuple[str, ...], engine: str | None
) -> Study:
    from sojourn.study import read

    libraries = parse_endpoints(endpoints)
    return read(file, aqms=given_aqms(aqms), engine=engine, endpoints=libraries)


def _results(
    store: str, aqms: tuple[str, ...], endpoints: tuple[str, ...], where: tuple[str, ...] = ()
) -> Results:
    from sojourn.study import open_results

    libraries = parse_endpoints(endpoints)
    found = open_results(store, _warn, aqms=given_aqms(aqms), endpoints=libraries)
    return found.where(_conditions(where)) if where else found


def _conditions(where: tuple[str, ...]) -> dict[str, list[str]]:
    """The values and comparisons of ``--where`` by axis; a point must meet one of each axis."""
    from sojourn.errors import InputError

    found: dict[str, list[str]] = {}
    for text in where:
        axis, equals, value = text.partition("=")
        if not equals or not axis.strip() or not value.strip():
            raise InputError(f"--where {text}: write AXIS=VALUE, such as rtt=50ms or 'rtt=<= 50ms'")
        found.setdefault(axis.strip(), []).append(value.strip())
    return found


def _run(
    found: Study,
    store: str,
    part: StudyPart | None,
    jobs: int | None,
    cluster: str | None,
    cluster_options: tuple[str, ...],
    dashboard: bool,
) -> int:
    from sojourn.study import run_study
    from sojourn.study.doubts import doubts

    workers = workers_of(jobs, cluster, cluster_options, dashboard)
    began = time.monotonic()
    results = run_study(
        found, store, executor=workers, part=part, progress=console.meter(), report=_warn
    )
    if part is None:
        console.warn(doubts(results))
    done = results.status()
    console.say(
        f"{store}: {done.made:,} of {counted(done.wanted, 'run')} of {found.name} "
        f"({time.monotonic() - began:.1f} s)"
    )
    if done.unmet:
        console.say(_unmet(results, done))
    if done.failed:
        console.say(
            f"{counted(done.failed, 'run')} set aside; `sojourn study status {store}` says why"
        )
    return _INVALID if done.failed else 0


def _unmet(results: Results, found: StudyStatus) -> str:
    rule = results.study.until
    assert rule is not None, "only a rule can be missed"
    return (
        f"{found.unmet:,} of {found.points:,} points do not meet the stopping rule with "
        f"max_seeds = {rule.max_seeds}; state more, or a wider `within`"
    )


def _warn(text: str) -> None:
    console.warn([text])

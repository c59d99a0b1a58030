"""Options of commands that run many scenarios: which AQMs, and where the runs are executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli import console
from sojourn.cli.options import complete_aqm, distinct_keys
from sojourn.describing.aqm_list import split_all
from sojourn.describing.library import parse_set

if TYPE_CHECKING:
    from sojourn.study.executors import Workers

JOBS = click.option(
    "--jobs", type=click.IntRange(1), metavar="N",
    help="Processes of this machine, or workers of the cluster. Results do not depend on it.",
)  # fmt: skip
THREADS = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Runs at a time; one per core by default."
)
_cluster = click.option(
    "--cluster",
    metavar="WHERE",
    help="Run by Dask (`sojourn[cluster]`): local, slurm, pbs, sge, lsf, or the address of a "
    "scheduler such as tcp://host:8786.",
)
_cluster_option = click.option(
    "--cluster-option",
    "cluster_options",
    multiple=True,
    callback=distinct_keys,
    metavar="KEY=VALUE",
    help="Argument of the cluster's class in Dask, such as queue=short. May be repeated.",
)
_dashboard = click.option("--dashboard", is_flag=True, help="Show the address of Dask's page.")


def aqms_option(help_text: str) -> Callable[[Any], Any]:
    """--aqm, a list, any number of times; `given_aqms` reads it."""
    return click.option(
        "--aqm", "aqms", multiple=True, metavar="AQM[,AQM...]", shell_complete=complete_aqm,
        help=help_text,
    )  # fmt: skip


def given_aqms(texts: tuple[str, ...]) -> list[str] | None:
    """The AQMs of `aqms_option`; None where it is not given."""
    return split_all(texts) if texts else None


def where_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that select where runs are executed; `workers_of` takes them."""
    for option in (_dashboard, _cluster_option, _cluster, JOBS):
        command = option(command)
    return command


def workers_of(
    jobs: int | None, cluster: str | None, cluster_options: tuple[str, ...], dashboard: bool
) -> Workers:
    """The workers that `where_options` select.

    Raises:
        InputError: the cluster does not answer, or an option does not fit.
    """
    workers = _workers(jobs, cluster, dict(parse_set(text) for text in cluster_options))
    if dashboard:
        console.say(f"dashboard: {workers.dashboard or 'only with --cluster'}")
    return workers


def _workers(jobs: int | None, cluster: str | None, options: Mapping[str, str]) -> Workers:
    from sojourn.errors import InputError
    from sojourn.study import executors

    if cluster is not None:
        return executors.cluster(cluster, jobs, options)
    if options:
        raise InputError("--cluster-option: belongs to a cluster; add --cluster")
    return executors.processes(jobs)

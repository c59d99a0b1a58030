"""The command ``tune``: parameters of an AQM for a goal."""

from __future__ import annotations

from typing import Any

import click

from sojourn.cli import console, once
from sojourn.cli.options import NAME, json_option
from sojourn.cli.sweeps import aqms_option, given_aqms, where_options, workers_of


@once.command(
    epilog="""\b
Examples:
  sojourn tune tune-pie --store out/tune-pie
  sojourn tune mine.toml --store out/mine --jobs 8 --json
"""
)
@click.argument("file", type=NAME)
@click.option(
    "--store", type=NAME, required=True, metavar="STORE", help="Folder, or an address of fsspec."
)
@aqms_option("AQM to tune in place of the file's, such as mine.py:MyLaw.")
@where_options
@json_option
def tune(file: str, store: str, aqms: tuple[str, ...], as_json: bool, **where: Any) -> int:
    """Search the parameters of an AQM for a goal, and judge them on held-out scenarios.

    FILE is a search file or the name of a shipped search (docs/how-to/studies.md). Needs
    `sojourn[tune]`.
    """
    from sojourn.search import tune_report
    from sojourn.search.tune_file import read_tune
    from sojourn.search.tuning import tune as search

    found = search(
        read_tune(file, aqms=given_aqms(aqms)), store, executor=workers_of(**where),
        progress=console.meter(), report=lambda text: console.warn([text]),
    )  # fmt: skip
    if as_json:
        console.show_json(tune_report.plain(found))
    else:
        for line in tune_report.lines(found):
            print(line)
    return 0 if found.judged else 1

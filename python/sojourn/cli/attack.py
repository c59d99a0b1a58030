"""The command ``attack``: searches a scenario in which an AQM does badly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sojourn.cli import console, once
from sojourn.cli.options import NAME, FilePath
from sojourn.cli.sweeps import aqms_option, given_aqms, where_options, workers_of


@once.command(
    epilog="""\b
Examples:
  sojourn attack attack-codel --store out/attack --out found
  sojourn run found/attack-codel.toml
"""
)
@click.argument("file", type=NAME)
@click.option(
    "--store", type=NAME, required=True, metavar="STORE", help="Folder, or an address of fsspec."
)
@click.option(
    "--out", type=FilePath(path_type=Path, file_okay=False), required=True, metavar="DIR",
    help="Where the scenario that was found is written, with the figures that it gave.",
)  # fmt: skip
@aqms_option("AQM to attack, then those it is compared with, in place of the file's.")
@where_options
def attack(file: str, store: str, out: Path, aqms: tuple[str, ...], **where: Any) -> int:
    """Search, within stated bounds, for a scenario in which an AQM does badly; simplify it.

    FILE is an attack file or the name of a shipped one (docs/how-to/studies.md). Needs
    `sojourn[tune]`.
    """
    from sojourn.search import attack_report
    from sojourn.search.attack_file import read_attack
    from sojourn.search.attacking import attack as search
    from sojourn.search.attacking import save

    wanted = read_attack(file, aqms=given_aqms(aqms))
    found = search(
        wanted, store, executor=workers_of(**where), progress=console.meter(),
        report=lambda text: console.warn([text]),
    )  # fmt: skip
    for line in attack_report.lines(found):
        print(line)
    if not attack_report.is_found(found):
        return 1
    print(f"scenario: {save(found, out)}")
    return 0

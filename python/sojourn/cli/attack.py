"""The command ``attack``: a scenario in which an AQM is bad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sojourn.cli import console
from sojourn.cli.study import aqms_option, given_aqms, where_options, workers_of
from sojourn.describing.formatting import counted


@click.command(
    epilog="""\b
Examples:
  sojourn attack attack-codel --store out/attack --out found
  sojourn run found/attack-codel.toml
"""
)
@click.argument("file")
@click.option("--store", required=True, metavar="STORE", help="Folder, or an address of fsspec.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR",
    help="Where the scenario that was found is written, with the figures that it gave.",
)  # fmt: skip
@aqms_option("AQM to attack and those to beat it, in place of the file's.")
@where_options
def attack(file: str, store: str, out: Path, aqms: tuple[str, ...], **where: Any) -> int:
    """Search a scenario within stated bounds in which an AQM is bad, and make it small.

    FILE is an attack file or the name of a shipped one (docs/how-to/studies.md). Needs
    `sojourn[tune]`.
    """
    from sojourn.search.attack_file import BADNESS, read_attack
    from sojourn.search.attacking import JUDGED_SEEDS, save
    from sojourn.search.attacking import attack as search

    wanted = read_attack(file, aqms=given_aqms(aqms))
    found = search(
        wanted, store, executor=workers_of(**where), progress=console.meter(),
        report=lambda text: console.warn([text]),
    )  # fmt: skip
    print(f"{wanted.name}: {wanted.worst} of {wanted.aqm}: {BADNESS[wanted.worst][1]}")
    print(f"{counted(len(found.tried), 'scenario')} tried, {counted(found.runs, 'run')} made now")
    for what, one in (("base", found.base), ("worst", found.worst), ("small", found.small)):
        print(f"{what}: {one.variant.label}")
        print("  " + ", ".join(f"{aqm} {bad:.4g}" for aqm, bad in one.badness.items()))
    if not found.small.variant.values:
        print("nothing within the bounds is worse than the base scenario")
        return 1
    print(f"under {JUDGED_SEEDS} other seeds, with 95 % intervals:")
    for aqm, bad in found.judged.badness.items():
        print(f"  {aqm} {bad.mean:.4g} ({bad.low:.4g} to {bad.high:.4g})")
    score = found.judged.score
    print(f"  worse by {score.mean:.4g} ({score.low:.4g} to {score.high:.4g})")
    print(f"scenario: {save(found, out)}")
    return 0

"""``sojourn export``: results and links in the formats of other tools."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli import console, once, options
from sojourn.errors import InputError


@once.command(
    "export",
    epilog="""\b
Examples:
  sojourn run rrul --record flows --out run
  sojourn export run --to flent -o rrul.flent.gz
  sojourn export run --to csv -o tables
  sojourn export rate-steps --to mahimahi -o steps.down
""",
)
@click.argument("source", type=options.NAME)
@click.option(
    "--to",
    "form",
    type=click.Choice(["csv", "flent", "mahimahi"]),
    required=True,
    help="csv: every table of a run or comparison. flent: a run with `--record flows`. mahimahi: "
    "the rate of a scenario's link.",
)
@click.option(
    "-o",
    "--output",
    type=options.FilePath(path_type=Path),
    metavar="PATH",
    required=True,
    help="File to write; a folder for csv.",
)
@click.option("--link", metavar="NAME", help="With mahimahi, the link; by default the only one.")
@options.set_option
def export(source: str, form: str, output: Path, link: str | None, sets: tuple[str, ...]) -> int:
    """Write a saved result, or a scenario's link, in the format of another tool.

    SOURCE is a folder that `--out` made, or for mahimahi a scenario.
    """
    from sojourn import files
    from sojourn.exporting import flent, mahimahi, tables
    from sojourn.reading import shown

    if form != "mahimahi" and (link is not None or sets):
        given = "--link" if link is not None else "--set"
        raise InputError(f"{given}: is for `--to mahimahi`, which takes a scenario")
    if form == "csv":
        for path in tables.write(Path(source), output):
            console.say(f"written: {shown(path)}")
        return 0
    if form == "flent":
        from sojourn.running.result import Result

        content, left_out = flent.data(Result.open(source))
        for text in left_out:
            console.say(f"left out: {text}")
        files.write(output, content)
    else:
        from sojourn.describing.library import load, parse_set

        scenario = load(source, [parse_set(text) for text in sets])
        files.write(output, mahimahi.trace(scenario, link))
    console.say(f"written: {shown(output)}")
    return 0

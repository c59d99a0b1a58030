"""``sojourn import``: a measurement file becomes a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from sojourn.cli import console, once, options
from sojourn.errors import InputError


@once.command(
    "import",
    epilog="""\b
Examples:
  sojourn import iperf3.json --rtt 30ms -o line.toml
  sojourn import lte.csv --unit rate=kbit/s -o lte.toml
  sojourn import capture.pcapng -o traffic.toml
  sojourn import ping.txt --rate 50mbit | sojourn run -
""",
)
@click.argument("file", type=options.FilePath(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=options.FilePath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the scenario to this file instead of stdout.",
)
@click.option(
    "--rate",
    metavar="RATE",
    help="Rate of the link, such as 50mbit, if the file has no rate or only a lower bound.",
)
@click.option("--rtt", metavar="TIME", help="Base round-trip time, instead of the file's: 30ms.")
@click.option(
    "--unit",
    "units",
    multiple=True,
    metavar="COLUMN=UNIT",
    help="Unit of a column whose name has none, such as rate=kbit/s. May be repeated.",
)
@click.option(
    "--delay",
    type=click.Choice(["recorded", "least"]),
    help="Whether round trips over time become a schedule of delays, or the least one stands for "
    "all of them. The default is least if a transfer filled the queue meanwhile.",
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(["transfers", "packets"]),
    help="TCP of a capture: transfers that are simulated again (the default), or its packets "
    "replayed open-loop.",
)
@click.option("--from", "begin", metavar="TIME", help="Leave out what is before this time: 10s.")
@click.option("--to", "end", metavar="TIME", help="Leave out what is after this time: 70s.")
@options.json_option
def import_file(
    file: Path,
    output: Path | None,
    rate: str | None,
    rtt: str | None,
    units: tuple[str, ...],
    delay: Literal["recorded", "least"] | None,
    kind: Literal["transfers", "packets"] | None,
    begin: str | None,
    end: str | None,
    as_json: bool,
) -> int:
    """Make a scenario of a measurement file, such as one of iperf3, irtt, ping or Flent.

    The format is recognised by the content: Mahimahi traces, CSV and TSV with a time column,
    Pensieve and 4G and 5G logs, netem-trace JSON, iperf3 and irtt JSON, ping's text, Flent data
    files, and captures (pcap, pcapng), each also compressed. What was read and what is assumed is
    printed to stderr and written at the head of the scenario.
    """
    from sojourn.importing import Assumptions, imported, read
    from sojourn.importing.part import part
    from sojourn.importing.units import seconds
    from sojourn.importing.writing import write
    from sojourn.reading import shown

    measured = read(file, dict(_unit(text) for text in units), kind)
    if begin or end:
        measured = part(
            measured, seconds(begin or "0s"), seconds(end) if end else None, shown(file.name)
        )
    stem = file.name.split(".")[0] or "measurement"
    result = imported(measured, stem, shown(file.name), Assumptions(rate, rtt, delay), stem)
    if as_json and output is None:
        raise InputError("--json prints what was read: name the scenario's file with --output")
    written = write(result, file, output, stem)
    for text in result.read:
        console.say(f"read: {text}")
    for text in result.assumed:
        console.say(f"not in the file: {text}")
    if as_json:
        console.show_json(
            {
                "format": measured.format,
                "read": result.read,
                "assumed": result.assumed,
                "files": [shown(path) for path in written],
                **({"capture": measured.details} if measured.details else {}),
            }
        )
    return 0


def _unit(text: str) -> tuple[str, str]:
    column, equals, unit = text.rpartition("=")
    if not equals or not column or not unit:
        raise InputError(f"--unit {text}: is not COLUMN=UNIT, such as rate=kbit/s")
    return column, unit

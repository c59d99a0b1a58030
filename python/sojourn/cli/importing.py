"""``sojourn import``: a measurement file becomes a scenario."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from sojourn.cli import console, once, options
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.importing import Imported, Measurement


@once.command(
    "import",
    epilog="""\b
Examples:
  sojourn import iperf3.json --rtt 30ms -o line.toml
  sojourn import lte.csv --unit rate=kbit/s -o lte.toml
  sojourn import capture.pcapng -o traffic.toml --report traffic.html
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
@click.option(
    "--report",
    type=options.FilePath(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help="Also run the scenario once, and write a page with what was read and what the run gives.",
)
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
    report: Path | None,
    as_json: bool,
) -> int:
    """Make a scenario of a measurement file, such as one of iperf3, irtt, ping or Flent.

    The format is recognised by the content: Mahimahi traces, CSV and TSV with a time column,
    Pensieve and 4G and 5G logs, netem-trace JSON, iperf3 and irtt JSON, ping's text, Flent data
    files, and captures (pcap, pcapng), each also compressed. What was read and what is assumed is
    printed to stderr and written at the head of the scenario.
    """
    from sojourn.importing import Assumptions, imported
    from sojourn.importing.writing import write
    from sojourn.reading import shown

    if report is not None:
        from sojourn.importing import page

        page.check(report, file, output)
    measured = _measured(file, units, kind, begin, end)
    stem = file.name.split(".")[0] or "measurement"
    result = imported(measured, stem, shown(file.name), Assumptions(rate, rtt, delay), stem)
    if as_json and output is None:
        raise InputError("--json prints what was read: name the scenario's file with --output")
    written = write(result, file, output, stem)
    for text in result.read:
        console.say(f"read: {text}")
    for text in result.assumed:
        console.say(f"not in the file: {text}")
    if report is not None:
        unloaded = None
        if measured.shows_only_probes:
            given = Assumptions(rate, rtt, delay)
            unloaded = imported(measured, stem, file.name, given, stem, is_loaded=False)
        _write_page(report, file, measured, result, unloaded, output)
        written.append(report)
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


def _measured(
    file: Path,
    units: tuple[str, ...],
    kind: Literal["transfers", "packets"] | None,
    begin: str | None,
    end: str | None,
) -> Measurement:
    from sojourn.importing import read
    from sojourn.importing.units import seconds

    units_of = dict(_unit(text) for text in units)
    ends_s = seconds(end) if end else None
    return read(file, units_of, kind, seconds(begin or "0s"), ends_s)


def _write_page(
    report: Path,
    file: Path,
    measured: Measurement,
    result: Imported,
    unloaded: Imported | None,
    output: Path | None,
) -> None:
    """Run the scenario, or its form without load, and write the page."""
    from sojourn import files
    from sojourn.importing import page, simulated
    from sojourn.importing.writing import write
    from sojourn.reading import shown

    with files.scratch() as folder:
        scenario = folder / "scenario.toml"
        write(unloaded or result, file, scenario, "scenario")
        run = simulated.compared(scenario, measured, console.meter(), options.store(fresh=False))
    commands = [_command()]
    if output is not None:
        commands.append(shlex.join(["sojourn", "run", shown(output)]))
    page.write(report, page.page(shown(file.name), measured, result, run, commands))


def _command() -> str:
    """The command as it was given."""
    from sojourn.reading import shown

    context = click.get_current_context()
    words = ["sojourn", "import"]
    for parameter in context.command.params:
        value = context.params[parameter.name or ""]
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(parameter, click.Argument):
                words.append(shown(each))
            elif each is not None and each is not False:
                option = parameter.opts[-1]
                words += [option] if each is True else [option, shown(each)]
    return shlex.join(words)


def _unit(text: str) -> tuple[str, str]:
    column, equals, unit = text.rpartition("=")
    if not equals or not column or not unit:
        raise InputError(f"--unit {text}: is not COLUMN=UNIT, such as rate=kbit/s")
    return column, unit

"""``sojourn tc``: reads, writes and checks set-ups of tc and OpenWrt's SQM."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli import console, once, options
from sojourn.errors import InputError

_WRONG = 1


@once.group()
def tc() -> None:
    """Read, check and write set-ups of tc (iproute2) and OpenWrt's SQM."""


_device_option = click.option(
    "--dev", "device", metavar="NAME",
    help="The device in FILE, or of this machine if no file is given.",
)  # fmt: skip


@tc.command(
    "import",
    epilog="""\b
Examples:
  sojourn tc import paste.txt -o line.toml
  tc -d -s qdisc show | sojourn tc import - --rate 50mbit
  sojourn tc import --dev eth0 | sojourn compare - --aqm taildrop,fq_codel,cake
""",
)
@click.argument("file", type=options.NAME, required=False)
@_device_option
@click.option("--rate", metavar="RATE", help="Rate of the line, where no shaper says it: 50mbit.")
@click.option("--rtt", metavar="TIME", help="Base round-trip time of the paths: 40ms.")
@click.option(
    "-o", "--output", type=options.FilePath(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write the scenario to this file instead of stdout.",
)  # fmt: skip
@options.json_option
def import_setup(
    file: str | None,
    device: str | None,
    rate: str | None,
    rtt: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Make a scenario of a set-up.

    FILE holds commands and scripts of tc, what `tc -s -d qdisc show` prints (text or JSON),
    OpenWrt's /etc/config/sqm, or settings of systemd-networkd, NetworkManager or dummynet; - is
    standard input. What was read and what is assumed is printed to stderr and written at the head
    of the scenario.
    """
    from sojourn import _core, files
    from sojourn.importing.tc import text_of

    if as_json and output is None:
        raise InputError("--json prints what was read: name the scenario's file with --output")
    text = text_of(file, device)
    name = Path(file).stem if file and file != "-" else device or "line"
    toml, read, unknown = _core.tc_import(text, name, rate, rtt, device)
    _core.Scenario.load(toml)
    if output is None:
        print(toml, end="")
    else:
        if file and output.exists() and Path(file).exists() and output.samefile(file):
            raise InputError(f"{output}: is the set-up itself; choose another --output")
        files.write(output, toml)
    for line in read:
        console.say(f"read: {line}")
    for line in unknown:
        console.say(f"not in the text: {line}")
    if as_json:
        console.show_json({"read": read, "unknown": unknown, "file": str(output)})
    return 0


@tc.command(
    epilog="""\b
Examples:
  sojourn tc check paste.txt
  sojourn tc check /etc/config/sqm --line 20mbit --medium adsl --rtt 30ms
  sojourn tc check - --seeds 0 --json < setup.sh
\b
Exit codes:
  0    nothing is wrong
  1    something is wrong; with --strict, or doubtful
  2    bad input
""",
)
@click.argument("file", type=options.NAME, required=False)
@_device_option
@click.option("--line", metavar="RATE", help="Rate of the line behind the shaper, such as 20mbit.")
@click.option(
    "--medium", type=click.Choice(["docsis", "dsl", "adsl", "ftth", "lte"]),
    help="That line, which decides the overhead of packets.",
)  # fmt: skip
@click.option(
    "--rtt", metavar="TIME", default="40ms", show_default=True, help="Base round-trip time."
)
@click.option(
    "--load", type=click.IntRange(1, 1000), default=4, metavar="N", show_default=True,
    help="Bulk transfers at a time, next to a voice call.",
)  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(0, 1000), default=5, metavar="N", show_default=True,
    help="Seeds per simulation; 0 simulates nothing.",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit with code 1 for doubtful findings too.")
@options.store_option
@options.json_option
def check(
    file: str | None,
    device: str | None,
    line: str | None,
    medium: str | None,
    rtt: str,
    load: int,
    seeds: int,
    strict: bool,
    fresh: bool,
    as_json: bool,
) -> int:
    """Say what is wrong or doubtful in a set-up, why, and what it costs.

    Where possible, the set-up is simulated as it is and with the remedy, under the same seeds. FILE
    is as for `sojourn tc import`.
    """
    from dataclasses import asdict

    from sojourn.advising.setup import Circumstances, SetupFinding
    from sojourn.advising.setup import check as find
    from sojourn.cli.tc_findings import show
    from sojourn.importing.tc import text_of
    from sojourn.importing.units import rate_bps, seconds

    line_bps = round(rate_bps(line)) if line else None
    given = Circumstances(line_bps, medium, rtt_s=seconds(rtt), load=load, seeds=seeds)
    text = text_of(file, device)
    found: list[SetupFinding]
    found, unknown = find(text, given, progress=console.meter(), store=options.store(fresh))
    if as_json:
        console.show_json({
            "assumed": asdict(given), "findings": [asdict(it) for it in found], "unknown": unknown
        })  # fmt: skip
    else:
        show(found, unknown, given)
    is_bad = any(it.severity == "wrong" or strict for it in found)
    return _WRONG if is_bad else 0


@tc.command(
    epilog="""\b
Examples:
  sojourn tc export line.toml --dev eth0
  sojourn tc export line.toml --dev eth0 --set links.up.queue=cake --kernel 6.1
  sojourn tc export line.toml --dev wan --uci
"""
)
@options.scenario_argument
@options.set_option
@click.option("--dev", "device", metavar="NAME", default="eth0", show_default=True,
              help="The device that gets the disciplines.")  # fmt: skip
@click.option("--link", metavar="NAME", help="The only link to export.")
@click.option("--kernel", metavar="RELEASE", help="Refuse what this version of Linux lacks: 6.1.")
@click.option("--uci", is_flag=True, help="Write a section of OpenWrt's /etc/config/sqm.")
def export(
    file: str,
    sets: tuple[str, ...],
    device: str,
    link: str | None,
    kernel: str | None,
    uci: bool,
) -> int:
    """Write a scenario's links as commands: shaper, overhead, discipline, ifb.

    A link named `down` shapes arrivals of the device, on an ifb.
    """
    from sojourn.describing.library import load, parse_set
    from sojourn.exporting.tc import exported, senders

    scenario = load(file, [parse_set(text) for text in sets])
    commands, warnings = exported(scenario, device, link=link, kernel=kernel, uci=uci)
    console.warn(warnings)
    print("\n".join(commands if uci else [*commands, *senders(scenario)]))
    return 0

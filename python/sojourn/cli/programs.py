"""The command ``exec``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn import _core
from sojourn.cli import console, once, options
from sojourn.cli.captures import write_captures
from sojourn.describing.aqm_list import split_all
from sojourn.describing.library import parse_set
from sojourn.errors import InputError
from sojourn.programs.running import engine, with_bottleneck, write_outputs
from sojourn.programs.wish import Programs, gather
from sojourn.running.runs import with_aqm

if TYPE_CHECKING:
    from sojourn.running.result import Result

_SHOWN_LINES = 20


@once.command(
    name="exec",
    epilog="""\b
Examples:
  sojourn exec line.toml --server 'truncate -s 5M big; python3 -m http.server 8000' \\
      --client 'curl -sO http://server:8000/big' --aqm fq_codel --out run
  sojourn exec line.toml --server 'iperf3 -s' --client 'iperf3 -c server -R -t 1000' --for 60s
  sojourn exec line.toml --server 'iperf3 -s' --client 'iperf3 -c server -R' \\
      --at 'client-2@3s=ping -c 5 server' --aqm taildrop,fq_codel,pie --seeds 5 --out out
""",
)
@options.scenario_argument
@click.option(
    "--server", "servers", multiple=True, metavar="COMMAND",
    help="A command of the shell on the host `server`, in front of the link. May be repeated.",
)  # fmt: skip
@click.option(
    "--client", "clients", multiple=True, metavar="COMMAND",
    help="A command on the host `client`, behind the link, from 1 s on. May be repeated.",
)  # fmt: skip
@click.option(
    "--at", "others", multiple=True, metavar="NAME[@TIME]=COMMAND",
    help="A command on a host such as server-2 or client-alice, at a time. May be repeated.",
)  # fmt: skip
@click.option(
    "--for", "until", metavar="TIME",
    help="Stop what has not ended after this time, in place of the scenario's duration.",
)  # fmt: skip
@click.option(
    "--replace", "group", metavar="FLOWS",
    help="The group of flows whose place programs take; by default the one named `programs`, or "
    "the only one. The other flows run as well.",
)  # fmt: skip
@click.option(
    "--folder", "folders", multiple=True, metavar="NAME=DIR", callback=options.distinct_keys,
    help="Start the programs of a host in a folder of this machine, which they can only read; a "
    "private, empty one by default. May be repeated.",
)  # fmt: skip
@click.option(
    "--see", multiple=True, metavar="PATH",
    help="A folder or file that programs may read besides the system's. May be repeated.",
)  # fmt: skip
@click.option(
    "--env", "variables", multiple=True, metavar="NAME=VALUE", callback=options.distinct_keys,
    help="A variable of the programs' environment. May be repeated.",
)  # fmt: skip
@options.aqm_option
@options.link_option
@options.set_option
@options.record_option
@click.option(
    "--seeds", type=click.IntRange(1), default=1, metavar="N", show_default=True,
    help="Seeds per AQM, counting up from the file's.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Runs at a time.")
@click.option(
    "--kernel", type=options.FilePath(path_type=Path), metavar="RELEASE|PATH",
    help="The guest kernel of another release, or your own.",
)  # fmt: skip
@options.out_option(
    "Save the tables, the report of several runs, and of one run what the programs wrote, in DIR. "
    f"{options.REPLACED}"
)
@click.option(
    "--pcap", "pcap", type=options.FilePath(path_type=Path, file_okay=False), metavar="DIR",
    help="Run once more, and write the packets at both ends and on both sides of each queue, as "
    "pcapng.",
)  # fmt: skip
@options.json_option
def exec_programs(
    file: str,
    aqms: tuple[str, ...],
    link: str | None,
    sets: tuple[str, ...],
    record: tuple[str, ...],
    until: str | None,
    seeds: int,
    jobs: int | None,
    kernel: Path | None,
    out: Path | None,
    pcap: Path | None,
    as_json: bool,
    **wish: Any,
) -> int:
    """Run unmodified programs on the guest kernel, in virtual time, behind an AQM.

    FILE is a scenario, whose links, delays and AQM are the path of the programs. Servers send over
    the link to clients. The run ends when the last client has ended.
    """
    programs = _programs(wish, until is not None)
    recorded = [(f"record.{table}", "true") for table in record]
    scenario = with_bottleneck(file, [*(parse_set(text) for text in sets), *recorded], until)
    options.announce(out)
    options.writing_to(out)
    listed = split_all(aqms)
    link = link or programs.link(scenario)
    if len(listed) > 1 or seeds > 1:
        if pcap is not None:
            raise InputError("--pcap: is of one run; give one AQM and one seed")
        return _compare(
            scenario, listed, as_json, link=link, seeds=seeds, jobs=jobs, out=out,
            engine=engine(programs, kernel=kernel),
        )  # fmt: skip
    if listed:
        scenario = with_aqm(scenario, listed, link, has_sets=bool(sets))
    return _once(scenario, programs, as_json, kernel=kernel, out=out, pcap=pcap)


def _programs(wish: dict[str, Any], may_be_stopped: bool) -> Programs:
    commands = {"server": wish["servers"], "client": wish["clients"]}
    for text in wish["others"]:
        name, command = _pair("--at", text, "client-2@3s='ping server'")
        commands[name] = (*commands.get(name, ()), command)
    return gather(
        {name: texts for name, texts in commands.items() if texts},
        group=wish["group"],
        folders=dict(_pair("--folder", text, "server=site") for text in wish["folders"]),
        see=wish["see"],
        environment=dict(_pair("--env", text, "LEVEL=3") for text in wish["variables"]),
        may_be_stopped=may_be_stopped,
    )


def _pair(option: str, text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{option} {text}: write NAME=VALUE, such as {option} {example}")
    return name, value


def _once(
    scenario: _core.Scenario, programs: Programs, as_json: bool, *, kernel: Path | None,
    out: Path | None, pcap: Path | None,
) -> int:  # fmt: skip
    from sojourn.running.runs import run

    console.warn(scenario.warnings)
    result = run(
        scenario, engine=engine(programs, kernel=kernel), store=None, out=out,
        progress=console.meter(),
    )  # fmt: skip
    if out is not None:
        write_outputs(result, out)
    if pcap is not None:
        write_captures(scenario, pcap, result, engine=engine(programs, kernel=kernel))
    console.warn([text for text in result.warnings if text not in scenario.warnings])
    if as_json:
        _show_json(result, out)
    else:
        from sojourn.cli.result_table import print_result

        print("\n".join(_lines(result)))
        print_result(result)
    for reason in result.invalid:
        console.say(f"sojourn: not a valid experiment: {reason}")
    return 1 if result.invalid else 0


def _show_json(result: Result, out: Path | None) -> None:
    rows = [dict(zip(("scope", "name", "metric", "value", "unit"), row, strict=True))
            for row in result.summary_rows]  # fmt: skip
    facts = {key: value for key, value in result.manifest.items() if key != "scenario"}
    facts |= {"out": str(out) if out else None, "summary": rows}
    facts |= {name: result.rows(name) for name in ("programs", "program_flows")}
    console.show_json(facts)


def _lines(result: Result) -> list[str]:
    """The outcome of each command, and the end of its output."""
    lines = []
    for row in result.rows("programs"):
        lines.append(f"{row['host']}: {row['command']}")
        lines.append(f"    {_fate(row)}")
        for stream in ("stdout", "stderr"):
            shown = row[stream].rstrip().splitlines()
            if len(shown) > _SHOWN_LINES:
                lines.append(f"    {stream}: the last {_SHOWN_LINES} of {len(shown)} lines")
            lines += [f"    {stream}: {line}" for line in shown[-_SHOWN_LINES:]]
    return lines


def _fate(row: dict[str, Any]) -> str:
    if row["start_ns"] is None:
        return "was not started"
    start = f"{row['start_ns'] / 1e9:.3f} s"
    if row["end_ns"] is None:
        return f"{start} to the end of the run, which stopped it"
    how = f"exit code {row['exit_code']}" if row["signal"] is None else f"signal {row['signal']}"
    return f"{start} to {row['end_ns'] / 1e9:.3f} s, {how}"


def _compare(
    scenario: _core.Scenario, aqms: list[str], as_json: bool, *, link: str,
    out: Path | None, **choices: Any,
) -> int:  # fmt: skip
    from sojourn.cli.compare import finish
    from sojourn.comparing.compare import compare

    own = [scenario.queue(link)]
    comparison = compare(
        scenario, aqms or own, link=link, out=out, progress=console.meter(), store=None, **choices
    )
    if out is not None:
        comparison.save(out)
        console.say(f"report: {out / 'report.html'}")
    return finish(comparison, [], as_json)

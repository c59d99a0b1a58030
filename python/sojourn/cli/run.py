"""The command ``run``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from sojourn.cli import console, once, options
from sojourn.describing.library import load, parse_set
from sojourn.describing.queues import effective_lines, left_out
from sojourn.endpoint import parse_endpoints, with_endpoints
from sojourn.engines import registry
from sojourn.errors import InputError
from sojourn.running.runs import run as run_once
from sojourn.running.runs import with_aqm


@once.command(
    epilog="""\b
Examples:
  sojourn run traffic-mix
  sojourn run demo.toml --set links.bottleneck.queue.kind=madpie --seed 3 --out out
  sojourn run traffic-mix --aqm pie --pcap captures
  sojourn run traffic-mix --aqm mine.py:MyLaw:target=5ms
"""
)
@options.scenario_argument
@options.set_option
@click.option(
    "--aqm", metavar="AQM", shell_complete=options.complete_aqm,
    help="AQM in place of the file's own, such as fq(pie) or a custom law, mine.py:MyLaw.",
)  # fmt: skip
@options.endpoint_option
@options.link_option
@options.seed_option("Seed; the file's by default.")
@options.record_option
@options.engine_option(" (see `sojourn doctor`).")
@options.engine_options
@options.store_option
@options.memory_option
@options.out_option(f"Save tables (Parquet) and manifest.json in DIR. {options.REPLACED}")
@click.option(
    "--pcap",
    "pcap",
    type=options.FilePath(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Run once more, and write what tcpdump would have captured at both ends of the flows "
    "and on both sides of each queue.",
)
@click.option(
    "--pcap-format", "pcap_format", type=click.Choice(("pcapng", "pcap")),
    help="pcapng, the default, says of dropped and marked packets why; pcap is for older tools.",
)  # fmt: skip
@click.option(
    "--qlog",
    "qlog",
    type=options.FilePath(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Simulate once more, and log what the senders of TCP did, for qvis.",
)
@options.json_option
def run(
    file: str,
    sets: tuple[str, ...],
    aqm: str | None,
    endpoints: tuple[str, ...],
    link: str | None,
    seed: int | None,
    record: tuple[str, ...],
    engine: str,
    fresh: bool,
    memory: str | None,
    out: Path | None,
    pcap: Path | None,
    pcap_format: Literal["pcapng", "pcap"] | None,
    qlog: Path | None,
    as_json: bool,
    **engine_options: Any,
) -> int:
    """Run a scenario once.

    FILE is a scenario file or the name of a shipped scenario (`sojourn list scenarios`).
    """
    recorded = [(f"record.{table}", "true") for table in record]
    scenario = load(file, [*(parse_set(text) for text in sets), *recorded])
    scenario = with_endpoints(scenario, parse_endpoints(endpoints))
    scenario = with_aqm(scenario, aqm, link, has_sets=bool(sets))
    console.warn(scenario.warnings)
    if qlog is not None and engine != registry.NAMES[0]:
        raise InputError(f"--qlog: only engine {registry.NAMES[0]} logs senders, not {engine}")
    if pcap_format is not None and pcap is None:
        raise InputError(f"--pcap-format {pcap_format}: is that of captures; add --pcap DIR")
    options.announce(out)
    options.writing_to(out)
    result = run_once(
        scenario, seed=seed, out=out, progress=console.meter(), engine=engine,
        store=options.store(fresh), memory=memory, **engine_options,
    )  # fmt: skip
    for folder, kind, what in ((pcap, pcap_format or "pcapng", "captures"), (qlog, "qlog", "logs")):
        if folder is not None:
            from sojourn.cli.captures import write_captures

            write_captures(
                scenario, folder, result, what=what, seed=seed, file_format=kind, memory=memory,
                engine=engine, **engine_options,
            )  # fmt: skip
    console.warn([text for text in result.warnings if text not in scenario.warnings])
    for reason in result.invalid:
        console.say(f"sojourn: not a valid experiment: {reason}")
    if as_json:
        rows = [dict(zip(("scope", "name", "metric", "value", "unit"), row, strict=True))
                for row in result.summary_rows]  # fmt: skip
        facts = {key: value for key, value in result.manifest.items() if key != "scenario"}
        console.show_json(facts | {
            "out": str(out) if out else None, "summary": rows,
            "head": [
                *left_out(result.manifest["scenario"], engines=[engine]),
                *effective_lines(result.manifest["effective"]),
            ],
        })  # fmt: skip
    else:
        from sojourn.cli.result_table import print_result

        print_result(result)
    return 1 if result.invalid else 0

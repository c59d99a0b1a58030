"""``sojourn advise``: what to set up on a line, what it changes and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import console, once, options
from sojourn.errors import InputError

if TYPE_CHECKING:
    from sojourn.advising.line import Advice, Line


@once.command(
    epilog="""\b
Examples:
  sojourn advise --down 50mbit --up 10mbit --medium docsis
  sojourn advise --down 100mbit --up 40mbit --rtt 20ms --medium dsl --for gaming
  sojourn advise rrul.flent.gz --up 10mbit --dev wan
"""
)
@click.argument("file", type=options.NAME, required=False)
@click.option("--down", metavar="RATE", help="Rate of the line towards you: 50mbit.")
@click.option("--up", metavar="RATE", help="Rate of the line from you: 10mbit.")
@click.option("--rtt", metavar="TIME", help="Base round-trip time.  [default: 40ms]")
@click.option(
    "--medium", type=click.Choice(["docsis", "dsl", "adsl", "ftth", "lte", "wifi"]),
    default="docsis", show_default=True, help="The line, which decides the overhead of packets.",
)  # fmt: skip
@click.option(
    "--for", "purpose", type=click.Choice(["household", "gaming", "server"]), default="household",
    show_default=True, help="Who uses it, which decides the load and the classes.",
)  # fmt: skip
@click.option("--dev", "device", metavar="NAME", default="eth0", show_default=True,
              help="The router's interface towards the line.")  # fmt: skip
@click.option(
    "--seeds", type=click.IntRange(2, 1000), default=5, metavar="N", show_default=True,
    help="Seeds per set-up.",
)  # fmt: skip
@options.out_option("Also write one page with a picture, advice.html, into DIR.")
@options.store_option
@options.json_option
def advise(
    file: str | None,
    down: str | None,
    up: str | None,
    rtt: str | None,
    medium: str,
    purpose: str,
    device: str,
    seeds: int,
    out: Path | None,
    fresh: bool,
    as_json: bool,
) -> int:
    """Say what to set up on a line, with the delay before and after, and the cost.

    The line as it is, with cake and with fq_codel is simulated under the same seeds. FILE is a
    scenario, or a measurement that `sojourn import` reads; options replace what it has.
    """
    from dataclasses import asdict

    from sojourn.advising.line import Line
    from sojourn.advising.line import advise as find
    from sojourn.importing.units import rate_bps, seconds

    down_bps, up_bps, rtt_s = _described(file, down or up, rtt) if file else (None, None, None)
    down_bps = round(rate_bps(down)) if down else down_bps
    up_bps = round(rate_bps(up)) if up else up_bps
    if down_bps is None or up_bps is None:
        missing = "--down" if down_bps is None else "--up"
        raise InputError(f"{missing} is not known: give the rate of the line, such as 50mbit")
    rtt_s = seconds(rtt) if rtt else rtt_s or 0.04
    line = Line(down_bps, up_bps, rtt_s, medium, purpose, seeds)
    options.writing_to(out)
    advice = find(line, device, progress=console.meter(), store=options.store(fresh))
    if out:
        from sojourn.advising import page

        (out / page.FILE).write_text(page.page(line, advice), encoding="utf-8")
    if as_json:
        console.show_json({"line": asdict(line), **asdict(advice)})
    else:
        print("\n".join(_lines(line, advice)))
    return 0


def _described(
    file: str, rate: str | None, rtt: str | None
) -> tuple[int | None, int | None, float | None]:
    """The rates down and up in bit/s and the round trip in seconds of a file or shipped scenario.

    Args:
        file: a scenario or a measurement.
        rate: the line's rate, if given, for a measurement without one.
        rtt: likewise the round trip.
    """
    from sojourn import files
    from sojourn.advising.line import of_scenario
    from sojourn.describing.library import load
    from sojourn.importing import Assumptions, imported, read
    from sojourn.importing.writing import write

    path = Path(file)
    if path.suffix == ".toml" or not path.exists():
        return of_scenario(load(file))
    stem = path.name.split(".")[0]
    result = imported(read(path), stem, file, Assumptions(rate, rtt), stem)
    with files.scratch() as folder:
        written = folder / f"{stem}.toml"
        write(result, path, written, stem)
        return of_scenario(load(written))


def _lines(line: Line, advice: Advice) -> list[str]:
    from sojourn.advising import said

    return [
        f"Set up {advice.choice}: {said.of_line(line)}.",
        "",
        *(
            f"{row[0]:<22}" + "".join(f"{cell:>14}" for cell in row[1:])
            for row in said.rows(advice)
        ),
        "",
        *said.sentences(line, advice),
        "",
        *advice.commands,
        "",
        *advice.uci,
    ]

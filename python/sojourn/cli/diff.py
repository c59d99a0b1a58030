"""The command diff: two AQMs on the same arrivals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from sojourn import files
from sojourn.cli import console, once, options
from sojourn.comparing.diff import Difference
from sojourn.comparing.diff import diff as diff_aqms
from sojourn.describing.formatting import counted
from sojourn.describing.library import parse_set
from sojourn.endpoint import parse_endpoints

JSON_FILE = "diff.json"
PICTURE = "diff.png"

Row = tuple[str, str, str]


@once.command(
    epilog="""\b
Examples:
  sojourn diff pie@linux pie@rfc8033
  sojourn diff fq_codel "fq(madpie)" traffic-mix --set duration=20s --out out
"""
)
@click.argument("first", metavar="A", shell_complete=options.complete_aqm)
@click.argument("second", metavar="B", shell_complete=options.complete_aqm)
@click.argument(
    "file", type=options.NAME, default="traffic-mix", shell_complete=options.complete_scenario
)
@options.set_option
@options.endpoint_option
@options.seed_option("Seed; the file's by default.")
@click.option(
    "--link", metavar="NAME",
    help="Link whose arrivals are replayed; by default the only one, or the one named bottleneck.",
)  # fmt: skip
@options.out_option(f"Save {JSON_FILE} and a picture of both delays over time in DIR.")
@options.json_option
def diff(
    first: str,
    second: str,
    file: str,
    sets: tuple[str, ...],
    endpoints: tuple[str, ...],
    seed: int | None,
    link: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Show the first packet that two AQMs treat differently on the same arrivals.

    FILE (traffic-mix by default) is run with A. The arrivals at the link are then replayed under A
    and under B, in an open loop and with the same random numbers.
    """
    options.writing_to(out)
    found = diff_aqms(
        first, second, file, link=link, seed=seed, sets=[parse_set(text) for text in sets],
        endpoints=parse_endpoints(endpoints),
    )  # fmt: skip
    console.warn([*found.warnings])
    if out is not None:
        _save(found, out)
    if as_json:
        console.show_json(found.to_json())
    else:
        show(found, console.stdout_console())
    return 0


def _save(found: Difference, out: Path) -> None:
    from sojourn.describing.finite import without_nan
    from sojourn.plots import style
    from sojourn.plots.difference import difference

    text = json.dumps(without_nan(found.to_json()), indent=1, ensure_ascii=False)
    files.write(out / JSON_FILE, text + "\n")
    files.write(out / PICTURE, style.png(difference(found)))
    console.say(f"picture: {out / PICTURE}")


def show(found: Difference, to: Any) -> None:
    """The first difference, then the totals."""
    first, second = found.aqms
    to.print(
        f"{first} and {second} at {found.link} of {found.scenario}, seed {found.seed}",
        style="bold", markup=False,
    )  # fmt: skip
    to.print(found.how, style="dim", markup=False)
    to.print()
    if found.first is None:
        to.print(f"no difference in {counted(found.arrivals, 'packet')}", markup=False)
        return
    _show_first(found, found.first, to)
    _show_sums(found, to)


def _show_first(found: Difference, first: dict[str, Any], to: Any) -> None:
    to.print(
        f"first difference: {first['t_ns'] / 1e9:.9f} s, flow {first['flow']}, seq {first['seq']}, "
        f"{first['bytes']} B, sojourn {first['sojourn_ns'] / 1e6:.6f} ms; "
        f"arrival {first['packet'] + 1} of {found.arrivals}",
        markup=False,
    )
    rows: list[Row] = [("fate", *found.fates)]
    before = [{name: (value, unit) for name, value, unit in side} for side in first["states"]]
    for name in {**before[0], **before[1]}:
        first_shown, second_shown = (_shown(*side.get(name, (None, ""))) for side in before)
        rows.append((name, first_shown, second_shown))
    to.print(_table(("just before", *found.aqms), rows))
    evidence = ", ".join(f"{n} {_shown(value, unit)}" for n, value, unit in first["evidence"])
    if evidence:
        who = found.aqms[first["side"]]
        to.print(f"the queue of that packet under {who}, just before: {evidence}", markup=False)
    to.print()


def _show_sums(found: Difference, to: Any) -> None:
    rows: list[Row] = [(key, str(a), str(b)) for key, (a, b) in found.counts.items()]
    rows += [(key, _shown(a, "s"), _shown(b, "s")) for key, (a, b) in found.delays.items()]
    to.print(_table(("over all arrivals", *found.aqms), rows))
    share, all_ = found.different / found.arrivals, counted(found.arrivals, "packet")
    to.print(
        f"treated differently: {found.different:,} of {all_} ({share:.2%})",
        markup=False,
    )


def _table(head: Row, rows: list[Row]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, title in enumerate(head):
        table.add_column(Text(title), justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _shown(value: float | None, unit: str) -> str:
    """A value with its unit; times in milliseconds."""
    if value is None:
        return "-"
    if unit == "s":
        return f"{value * 1e3:.4g} ms"
    return f"{value:.6g}" if unit == "1" else f"{value:.6g} {unit}"

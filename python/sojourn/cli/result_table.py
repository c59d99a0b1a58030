"""The summary of a run as a table, without importing what comparisons need."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from sojourn.cli import console
from sojourn.describing.formatting import show_value
from sojourn.describing.metrics import shown_in
from sojourn.describing.queues import effective_lines, left_out

if TYPE_CHECKING:
    from sojourn.running.result import Result

Groups = dict[str, list[tuple[str, str]]]


def print_result(result: Result) -> None:
    """The summary of a run, queue by queue, leaf by leaf and class by class.

    Without a terminal the same text is written without rich, which takes 60 ms to import.
    """
    groups: Groups = {}
    of_leaf = {row.name for row in shown_in("leaf")}
    for scope, name, metric, value, unit in result.summary_rows:
        if scope == "leaf" and metric not in of_leaf:
            continue
        rows = groups.setdefault(f"{scope} {name}".strip(), [])
        rows.append((metric, show_value(metric, value, unit)))
    if sys.stdout.isatty() or "FORCE_COLOR" in os.environ:
        _print_on_terminal(groups, result.digest)
    else:
        print("\n".join([*lines(groups), f"digest {result.digest}"]))
    manifest = result.manifest
    notes = [
        *left_out(manifest.get("scenario", {}), engines=[manifest.get("engine", "")]),
        *effective_lines(manifest.get("effective", [])),
    ]
    for line in notes:
        print(line)


def lines(groups: Groups) -> list[str]:
    """The table as text: metrics to the left, values to the right."""
    table = [
        (of if i == 0 else "", metric, shown)
        for of, rows in groups.items()
        for i, (metric, shown) in enumerate(rows)
    ]
    first, second, third = (max(map(len, column)) for column in zip(*table, strict=True))
    return [f"{of:{first}}    {metric:{second}}    {shown:>{third}}" for of, metric, shown in table]


def _print_on_terminal(groups: Groups, digest: str) -> None:
    from rich.table import Table
    from rich.text import Text

    screen = console.stdout_console()
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2))
    for column, justify in (("of", "left"), ("metric", "left"), ("value", "right")):
        table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for of, rows in groups.items():
        for i, (metric, shown) in enumerate(rows):
            table.add_row(Text(of if i == 0 else "", "bold"), Text(metric), Text(shown))
    screen.print(table)
    screen.print(f"digest {digest}", style="dim")

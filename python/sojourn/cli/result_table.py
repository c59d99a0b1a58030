"""The summary of a run as a table on a terminal. What comparisons need is not imported for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.describing.formatting import show_value

if TYPE_CHECKING:
    from sojourn.running.result import Result


def print_result(result: Result, console: Any) -> None:
    """The summary of a run, queue by queue and class by class."""
    from rich.table import Table
    from rich.text import Text

    groups: dict[str, list[tuple[str, str]]] = {}
    for scope, name, metric, value, unit in result.summary_rows:
        rows = groups.setdefault(f"{scope} {name}".strip(), [])
        rows.append((metric, show_value(metric, value, unit)))
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2))
    for column, justify in (("of", "left"), ("metric", "left"), ("value", "right")):
        table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for of, rows in groups.items():
        for i, (metric, shown) in enumerate(rows):
            table.add_row(Text(of if i == 0 else "", "bold"), Text(metric), Text(shown))
    console.print(table)
    console.print(f"digest {result.digest}", style="dim")

"""Comparisons as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sojourn.comparing.conclusions import method, sentences
from sojourn.comparing.contenders import head
from sojourn.comparing.table import TableCell, TableRow, legend, table_rows, zero_note
from sojourn.comparing.verdict import verdict

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns

# The same cells as in the report, with less padding, so six AQMs fit into 120 columns.
_TIGHT = (" ± ", "±")
_EDGES = 2
_STYLES = {
    "better": "bold green", "worse": "bold red", "different": "bold blue", "same": "",
    "trade": "bold blue",
    "agrees": "green", "differs": "bold red", "": "",
}  # fmt: skip


def print_comparison(comparison: ComparedRuns, console: Any) -> None:
    """The verdict, metrics as rows and AQMs as columns, legend, conclusions.

    A wide table is split into parts.
    """
    rows = table_rows(comparison)
    if not any(map(comparison.of, comparison.aqms)):
        console.print("no run gave a result")
        return
    console.print(verdict(comparison), style="bold", markup=False)
    console.print()
    for line in head(comparison):
        console.print(line, style="dim", markup=False)
    for columns in _parts(comparison.aqms, rows, console.width) if rows else []:
        console.print(_part(comparison.aqms, rows, columns))
    for sentence in sentences(comparison):
        console.print()
        console.print(sentence, markup=False)
    console.print()
    notes = [legend(comparison), zero_note(comparison), " ".join(method(comparison))]
    for note in filter(None, notes):
        console.print(note, style="dim", markup=False)


def _parts(aqms: list[str], rows: list[TableRow], width: int) -> list[list[int]]:
    """Which columns are shown side by side: as many as fit next to the labels."""
    label = max(len(_label(row)) for row in rows)
    widths = [
        1 + max(len(line) for line in [*_lines(aqm), *(_tight(row.cells[i]) for row in rows)])
        for i, aqm in enumerate(aqms)
    ]
    parts: list[list[int]] = [[]]
    used = label + _EDGES
    for i, needed in enumerate(widths):
        if parts[-1] and used + needed > width:
            parts.append([])
            used = label + _EDGES
        parts[-1].append(i)
        used += needed
    return parts


def _part(aqms: list[str], rows: list[TableRow], columns: list[int]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("metric", no_wrap=True)
    for i in columns:
        table.add_column(Text("\n".join(_lines(aqms[i]))), justify="right", no_wrap=True)
    for row in rows:
        cells = [row.cells[i] for i in columns]
        shown = [Text(_tight(cell), _STYLES[cell.verdict]) for cell in cells]
        table.add_row(Text(_label(row)), *shown)
    return table


def _label(row: TableRow) -> str:
    """The metric with its unit; headline metrics have a star."""
    unit = f" [{row.unit}]" if row.unit else ""
    return f"{row.label}{' *' if row.headline else ''}{unit}"


def _tight(cell: TableCell) -> str:
    return f"{cell.text.replace(*_TIGHT)} {cell.sign or ' '}"


def _lines(aqm: str) -> list[str]:
    """An AQM on several lines: its kind, then its parameters."""
    return aqm.replace(":", "\n").replace(",", "\n").split("\n")

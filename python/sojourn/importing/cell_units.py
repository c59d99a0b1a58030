"""Units that stand in the cells of a table: `10mbit`, `0.5%`."""

from __future__ import annotations

import re

from sojourn.errors import InputError
from sojourn.importing.cells import MISSING, Rows
from sojourn.importing.units import SHARES, TIMES, rate_factor

_WITH_UNIT = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]+)")


def taken_out(rows: Rows, name: str) -> tuple[Rows, dict[str, str]]:
    """The table with numbers alone, and the units by column.

    Raises:
        InputError: the cells of a column have several units.
    """
    columns = {
        index: (rows[0][1][index], found[2])
        for index, cell in enumerate(rows[1][1][: len(rows[0][1])])
        if (found := _WITH_UNIT.fullmatch(cell)) and _is_known(found[2])
    }
    if not columns:
        return rows, {}
    numbers = [(line, list(cells)) for line, cells in rows]
    for line, cells in numbers[1:]:
        for index, (column, unit) in columns.items():
            cell = cells[index] if index < len(cells) else ""
            if cell in MISSING:
                continue
            found = _WITH_UNIT.fullmatch(cell)
            if not found or found[2] != unit:
                raise InputError(
                    f"{name}, line {line}: `{cell}` is not in {unit}, as the first value of "
                    f"`{column}` is; write all of a column in one unit"
                )
            cells[index] = found[1]
    return numbers, dict(columns.values())


def _is_known(unit: str) -> bool:
    return unit.lower() in TIMES or unit.lower() in SHARES or rate_factor(unit) is not None

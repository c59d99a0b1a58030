"""Times in the cells of a table."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from sojourn.errors import InputError
from sojourn.importing.cells import Rows, is_number, number

_YEAR_FIRST = re.compile(r"^(\d{4})/(\d\d)/(\d\d)\b")
_DATE_ALONE = re.compile(r"\d{4}[-/]\d\d[-/]\d\d")
TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d+)?)")


def seconds_of(cell: str, place: str) -> float:
    """A number, or the seconds of a time of day or of an ISO 8601 date and time."""
    if ":" not in cell and is_number(cell):
        return number(cell, place)
    if found := TIME_OF_DAY.fullmatch(cell):
        return 3600.0 * int(found[1]) + 60.0 * int(found[2]) + float(found[3])
    try:
        stamp = datetime.fromisoformat(_YEAR_FIRST.sub(r"\1-\2-\3", cell.removesuffix(" UTC")))
    except ValueError:
        raise InputError(
            f"{place}: `{cell}` is not a time; write seconds, or dates as 2026-01-31 12:00:00"
        ) from None
    return (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()


def with_dates(rows: Rows, at: int) -> Rows:
    """Joins a column of dates alone with the next column, if that has times of day."""
    first = rows[1][1]
    times = at + 1 < len(first) and TIME_OF_DAY.fullmatch(first[at + 1])
    if not (times and _DATE_ALONE.fullmatch(first[at])):
        return rows
    joined = [
        (line, [*cells[:at], f"{cells[at]} {cells[at + 1]}", *cells[at + 1 :]])
        for line, cells in rows[1:]
        if len(cells) > at + 1
    ]
    return [rows[0], *joined] if len(joined) == len(rows) - 1 else rows

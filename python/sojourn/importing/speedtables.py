"""Results of speed tests as CSV, with or without the line that names the columns.

Sources: `speedtest-cli --csv` 2.1, `speedtest --format=csv` of Ookla 1.2, `librespeed-cli --csv`
1.0: none of them prints the names by default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sojourn.errors import InputError
from sojourn.importing.cells import Rows, is_number, number


@dataclass(frozen=True)
class SpeedTests:
    """The results of one program."""

    document: dict[str, Any] | None
    """A single result, in the form of the program's JSON."""
    rows: Rows
    """Several results, with the columns that matter."""
    units: dict[str, str]


@dataclass(frozen=True)
class _Table:
    name: str
    columns: tuple[str, ...]
    """In the program's order; none of the three is optional: rates, round trip."""
    rtt: str
    unit: str
    is_bare: Callable[[Sequence[str]], bool]
    """Whether a line without names is a result."""
    document: Callable[[float, float, float], dict[str, Any]]
    """The program's JSON of a rate down, a rate up and a round trip."""


def _is_date(cell: str) -> bool:
    try:
        return bool(datetime.fromisoformat(cell)) and not is_number(cell)
    except ValueError:
        return False


def _is_ookla(cells: Sequence[str]) -> bool:
    return (
        len(cells) >= 10
        and cells[1].isdigit()
        and all(map(is_number, [*cells[2:4], *cells[5:9]]))
        and (not cells[9] or cells[9].startswith("http"))
    )


_TABLES = (
    _Table(
        "speedtest-cli",
        ("server id", "sponsor", "server name", "timestamp", "distance", "ping", "download",
         "upload", "share", "ip address"),
        "ping", "bit/s",
        lambda cells: len(cells) == 10 and _is_date(cells[3]) and all(map(is_number, cells[5:8])),
        lambda down, up, rtt: {"download": down, "upload": up, "ping": rtt, "bytes_sent": 0},
    ),
    _Table(
        "librespeed-cli",
        ("timestamp", "server name", "address", "ping", "jitter", "download", "upload", "share",
         "ip"),
        "ping", "Mbit/s",
        lambda cells: len(cells) == 9 and _is_date(cells[0]) and all(map(is_number, cells[3:7])),
        lambda down, up, rtt: {
            "download": down, "upload": up, "ping": rtt, "bytes_sent": 0, "jitter": 0,
        },
    ),
    _Table(
        "speedtest",
        ("server name", "server id", "idle latency", "idle jitter", "packet loss", "download",
         "upload", "download bytes", "upload bytes", "share url"),
        "idle latency", "B/s", _is_ookla,
        lambda down, up, rtt: {
            "download": {"bandwidth": down}, "upload": {"bandwidth": up}, "ping": {"latency": rtt},
        },
    ),
)  # fmt: skip
_OLD_NAMES = {"latency": "idle latency", "jitter": "idle jitter"}
"""Columns of Ookla's program before version 1.2."""


def results(rows: Rows, name: str) -> SpeedTests | None:
    """The results of a speed test; None for other tables.

    Raises:
        InputError: a line has too few columns, or there are several results without times.
    """
    names = [cell.lower() for cell in rows[0][1]]
    older = [_OLD_NAMES.get(cell, cell) for cell in names]
    for table in _TABLES:
        for header in (names, older):
            if set(table.columns) <= set(header):
                return _taken(table, header, rows[1:], name)
        if table.is_bare(rows[0][1]):
            more = [""] * (len(rows[0][1]) - len(table.columns))
            return _taken(table, [*table.columns, *more], rows, name)
    return None


def _taken(table: _Table, header: list[str], rows: Rows, name: str) -> SpeedTests:
    wanted = {word: header.index(word) for word in ("download", "upload", table.rtt)}
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(
                f"{name}, line {line}: has {len(cells)} columns where {table.name} has "
                f"{len(header)}"
            )
    if len(rows) == 1:
        line, cells = rows[0]
        values = [number(cells[at], f"{name}, line {line}") for at in wanted.values()]
        return SpeedTests(table.document(*values), [], {})
    times = ("timestamp", "date", "datetime", "time")
    time = next((at for at, word in enumerate(header) if word in times), None)
    if time is None or not rows:
        raise InputError(
            f"{name}: holds {len(rows)} results of {table.name} without times; keep one line"
        )
    places = [time, *wanted.values()]
    kept: Rows = [(0, ["time", *wanted])]
    kept += [(line, [cells[at] for at in places]) for line, cells in rows]
    units = {"download": table.unit, "upload": table.unit, table.rtt: "ms"}
    return SpeedTests(None, kept, units)

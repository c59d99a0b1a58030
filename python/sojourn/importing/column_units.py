"""Units of the columns of a table, by their names or given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from sojourn.errors import InputError
from sojourn.importing import units

_SHARES = {"pop_ping_drop_rate"}
"""Columns of starlink-grpc-tools that hold a share."""


def time_unit(
    column: str, first: float, is_date: bool, given: Mapping[str, str]
) -> tuple[str | None, float | None]:
    """The unit of a column of times, and seconds per unit; None if unknown."""
    unit = "s" if is_date else given.get(column) or _unit(column, units.CLOCKS)
    return unit, units.CLOCKS.get(unit) if unit else units.epoch_scale(first)


def ask(
    kinds: Mapping[str, str], first: float, is_date: bool, name: str, given: Mapping[str, str]
) -> None:
    """Ask for all missing units at once."""
    missing = []
    for kind, column in kinds.items():
        if kind == "time":
            if time_unit(column, first, is_date, given)[1] is None:
                missing.append((column, "s"))
        elif not is_clocked(kind, column, given) and _factor(column, kind, given) is None:
            missing.append((column, _EXAMPLES.get(kind, "ms")))
    if missing:
        columns = " and ".join(f"`{column}`" for column, _ in missing)
        options = " ".join(option(*one) for one in missing)
        raise InputError(
            f"{name}: the columns {columns} have no known units; give them, such as {options}"
            if len(missing) > 1
            else f"{name}: the column {columns} has no "
            f"{'unit' if missing[0][0] == kinds['time'] else 'known unit'}; give it, such as "
            f"{options}"
        )


_EXAMPLES = {"down": "Mbit/s", "up": "Mbit/s", "loss": "%"}


def is_clocked(kind: str, column: str, given: Mapping[str, str]) -> bool:
    """Whether a column that may be a rate is a delay of one direction."""
    return kind in ("down", "up") and column not in given and _is_time(column)


def option(column: str, unit: str) -> str:
    """The option of the command that gives a column's unit."""
    return f"--unit {shlex.quote(f'{column}={unit}')}"


def _is_time(column: str) -> bool:
    """Whether the name of a column has a unit of time and none of rates."""
    return _rate(column) is None and _unit(column, units.TIMES) is not None


def _unit(column: str, known: Mapping[str, float]) -> str | None:
    """The unit that ends a column's name, or None."""
    for mark in (r"\(([^)]*)\)$", r"\[([^\]]*)\]$", r"[_ ]([A-Za-z%/]+)$", r"^(.*)$"):
        if (found := re.search(mark, column)) and found[1].lower() in known:
            return found[1].lower()
    return None


def _rate(column: str) -> float | None:
    """bit/s per unit in a column's name; `bit_rate` has none."""
    unit = _rate_unit(column)
    return units.rate_factor(unit) if unit else None


def _rate_unit(column: str) -> str | None:
    words = re.split(r"[_ ()\[\]]+", re.sub(r"(?i)bit[_ ]rate", "rate", column))
    # `rate_Mbit_s` and `bits_per_second` end in several words, `ThroughputMbps` is one.
    joined = re.findall(r"(?<=[a-z])[KMG][Bb]ps$", column)
    candidates = [*joined, *words, "/".join(words[-2:]), "_".join(words[-3:])]
    known = [word for word in candidates if word and units.rate_factor(word) is not None]
    return known[-1] if known else None


def _factor(column: str, kind: str, given: Mapping[str, str]) -> float | None:
    """Factor from the column's unit to bit/s, seconds or a share."""
    text = given.get(column)
    if kind in ("down", "up"):
        return units.rate_factor(text) if text else _rate(column)
    known = units.SHARES if kind == "loss" else units.TIMES
    unit = text or ("share" if column in _SHARES else _unit(column, known))
    return known.get(unit) if unit else None


def scale_of(column: str, kind: str, name: str, given: Mapping[str, str]) -> float:
    """`_factor`, which must be known."""
    text, scale = given.get(column), _factor(column, kind, given)
    assert scale is not None, "ask has checked it"
    if kind in ("down", "up") and not text and not _IS_RATE.search(column):
        per_second = option(column, f"{_rate_unit(column)}/s")
        raise InputError(
            f"{name}: the unit of `{column}` is one of an amount, not of a rate; if the amount is "
            f"per second, give {per_second}, else divide it by its interval"
        )
    return scale


_IS_RATE = re.compile(
    r"(?i:ps|per|[/_ ]s(?:ec(?:ond)?)?\b|bytes_sec|rate|through?put|tput|thrpt|thput|bandwidth|bw"
    r"|capacity|goodput|speed)"
)
"""What a column's name has that makes its amount one per second."""

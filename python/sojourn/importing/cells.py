"""The cells of a text in lines and columns."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from sojourn.errors import InputError

_DECIMAL_COMMA = re.compile(r"-?[0-9]+,[0-9]+")

MISSING = {"", "-", "-1", "nan", "NaN", "NA", "null", "None"}
"""Cells without a value."""

Rows = list[tuple[int, list[str]]]
"""Lines that are not empty, with their numbers."""


def of_lines(lines: Sequence[str], name: str) -> Rows:
    """The cells of each line; comments (#) and empty lines are passed over.

    A comment before numbers is their header if it has as many cells, as numpy.savetxt writes it.

    Raises:
        InputError: a line has an unclosed quotation mark, or a cell is too long.
    """
    kept: list[tuple[int, str]] = []
    comment: tuple[int, str] | None = None
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("#"):
            comment = comment if kept else (number, line.lstrip().lstrip("#").strip())
        elif line.strip():
            # A separator at the start is that of an empty first cell.
            kept.append((number, line.strip(" \r\n")))
    if not kept:
        return []
    first = kept[0][1]
    separator = next((mark for mark in ("\t", ";", ",", "|") if mark in first), None)

    def cells(number: int, line: str) -> list[str]:
        if separator is None:
            return line.split()
        return _cells(line, separator, f"{name}, line {number}")

    rows = [(number, cells(number, line)) for number, line in kept]
    if separator != ",":
        # If other marks separate columns, the comma is the decimal mark.
        rows = [(number, [_point(cell) for cell in row]) for number, row in rows]
    if comment and len(rows[0][1]) > 1 and all(map(is_number, rows[0][1])):
        header = cells(*comment)
        if len(header) == len(rows[0][1]) and not any(map(is_number, header)):
            rows.insert(0, (comment[0], header))
    return rows


def _point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def _cells(line: str, separator: str, place: str) -> list[str]:
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    # Batch files of Windows write a space before a separator.
    line = re.sub(rf'" +{re.escape(separator)}', f'"{separator}', line)
    try:
        (cells,) = csv.reader([line], delimiter=separator, strict=True)
    except csv.Error as error:
        raise InputError(f"{place}: cannot be divided into columns ({error})") from None
    return [cell.strip() for cell in cells]


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def number(cell: str, place: str) -> float:
    """The number of a cell.

    Raises:
        InputError: it is not a finite number.
    """
    try:
        value = float(cell)
    except ValueError:
        raise InputError(
            f"{place}: `{cell}` is not a number; an empty cell stands for a missing one"
        ) from None
    if value - value != 0:
        raise InputError(f"{place}: `{cell}` is not a finite number")
    return value


def all_numbers(rows: Rows, name: str) -> list[tuple[str, list[float]]]:
    """The numbers of each row with its place; all rows have as many as the first.

    Raises:
        InputError: a row has another number of columns, or a cell is not a number.
    """
    wanted, found = len(rows[0][1]), []
    for line, cells in rows:
        place = f"{name}, line {line}"
        if len(cells) != wanted:
            raise InputError(f"{place}: has {len(cells)} columns where the first has {wanted}")
        found.append((f"line {line}", [number(cell, place) for cell in cells]))
    return found

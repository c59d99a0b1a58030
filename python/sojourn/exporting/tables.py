"""Saved results as CSV: a file per table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sojourn import files
from sojourn.comparing.reopened import facts_of
from sojourn.errors import InputError
from sojourn.running.result import TABLES, Result

_ROWS_AT_A_TIME = 65_536


def write(source: Path, folder: Path) -> list[Path]:
    """Write every table that has rows, as `docs/reference/tables.md` describes them.

    Tables of a comparison have the columns ``contender`` and ``replica`` in front. Maps are JSON.

    Args:
        source: folder of a run or a comparison.
        folder: the folder for the files; it is created.

    Returns:
        The files.

    Raises:
        InputError: `source` holds neither, or is damaged.
        OSError: a file cannot be written; this call then leaves no file.
    """
    runs = list(_runs(source))
    with files.Together() as together:
        for name in TABLES:
            path = folder / f"{name}.csv"
            with together.open(path) as file:
                if not _table(name, runs, io.TextIOWrapper(file, "utf-8", newline="")):
                    together.forget(path)
        return together.rename()


def _runs(source: Path) -> Iterator[tuple[Mapping[str, Any], Result]]:
    if (source / files.MANIFEST).is_file():
        yield {}, Result.open(source)
        return
    if not (source / files.COMPARISON).is_file():
        raise InputError(
            f"{source}: holds no result: it has neither {files.MANIFEST} nor {files.COMPARISON}; "
            "`sojourn run FILE --out DIR` and `sojourn compare` write them"
        )
    facts = facts_of(source)
    for run in facts["runs"]:
        labels = {"contender": run["aqm"], "replica": run["seed"]}
        yield labels, Result.open(source / run["folder"])


def _table(name: str, runs: list[tuple[Mapping[str, Any], Result]], file: io.TextIOWrapper) -> bool:
    """Write one table of all runs; returns whether it has rows."""
    out, begun = csv.writer(file, lineterminator="\n"), False
    for labels, result in runs:
        for columns in _parts(name, result):
            if not begun:
                out.writerow([*labels, *columns])
                begun = True
            front = list(labels.values())
            out.writerows([*front, *map(_cell, row)] for row in zip(*columns.values(), strict=True))
    file.flush()
    file.detach()
    return begun


def _parts(name: str, result: Result) -> Iterable[dict[str, list[Any]]]:
    first = 0
    while True:
        columns = result.columns(name, first, _ROWS_AT_A_TIME)
        count = len(next(iter(columns.values())))
        if count:
            yield columns
        if count < _ROWS_AT_A_TIME:
            return
        first += count


def _cell(value: Any) -> Any:
    return json.dumps(dict(value)) if isinstance(value, list) else value

"""Writes the table of a study as a file, by its extension."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import files
from sojourn.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

ENDINGS = (".parquet", ".csv", ".arrow")


def export(table: pa.Table, path: Path) -> None:
    """Write a table as Parquet, CSV or Arrow's file format.

    Raises:
        InputError: the ending is not one of `ENDINGS`.
        OSError: the file cannot be written.
    """
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: must end in one of {', '.join(ENDINGS)}")
    files.write(path, encoded(table, path.suffix))


def encoded(table: pa.Table, ending: str) -> bytes:
    """A table as the content of a file with one of `ENDINGS`."""
    from pyarrow import csv, feather, parquet

    buffer = io.BytesIO()
    if ending == ".parquet":
        parquet.write_table(table, buffer)
    elif ending == ".csv":
        csv.write_csv(table, buffer)
    else:
        feather.write_feather(table, buffer, compression="uncompressed")
    return buffer.getvalue()

"""The table of a study as a file, by the ending of its name."""

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
        InputError: the ending is none of `ENDINGS`.
        OSError: the file cannot be written.
    """
    from pyarrow import csv, feather, parquet

    buffer = io.BytesIO()
    if path.suffix == ".parquet":
        parquet.write_table(table, buffer)
    elif path.suffix == ".csv":
        csv.write_csv(table, buffer)
    elif path.suffix == ".arrow":
        feather.write_feather(table, buffer, compression="uncompressed")
    else:
        raise InputError(f"{path}: must end in one of {', '.join(ENDINGS)}")
    files.write(path, buffer.getvalue())

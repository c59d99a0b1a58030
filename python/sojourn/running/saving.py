"""A run on disk: tables with their labels as Parquet, then ``manifest.json``.

Every file is first written completely under a temporary name. Then an old manifest is removed, the
tables are renamed into place, and the new manifest is last. A folder with a manifest is complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sojourn import _core, files
from sojourn.errors import Cancelled
from sojourn.running.labels import Labels

if TYPE_CHECKING:
    import pyarrow as pa

# The batch size of the core.
_ROWS_PER_GROUP = 1 << 16


def save(
    folder: Path, manifest: dict[str, Any], tables: Iterable[tuple[str, Any]], labels: Labels,
    cancel: _core.Cancel | None = None,
) -> list[str]:  # fmt: skip
    """Write the tables that have rows, then the manifest; tables of an earlier run are removed.

    The manifest has the checksum of every table and of itself, so damage is found when the result
    is read back.

    Args:
        folder: the folder.
        manifest: of the run.
        tables: name and Arrow stream of every table, with or without rows.
        labels: columns that every table gets in addition to its own.
        cancel: checked before every group of rows.

    Returns:
        The names of the files.

    Raises:
        OSError: the folder cannot be written, or the disk is full. No files of this run remain
            then, and an earlier run in the folder is unchanged.
        Cancelled: it was cancelled; the same holds.
    """
    with files.Together() as together:
        stale = [folder / files.MANIFEST]
        digests: dict[str, str] = {}
        for name, stream in tables:
            path = folder / f"{name}.parquet"
            with together.open(path) as file:
                hashed = _Hashed(file)
                rows = _write_table(hashed, stream, labels, cancel)
            if rows == 0:
                together.forget(path)
                stale.append(path)
            else:
                digests[path.name] = hashed.digest
        with together.open(folder / files.MANIFEST) as file:
            file.write(files.sealed({**manifest, files.FILES: digests}).encode())
        for path in stale:
            path.unlink(missing_ok=True)
        return [path.name for path in together.rename()]


class _Hashed:
    """A file to write to, and the SHA-256 of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._sum = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()

    @property
    def closed(self) -> bool:
        return False

    def write(self, content: bytes) -> int:
        self._sum.update(content)
        return self._file.write(content)

    def flush(self) -> None:
        self._file.flush()


def remove_runs(folder: Path, tables: Iterable[str]) -> None:
    """Remove every run two levels below a folder; other files stay.

    Args:
        folder: the folder ``runs`` of a comparison.
        tables: names of the tables that a run may have.
    """
    names = [files.MANIFEST, *(f"{table}.parquet" for table in tables)]
    for manifest in sorted(folder.glob(f"*/*/{files.MANIFEST}")):
        for name in names:
            (manifest.parent / name).unlink(missing_ok=True)
        for each in (manifest.parent, manifest.parent.parent):
            if not any(each.iterdir()):
                each.rmdir()


def _write_table(file: _Hashed, stream: Any, labels: Labels, cancel: _core.Cancel | None) -> int:
    """Write group by group, so no table is in memory twice; return the number of rows.

    The bytes depend only on the rows, not on their batches, which differ between a new and a stored
    run, nor on unused words in dictionaries.
    """
    import pyarrow as pa
    from pyarrow import parquet

    reader = pa.RecordBatchReader.from_stream(stream)
    schema = _labelled(reader.schema.empty_table(), labels).schema
    rows = 0
    with parquet.ParquetWriter(file, schema, compression="snappy") as writer:
        for group in _groups(reader):
            if cancel is not None and cancel.cancelled:
                raise Cancelled("the run was cancelled while it was saved")
            rows += group.num_rows
            writer.write_table(_labelled(_with_own_words(group), labels), _ROWS_PER_GROUP)
    return rows


def _groups(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows in tables of `_ROWS_PER_GROUP`; the last may be smaller."""
    import pyarrow as pa

    waiting, rows = list[pa.RecordBatch](), 0
    for batch in reader:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= _ROWS_PER_GROUP:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, _ROWS_PER_GROUP)
            waiting = table.slice(_ROWS_PER_GROUP).to_batches()
            rows -= _ROWS_PER_GROUP
    if rows:
        yield pa.Table.from_batches(waiting)


def _with_own_words(table: pa.Table) -> pa.Table:
    """The same rows; each dictionary has the words that occur, in order of occurrence."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            column = table[field.name].combine_chunks()
            used = column.indices.unique().drop_null()
            codes = pc.index_in(column.indices, used).cast(field.type.index_type)
            own = pa.DictionaryArray.from_arrays(codes, column.dictionary.take(used))
            table = table.set_column(place, field, own)
    return table


def _labelled(table: pa.Table, labels: Labels) -> pa.Table:
    """The table with a column of one value for every label."""
    import pyarrow as pa

    rows = table.num_rows
    for name, value in labels.items():
        if isinstance(value, int):
            column: pa.Array = pa.repeat(pa.scalar(value, pa.uint64()), rows)
        else:
            codes = pa.repeat(pa.scalar(0 if value is not None else None, pa.int32()), rows)
            words = pa.array([value] if value is not None else [], pa.string())
            column = pa.DictionaryArray.from_arrays(codes, words)
        table = table.append_column(name, column)
    return table

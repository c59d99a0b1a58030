"""A run on disk: tables with their labels as Parquet, then ``manifest.json``.

Every file is first written completely under a temporary name. Then an old manifest is removed, the
tables are renamed into place, and the new manifest is last. A folder with a manifest is complete.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from sojourn import _core, files
from sojourn.running.labels import Labels

_KEPT_BYTES = 1 << 16


def save(
    folder: Path, manifest: dict[str, Any], tables: Iterable[tuple[str, _core.Table]],
    labels: Labels, cancel: _core.Cancel | None = None,
) -> list[str]:  # fmt: skip
    """Write the tables that have rows, then the manifest; tables of an earlier run are removed.

    The manifest has the checksum of every table and of itself, so damage is found when the result
    is read back.

    Args:
        folder: the folder.
        manifest: manifest of the run.
        tables: name and content of every table, with or without rows.
        labels: columns that every table gets in addition to its own.
        cancel: checked before every group of rows.

    Returns:
        The names of the files.

    Raises:
        OSError: the folder cannot be written, or the disk is full. No files of this run remain
            then, and an earlier run in the folder is unchanged.
        Cancelled: it was cancelled; the folder is left in the same way.
    """
    with files.Together() as together:
        stale = [folder / files.MANIFEST]
        digests: dict[str, str] = {}
        for name, table in tables:
            path = folder / f"{name}.parquet"
            if digest := _written(together, path, table, labels, cancel):
                digests[path.name] = digest
            else:
                stale.append(path)
        with together.open(folder / files.MANIFEST) as file:
            file.write(files.sealed({**manifest, files.FILES: digests}).encode())
        for path in stale:
            path.unlink(missing_ok=True)
        return [path.name for path in together.rename()]


def _written(
    together: files.Together, path: Path, table: _core.Table, labels: Labels,
    cancel: _core.Cancel | None,
) -> str:  # fmt: skip
    """Write a table; returns its SHA-256, or an empty text if it has no rows and no file."""
    with contextlib.ExitStack() as opened:
        hashed = _Hashed(lambda: opened.enter_context(together.open(path)))
        rows = table.write(hashed, list(labels.items()), cancel)
        if rows > 0:
            hashed.finish()
    if rows == 0 and hashed.has_file:
        together.forget(path)
    return hashed.digest if rows > 0 else ""


class _Hashed:
    """A file to write to, and the SHA-256 of what was written.

    The file is opened only when much has been written: a run has a dozen tables, most of them
    without rows, and syncing a file to disk takes longer than writing a table.
    """

    def __init__(self, opened: Callable[[], BinaryIO]) -> None:
        self._opened = opened
        self._file: BinaryIO | None = None
        self._kept: list[bytes] = []
        self._size = 0
        self._sum = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()

    @property
    def has_file(self) -> bool:
        return self._file is not None

    def write(self, content: bytes) -> int:
        self._sum.update(content)
        self._kept.append(bytes(content))
        self._size += len(content)
        if self._size >= _KEPT_BYTES:
            self.finish()
        return len(content)

    def finish(self) -> None:
        """Write the buffered data."""
        if self._file is None:
            self._file = self._opened()
        for content in self._kept:
            self._file.write(content)
        self._kept, self._size = [], 0


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

"""A run on disk: tables with their labels as Parquet, then ``manifest.json``.

Every file is first written completely under a temporary name. Then an old manifest is removed, the
tables are renamed into place, and the new manifest is last. A folder with a manifest is complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from sojourn import _core, files
from sojourn.running.labels import Labels


def save(
    folder: Path, manifest: dict[str, Any], tables: Iterable[tuple[str, _core.Table]],
    labels: Labels, cancel: _core.Cancel | None = None,
) -> list[str]:  # fmt: skip
    """Write the tables that have rows, then the manifest; tables of an earlier run are removed.

    The manifest has the checksum of every table and of itself, so damage is found when the result
    is read back.

    Args:
        folder: the folder.
        manifest: of the run.
        tables: name and content of every table, with or without rows.
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
        for name, table in tables:
            path = folder / f"{name}.parquet"
            with together.open(path) as file:
                hashed = _Hashed(file)
                rows = table.write(hashed, list(labels.items()), cancel)
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

    def write(self, content: bytes) -> int:
        self._sum.update(content)
        return self._file.write(content)


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

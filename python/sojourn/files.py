"""Output folders and files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path

from sojourn.errors import InputError

COMPARISON = "comparison.json"
MANIFEST = "manifest.json"


def holds_result(folder: Path) -> bool:
    """Whether a folder holds a result of an earlier run or comparison."""
    return any((folder / name).exists() for name in (COMPARISON, MANIFEST))


def prepare(folder: Path) -> None:
    """Make a folder and check that files can be written there, before long work starts.

    An earlier result is not touched yet; saving replaces it file by file.

    Raises:
        InputError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"--out {folder}: there is a file of that name; give a folder") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"--out {folder}: cannot be written ({reason}); give another folder"
        ) from error


def write_whole(path: Path, data: bytes) -> None:
    """Write a file and have the disk confirm it, before it is renamed into place."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def write(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name and rename it when whole.

    Raises:
        OSError: it cannot be written, or the disk is full; nothing is left behind then.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(temporary, data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error

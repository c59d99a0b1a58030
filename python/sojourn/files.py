"""Output folders and files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from sojourn.errors import InputError

COMPARISON = "comparison.json"
MANIFEST = "manifest.json"


def prepare(folder: Path) -> bool:
    """Make a folder and check that files can be written there, before long work starts.

    Results of an earlier run are not touched yet; saving replaces them file by file.

    Returns:
        Whether the folder holds results of an earlier run.

    Raises:
        InputError: the folder cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except FileExistsError:
        raise InputError(f"--out {folder}: is a file; give a folder") from None
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"--out {folder}: cannot be written ({reason}); give another folder") from error
    return any((folder / name).exists() for name in (COMPARISON, MANIFEST))


def write(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name and rename it when whole.

    Raises:
        OSError: it cannot be written, or the disk is full; nothing is left behind then.
    """
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error

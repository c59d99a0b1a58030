"""A cache of runs by content: the same resolved scenario, seed and engine.

One file per run in the user's cache folder (``$SOJOURN_CACHE``, else ``$XDG_CACHE_HOME/sojourn``,
else ``~/.cache/sojourn``). The simulator is named by its version and by the bytes of the compiled
core, so that a rebuilt one never answers with old runs; the papers' modules are no part of it.
Files of the zip format carry checksums: a damaged one is reported and its run repeated.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sojourn import _core, files
from sojourn.reproduce.extract import FORMAT, Arrays


class Cache:
    """A folder of finished runs.

    Args:
        folder: where; the user's cache folder by default.
        report: called with a sentence about every damaged entry.
    """

    def __init__(
        self, folder: Path | None = None, report: Callable[[str], None] = lambda _text: None
    ) -> None:
        self._folder = (folder or default_folder()) / "runs"
        self._report = report

    def path(self, scenario: _core.Scenario, keep: tuple[str, ...], engine: str = "") -> Path:
        """The file of a run: its name is the digest of all that the content depends on.

        Args:
            scenario: what is run.
            keep: what of it is kept.
            engine: what the results depend on in the engine; see `Engine.digest`.
        """
        parts = [engine] if engine else []
        text = "\n".join([*parts, simulator(), str(FORMAT), *keep, scenario.resolved_json()])
        name = hashlib.sha256(text.encode()).hexdigest()[:40]
        return self._folder / name[:2] / f"{name}.npz"

    def read(self, path: Path) -> Arrays | None:
        """What was kept; None if it is not there or damaged."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except (ValueError, EOFError, KeyError, OSError, zipfile.BadZipFile):
            # numpy's own message would recommend unsafe loading.
            self._report(f"{path}: is damaged; the run is repeated")
            return None

    def write(self, path: Path, arrays: Arrays) -> None:
        """Keep a run; the file is renamed into place when whole.

        Raises:
            OSError: the folder cannot be written, or the disk is full.
        """
        buffer = io.BytesIO()
        pack = np.savez_compressed if sum(a.nbytes for a in arrays.values()) > 50_000 else np.savez
        pack(buffer, **arrays)
        files.write(path, buffer.getvalue())


def default_folder() -> Path:
    """The user's cache folder for Sojourn (XDG Base Directory Specification)."""
    if own := os.environ.get("SOJOURN_CACHE"):
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sojourn"


@functools.cache
def simulator() -> str:
    """Version of the simulator and digest of its compiled code."""
    code = Path(_core.__file__).read_bytes()
    return f"{_core.__version__} {hashlib.sha256(code).hexdigest()[:16]}"

"""The store of runs: each is kept once, by content, and found again by every command.

One file per run in the user's cache folder (``$SOJOURN_CACHE``, else ``$XDG_CACHE_HOME/sojourn``,
else ``~/.cache/sojourn``). Its name is the digest of all that the content depends on: the resolved
scenario with its seed, the engine, and the bytes of the compiled core, so that a rebuilt one never
answers with old runs.

An entry is a line with the format version, a line with the SHA-256 of the rest, and the rest. One
that does not match is reported, removed, and its run is done again.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from sojourn import _core, files
from sojourn.running.result import RunLike, StoredTables

FORMAT = 1
# Larger runs, such as those with every packet of a long run, would fill a disk.
LARGEST_BYTES = 256 << 20

_MAGIC = b"sojourn store %d\n" % FORMAT
_HEADER_BYTES = len(_MAGIC) + 65


def warn(text: str) -> None:
    """Report as Python does."""
    warnings.warn(text, stacklevel=3)


class Store:
    """A folder of finished runs.

    Args:
        folder: where; the user's cache folder by default.
        report: called with a sentence about every damaged entry.
    """

    def __init__(self, folder: Path | None = None, report: Callable[[str], None] = warn) -> None:
        self._given = folder
        self._report = report

    @property
    def folder(self) -> Path:
        """Where the entries are."""
        return (self._given or default_folder()) / "runs"

    def path(
        self, scenario: _core.Scenario, parts: Sequence[str] = (), engine: str = "", kind: str = ""
    ) -> Path:
        """The file of an entry: its name is the digest of all that the content depends on.

        Args:
            scenario: what is run.
            parts: what else the content depends on, such as what is extracted of the run.
            engine: what of the engine the results depend on; see `Engine.identity`.
            kind: ending of the name.
        """
        text = "\n".join([engine, simulator(), kind, *parts, scenario.resolved_json()])
        name = hashlib.sha256(text.encode()).hexdigest()[:40]
        return self.folder / name[:2] / f"{name}.{kind}"

    def read(self, path: Path) -> bytes | None:
        """The content of an entry; None if it is not there, or was damaged and is now removed."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._report(f"{path}: cannot be read ({error.strerror}); the run is made again")
            return None
        content = data[_HEADER_BYTES:]
        if data[:_HEADER_BYTES] == _header(content):
            return content
        self.discard(path)
        return None

    def write(self, path: Path, content: bytes) -> None:
        """Keep an entry; the file is renamed into place when whole.

        Raises:
            OSError: the folder cannot be written, or the disk is full.
        """
        files.remove_leftovers(path.parent.glob(".*.tmp"))
        files.write(path, _header(content) + content)

    def discard(self, path: Path) -> None:
        """Report a damaged entry and remove it."""
        self._report(f"{path}: is damaged; it is removed and the run is made again")
        path.unlink(missing_ok=True)

    def run(self, path: Path) -> StoredTables | None:
        """A whole run; None if it is not there or damaged."""
        content = self.read(path)
        if content is None:
            return None
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                tables = {name: archive.read(name) for name in archive.namelist()}
            return StoredTables(tables, str(path))
        except (zipfile.BadZipFile, ValueError, KeyError):
            self.discard(path)
            return None

    def keep(self, path: Path, run: RunLike) -> None:
        """Keep a whole run, unless it is larger than `LARGEST_BYTES`.

        A store that cannot be written is reported and does not end the run.
        """
        try:
            with tempfile.TemporaryDirectory(prefix="sojourn-") as folder:
                run.write(folder)
                made = sorted(Path(folder).iterdir())
                if sum(file.stat().st_size for file in made) > LARGEST_BYTES:
                    return
                buffer = io.BytesIO()
                with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
                    for file in made:
                        archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes())
            self.write(path, buffer.getvalue())
        except OSError as error:
            self._report(f"{path}: the run is not kept ({error.strerror or error})")


DEFAULT_STORE = Store()


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


def _header(content: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(content).hexdigest().encode() + b"\n"

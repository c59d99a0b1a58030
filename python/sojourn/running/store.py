"""The store of runs: each is kept once, by content, and found by every command.

One file per run in the user's cache folder (``$SOJOURN_CACHE``, else ``$XDG_CACHE_HOME/sojourn``,
else ``~/.cache/sojourn``). Its name is the digest of everything the content depends on: the
resolved scenario with its seed, the engine, and the bytes of the compiled core, so a rebuilt core
never returns old runs.

An entry has a line with the format version, a line with the SHA-256 of its name and content, and
the content. An entry that does not match, or whose content is not a run, is reported and removed,
and its run is repeated.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sojourn import _core, files
from sojourn.errors import InputError
from sojourn.running.result import SUMMARY, RunLike, StoredTables

FORMAT = 3
DIGEST_BYTES = 20
"""Half the hexadecimal digits of an entry's name."""
CORE = "core.txt"
"""The file next to the entries that holds the digest of the compiled core."""
# Larger results, such as those with every packet of a long run, would fill a disk.
LARGEST_BYTES = 256 << 20

_MAGIC = b"sojourn store %d\n" % FORMAT
_HEADER_BYTES = len(_MAGIC) + 65


def warn(text: str) -> None:
    """Report as a Python warning."""
    warnings.warn(text, stacklevel=3)


def entry_name(
    resolved_json: str, seed: int, parts: Sequence[str] = (), engine: str = "", kind: str = ""
) -> str:
    """The digest of everything an entry depends on, 40 hexadecimal digits.

    Args:
        resolved_json: the resolved scenario, as JSON.
        seed: seed of the scenario.
        parts: see `Store.path`, like the next two.
        engine: the engine.
        kind: the kind of entry.
    """
    return seeded_name(unseeded_digest(resolved_json, seed, parts, engine, kind), seed)


def unseeded_digest(
    resolved_json: str, seed: int, parts: Sequence[str] = (), engine: str = "", kind: str = ""
) -> bytes:
    """The digest of everything an entry depends on except for the seed, `DIGEST_BYTES` long.

    The runs of a point differ in their seeds only: `seeded_name` names each of them.
    """
    # The first such key is the scenario's own: quotes within its name are escaped.
    before, found, after = resolved_json.partition(f'"seed":{seed},')
    assert found, "a resolved scenario has its seed"
    text = "\n".join([str(FORMAT), engine, simulator(), kind, *parts, before + after])
    return hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]


def seeded_name(digest: bytes, seed: int) -> str:
    """The name of an entry, from the result of `unseeded_digest`."""
    return hashlib.sha256(digest + str(seed).encode()).hexdigest()[: 2 * DIGEST_BYTES]


class Store:
    """A folder of finished runs.

    Args:
        folder: the folder; in the user's cache by default.
        report: called with a sentence about every damaged entry.
    """

    def __init__(self, folder: Path | None = None, report: Callable[[str], None] = warn) -> None:
        self._given = folder
        self._report = report
        self._reported: set[str] = set()
        self._tidied: set[Path] = set()

    @property
    def folder(self) -> Path:
        """The folder of the entries."""
        return (self._given or default_folder()) / "runs"

    def path(
        self, scenario: _core.Scenario, parts: Sequence[str] = (), engine: str = "", kind: str = ""
    ) -> Path:
        """The file of an entry, named by the digest of everything the content depends on.

        Args:
            scenario: the scenario.
            parts: further inputs of the content, such as what is extracted from the run.
            engine: the engine's part of what results depend on; see `Engine.identity`.
            kind: suffix of the name.
        """
        name = entry_name(scenario.resolved_json(), scenario.seed, parts, engine, kind)
        return self.entry(name, kind)

    def entry(self, name: str, kind: str) -> Path:
        """The file of an entry by its name, as `entry_name` gives it."""
        return self.folder / name[:2] / f"{name}.{kind}"

    def read(self, path: Path) -> bytes | None:
        """The content of an entry; None if it is missing, or was damaged and has been removed."""
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            text = f"{path}: cannot be read ({error.strerror}); such runs are made again"
            self._report_once("read", text)
            return None
        content = data[_HEADER_BYTES:]
        if data[:_HEADER_BYTES] == _header(path.name, content):
            return content
        self.discard(path)
        return None

    def write(self, path: Path, content: bytes) -> None:
        """Keep an entry; the file is renamed into place when complete.

        Raises:
            OSError: the folder cannot be written, or the disk is full.
        """
        if path.parent not in self._tidied:
            self._tidied.add(path.parent)
            files.remove_leftovers(path.parent.glob(".*.tmp"))
        files.write(path, _header(path.name, content) + content)

    def check(self) -> None:
        """Check that entries can be kept, for work that needs them.

        Raises:
            InputError: the folder cannot be made or written.
        """
        import tempfile

        try:
            files.make_folder(self.folder)
            with tempfile.TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            raise InputError(
                f"{self.folder}: runs cannot be kept there ({error.strerror or error}); set "
                "SOJOURN_CACHE to a folder that can be written"
            ) from None

    def discard(self, path: Path) -> None:
        """Report a damaged entry and remove it."""
        self._report(f"{path}: is damaged; it is removed and the run is made again")
        path.unlink(missing_ok=True)

    def run(self, path: Path) -> StoredTables | None:
        """A complete run; None if it is missing or damaged."""
        content = self.read(path)
        if content is None:
            return None
        try:
            return StoredTables(_unpacked(content), str(path), lambda: self.discard(path))
        except (ValueError, KeyError, RecursionError):
            self.discard(path)
            return None

    def keep(self, path: Path, run: RunLike, switch: _core.Cancel) -> None:
        """Keep a complete run, unless it is larger than `LARGEST_BYTES` or was cancelled.

        An unwritable store is reported once and does not end the run.
        """
        try:
            with files.scratch() as folder:
                run.write(str(folder), switch)
                made = sorted(folder.iterdir())
                if sum(file.stat().st_size for file in made) > LARGEST_BYTES:
                    return
                tables = {file.name: file.read_bytes() for file in made}
            tables[SUMMARY] = json.dumps(list(run.summary())).encode()
            self.write(path, _packed(tables))
        except OSError as error:
            text = (
                f"{error.filename or path}: runs are not kept ({error.strerror or error}); "
                "set SOJOURN_CACHE, or TMPDIR for temporary files, to a folder that can be written"
            )
            self._report_once("kept", text)

    def _report_once(self, kind: str, text: str) -> None:
        """Report a fault of the whole folder, which every run would meet."""
        if kind not in self._reported:
            self._reported.add(kind)
            self._report(text)


DEFAULT_STORE = Store()


def default_folder() -> Path:
    """The folder of stored runs: ``$SOJOURN_CACHE``, else as `files.user_cache`."""
    own = os.environ.get("SOJOURN_CACHE")
    return Path(own) if own else files.user_cache()


@functools.cache
def simulator() -> str:
    """Version of the simulator and digest of its compiled code.

    Reading all of it takes as long as a short run, so the digest is cached with the file's path,
    size, inode and modification time, as Python does for a module's source.
    """
    code = Path(_core.__file__)
    facts = code.stat()
    known = f"{code} {facts.st_size} {facts.st_ino} {facts.st_mtime_ns} {facts.st_ctime_ns}"
    kept = default_folder() / CORE
    with contextlib.suppress(OSError):
        files.remove_leftovers(kept.parent.glob(f".{CORE}.*.tmp"))
    with contextlib.suppress(OSError, ValueError):
        name, digest = kept.read_text(encoding="utf-8").splitlines()
        if name == known and re.fullmatch("[0-9a-f]{16}", digest):
            return f"{_core.__version__} {digest}"
    digest = hashlib.sha256(code.read_bytes()).hexdigest()[:16]
    with contextlib.suppress(OSError, UnicodeError):
        files.write(kept, f"{known}\n{digest}\n")
    return f"{_core.__version__} {digest}"


def _packed(tables: Mapping[str, bytes]) -> bytes:
    """Files packed into one: a line of JSON with their names and sizes, then their content.

    No archive format is used, because importing a reader for one takes 10 ms.
    """
    sizes = json.dumps({name: len(content) for name, content in tables.items()})
    return b"".join([sizes.encode(), b"\n", *tables.values()])


def _unpacked(content: bytes) -> dict[str, bytes]:
    """The files of a content that was made by `_packed`.

    Raises:
        ValueError: it is not such a content.
    """
    line, _, rest = content.partition(b"\n")
    tables, at = {}, 0
    sizes = json.loads(line)
    if not isinstance(sizes, dict) or any(type(size) is not int or size < 0
                                          for size in sizes.values()):  # fmt: skip
        raise ValueError("it does not begin with the sizes of its files")
    for name, size in sizes.items():
        tables[name] = rest[at : at + size]
        at += size
    if at != len(rest):
        raise ValueError("its files have other sizes than it says")
    return tables


def _header(name: str, content: bytes) -> bytes:
    """The header of an entry, which does not match if the file is copied to another name."""
    digest = hashlib.sha256(f"{name}\n".encode() + content).hexdigest()
    return _MAGIC + digest.encode() + b"\n"

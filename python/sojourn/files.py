"""Output folders, and files that are either complete or missing.

Files are written under a temporary name and renamed. The manifest is last, so a folder with a
manifest is complete.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from sojourn import ending, platforms
from sojourn.errors import InputError
from sojourn.locking import locked

COMPARISON = "comparison.json"
MANIFEST = "manifest.json"
FILES = "files"
"""Key of a saved manifest: the SHA-256 of every table in its folder, by the name of its file."""

_CHECKSUM = "checksum"
# The name of a temporary file: host, process, and an unpredictable part.
_TEMPORARY = re.compile(r"\..*\.(?P<host>[^.]+)\.(?P<process>\d+)\.[0-9a-f]{16}\.tmp")

# The folder of a process for temporary files.
_SCRATCH = re.compile(r"sojourn-(?P<host>.+)-(?P<process>\d+)-\w+")

# A writer on another machine that has been silent for this long has ended.
_SILENT_S = 3600.0


def replace_between(path: Path, begin: str, end: str, text: str) -> None:
    """Replace the text between two lines of a page.

    Raises:
        ValueError: the page does not have both lines, once and in this order.
        OSError: it cannot be read or written, or the disk is full.
    """
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    if page.count(begin) != 1 or rest.count(end) != 1:
        raise ValueError(f"{path}: has no place between {begin.strip()} and {end.strip()}")
    write(path, before + begin + text + end + after)


def user_cache() -> Path:
    """The user's cache folder for Sojourn (XDG Base Directory Specification).

    Raises:
        InputError: no folder is named, and the user has no home.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        # The specification: a relative path is invalid and ignored.
        return (base if base.is_absolute() else Path.home() / ".cache") / "sojourn"
    except RuntimeError:
        raise InputError(
            "this user has no home folder to keep files in; set XDG_CACHE_HOME to a folder"
        ) from None


def holds_result(folder: Path) -> bool:
    """Whether a folder holds a result of an earlier run or comparison."""
    return any((folder / name).exists() for name in (COMPARISON, MANIFEST))


@contextlib.contextmanager
def writing_to(folder: Path | None) -> Iterator[None]:
    """Create and lock a folder, and check before long work that files can be written there.

    An earlier result is not touched yet; saving replaces it file by file. Half-written files of
    killed writers are removed.

    Args:
        folder: the value of ``--out``; None for no folder at all.

    Raises:
        InputError: the folder cannot be made or written, or another process writes to it.
    """
    if folder is None:
        yield
        return
    import tempfile

    is_new = not folder.exists()
    try:
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"--out {folder}: there is a file of that name; give a folder") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"--out {folder}: cannot be written ({reason}); give another folder"
        ) from error
    with contextlib.ExitStack() as at_end:
        if is_new:
            at_end.callback(_remove_empty, folder)
            at_end.enter_context(ending.before_end(lambda: _remove_empty(folder)))
        at_end.enter_context(locked(folder, f"--out {folder}"))
        remove_leftovers(folder.rglob(".*.tmp"))
        yield


def _remove_empty(folder: Path) -> None:
    """Remove the folder if it is empty, so a refused command leaves nothing behind."""
    with contextlib.suppress(OSError):
        folder.rmdir()


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A private folder for temporary files, removed in any case.

    Raises:
        OSError: it cannot be created.
    """
    import tempfile

    _sweep(Path(tempfile.gettempdir()))
    with contextlib.ExitStack() as at_end:
        with ending.changing():
            folder = Path(tempfile.mkdtemp(prefix=f"sojourn-{_host()}-{os.getpid()}-"))
            at_end.callback(ending.remove_tree, folder)
            at_end.enter_context(ending.before_end(lambda: ending.remove_tree(folder)))
        yield folder


@functools.cache
def _sweep(folder: Path) -> None:
    """Remove the remains of killed processes, once."""
    for path in folder.glob("sojourn-*"):
        found = _SCRATCH.fullmatch(path.name)
        # Another user's folder of that name is left alone.
        with contextlib.suppress(FileNotFoundError):
            if (
                found
                and platforms.is_ours(path)
                and _has_ended(found["host"], int(found["process"]), path)
            ):
                ending.remove_tree(path)


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Remove temporary files whose writer has ended.

    Writers on this machine are checked. One on another machine, in a shared folder, counts as ended
    after an hour without writes.
    """
    for path in list(paths):
        found = _TEMPORARY.fullmatch(path.name)
        if found and _has_ended(found["host"], int(found["process"]), path):
            path.unlink(missing_ok=True)


def _has_ended(host: str, process: int, path: Path) -> bool:
    if host == _host():
        return not platforms.is_alive(process)
    try:
        return time.time() - path.stat().st_mtime > _SILENT_S
    except FileNotFoundError:
        return False


class Together:
    """Files that appear together: each is written under a temporary name, then all are renamed.

    Used in a ``with`` block, whose end removes everything that was not renamed. Names are
    unpredictable and must be new, so nothing else can be written through them.
    """

    def __init__(self) -> None:
        self._pending: dict[Path, Path] = {}
        self._at_end = contextlib.ExitStack()

    def __enter__(self) -> Together:
        self._at_end.callback(self._remove_pending)
        self._at_end.enter_context(ending.before_end(self._remove_pending))
        return self

    def __exit__(self, *_raised: object) -> None:
        self._at_end.close()

    def _remove_pending(self) -> None:
        for temporary in list(self._pending.values()):
            temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def open(self, path: Path) -> Iterator[BinaryIO]:
        """A file that will be `path`; synced to disk at the end of the block.

        Raises:
            OSError: it cannot be written, is a device, pipe or folder, or the disk is full; the
                error names `path`.
        """
        _check_replaceable(path)
        secret = os.urandom(8).hex()
        temporary = path.with_name(f".{path.name}.{_host()}.{os.getpid()}.{secret}.tmp")
        try:
            make_folder(path.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | platforms.OPEN_SAFELY
            with ending.changing():
                descriptor = os.open(temporary, flags, 0o666)
                self._pending[path] = temporary
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error

    def forget(self, path: Path) -> None:
        """Discard a file."""
        self._pending.pop(path).unlink()

    def rename(self) -> list[Path]:
        """Give every file its name, in the order of writing; returns the names.

        Raises:
            OSError: a file cannot be renamed; the error names it.
        """
        renamed = list(self._pending)
        with ending.changing():
            for path in renamed:
                try:
                    self._pending[path].replace(path)
                except OSError as error:
                    raise OSError(error.errno, error.strerror, str(path)) from error
                del self._pending[path]
        for folder in dict.fromkeys(path.parent for path in renamed):
            _confirm(folder)
        return renamed


def _check_replaceable(path: Path) -> None:
    """Refuse what a file must not replace, such as /dev/null, /dev/stdout or a pipe.

    Raises:
        OSError: it cannot be replaced.
    """
    is_of_system = path.is_symlink() and path.absolute().parts[1:2] in (("dev",), ("proc",))
    if is_of_system or (path.exists() and not path.is_file()):
        message = "is not a regular file, which would be replaced; name one"
        raise OSError(errno.EINVAL, message, str(path))


def write(path: Path, content: str | bytes) -> None:
    """Write a file under a temporary name and rename it when complete.

    Raises:
        OSError: it cannot be written, or the disk is full; nothing is left behind then.
    """
    with Together() as together:
        with together.open(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
        together.rename()


def sealed(facts: Mapping[str, Any]) -> str:
    """Facts as JSON whose second line is the checksum of all others; `unsealed` reads it back.

    `sojourn_record::files` writes the same form.
    """
    text = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    return text.replace("{\n", f'{{\n "{_CHECKSUM}": "{_sum(text)}",\n', 1)


def unsealed(text: str) -> dict[str, Any]:
    """The facts of a text that was made by `sealed`.

    Raises:
        ValueError: it is not such a text, or has changed since.
    """
    found = re.match(rf'{{\n *"{_CHECKSUM}": "([0-9a-f]{{64}})",\n', text)
    rest = text.replace(found[0], "{\n", 1) if found else text
    if found is None or _sum(rest) != found[1]:
        raise ValueError("its checksum is not that of its content")
    try:
        facts: dict[str, Any] = json.loads(rest)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return facts


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def remove(path: Path) -> None:
    """Remove a file, if it exists, and sync the folder to disk.

    Raises:
        OSError: it cannot be removed.
    """
    if path.exists():
        path.unlink(missing_ok=True)
        _confirm(path.parent)


def make_folder(folder: Path) -> None:
    """Create a folder with its parents, and sync the new names to disk.

    Raises:
        OSError: it cannot be created, or a file has that name.
    """
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _confirm(folder.parent)


def _confirm(folder: Path) -> None:
    """Sync the names in a folder to disk."""
    # Some network file systems cannot sync a folder. A folder that may not be listed cannot be
    # opened, nor can any on Windows. The file itself is safe in all these cases.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | platforms.OPEN_FOLDER)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", platforms.host_name()) or "unnamed"

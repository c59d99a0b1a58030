"""Laws and transport libraries in shared libraries; the loaded code is exactly the digested code.

The system's loader compares paths: it returns the library that it has loaded from a path before,
even if the file has changed. So a library is read once, digested, and loaded from a copy in memory
with a unique name. Each digest is loaded once per process.

A library that needs others outside the system's folders is loaded in place, because it finds them
relative to its path. Its digest covers them. The loader identifies libraries by name, so a process
refuses one that has the name of a loaded library but other content.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import NamedTuple

from sojourn import _core, files, reading
from sojourn._core import CustomLaw
from sojourn.errors import InputError

LAW = "sojourn_law"
ENDPOINT = "sojourn_endpoint"
"""The functions that libraries export: of a law, of a transport library."""

_SYSTEM = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64")
_TRIAL_S = 60
_TRIAL = (
    "import sys\n"
    "sys.path[:] = {path!r}\n"
    "from sojourn import _core\n"
    "is_law, path, *rest = sys.argv[1:]\n"
    "try:\n"
    "    law = _core.CustomLaw.library(path, *rest) if is_law else _core.try_endpoint(*rest)\n"
    "    print('loaded', flush=True)\n"
    "    if is_law:\n"
    "        _core.law_repeats(law.name, [law], {operations})\n"
    "except Exception:\n"
    "    pass\n"
    "print('ended')\n"
)
_OPERATIONS = 10_000

_COPIES: dict[str, str] = {}
"""Loaded libraries, by digest."""
_NAMES: dict[str, str] = {}
"""Digests of the libraries that the loader knows by path or by name."""
_TRIED: set[str] = set()


class Opened(NamedTuple):
    """A library that can be loaded.

    Attributes:
        opened: the file to load.
        name: the file's name in messages.
        source: its name and digest in manifests.
    """

    opened: str
    name: str
    source: str


def law_of(file: Path, *, is_tried: bool) -> CustomLaw:
    """The law in a library.

    Args:
        file: the library.
        is_tried: whether loading it has been tried in a separate process.

    Raises:
        InputError: as `opened`.
        ScenarioError: it is not a library, or not a law.
    """
    found = opened(file, LAW, is_tried=is_tried)
    law = CustomLaw.library(str(file.resolve()), *found)
    check_unchanged(file, found)
    return law


def opened(file: Path, entry: str, *, is_tried: bool = False) -> Opened:
    """A library that can be loaded.

    Args:
        file: the library.
        entry: the function that it exports, `LAW` or `ENDPOINT`.
        is_tried: whether loading it has been tried in a separate process.

    Raises:
        InputError: the file does not exist, loading it ends the process, or a library that it needs
            has been loaded with other content.
    """
    if not file.exists():
        raise InputError(f"{file}: no such library; `sojourn build` makes one")
    content = reading.content(file, "library")
    others = _others(file.resolve(), content)
    digest = _digest(content, others)
    if not others:
        path = _copied(file, content, digest)
    else:
        path = str(file.resolve())
        _check_names(file, {path: _sum(content)} | _by_name(others))
    found = Opened(path, file.name, f"library:{file.name} sha256={digest}")
    if not is_tried and digest not in _TRIED:
        _try(file, entry, found)
        _TRIED.add(digest)
    return found


def check_unchanged(file: Path, found: Opened) -> None:
    """Refuse a library that was rebuilt after it was loaded in place.

    Raises:
        InputError: it was rebuilt.
    """
    if found.opened != str(file.resolve()):
        return
    content = file.read_bytes()
    if found.source.rpartition("=")[2] != _digest(content, _others(file.resolve(), content)):
        raise InputError(f"{file}: was built again while it was loaded; start again")


def has_loaded() -> bool:
    """Whether this process may have loaded a library."""
    return bool(_TRIED)


def exports(file: Path, entry: str) -> bool:
    """Whether a library names a function, according to the texts in it."""
    return file.is_file() and b"\0%s\0" % entry.encode() in file.read_bytes()


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest(content: bytes, others: dict[Path, bytes]) -> str:
    """The digest of a library and of those that it needs, in the order in which it names them."""
    if not others:
        return _sum(content)
    lines = [_sum(content), *(f"{path.name} {_sum(other)}" for path, other in others.items())]
    return _sum("\n".join(lines).encode())


def _others(file: Path, content: bytes) -> dict[Path, bytes]:
    """The libraries outside the system's folders that a library needs, directly or through others.

    Raises:
        InputError: one cannot be read.
    """
    found: dict[Path, bytes] = {}
    waiting = [(file, content)]
    while waiting:
        at, text = waiting.pop(0)
        names, folders = _core.library_dependencies(text) or ([], "")
        for name in names:
            path = _found(name, at.parent, folders)
            if path is not None and path != file and path not in found:
                found[path] = reading.content(path, "library")
                waiting.append((path, found[path]))
    return found


def _found(name: str, origin: Path, folders: str) -> Path | None:
    """The path where the loader finds a library (ld.so(8)); None if that is a system folder."""
    if "/" in name:
        candidates = [Path(name)]
    else:
        listed = f"{os.environ.get('LD_LIBRARY_PATH', '')}:{folders}"
        texts = [each for each in listed.replace(";", ":").split(":") if each]
        expand = [each.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(origin))
                  for each in texts]  # fmt: skip
        candidates = [Path(each) / name for each in expand]
    first = next((each.resolve() for each in candidates if each.is_file()), None)
    if first is None or any(first.is_relative_to(folder) for folder in _SYSTEM):
        return None
    return first


def _by_name(others: dict[Path, bytes]) -> dict[str, str]:
    return {path.name: _sum(content) for path, content in others.items()}


def _check_names(file: Path, names: dict[str, str]) -> None:
    """Refuse a library that the loader would confuse with one of the same name."""
    for name, digest in names.items():
        if _NAMES.get(name, digest) != digest:
            raise InputError(
                f"{file}: this process has loaded another {Path(name).name} before, and cannot "
                "load a second library of that name; start it again"
            )
    _NAMES.update(names)


def _copied(file: Path, content: bytes, digest: str) -> str:
    """A path that refers to exactly these bytes for the lifetime of the process."""
    if digest in _COPIES:
        return _COPIES[digest]
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        # The file stays open, because the loader identifies libraries by path.
        descriptor = os.memfd_create(file.name)
        with os.fdopen(descriptor, "wb", closefd=False) as copy:
            copy.write(content)
        _COPIES[digest] = f"/proc/self/fd/{descriptor}"
    else:
        folder = files.user_cache() / "libraries"
        files.make_folder(folder)
        copy_path = folder / f"{digest}{file.suffix}"
        files.write(copy_path, content)
        _COPIES[digest] = str(copy_path)
    return _COPIES[digest]


def _try(file: Path, entry: str, found: Opened) -> None:
    """First load a library and call a law's hooks in a separate process, which they may end.

    Raises:
        InputError: they end the process, or take too long.
    """
    import subprocess

    if not sys.executable:
        return
    path = found.opened
    kept = (int(path.rpartition("/")[2]),) if path.startswith("/proc/self/fd/") else ()
    program = _TRIAL.format(path=sys.path, operations=_OPERATIONS)
    is_law = "law" if entry == LAW else ""
    command = [sys.executable, "-c", program, is_law, str(file.resolve()), *found]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, pass_fds=kept,
            timeout=_TRIAL_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InputError(f"{file}: does not return within {_TRIAL_S} s; see what it does at its "
                         f"start (a constructor, {entry}) and in its hooks") from None  # fmt: skip
    if done.stdout.endswith(b"ended\n"):
        return
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
    if b"loaded\n" not in done.stdout:
        raise InputError(
            f"{file}: ends the process that loads it ({how}); see what it does at its start (a "
            f"constructor, {entry}) and what its table points to"
        )
    why = done.stderr.decode(errors="replace").partition("sojourn: error: ")[2]
    raise InputError(
        why.strip() or f"{file}: ends the process that calls its hooks ({how}); see what they do"
    )

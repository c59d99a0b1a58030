"""The runner: a program with ns-3 that runs scenarios, compiled once per user and cached.

It is compiled from ``ns3`` and the crates of the source tree, against an unpacked wheel of ns-3.
Like ns-3 it is under the GPL, version 2; this package contains no part of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path

import sojourn
from sojourn import ending, files, platforms, tools
from sojourn.authoring.new import checked_tree, source_tree
from sojourn.errors import InputError, Unavailable

VERSION = "3.44.post0"
BUILD = "`sojourn ns3 build` makes it, in about two minutes"
PROGRAM = "sojourn-runner"
_LIBRARY = "libsojourn.so"
_MADE = (PROGRAM, _LIBRARY)
_ABOUT = "about.json"
_WHEEL = "ns3"
_TOOLS = {"cmake": "cmake", "c++": "g++", "cargo": "cargo, or https://rustup.rs"}
# The sources of the runner: folders, then files.
_FOLDERS = (
    "ns3/model", "ns3/helper", "ns3/runner", "crates/aqm/src", "crates/capi/src",
    "crates/capi/include",
)  # fmt: skip
_FILES = (
    "ns3/CMakeLists.txt", "ns3/cmake/installed-ns3.cmake", "ns3/cmake/sojournConfig.cmake.in",
    "Cargo.toml", "Cargo.lock", "crates/aqm/Cargo.toml",
    "crates/capi/Cargo.toml",
)  # fmt: skip
_HEADER = "include/ns3/core-module.h"
# The name of ns-3's core library, and its name in Debian.
_CORE = re.compile(r"libns3\.(\d+)-core|libns3-core\.so\.(\d+)")
# CMake's output.
_NO_COMPILER = "is not able to compile a simple test program"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Runner:
    """The compiled runner.

    Attributes:
        path: the program.
        ns3: the version of ns-3 that it was compiled against.
        sources: a digest of its sources.
    """

    path: Path
    ns3: str
    sources: str

    def __str__(self) -> str:
        """One line about it."""
        return f"{self.path}: ns-3 {self.ns3}"


def cache() -> Path:
    """The folder in which this package keeps what it builds for this user."""
    return files.user_cache()


def prefix() -> Path | None:
    """The folder of ns-3's headers and libraries; None if it is not found.

    ``NS3_PREFIX`` names it; otherwise the installed wheel and the cache are searched.

    Raises:
        InputError: ``NS3_PREFIX`` does not name such a folder.
    """
    if given := os.environ.get("NS3_PREFIX"):
        if (Path(given) / _HEADER).is_file():
            return Path(given)
        raise InputError(f"NS3_PREFIX: ns-3 is not in {given}: no {_HEADER}")
    places = [cache() / f"ns3-{VERSION}" / _WHEEL]
    with suppress(metadata.PackageNotFoundError):
        places.insert(0, Path(str(metadata.distribution(_WHEEL).locate_file(_WHEEL))))
    return next((place for place in places if (place / _HEADER).is_file()), None)


def version_of(place: Path) -> str:
    """The version of an unpacked ns-3, such as ``3.44``.

    Raises:
        InputError: this package does not support it.
    """
    supported = VERSION.removesuffix(".post0")
    names = sorted(path.name for path in place.glob("lib*/**/libns3*-core*.so*"))
    found = [match[1] or match[2] for name in names if (match := _CORE.match(name))]
    version = f"3.{found[0]}" if found else ""
    if version != supported:
        said = f"is ns-3 {version}" if found else "has no library of ns-3's core"
        raise InputError(
            f"ns3: {place} {said}; the engine is built and tested with {supported}: unset "
            f"NS3_PREFIX, then `sojourn ns3 build` fetches it"
        )
    return version


def find() -> Runner | None:
    """The runner built from the present sources; None if it was not built.

    A damaged one is not used, with a warning.
    """
    tree = source_tree()
    abouts = cache().glob(f"ns3-runner-*/{_ABOUT}")
    for about in sorted(abouts, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            facts = json.loads(about.read_text(encoding="utf-8"))
            runner = Runner(about.parent / PROGRAM, facts["ns3"], facts["sources"])
            digests = {name: facts["sha256"][name] for name in _MADE}
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if tree is not None and sources(tree) != runner.sources:
            continue
        if all(_digest(about.parent / name) == digest for name, digest in digests.items()):
            return runner
        warnings.warn(f"{about.parent}: is damaged and not used; {BUILD}", stacklevel=2)
    return None


def _digest(path: Path) -> str:
    """The checksum of a file, read once per process unless it changes; empty if it is missing."""
    try:
        facts = path.stat()
        return _digest_of(path, facts.st_mtime_ns, facts.st_size)
    except OSError:
        return ""


@lru_cache
def _digest_of(path: Path, _changed_ns: int, _size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require() -> Runner:
    """The runner.

    Raises:
        InputError: it has not been built, or from other sources than those of this tree.
    """
    platforms.require_linux("engine ns3")
    found = find()
    if found is None:
        raise Unavailable(f"engine ns3: its runner is not built from today's sources; {BUILD}")
    return found


def sources(tree: Path) -> str:
    """A digest of the runner's sources."""
    digest = hashlib.sha256(VERSION.encode())
    inside = [path for folder in _FOLDERS for path in (tree / folder).rglob("*") if path.is_file()]
    for path in sorted([*inside, *(tree / name for name in _FILES)]):
        digest.update(f"{path.relative_to(tree).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build(say: Say, source: Path | None = None) -> Runner:
    """Compile the runner; it is kept in the cache, by the digest of its sources.

    Args:
        say: receives each step as a sentence.
        source: a checkout of Sojourn; None for the one that this package is used from.

    Raises:
        InputError: the source tree, a tool or ns-3 is missing, or a step failed.
    """
    tree, place = _needed("build", say, source)
    version = version_of(place)
    made_of = sources(tree)
    folder = cache() / f"ns3-runner-{made_of[:16]}"
    say(f"compiling the runner against {place}")
    work = _compiled(tree, place, PROGRAM, "-DSOJOURN_RUNNER=ON")
    folder.mkdir(parents=True, exist_ok=True)
    for name in _MADE:
        shutil.copy(work / name, folder)
    digests = {name: _digest(folder / name) for name in _MADE}
    facts = {"ns3": version, "sources": made_of, "sha256": digests}
    files.write(folder / _ABOUT, json.dumps(facts, indent=1) + "\n")
    return Runner(folder / PROGRAM, version, made_of)


def install(to: Path, say: Say, source: Path | None = None) -> Path:
    """Compile the queue discs and install library, headers and CMake package.

    Args:
        to: the prefix, such as ``~/.local``.
        say: receives each step as a sentence.
        source: a checkout of Sojourn; None for the one that this package is used from.

    Returns:
        The prefix, absolute.

    Raises:
        InputError: the source tree, a tool or ns-3 is missing, or a step failed.
    """
    tree, place = _needed("install", say, source)
    to = to.expanduser().absolute()
    say(f"compiling the queue discs against {place}")
    work = _compiled(tree, place, "sojourn")
    _run(["cmake", "--install", str(work), "--prefix", str(to)])
    return to


def _needed(verb: str, say: Say, source: Path | None) -> tuple[Path, Path]:
    """The source tree and ns-3's folder, which is downloaded if it is not found."""
    platforms.require_linux(f"ns3 {verb}")
    tree = checked_tree(source, _FILES) if source else source_tree()
    if tree is None:
        raise InputError(
            f"ns3 {verb}: it is compiled from Sojourn's source tree, which the installed "
            f"package does not contain; get that of version {sojourn.__version__} and say where "
            f"it is: sojourn ns3 {verb} --source FOLDER"
        )
    missing = [package for tool, package in _TOOLS.items() if shutil.which(tool) is None]
    if missing:
        raise InputError(f"ns3 {verb}: not installed; apt-get install {' '.join(missing)}")
    return tree, prefix() or _download(say)


def _compiled(tree: Path, place: Path, target: str, *settings: str) -> Path:
    """Compile a target of ``ns3/CMakeLists.txt``; returns the build folder.

    Unchanged files are not compiled again. CMake binds a build folder to the source tree that it
    was first used for.
    """
    of_tree = hashlib.sha256(str(tree).encode()).hexdigest()[:8]
    work = cache() / f"ns3-build-{of_tree}"
    _run([
        "cmake", "-S", str(tree / "ns3"), "-B", str(work), f"-DCMAKE_PREFIX_PATH={place}",
        "-Uns3_*",  # another ns-3 was found the last time
        *settings,
    ])  # fmt: skip
    _run(["cmake", "--build", str(work), "--parallel", "2", "--target", target])
    return work


def _download(say: Say) -> Path:
    """Download the wheel and unpack it; pip would compile its Python binding for minutes."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise InputError(
            "ns3: the wheel of ns-3 is for Linux on x86-64; install ns-3 "
            f"{VERSION.removesuffix('.post0')} and set NS3_PREFIX"
        )
    say(f"fetching the wheel ns3 {VERSION}, 69 MB")
    folder = cache() / f"ns3-{VERSION}"
    new = folder.with_name(f"{folder.name}.{os.getpid()}")
    new.mkdir(parents=True)
    try:
        with ending.before_end(lambda: ending.remove_tree(new)):
            _fetch(new)
        new.rename(folder)
    except InputError as error:
        raise InputError(f"{error}; or pip install 'sojourn[ns3]', or set NS3_PREFIX") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return folder / _WHEEL


def _fetch(new: Path) -> None:
    _run([
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(new),
        "--only-binary", ":all:", "--python-version", "311", "--implementation", "cp",
        "--abi", "cp311", "--platform", "manylinux_2_28_x86_64", f"{_WHEEL}=={VERSION}",
    ])  # fmt: skip
    (wheel,) = new.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(new)
    wheel.unlink()


def _run(command: Sequence[str]) -> None:
    done = tools.run(command)
    if done.returncode != 0:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        if any(_NO_COMPILER in line for line in said):
            name = os.environ.get("CXX", "c++")
            raise InputError(
                f"ns3: the C++ compiler {name} cannot compile a program; see what it says of "
                "an empty one, or name another: CXX=g++"
            )
        words = " | ".join(said[-4:]) or f"exit code {done.returncode}"
        raise InputError(f"ns3: {Path(command[0]).name} failed: {words}")

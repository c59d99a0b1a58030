"""The guest kernel: built once per user from Debian's kernel sources and cached.

Nothing here needs root: the user installs packages, with the command that the message names. The
sources and the resulting program are the kernel's, under the GPL, version 2; this package contains
no part of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sojourn import files
from sojourn.engines.linux.kernel import archives, changes, module_tree, names, steps
from sojourn.errors import InputError, Unavailable

DEFAULT_HZ = 1000
_HERE = Path(__file__).parent
_OPTIONS = _HERE / "options.config"
# Options added for a debug kernel.
_DEBUG_OPTIONS = _HERE / "debug.config"
PROGRAM = "linux"
_ABOUT = "about.json"
# Part of the name of a debug kernel's folder.
_DEBUG = "-debug"
# A text in the help of every User-Mode Linux kernel.
_UML_OPTION = b"uml_dir="
_TOOLS = ("bc", "bison", "flex", "gcc", "make", "tar", "xz")
_PACKAGES = "linux-source bc bison flex gcc libc6-dev make tar xz-utils"
INSTALL = f"apt-get install {_PACKAGES}"
# Disk space of sources, objects and the program.
_DISK_BYTES = 2_500_000_000
# Number of make's output lines that begin with two blanks, one per file.
_STEPS = 1200


@dataclass(frozen=True)
class Kernel:
    """A guest kernel.

    Attributes:
        path: the program.
        version: version of its sources, such as ``6.1.192-2``; ``own`` if the user names a file.
        hz: timer interrupts per second; None if unknown.
        source: package of the sources and SHA-256 of its archive; empty if unknown.
        release: release of the sources, such as ``6.1``; empty if unknown.
    """

    path: Path
    version: str
    hz: int | None
    source: str = ""
    release: str = ""

    @property
    def is_debug(self) -> bool:
        """Whether it is a debug kernel, according to the name of its folder."""
        return f"{_DEBUG}-" in self.path.parent.name

    def __str__(self) -> str:
        """One line about it."""
        built_from = f", from {self.source}" if self.source else ""
        return f"{self.path}: kernel {self.version}, {self.hz} Hz{built_from}"


class Meter(Protocol):
    """Receives the progress of a build."""

    def step(self, done: float, what: str) -> None:
        """The fraction done, 0 to 1, and the current step."""


def cache() -> Path:
    """The folder of all kernels of this user."""
    return files.user_cache() / "kernel"


def built(hz: int = DEFAULT_HZ, *, debug: bool = False) -> list[Kernel]:
    """The kernels in the cache with today's configuration, those of the default release last.

    Args:
        hz: timer interrupts per second.
        debug: debug kernels instead.
    """
    abouts = sorted(cache().glob(f"*/{_ABOUT}"), key=lambda path: path.stat().st_mtime)
    wanted = configuration(hz, debug)
    found = [kernel for about in abouts if (kernel := _built(about, wanted)) is not None]
    return sorted(found, key=lambda kernel: kernel.release == archives.DEFAULT_RELEASE)


def find(hz: int = DEFAULT_HZ, release: str | None = None, *, debug: bool = False) -> Kernel | None:
    """A kernel in the cache with today's configuration.

    Args:
        hz: timer interrupts per second.
        release: release of its sources, such as ``6.12``; by default
            :data:`~archives.DEFAULT_RELEASE` if it was built, else the one built last.
        debug: a debug kernel instead.
    """
    fitting = [kernel for kernel in built(hz, debug=debug) if release in (None, kernel.release)]
    return fitting[-1] if fitting else None


def _built(about: Path, wanted: str | None) -> Kernel | None:
    """The kernel of a folder of the cache; None if it has another configuration or is damaged."""
    program = about.parent / PROGRAM
    try:
        facts = json.loads(about.read_text(encoding="utf-8"))
        if wanted not in (None, facts["configuration"]):
            return None
        source = facts.get("source", "")
        kernel = Kernel(
            program,
            facts["version"],
            facts["hz"],
            source,
            archives.release_of(source.split(",")[0]),
        )
        digest = facts.get("sha256", None)
        if digest in (None, _digest(program)):
            return kernel
    except (OSError, ValueError, KeyError, TypeError):
        pass
    warnings.warn(
        f"{about.parent}: is damaged and not used; remove it and call `sojourn kernel build`",
        stacklevel=2,
    )
    return None


def given(asked: Path, hz: int = DEFAULT_HZ) -> Kernel:
    """The kernel that ``--kernel`` names: the release of one in the cache, or a program.

    Raises:
        InputError: the kernel does not exist.
    """
    release = str(asked)
    if not asked.exists() and names.NAME.fullmatch(release):
        return _named(release, hz)
    if asked.exists() or re.fullmatch(r"\d+(\.\d+)+", release) is None:
        return own(asked)
    found = find(hz, release)
    if found is None:
        there = ", ".join(sorted({kernel.release for kernel in built(hz)})) or "none"
        raise Unavailable(
            f"--kernel {release}: no guest kernel of that release and {hz} Hz is built (built:  "
            f"{there}); `sojourn kernel build --source {release}` makes it"
        )
    return found


def named() -> list[Kernel]:
    """The kernels with a patch or further options, by name."""
    abouts = [folder / _ABOUT for folder in names.folders(cache())]
    return [kernel for about in abouts if (kernel := _built(about, None)) is not None]


def _named(name: str, hz: int) -> Kernel:
    """A kernel that `patched.build` made."""
    about = names.folder_of(cache(), name) / _ABOUT
    found = _built(about, None) if about.exists() else None
    if found is None:
        there = ", ".join(folder.name for folder in names.folders(cache())) or "none"
        raise Unavailable(
            f"--kernel {name}: is not a program, and no guest kernel has that name (there: "
            f"{there}); `sojourn kernel build --name {name}` with --patch FILE or --config FILE "
            "makes it"
        )
    if found.hz != hz:
        raise InputError(
            f"--kernel {name}: has {found.hz} Hz, and the scenario asks for {hz} Hz; build it "
            f"with --hz {hz}"
        )
    return found


def own(path: Path) -> Kernel:
    """A kernel that the user built.

    Raises:
        InputError: the program does not exist, or is not such a kernel.
    """
    if not (path.is_file() and os.access(path, os.X_OK)):
        kind = InputError if path.exists() else Unavailable
        raise kind(f"--kernel {path}: is not a program; give a User-Mode Linux kernel")
    if _UML_OPTION not in path.read_bytes():
        raise InputError(
            f"--kernel {path}: is a program, but not a User-Mode Linux kernel; give the file "
            "`linux` that `make ARCH=um` builds"
        )
    about = path.resolve().parent / _ABOUT
    ours = _built(about, None) if about.is_file() else None
    return ours if ours and ours.path == path.resolve() else Kernel(path.resolve(), "own", None)


def missing() -> str:
    """The packages that a build lacks, with the command that installs them; may be empty."""
    lacks = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if archives.usual() is None:
        lacks.append("Debian's kernel sources (linux-source)")
    return f"{', '.join(lacks)}: not installed; {INSTALL}" if lacks else ""


def build(
    meter: Meter, *, hz: int = DEFAULT_HZ, jobs: int = 2, archive: Path | None = None,
    debug: bool = False,
) -> Kernel:  # fmt: skip
    """Build the kernel, or continue a build that was interrupted.

    Args:
        meter: receives the progress.
        hz: timer interrupts per second.
        jobs: concurrent compilers.
        archive: archive of the kernel's sources, from :func:`archives.sources`; by default that of
            :data:`~archives.DEFAULT_RELEASE`, or the newest.
        debug: whether to include the kernel's checks for errors, which make it slow.

    Raises:
        InputError: a package is missing, the cache cannot be written or is too small, or the build
            failed.
    """
    tarball = archive_or_usual(archive)
    version, own_configuration = archives.version_of(tarball), configuration(hz, debug)
    folder = cache() / f"{version}-{hz}hz{_DEBUG if debug else ''}-{own_configuration[:8]}"
    work = folder.with_name(folder.name + ".partial")
    source = prepared(tarball, work, hz, meter, debug=debug)
    compile_in(source, jobs, meter)
    about = describe(tarball, version, hz, source, debug=debug)
    module_tree.keep(source, folder)
    keep(source / PROGRAM, folder, about)
    shutil.rmtree(work)
    meter.step(1.0, "done")
    source_text = str(about["source"])
    return Kernel(folder / PROGRAM, version, hz, source_text, archives.release_of(tarball.name))


def archive_or_usual(archive: Path | None) -> Path:
    """The archive of sources to build from.

    Raises:
        Unavailable: a package is missing.
    """
    if (lacks := missing()) != "":
        raise Unavailable(f"kernel build: {lacks}")
    tarball = archive or archives.usual()
    assert tarball is not None, "missing() has looked for it"
    return tarball


def prepared(
    tarball: Path, work: Path, hz: int, meter: Meter, *, debug: bool = False, more: str = ""
) -> Path:
    """The sources of an archive in a work folder, with our changes and configuration.

    Args:
        tarball: the archive.
        work: the folder; it is made.
        hz: timer interrupts per second.
        meter: receives the progress.
        debug: with the options of a debug kernel.
        more: further options, in the form of ``.config``.

    Raises:
        InputError: the folder cannot be written or is too small, or the sources do not fit.
    """
    _make_folder(work)
    _check_disk(work)
    source = _unpack(tarball, work, meter)
    try:
        changes.adapt(source, hz)
    except InputError:
        # These sources are unusable.
        shutil.rmtree(work)
        raise
    _configure(source, _options(debug) + more.encode())
    return source


def describe(
    tarball: Path, version: str, hz: int, source: Path, *, debug: bool = False
) -> dict[str, object]:
    """The description of a build that is kept with its program."""
    return {
        "version": version,
        "hz": hz,
        "configuration": configuration(hz, debug),
        "source": f"{tarball.name}, SHA-256 {_digest(tarball)}",
        "sha256": _digest(source / PROGRAM),
    }


def keep(program: Path, folder: Path, about: Mapping[str, object]) -> None:
    """Put a program and its description into a folder of the cache."""
    with files.Together() as together:
        with together.open(folder / PROGRAM) as file, program.open("rb") as made:
            shutil.copyfileobj(made, file)
            os.fchmod(file.fileno(), 0o755)
        with together.open(folder / _ABOUT) as file:
            file.write(json.dumps(about, indent=1).encode())
        together.rename()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _options(debug: bool) -> bytes:
    return _OPTIONS.read_bytes() + (_DEBUG_OPTIONS.read_bytes() if debug else b"")


def configuration(hz: int, debug: bool = False) -> str:
    """A digest of all inputs of a build other than the sources."""
    parts = [
        _options(debug),
        *(path.read_bytes() for path in changes.OURS),
        repr(changes.CHANGES).encode(),
        str(hz).encode(),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"kernel build: {folder}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be "
            "written"
        ) from None


def _check_disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    held = sum(path.stat().st_size for path in folder.glob("*") if path.is_file())
    if free + held < _DISK_BYTES and not (folder / "unpacked").exists():
        raise InputError(
            f"kernel build: {folder} has {free / 1e9:.1f} GB free and needs "
            f"{_DISK_BYTES / 1e9:.1f} GB; free some, or set XDG_CACHE_HOME to another disk"
        )


def _unpack(tarball: Path, work: Path, meter: Meter) -> Path:
    source = work / tarball.name.removesuffix(".tar.xz")
    done = work / "unpacked"
    if not done.exists():
        meter.step(0.0, f"unpacking {tarball.name}")
        shutil.rmtree(source, ignore_errors=True)
        remedy = f"fetch {tarball.name} again if it is damaged"
        steps.run(["tar", "-xJf", str(tarball), "-C", str(work)], work, remedy)
        done.touch()
    return source


def _configure(source: Path, options: bytes) -> None:
    """The smallest configuration with our options added; make decides what is stale."""
    config = source / ".config"
    stamp = source / ".sojourn-options"
    if config.exists() and stamp.exists() and stamp.read_bytes() == options:
        return
    steps.run(["make", "ARCH=um", "tinyconfig"], source)
    config.write_bytes(config.read_bytes() + options)
    steps.run(["make", "ARCH=um", "olddefconfig"], source)
    stamp.write_bytes(options)


def compile_in(source: Path, jobs: int, meter: Meter) -> None:
    """Compile configured sources, as far as they have changed.

    Raises:
        InputError: they do not compile.
    """
    command = ["nice", "make", "ARCH=um", f"-j{jobs}", "linux", "modules"]
    done = 0
    for line in steps.lines(command, source):
        if line.startswith("  "):
            done += 1
            meter.step(min(0.99, done / _STEPS), line.strip())

"""The guest kernel: built once per user from Debian's kernel sources, found again in the cache.

Nothing here needs root: installing packages is the user's act, and the message names the line. The
sources and the resulting program are the kernel's, under the GPL, version 2; no part of them is in
this package.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sojourn import ending, files
from sojourn.engines.linux.kernel import archives, module_tree
from sojourn.errors import InputError

DEFAULT_HZ = 1000
_HERE = Path(__file__).parent
_OPTIONS = _HERE / "options.config"
# Ours, compiled into the kernel: seeded random numbers, and ptrace on the processors of today.
_OURS = (_HERE / "rngseed_user.c", _HERE / "ptrace_user.c")
_PROGRAM = "linux"
_ABOUT = "about.json"
# In the help of every User-Mode Linux kernel.
_UML_OPTION = b"uml_dir="
_TOOLS = ("bc", "bison", "flex", "gcc", "make", "tar", "xz")
_PACKAGES = "linux-source bc bison flex gcc libc6-dev make tar xz-utils"
INSTALL = f"apt-get install {_PACKAGES}"
# Sources, objects and the program.
_DISK_BYTES = 2_500_000_000
# Lines of make that begin with two blanks, one per file that it makes.
_STEPS = 1200
# The same bytes from every build: the version text goes into the kernel's pool of random numbers.
_FIXED = {
    "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
    "KBUILD_BUILD_USER": "sojourn",
    "KBUILD_BUILD_HOST": "sojourn",
    "KBUILD_BUILD_VERSION": "1",
}
# Changes of the sources: file, text, and what replaces it.
_CHANGES = (
    (
        "arch/um/os-Linux/Makefile",
        "include arch/um/scripts/Makefile.rules",
        "obj-y += rngseed_user.o ptrace_user.o\nCFLAGS_util.o += -Dos_getrandom=host_getrandom\n\n"
        "include arch/um/scripts/Makefile.rules",
    ),
    (
        "arch/x86/um/os-Linux/Makefile",
        "USER_OBJS := $(obj-y)\n",
        "CFLAGS_registers.o += -Dptrace=ptrace_whole\nUSER_OBJS := $(obj-y)\n",
    ),
    (
        "arch/um/os-Linux/skas/Makefile",
        "USER_OBJS := $(obj-y)\n",
        "CFLAGS_process.o += -Dptrace=ptrace_whole\nUSER_OBJS := $(obj-y)\n",
    ),
    (
        "arch/um/Kconfig",
        "config HZ\n\tint\n\tdefault 100\n",
        "config HZ\n\tint\n\tdefault {hz}\n",
    ),
    (
        "drivers/char/random.c",
        "static void _get_random_bytes(void *buf, size_t len)\n{\n",
        "extern int rng_restarts;\n"
        "extern void rng_of_second(void *buf, size_t len, unsigned long long now_ns);\n\n"
        "static void _get_random_bytes(void *buf, size_t len)\n{\n",
    ),
    (
        "drivers/char/random.c",
        "\tif (!len)\n\t\treturn;\n\n\tfirst_block_len = min_t(size_t, 32, len);\n",
        "\tif (!len)\n\t\treturn;\n"
        "\tif (rng_restarts) {\n"
        "\t\trng_of_second(buf, len, ktime_get_real_ns());\n\t\treturn;\n\t}\n\n"
        "\tfirst_block_len = min_t(size_t, 32, len);\n",
    ),
    (
        "drivers/char/random.c",
        "\tif  (!crng_ready()) {\t",
        "\tif  (rng_restarts || !crng_ready()) {\t",
    ),
)
# How makefiles of 6.1 include their rules, and how those of 6.12 do.
_INCLUDE = "include arch/um/scripts/Makefile.rules"
_INCLUDE_OF_6_12 = "include $(srctree)/arch/um/scripts/Makefile.rules"


@dataclass(frozen=True)
class Kernel:
    """A guest kernel.

    Attributes:
        path: the program.
        version: what it was built from, such as ``6.1.192-2``; ``own`` where the user names a file.
        hz: timer interrupts per second; None where unknown.
        source: package of the sources and SHA-256 of its archive; empty where unknown.
        release: of the sources, such as ``6.1``; empty where unknown.
    """

    path: Path
    version: str
    hz: int | None
    source: str = ""
    release: str = ""

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


def find(hz: int = DEFAULT_HZ, release: str | None = None) -> Kernel | None:
    """A kernel in the cache with today's configuration.

    Args:
        hz: timer interrupts per second.
        release: of its sources, such as ``6.12``; by default
            :data:`~archives.DEFAULT_RELEASE` if it is there, else the one that was built last.
    """
    found = [
        kernel
        for about in sorted(cache().glob(f"*/{_ABOUT}"), key=lambda path: path.stat().st_mtime)
        if (kernel := _built(about, _configuration(hz))) is not None
        and release in (None, kernel.release)
    ]
    return max(found, key=lambda kernel: kernel.release == archives.DEFAULT_RELEASE, default=None)


def _built(about: Path, configuration: str) -> Kernel | None:
    """The kernel of a folder of the cache; None if it has another configuration or is damaged."""
    program = about.parent / _PROGRAM
    try:
        facts = json.loads(about.read_text())
        if facts["configuration"] != configuration:
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


def own(path: Path) -> Kernel:
    """A kernel that the user built.

    Raises:
        InputError: there is no such program, or it is another one.
    """
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise InputError(f"--kernel {path}: is not a program; give a User-Mode Linux kernel")
    if _UML_OPTION not in path.read_bytes():
        raise InputError(
            f"--kernel {path}: is a program, but not a User-Mode Linux kernel; give the file "
            "`linux` that `make ARCH=um` builds"
        )
    return Kernel(path.resolve(), "own", None)


def missing() -> str:
    """The packages that a build lacks, with the one line that installs them; empty if none."""
    lacks = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if archives.usual() is None:
        lacks.append("Debian's kernel sources (linux-source)")
    return f"{', '.join(lacks)}: not installed; {INSTALL}" if lacks else ""


def build(
    meter: Meter, *, hz: int = DEFAULT_HZ, jobs: int = 2, archive: Path | None = None
) -> Kernel:
    """Build the kernel, or continue a build that was interrupted.

    Args:
        meter: receives the progress.
        hz: timer interrupts per second.
        jobs: compilers at a time.
        archive: of the kernel's sources, from :func:`archives.sources`; by default that of
            :data:`~archives.DEFAULT_RELEASE`, or the newest.

    Raises:
        InputError: a package is missing, the disk is too small, or the build failed.
        OSError: the cache cannot be written.
    """
    if (lacks := missing()) != "":
        raise InputError(f"kernel build: {lacks}")
    tarball = archive or archives.usual()
    assert tarball is not None, "missing() has looked for it"
    version = archives.version_of(tarball)
    folder = cache() / f"{version}-{hz}hz-{_configuration(hz)[:8]}"
    work = folder.with_name(folder.name + ".partial")
    work.mkdir(parents=True, exist_ok=True)
    _check_disk(work)
    source = _unpack(tarball, work, meter)
    _adapt(source, hz)
    _configure(source)
    _make(source, jobs, meter)
    about = {
        "version": version,
        "hz": hz,
        "configuration": _configuration(hz),
        "source": f"{tarball.name}, SHA-256 {_digest(tarball)}",
        "sha256": _digest(source / _PROGRAM),
    }
    module_tree.keep(source, folder)
    _keep(source / _PROGRAM, folder, about)
    shutil.rmtree(work)
    meter.step(1.0, "done")
    source_text = str(about["source"])
    return Kernel(folder / _PROGRAM, version, hz, source_text, archives.release_of(tarball.name))


def _keep(program: Path, folder: Path, about: Mapping[str, object]) -> None:
    """Put a program and what is known of it into a folder of the cache."""
    with files.Together() as together:
        with together.open(folder / _PROGRAM) as file, program.open("rb") as made:
            shutil.copyfileobj(made, file)
            os.fchmod(file.fileno(), 0o755)
        with together.open(folder / _ABOUT) as file:
            file.write(json.dumps(about, indent=1).encode())
        together.rename()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _configuration(hz: int) -> str:
    """A fingerprint of all that goes into a build beside the sources."""
    files_of_ours = [path.read_bytes() for path in (_OPTIONS, *_OURS)]
    parts = [*files_of_ours, repr(_CHANGES).encode(), str(hz).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


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
        _run(["tar", "-xJf", str(tarball), "-C", str(work)], work)
        done.touch()
    return source


def _adapt(source: Path, hz: int) -> None:
    """Add our files and make the changes, each only once."""
    for ours in _OURS:
        shutil.copy(ours, source / "arch/um/os-Linux" / ours.name)
    rules = source / "arch/um/os-Linux/Makefile"
    names_tree = _INCLUDE_OF_6_12 in rules.read_text()
    include = _INCLUDE_OF_6_12 if names_tree else _INCLUDE
    for name, *texts in _CHANGES:
        old, new = (text.replace(_INCLUDE, include) for text in texts)
        _edit(source / name, old, new.replace("{hz}", str(hz)))


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    if new in text:
        return
    if text.count(old) != 1:
        raise InputError(
            f"kernel build: {path} is not as in Debian's 6.1, 6.12 and 7.2; take one of these, "
            "or build your own and give it with --kernel"
        )
    path.write_text(text.replace(old, new))


def _configure(source: Path) -> None:
    """The smallest configuration with our options over it; make decides what is stale."""
    config = source / ".config"
    stamp = source / ".sojourn-options"
    if config.exists() and stamp.exists() and stamp.read_bytes() == _OPTIONS.read_bytes():
        return
    _run(["make", "ARCH=um", "tinyconfig"], source)
    config.write_bytes(config.read_bytes() + _OPTIONS.read_bytes())
    _run(["make", "ARCH=um", "olddefconfig"], source)
    shutil.copy(_OPTIONS, stamp)


def _make(source: Path, jobs: int, meter: Meter) -> None:
    command = ["nice", "make", "ARCH=um", f"-j{jobs}", "linux", "modules"]
    done = 0
    for line in _lines(command, source):
        if line.startswith("  "):
            done += 1
            meter.step(min(0.99, done / _STEPS), line.strip())


def _run(command: list[str], folder: Path) -> None:
    for _line in _lines(command, folder):
        pass


def _lines(command: list[str], folder: Path) -> Iterator[str]:
    """The output of a program by lines; it ends with us, and its last lines go into the error."""
    environment = os.environ | _FIXED
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process, ending.before_end(process.kill):  # fmt: skip
        last: list[str] = []
        try:
            assert process.stdout is not None, "it is piped"
            for line in process.stdout:
                last = [*last[-9:], line.rstrip()]
                yield line
        except BaseException:
            process.kill()
            raise
        if process.wait() != 0:
            said = " | ".join(last[-5:])
            raise InputError(
                f"kernel build: `{' '.join(command)}` failed: {said}; run the command again to go "
                f"on, or remove {cache()} to begin anew"
            )

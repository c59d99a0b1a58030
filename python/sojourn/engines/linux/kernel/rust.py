"""A Rust compiler that can compile for a kernel: one with the sources of its core library.

Neither Debian's plain ``rustc`` nor a default rustup toolchain has them. Debian's packages of the
compiler for web browsers have them, and unpack without root next to other compilers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sojourn import files, tools
from sojourn.errors import InputError

PACKAGES = ("rustc-web", "libstd-rust-web-dev", "rust-web-src")
TARGET = "x86_64-unknown-none"
ARM = "`sojourn kernel toolchain` unpacks Debian's (240 MB), or `rustup component add rust-src`"
_LIBRARIES = "usr/lib/x86_64-linux-gnu"
_SOURCES = "lib/rustlib/src/rust/library/core/src/lib.rs"


@dataclass(frozen=True)
class Compiler:
    """A compiler.

    Attributes:
        path: ``rustc``.
        environment: variables that it needs.
        version: output of ``--version``.
    """

    path: Path
    environment: dict[str, str]
    version: str


def find(folder: Path) -> Compiler | None:
    """The compiler of rustup if it has the sources, else the one unpacked in ``folder``.

    ``web/toolchain.sh`` unpacks the same packages, and more, into a sibling folder; if that exists,
    nothing is downloaded twice.
    """
    usual = shutil.which("rustc")
    unpacked = [each / "usr/bin/rustc" for each in (folder, folder.with_name("web"))]
    candidates = [*([Path(usual)] if usual else []), *unpacked]
    return next((found for path in candidates if (found := _look(path))), None)


def _look(path: Path) -> Compiler | None:
    if not path.is_file():
        return None
    libraries = path.parents[2] / _LIBRARIES
    environment = {"LD_LIBRARY_PATH": str(libraries)} if path.name and libraries.is_dir() else {}
    sysroot = _say(path, environment, "--print", "sysroot")
    if not sysroot or not (Path(sysroot) / _SOURCES).is_file():
        return None
    return Compiler(path, environment, _say(path, environment, "--version"))


def _say(path: Path, environment: dict[str, str], *arguments: str) -> str:
    try:
        done = subprocess.run(
            [path, *arguments], env=os.environ | environment, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def unpack(folder: Path) -> Compiler:
    """Download Debian's packages with apt and unpack them into ``folder``.

    Raises:
        InputError: apt lacks the packages, or the compiler does not start.
    """
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        raise InputError(
            "kernel toolchain: apt-get is not installed; give rustup's compiler the sources of its "
            "library: rustup component add rust-src"
        )
    with files.scratch() as scratch:
        _run(["apt-get", "download", "-qq", *_with_libraries()], scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for package in sorted(scratch.glob("*.deb")):
            _run(["dpkg", "-x", str(package), str(folder)], scratch)
    found = _look(folder / "usr/bin/rustc")
    if found is None:
        shutil.rmtree(folder)
        raise InputError(
            f"kernel toolchain: the compiler of {', '.join(PACKAGES)} does not start, or comes "
            "without sources; install these packages with apt-get install"
        )
    return found


def _with_libraries() -> list[str]:
    """The packages, with their dependencies from the same source or LLVM."""
    wanted = list(PACKAGES)
    for package in wanted:
        for line in _run(["apt-cache", "depends", package], Path("/")).splitlines():
            name = line.strip().removeprefix("Depends: ")
            if name.startswith(("libstd-rust-web-", "libllvm")) and name not in wanted:
                wanted.append(name)
    return wanted


def _run(command: list[str], folder: Path) -> str:
    done = tools.run(command, cwd=folder)
    if done.returncode != 0:
        said = " | ".join(done.stderr.splitlines()[-3:])
        raise InputError(
            f"kernel toolchain: `{' '.join(command)}` failed: {said}; with Debian 12 the packages "
            "are in bookworm-security: run apt-get update as root first"
        )
    return done.stdout

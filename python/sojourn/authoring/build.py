"""A shared library from a law or transport library in Rust, C or C++."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from sojourn import files, tools
from sojourn.errors import InputError, Unavailable

INCLUDE = Path(__file__).parent
_COMPILERS = {".c": ("CC", "cc"), ".cc": ("CXX", "c++"), ".cpp": ("CXX", "c++")}
# No fused multiply-add, so that decisions are the same on every machine.
_FLAGS = ("-O2", "-shared", "-fPIC", "-Wall", "-ffp-contract=off")


def build(source: Path) -> Path:
    """Build a law or a transport library.

    Args:
        source: a folder with a ``Cargo.toml`` or one C or C++ file, or that file itself.

    The C compiler gets ``CFLAGS`` and ``LDLIBS`` from the environment, as with make.

    Returns:
        The library, in the folder of the source: ``libNAME.so``.

    Raises:
        InputError: nothing to build, no compiler is installed, or it reports an error.
    """
    if not source.exists():
        raise InputError(f"{source}: no such folder or file; `sojourn new` makes one")
    if not source.is_dir() and not source.is_file():
        raise InputError(f"{source}: is not a regular file; give the source of a library")
    if (source / "Cargo.toml").is_file():
        return _rust(source)
    found = [source] if source.is_file() else sorted(p for p in source.iterdir() if _is_c(p))
    if len(found) != 1 or not _is_c(found[0]):
        raise InputError(
            f"{source}: give a folder with a Cargo.toml or with one C or C++ file, or such a file"
        )
    return _c(found[0])


def _is_c(file: Path) -> bool:
    return file.suffix in _COMPILERS


def _c(file: Path) -> Path:
    variable, usual = _COMPILERS[file.suffix]
    compiler = os.environ.get(variable, usual)
    made = file.parent / f"lib{file.stem}.so"
    with files.scratch() as folder:
        built = folder / made.name
        given, libraries = (shlex.split(os.environ.get(word, "")) for word in ("CFLAGS", "LDLIBS"))
        flags = [*_FLAGS, *given, f"-I{INCLUDE}"]
        _run([compiler, *flags, str(file), "-o", str(built), *libraries, "-lm"], file)
        return _kept(built, made)


def _rust(folder: Path) -> Path:
    manifest = folder / "Cargo.toml"
    _run(["cargo", "build", "--release", "--quiet", "--manifest-path", str(manifest)], folder)
    name = re.search(r'^name\s*=\s*"([^"]+)"', manifest.read_text(encoding="utf-8"), re.MULTILINE)
    if name is None:
        raise InputError(f"{manifest}: has no package name")
    stem = name[1].replace("-", "_")
    target = Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
    built = target / "release" / f"lib{stem}.so"
    if not built.is_file():
        raise InputError(f'{manifest}: makes no library; add crate-type = ["cdylib"] to [lib]')
    return _kept(built, folder / built.name)


def _kept(built: Path, made: Path) -> Path:
    """Move a complete library to its final path; remove the remains of killed builds."""
    files.remove_leftovers(made.parent.glob(".*.tmp"))
    files.write(made, built.read_bytes())
    return made


def _run(command: Sequence[str], source: Path) -> None:
    if shutil.which(command[0]) is None:
        raise Unavailable(f"{source}: `{command[0]}` is not on this machine; install it to build")
    done = tools.run(command)
    if done.returncode:
        raise InputError(f"{source}: does not compile:\n{done.stderr.strip()}")

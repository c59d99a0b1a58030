"""The module ``sch_sojourn``: our AQMs as a queueing discipline of a kernel.

It is compiled from the crates of this tree and from ``kmod``, which is under the GPL, version 2,
for the guest kernel or for this machine's kernel; the package contains no module.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sojourn import files, tools
from sojourn.authoring.new import source_tree
from sojourn.engines.linux import kernel
from sojourn.engines.linux.kernel import archives, module_tree, names, rust
from sojourn.errors import InputError, Unavailable

NAME = "sch_sojourn.ko"
# The module's plug-in for tc.
TC_WORDS = "q_sojourn.so"
BOTTLENECK = "sojourn-module"
_ABOUT = "sch_sojourn.json"
_GLUE = "kmod"
_HEADER = "crates/capi/include/sojourn_aqm.h"
_LIBRARY = "libsojourn_aqm_c.a"
_LINKED = "sojourn_aqm.o"
# The sources of the library.
_SOURCES = ("crates/aqm/src", "crates/capi/src", "crates/capi/include", _GLUE)
_SINGLE_SOURCES = ("Cargo.lock", "Cargo.toml", "crates/aqm/Cargo.toml", "crates/capi/Cargo.toml")
# No unwinding, position independence or global offset table, whose relocations the module loader of
# x86-64 does not support (Linux 6.1 arch/x86/kernel/module.c, __apply_relocate_add). No red zone,
# because an interrupt would overwrite it.
_FLAGS = ("-C panic=abort", "-C relocation-model=static", "-C no-redzone=yes", "-Z plt=yes")
# The environment of its compilation.
WORDS_FLAGS = ("-std=gnu11", "-Wall", "-O2", "-shared", "-fPIC")
_MODELS = {"um": "large", "x86": "kernel"}
_CALLED = re.compile(r"^\S.*?\b(sojourn_\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Target:
    """A kernel to compile for.

    Attributes:
        tree: its headers, scripts and symbols.
        arch: architecture as the kernel's Makefile names it.
        folder: destination of the module.
    """

    tree: Path
    arch: str
    folder: Path


def of_guest(folder: Path) -> Target:
    """The guest kernel in a folder of the cache.

    Raises:
        InputError: its build did not keep the files to compile modules.
    """
    tree = folder / module_tree.NAME
    if not (tree / "Module.symvers").is_file():
        raise InputError(
            f"kernel module: {folder} has no headers of its kernel; give a kernel that `sojourn "
            "kernel build` made"
        )
    return Target(tree, "um", folder)


def of_this_machine(cache: Path) -> Target:
    """The kernel that runs this machine.

    Raises:
        InputError: it is not an x86-64 kernel, or its headers are not installed.
    """
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise InputError("kernel module: a module needs Linux on x86-64")
    release = platform.release()
    tree = Path("/lib/modules") / release / "build"
    if not (tree / "Makefile").is_file():
        raise InputError(
            f"kernel module: {tree}: the headers of this machine's kernel are not installed; "
            f"apt-get install linux-headers-{release}, or --headers PATH"
        )
    return Target(tree, "x86", cache / f"module-{release}")


def of_headers(tree: Path, cache: Path) -> Target:
    """An x86-64 kernel by its headers, such as those of Debian's ``linux-headers-...``.

    Raises:
        InputError: they are not such headers.
    """
    # The kernel's `uname -r`; Debian's include/config/kernel.release may differ.
    header = tree / "include/generated/utsrelease.h"
    release = re.search(r'"(.+)"', header.read_text()) if header.is_file() else None
    if release is None:
        raise InputError(
            f"--headers {tree}: are not the headers of a kernel that was configured; give a folder "
            "such as /usr/src/linux-headers-6.1.0-50-amd64"
        )
    return Target(tree.resolve(), "x86", cache / f"module-{release[1]}")


def require(folder: Path) -> Path:
    """The module for the guest kernel in ``folder``.

    Raises:
        InputError: it has not been built, or from other sources than those of this tree.
    """
    remedy = f"`{_command(folder)}` makes it in about a minute"
    try:
        about = json.loads((folder / _ABOUT).read_text())
        made_from, digest = about["sources"], about["sha256"]
        found = _digest((folder / NAME).read_bytes())
    except (OSError, ValueError, KeyError, TypeError):
        raise Unavailable(
            f'engine.linux.bottleneck = "{BOTTLENECK}": no module is built for the kernel in '
            f"{folder} yet; {remedy}"
        ) from None
    if found != digest:
        raise InputError(f"{folder / NAME}: is damaged; {remedy}")
    tree = source_tree()
    if tree is not None and _sources(tree) != made_from:
        raise InputError(f"{folder / NAME}: was made from other sources than {tree}; {remedy}")
    return folder / NAME


def _command(folder: Path) -> str:
    """The command that builds the module for the guest kernel in ``folder``."""
    words = ["sojourn kernel module"]
    with suppress(InputError):
        found = kernel.own(folder / kernel.PROGRAM)
        if folder in names.folders(kernel.cache()):
            return f"sojourn kernel module --kernel {folder.name}"
        if found.release not in ("", archives.DEFAULT_RELEASE):
            words.append(f"--release {found.release}")
        if found.hz not in (None, kernel.DEFAULT_HZ):
            words.append(f"--hz {found.hz}")
        if found.is_debug:
            words.append("--debug")
    return " ".join(words)


def find(folder: Path) -> Path | None:
    """The module for the guest kernel in ``folder``, if it was built from the present sources."""
    try:
        return require(folder)
    except InputError:
        return None


def build(target: Target, compilers: Path) -> Path:
    """Compile the module and put it into the folder of its kernel.

    Args:
        target: the kernel.
        compilers: where :func:`rust.unpack` has put a compiler.

    Raises:
        InputError: the source tree or compiler is missing, or a step failed.
    """
    tree = source_tree()
    if tree is None:
        raise InputError(
            "kernel module: it is compiled from Sojourn's source tree, which the package does not "
            "contain; install the package from a checkout with `make develop`"
        )
    compiler = rust.find(compilers)
    if compiler is None:
        raise InputError(
            f"kernel module: no Rust compiler here has the sources of its library; {rust.ARM}"
        )
    library = _library(tree, compiler, _MODELS[target.arch])
    with files.scratch() as work:
        shutil.copytree(tree / _GLUE, work, dirs_exist_ok=True)
        shutil.copy(tree / _HEADER, work)
        _link(library, work)
        _make(target, work)
        _run(["gcc", *WORDS_FLAGS, "-o", TC_WORDS, "q_sojourn.c"], work, {})
        made, words = (work / NAME).read_bytes(), (work / TC_WORDS).read_bytes()
    about = {"sources": _sources(tree), "compiler": compiler.version, "sha256": _digest(made)}
    with files.Together() as together:
        with together.open(target.folder / NAME) as file:
            file.write(made)
        with together.open(target.folder / TC_WORDS) as file:
            file.write(words)
        with together.open(target.folder / _ABOUT) as file:
            file.write(json.dumps(about, indent=1).encode())
        together.rename()
    return target.folder / NAME


def _library(tree: Path, compiler: rust.Compiler, model: str) -> Path:
    """The crates as a static library, with the compiler's own library rebuilt."""
    objects = kernel.cache() / f"module-objects-{model}"
    flags = " ".join((*_FLAGS, f"-C code-model={model}"))
    environment = compiler.environment | {
        "RUSTC": str(compiler.path), "RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": flags,
        "CARGO_TARGET_DIR": str(objects), "RUSTUP_TOOLCHAIN": "",
    }  # fmt: skip
    command = [
        "cargo", "rustc", "--quiet", "--locked", "--release", "--package", "sojourn-capi",
        "--no-default-features", "--crate-type", "staticlib", "--target", rust.TARGET,
        "-Z", "build-std=core,alloc",
    ]  # fmt: skip
    environment = {name: value for name, value in environment.items() if value}
    _run(command, tree, environment)
    return objects / rust.TARGET / "release" / _LIBRARY


def _link(library: Path, work: Path) -> None:
    """One object with everything that the glue calls, directly or indirectly."""
    glue = (work / "glue.c").read_text()
    declared = _CALLED.findall((work / "sojourn_aqm.h").read_text())
    called = [name for name in declared if f"{name}(" in glue]
    roots = [word for name in called for word in ("-u", name)]
    linked = str(work / _LINKED)
    _run(["ld", "-r", "--gc-sections", *roots, "-o", linked, str(library)], work, {})
    keep = [f"--keep-global-symbol={name}" for name in called]
    drop = [f"--remove-section={name}" for name in (".eh_frame", ".rela.eh_frame", ".comment")]
    _run(["objcopy", "--strip-debug", *drop, *keep, linked], work, {})


def _make(target: Target, work: Path) -> None:
    # Kbuild requires the command of every object.
    (work / ".sojourn_aqm.o.cmd").touch()
    arch = ["ARCH=um"] if target.arch == "um" else []
    _run(["make", "-C", str(target.tree), *arch, f"M={work}", "modules"], work, {})
    _run(["objcopy", "--strip-debug", str(work / NAME)], work, {})


def _run(command: Sequence[str], folder: Path, environment: dict[str, str]) -> None:
    if shutil.which(command[0]) is None:
        raise InputError(f"kernel module: {command[0]}: not installed")
    done = tools.run(command, cwd=folder, env=os.environ | environment)
    if done.returncode != 0:
        said = " | ".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise InputError(f"kernel module: `{' '.join(command[:3])} ...` failed: {said}")


def _sources(tree: Path) -> str:
    """A digest of all inputs of the module other than compiler and kernel."""
    parts = hashlib.sha256(" ".join(_FLAGS).encode())
    for path in _source_files(tree):
        parts.update(f"{path.relative_to(tree)}\0".encode())
        parts.update(path.read_bytes())
    return parts.hexdigest()


def _source_files(tree: Path) -> Iterator[Path]:
    yield from (tree / name for name in _SINGLE_SOURCES)
    for name in _SOURCES:
        yield from sorted(path for path in (tree / name).rglob("*") if path.is_file())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

"""Files of a built kernel that are kept to compile modules: headers, scripts, symbols.

The kernel's header packages contain the same. The tree can be moved.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

NAME = "build"
# Written by the kernel's build: its configuration, and the symbols that modules may use.
_SINGLE = (".config", "Makefile", "Module.symvers")
_WHOLE = ("include", "scripts")
# Only makefiles and headers of these are kept.
_SPARSE = ("arch/um", "arch/x86")
_SPARSE_NAMES = ("*.h", "Makefile*", "Kconfig*", "Kbuild*", "*.sh", "*.lds", "*.S", "*.tbl")


def keep(source: Path, folder: Path) -> None:
    """Copy what modules need from the kernel's sources into ``folder/build``.

    Raises:
        OSError: a file is missing or cannot be written.
    """
    tree = folder / NAME
    shutil.rmtree(tree, ignore_errors=True)
    for path in _wanted(source):
        copy = tree / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy, follow_symlinks=False)


def _wanted(source: Path) -> Iterator[Path]:
    yield from (source / name for name in _SINGLE)
    for name in _WHOLE:
        yield from (path for path in (source / name).rglob("*") if _is_leaf(path))
    for name in _SPARSE:
        for pattern in _SPARSE_NAMES:
            yield from (path for path in (source / name).rglob(pattern) if _is_leaf(path))


def _is_leaf(path: Path) -> bool:
    """Files and links; of objects only the build tools are kept."""
    return path.is_symlink() or path.is_file()

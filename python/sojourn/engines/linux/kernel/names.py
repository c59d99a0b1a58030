"""Names of guest kernels with a patch, and where they are kept."""

from __future__ import annotations

import re
from pathlib import Path

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_FOLDER = "named"


def folder_of(cache: Path, name: str) -> Path:
    """The folder of a name; builds without a patch are not below it."""
    return cache / _FOLDER / name


def folders(cache: Path) -> list[Path]:
    """The folders of all names."""
    return sorted(path.parent for path in (cache / _FOLDER).glob("*/about.json"))

"""A folder to begin a law in: Python, Rust or C, with a test and a README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import sojourn
from sojourn import files
from sojourn.authoring import templates
from sojourn.errors import InputError

Language = Literal["python", "rust", "c"]


def new(name: str, language: Language, folder: Path | None = None) -> list[Path]:
    """Write the files of a new law.

    Args:
        name: of the law: a lower-case letter, then letters, digits and underscores.
        language: of the law.
        folder: where; a folder of the law's name by default.

    Returns:
        The files, the one to edit first.

    Raises:
        InputError: the name cannot be one, or the folder holds something already.
        OSError: the folder cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(
            f"law {name}: cannot be a name; write a lower-case letter, then letters, digits and _"
        )
    folder = folder or Path(name)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: there is a file of that name; choose another, or --out")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: exists and is not empty; choose another name, or --out")
    cls = "".join(part.capitalize() for part in name.split("_"))
    words = {"NAME": name, "CLASS": cls, "DEPENDS": _dependencies(), "VERSION": sojourn.__version__}
    made = []
    for path, text in templates.OF[language].items():
        file = folder / path.replace("NAME", name)
        content = text
        for word, value in words.items():
            content = content.replace(f"@{word}@", value)
        files.write(file, content)
        made.append(file)
    return made


def _dependencies() -> str:
    """The crates that a law in Rust needs: by path in a source tree, else by version."""
    tree = source_tree()
    version = sojourn.__version__
    if tree is None:
        return (
            f'sojourn-aqm = {{ version = "{version}", default-features = false }}\n'
            f'sojourn-law = "{version}"'
        )
    return (
        f'sojourn-aqm = {{ path = "{tree}/crates/aqm", default-features = false }}\n'
        f'sojourn-law = {{ path = "{tree}/crates/law" }}'
    )


def source_tree() -> Path | None:
    """The source tree that this package is used from, if it is."""
    root = Path(sojourn.__file__).resolve().parents[2]
    return root if (root / "crates" / "law" / "Cargo.toml").is_file() else None

"""Creates folders for a law (Python, Rust or C), a transport library (Rust or C) or a paper."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import sojourn
from sojourn import _core, files
from sojourn.authoring import templates
from sojourn.errors import InputError

Language = Literal["python", "rust", "c"]

_CRATES = ("Cargo.toml", "crates/aqm/Cargo.toml", "crates/law/Cargo.toml")

# Keywords and crates that cargo refuses, and names that the file imports or defines.
_RUST_WORDS = """
    abstract as async await become box break const continue crate do dyn else enum extern false
    final fn for gen if impl in let loop macro match mod move mut override priv pub ref return
    self static struct super trait true try type typeof unsafe unsized use virtual where while
    yield alloc core proc_macro std test sojourn_aqm sojourn_law
    aqm backlog cause env head law rng span time var verdict
    some none ok err option result string vec default
"""
_TAKEN: dict[Language, frozenset[str]] = {
    # These names would give classes called None, True and False.
    "python": frozenset(("none", "true", "false")),
    "rust": frozenset(_RUST_WORDS.split()),
    "c": frozenset(),
}


def new(
    name: str, language: Language, folder: Path | None = None, source: Path | None = None
) -> list[Path]:
    """Write the files of a new law.

    Args:
        name: name of the law: a lower-case letter, then letters, digits and underscores.
        language: language of the law.
        folder: the folder; named after the law by default.
        source: a checkout of Sojourn, for a law in Rust; None for the one that this package is used
            from.

    Returns:
        The files, the one to edit first.

    Raises:
        InputError: the name is invalid or taken by an AQM, the folder is not empty, or a law in
            Rust has no checkout.
        OSError: the folder cannot be written.
    """
    _check_name("law", name)
    _check_free(name, language)
    folder = _empty(folder or Path(name))
    cls = "".join(part.capitalize() for part in name.split("_"))
    depends = _dependencies("aqm", source) if language == "rust" else ""
    words = {"NAME": name, "CLASS": cls, "DEPENDS": depends}
    return _write(folder, templates.OF[language], words)


def new_endpoint(
    name: str, language: Language, folder: Path | None = None, source: Path | None = None
) -> list[Path]:
    """Write the files of a new transport library, a small one that works.

    Args:
        name: name of the library, as for `new`.
        language: ``rust`` or ``c``.
        folder: see `new`.
        source: see `new`.

    Returns:
        The files, the one to edit first.

    Raises:
        InputError: as for `new`; or the language is Python.
        OSError: the folder cannot be written.
    """
    _check_name("endpoint", name)
    if language == "python":
        raise InputError("new endpoint --python: transport libraries are in C or Rust; give --c")
    if name in _TAKEN[language]:
        raise InputError(f"endpoint {name}: is a word of {language.title()}; choose another name")
    depends = _dependencies("endpoint", source) if language == "rust" else ""
    folder = _empty(folder or Path(name))
    return _write(folder, templates.of_endpoint(language), {"NAME": name, "DEPENDS": depends})


def new_paper(name: str, folder: Path | None = None) -> list[Path]:
    """Write the files of a paper that `sojourn reproduce` measures and judges.

    Args:
        name: name of the paper: a lower-case letter, then letters, digits, ``_`` and ``-``.
        folder: where; a folder of the paper's name by default.

    Returns:
        The files, the one to edit first.

    Raises:
        InputError: the name is invalid or that of a known paper, or the folder is not empty.
        OSError: the folder cannot be written.
    """
    from sojourn.authoring import paper_templates
    from sojourn.reproduce.select import known

    folder = folder or Path(name)
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", folder.resolve().name):
        raise InputError(
            f"paper {name}: its folder names it; write a lower-case letter, then letters, digits, "
            "_ and -"
        )
    if folder.resolve().name in known():
        raise InputError(
            f"paper {name}: `sojourn reproduce` has a paper of that name; choose another"
        )
    return _write(_empty(folder), paper_templates.FILES, {"NAME": name})


def _empty(folder: Path) -> Path:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: there is a file of that name; choose another, or --out")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: exists and is not empty; choose another name, or --out")
    return folder


def _write(folder: Path, texts: Mapping[str, str], words: Mapping[str, str]) -> list[Path]:
    name, made = words["NAME"], []
    for path, text in texts.items():
        file = folder / path.replace("NAME", name)
        content = text
        for word, value in words.items():
            content = content.replace(f"@{word}@", value)
        files.write(file, content)
        made.append(file)
    return made


def _check_name(kind: str, name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise InputError(
            f"{kind} {name}: cannot be a name; write a lower-case letter, then letters, digits and "
            "_"
        )


def _check_free(name: str, language: Language) -> None:
    if name in _TAKEN[language]:
        raise InputError(f"law {name}: is a word of {language.title()}; choose another name")
    if name in {aqm["name"] for aqm in _core.aqms()}:
        raise InputError(f"law {name}: an AQM has that name; choose another")


def _dependencies(kind: str, source: Path | None) -> str:
    """The crates that a library in Rust needs, by path, because they are in no registry."""
    tree = source_tree() if source is None else checked_tree(source, _CRATES)
    if tree is None:
        raise InputError(
            f"new {kind} --rust: it is compiled with crates of Sojourn's source tree, which "
            f"the installed package does not contain; get that of version {sojourn.__version__} "
            "and say where it is: --source FOLDER"
        )
    crates = ("law",) if kind == "aqm" else ("endpoint", "endpoint-c")
    return "\n".join([
        f'sojourn-aqm = {{ path = "{tree}/crates/aqm", default-features = false }}',
        *(f'sojourn-{crate} = {{ path = "{tree}/crates/{crate}" }}' for crate in crates),
    ])  # fmt: skip


def source_tree() -> Path | None:
    """The source tree from which this package is used, if any."""
    root = Path(sojourn.__file__).resolve().parents[2]
    return root if (root / "crates" / "law" / "Cargo.toml").is_file() else None


def checked_tree(source: Path, needed: Sequence[str]) -> Path:
    """The source tree of this package's version that the user names with ``--source``.

    Args:
        source: the folder.
        needed: files that it must have.

    Raises:
        InputError: it is not a source tree, or of another version.
    """
    if lacking := [name for name in needed if not (source / name).is_file()]:
        raise InputError(
            f"--source: {source} is not a source tree of Sojourn: it lacks {lacking[0]}"
        )
    manifest = tomllib.loads((source / "Cargo.toml").read_text(encoding="utf-8"))
    version = manifest["workspace"]["package"]["version"]
    if version != sojourn.__version__:
        raise InputError(
            f"--source: {source} is Sojourn {version}, this package {sojourn.__version__}; their "
            "versions must be the same"
        )
    return source.resolve()

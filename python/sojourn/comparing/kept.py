"""Checks whether a folder already holds exactly the files that saving a comparison would write.

The name of a comparison is the digest of everything its files depend on: the entries of its runs in
the store, what the report says about the scenario, formats and width of the figures, the code that
writes them, and the user's settings of matplotlib. An entry of this name in the store has the
checksums of the files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from sojourn import _core, files
from sojourn.comparing.compared_runs import run_folder
from sojourn.running.replicas import Task, store_path
from sojourn.running.store import Store

_KIND = "comparison"


def name(
    compared: tuple[_core.Scenario, str, Sequence[tuple[str, int]]],
    tasks: Sequence[Task],
    store: Store | None,
    forms: tuple[Sequence[str], str],
) -> str | None:
    """The name of a comparison; None if a run has no name in the store.

    Args:
        compared: the scenario, the link, and the contender and seed of each run.
        tasks: the runs.
        store: the store that keeps them.
        forms: formats and width of the figures.
    """
    entries = [store_path(task, store) for task in tasks]
    if None in entries:
        return None
    scenario, link, cells = compared
    facts = [
        [entry.name for entry in entries if entry], link, list(cells), forms, scenario.source,
        scenario.sets, scenario.origin, sys.version, _code(), _settings(),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:40]


def remember(folder: Path, written: Iterable[str], name: str, store: Store | None) -> None:
    """Keep the checksums of a comparison that was saved.

    Args:
        folder: where.
        written: its files, without its runs.
        name: name of the comparison.
        store: where; a comparison that is not kept there is written again next time.
    """
    if store is not None:
        sums = {file: _sum(folder / file) for file in written}
        with contextlib.suppress(OSError):
            store.write(store.entry(name, _KIND), json.dumps(sums).encode())


def is_whole(folder: Path, name: str, store: Store | None) -> bool:
    """Whether a folder holds the comparison of this name, and no file has changed since.

    Args:
        folder: the folder in which it may have been saved.
        name: name of the comparison.
        store: the store that may have its checksums.
    """
    content = store.read(store.entry(name, _KIND)) if store is not None else None
    if content is None:
        return False
    try:
        if not _match(folder, json.loads(content)):
            return False
        facts = files.unsealed((folder / files.COMPARISON).read_text(encoding="utf-8"))
        return all(_is_run(folder / run_folder(run["aqm"], run["seed"])) for run in facts["runs"])
    except (OSError, ValueError, KeyError):
        return False


def _is_run(folder: Path) -> bool:
    manifest = files.unsealed((folder / files.MANIFEST).read_text(encoding="utf-8"))
    return _match(folder, manifest[files.FILES])


def _match(folder: Path, sums: Mapping[str, str]) -> bool:
    return all(_sum(folder / file) == known for file, known in sums.items())


def _sum(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _code() -> list[tuple[str, int, int]]:
    """The files of this package and of matplotlib's version, by size and time of change."""
    package = Path(__file__).parent.parent
    ours = (file for file in package.rglob("*") if "__pycache__" not in file.parts)
    found = find_spec("matplotlib")
    drawing = [Path(found.origin).with_name("_version.py")] if found and found.origin else []
    return _stamps(file for file in [*sorted(ours), *drawing] if file.is_file())


def _settings() -> list[tuple[str, int, int]]:
    """The user's settings of matplotlib (`matplotlib.matplotlib_fname`)."""
    named = [os.environ.get(key) for key in ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME")]
    places = [Path(), *(Path(each) for each in named if each)]
    with contextlib.suppress(RuntimeError):  # a user without a home
        places.append(Path.home() / ".config")
    below = ("", "matplotlibrc", "matplotlib/matplotlibrc")
    candidates = [place / each for place in places for each in below]
    return _stamps(file for file in candidates if file.is_file())


def _stamps(found: Iterable[Path]) -> list[tuple[str, int, int]]:
    stamps = ((str(file), file.stat()) for file in found)
    return [(file, stat.st_size, stat.st_mtime_ns) for file, stat in stamps]

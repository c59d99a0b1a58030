"""The cases of items as plain scenario files, for a reader to run, change and extend."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sojourn import _core, files
from sojourn.describing.library import Sets
from sojourn.engines import registry
from sojourn.engines.registry import EngineLike
from sojourn.errors import InputError, named
from sojourn.loading.bring import AqmsLike
from sojourn.reproduce import work
from sojourn.reproduce.asked import Change, with_asked
from sojourn.reproduce.paper import Profile
from sojourn.reproduce.select import select
from sojourn.scenario import document_toml

# Kinds of tables whose `file` is relative to the scenario's folder.
_WITH_FILES = ("trace", "replay")


def export(
    names: Sequence[str],
    folder: str | Path,
    *,
    profile: Profile = "quick",
    engine: EngineLike = registry.NAMES[0],
    sets: Sets = (),
    aqms: AqmsLike = (),
    link: str | None = None,
    cases: str = "*",
) -> list[Path]:
    """Write each case of items as ``PAPER/ITEM/CASE.toml``; `sojourn.run` gives the same digests.

    Args:
        names: see `sojourn.reproduce.reproduce`, like the arguments that follow `folder`.
        folder: where; files of the same name are replaced.
        profile: quick or full.
        engine: one engine.
        sets: variants are written too.
        aqms: like `sets`.
        link: the link that gets the AQMs.
        cases: the cases that change.

    Returns:
        The files, in the order of the papers.

    Raises:
        InputError: as `sojourn.reproduce.reproduce`; or no item runs anything, or an AQM is a
            custom law, which no scenario file names.
        OSError: the folder cannot be written.
    """
    target = named(folder, "folder")
    where = registry.select_one(engine)
    if Path(folder).is_file():
        raise InputError(f"--export {folder}: there is a file of that name; give a folder")
    selected = with_asked(select(names, where.engine), Change(sets, aqms, link, cases), profile)
    found = {
        target / paper.key / item.id / f"{key}.toml": scenario
        for paper, items in selected
        for item in items
        for key, scenario in work.scenarios(paper.key, item, profile).items()
    }
    if not found:
        raise InputError(f"reproduce {', '.join(names)}: runs nothing that could be exported")
    for scenario in found.values():
        if scenario.law_sources:
            raise InputError(
                "--export: a scenario file names no custom law; export without --aqm, then give "
                "the law to `sojourn compare FILE --aqm`"
            )
    for path, scenario in found.items():
        files.write(path, scenario_text(scenario, path.parent))
    return [*found]


def scenario_text(scenario: _core.Scenario, folder: Path) -> str:
    """A scenario with its changes, as TOML.

    Args:
        scenario: loaded.
        folder: the folder for the text; files that the scenario names are relative to it.
    """
    document = json.loads(scenario.document_json())
    _relate(document, Path(scenario.origin).parent, folder)
    return document_toml(document)


def _relate(part: Any, old: Path, new: Path) -> None:
    """Rewrite, in place, files relative to one folder as relative to another."""
    if isinstance(part, dict) and part.get("kind") in _WITH_FILES and "file" in part:
        part["file"] = os.path.relpath(old / part["file"], new)
    for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        _relate(each, old, new)

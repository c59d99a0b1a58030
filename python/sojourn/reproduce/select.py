"""The known papers, and the selection of items by ``PAPER[:ITEM[,ITEM...]]``."""

from __future__ import annotations

import difflib
import pkgutil
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from sojourn import papers
from sojourn.engines import registry
from sojourn.engines.protocol import Engine
from sojourn.errors import InputError
from sojourn.reproduce import folder
from sojourn.reproduce.on_kernel import on_kernel
from sojourn.reproduce.paper import Item, Paper

_ITEM = re.compile(r"[A-Z][A-Za-z0-9]*(,[A-Z][A-Za-z0-9]*)*")


@cache
def known() -> dict[str, Paper]:
    """Every paper by its key: each module in `sojourn.papers` with a `PAPER`."""
    names = sorted(module.name for module in pkgutil.iter_modules(papers.__path__))
    found = (getattr(import_module(f"sojourn.papers.{name}"), "PAPER", None) for name in names)
    return {paper.key: paper for paper in found if paper is not None}


def select(
    names: Sequence[str], engine: Engine = registry.DEFAULT.engine
) -> list[tuple[Paper, list[Item]]]:
    """The papers and items of names such as ``pie``, ``pie:F4`` or ``pie:F4,F5``.

    Args:
        names: papers, folders with one, and items; for none all that the engine can run.
        engine: where the runs take place.

    Raises:
        InputError: the paper or item does not exist, or the engine cannot run it; the message lists
            the existing ones.
    """
    selected: dict[str, dict[str, None]] = {}
    papers: dict[str, Paper] = {}
    folders: dict[str, Path] = {}
    everything = [key for key, paper in known().items() if paper.testbed or not engine.is_testbed]
    for each, named in _with_items(names or everything):
        paper = _paper(each)
        place = Path(each).resolve() if folder.is_folder(each) else Path()
        if folders.setdefault(paper.key, place) != place:
            raise InputError(f"reproduce {each}: another folder has that name; rename one")
        papers[paper.key] = paper
        ids = [item.id for item in paper.items]
        if named is not None:
            ids = [_item(paper, one) for one in named.split(",")]
        selected.setdefault(paper.key, {}).update(dict.fromkeys(ids))
    of_engine = {
        key: on_kernel(paper) if engine.is_testbed else paper for key, paper in papers.items()
    }
    return [
        (of_engine[key], [item for item in of_engine[key].items if item.id in items])
        for key, items in selected.items()
    ]


def _with_items(names: Iterable[str]) -> list[tuple[str, str | None]]:
    """Papers with their items; after a folder's name, items may follow by their own names."""
    found: list[tuple[str, str | None]] = []
    for each in names:
        if found and folder.is_folder(found[-1][0]) and _ITEM.fullmatch(each):
            name, items = found.pop()
            found.append((name, each if items is None else f"{items},{each}"))
            continue
        name, colon, items = each.rpartition(":") if not Path(each).is_dir() else (each, "", "")
        found.append((name, items) if colon else (each, None))
    return found


def _paper(name: str) -> Paper:
    if folder.is_folder(name):
        paper = folder.read(Path(name))
        if paper.key in known():
            raise InputError(f"{name}: the paper {paper.key} has that name; rename the folder")
        return paper
    found = {key.replace("_", "-"): paper for key, paper in known().items()}
    if named := found.get(name.strip().lower().replace("_", "-")):
        return named
    hint = "; write a folder with a slash, as in ./mypaper"
    raise InputError(f"reproduce {name}: unknown paper{_listed(name, sorted(found))}{hint}")


def _item(paper: Paper, name: str) -> str:
    ids = {item.id.lower(): item.id for item in paper.items}
    if name.strip().lower() in ids:
        return ids[name.strip().lower()]
    near = _listed(name, [*ids.values()])
    raise InputError(f"reproduce {paper.key}:{name}: {paper.key} has no such item{near}")


def _listed(name: str, names: Sequence[str]) -> str:
    """The nearest name, and all names in their order."""
    near = difflib.get_close_matches(
        name.lower(), [each.lower() for each in names], n=1, cutoff=0.5
    )
    found = next((each for each in names if near and each.lower() == near[0]), "")
    meant = f"; did you mean `{found}`?" if found else ";"
    return f"{meant} there are: {', '.join(names)}"

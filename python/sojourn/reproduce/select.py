"""The known papers, and the selection of items by ``PAPER[:ITEM[,ITEM...]]``."""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module

from sojourn import papers
from sojourn.engines import registry
from sojourn.engines.protocol import Engine
from sojourn.errors import InputError
from sojourn.reproduce.on_kernel import on_kernel
from sojourn.reproduce.paper import Item, Paper


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
        names: papers and items; if empty, all that the engine can run.
        engine: the engine of the runs.

    Raises:
        InputError: the paper or item does not exist, or the engine cannot run it; the message lists
            the existing ones.
    """
    selected: dict[str, dict[str, None]] = {}
    everything = [key for key, paper in known().items() if paper.testbed or not engine.is_testbed]
    for each in names or everything:
        name, colon, named = each.partition(":")
        paper = _paper(name)
        items = selected.setdefault(paper.key, {})
        ids = (_item(paper, one) for one in named.split(","))
        items |= dict.fromkeys(ids if colon else (item.id for item in paper.items))
    of_engine = {
        key: on_kernel(known()[key]) if engine.is_testbed else known()[key] for key in selected
    }
    return [
        (of_engine[key], [item for item in of_engine[key].items if item.id in items])
        for key, items in selected.items()
    ]


def _paper(name: str) -> Paper:
    found = {key.replace("_", "-"): paper for key, paper in known().items()}
    if paper := found.get(name.strip().lower().replace("_", "-")):
        return paper
    raise InputError(f"reproduce {name}: there is no such paper{_nearest(name, found)}")


def _item(paper: Paper, name: str) -> str:
    ids = {item.id.lower(): item.id for item in paper.items}
    if name.strip().lower() in ids:
        return ids[name.strip().lower()]
    near = _nearest(name, ids.values())
    raise InputError(f"reproduce {paper.key}:{name}: {paper.key} has no such item{near}")


def _nearest(name: str, known_names: Iterable[str]) -> str:
    """All names, the nearest first."""
    likeness = {
        each: difflib.SequenceMatcher(None, name.lower(), each.lower()).ratio()
        for each in known_names
    }
    order = sorted(likeness, key=lambda each: -likeness[each])
    meant = f"; did you mean `{order[0]}`?" if order and likeness[order[0]] > 0.5 else ";"
    return f"{meant} there are: {', '.join(order)}"

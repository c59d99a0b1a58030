"""AQMs, with custom laws, and engines that a caller gives instead of a study's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.describing.library import find, load
from sojourn.describing.queues import choose_link
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike
from sojourn.study.axes import ENGINE
from sojourn.study.laws import LawFile, named

_QUEUE = re.compile(r"links\..+\.queue")


def with_values(
    document: Mapping[str, Any], folder: Path, aqms: AqmsLike | None,
    engine: str | Sequence[str] | None,
) -> tuple[Mapping[str, Any], tuple[LawFile, ...]]:  # fmt: skip
    """A study's document with these AQMs and engines, and the custom laws among them.

    Raises:
        InputError: several axes set AQMs, or a law cannot be loaded.
        ScenarioError: an AQM is not legal.
    """
    laws: tuple[LawFile, ...] = ()
    if aqms is not None:
        texts, laws = named(aqms)
        document = _replaced(document, folder, "aqm", texts)
    if engine is not None:
        names = engine.split(",") if isinstance(engine, str) else [*engine]
        document = _replaced(document, folder, ENGINE, names)
    return document, laws


def _replaced(
    document: Mapping[str, Any], folder: Path, name: str, values: list[str]
) -> Mapping[str, Any]:
    """The document with values in the axis of AQMs or engines."""
    axes = document.get("axes", [])
    if not isinstance(axes, list) or not all(isinstance(axis, Mapping) for axis in axes):
        return document  # refused with its place when the axes are read
    found = [i for i, axis in enumerate(axes) if _is_axis_of(axis, name)]
    if len(found) > 1:
        names = ", ".join(str(axes[i].get("name")) for i in found)
        raise InputError(f"{name}s: several axes set them ({names}); write the values in the file")
    if found:
        (at,) = found
        kept = {key: axes[at][key] for key in ("name", "key", "zip") if key in axes[at]}
        changed = [*axes[:at], {**kept, "values": values}, *axes[at + 1 :]]
        return {**document, "axes": changed}
    key = ENGINE if name == ENGINE else f"links.{_link(document, folder)}.queue"
    return {**document, "axes": [{"name": name, "key": key, "values": values}, *axes]}


def _is_axis_of(axis: Mapping[str, Any], name: str) -> bool:
    keys = axis.get("key", axis.get("name"))
    listed = [keys] if isinstance(keys, str) else keys if isinstance(keys, list) else []
    if name == ENGINE:
        return ENGINE in listed
    return any(isinstance(key, str) and _QUEUE.fullmatch(key) for key in listed)


def _link(document: Mapping[str, Any], folder: Path) -> str:
    source = str(document.get("scenario"))
    sibling = folder / source
    return choose_link(load(find(sibling if sibling.is_file() else source)), None)

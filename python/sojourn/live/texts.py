"""The text of a scenario with some of its words changed, for an address of the live page."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from sojourn.scenario import document_toml


def changed(document: Mapping[str, Any], sets: Mapping[str, Any]) -> str:
    """A scenario as TOML with words set anew, as ``--set`` would.

    Args:
        document: the tables of its file.
        sets: values by dotted key; a list of tables is entered by the ``name`` of one.
    """
    tables = copy.deepcopy(dict(document))
    for key, value in sets.items():
        *path, last = key.split(".")
        _inner(tables, path)[last] = value
    return document_toml(tables)


def _inner(tables: dict[str, Any], path: list[str]) -> dict[str, Any]:
    inner: Any = tables
    for word in path:
        if isinstance(inner, list):
            inner = next(table for table in inner if table["name"] == word)
        else:
            inner = inner.setdefault(word, {})
    found: dict[str, Any] = inner
    return found

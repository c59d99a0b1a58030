"""Checks the content of a study's files beyond their checksums."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_NOTE = {"reason": str, "point": dict, "seed": int}


def what_is_wrong(found: pa.Schema, expected: pa.Schema) -> str | None:
    """Why a file lacks the columns of runs; None if it has them.

    Args:
        found: columns of the file; texts may be dictionaries.
        expected: columns that runs have.
    """
    import pyarrow as pa

    if found.names != expected.names:
        return f"is not of runs: its columns are {', '.join(found.names) or 'none'}"
    for name, wanted in zip(expected.names, expected.types, strict=True):
        kind = found.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if kind != wanted:
            return f"is not of runs: its column {name} is of the type {kind}, not {wanted}"
    return None


def with_missing(rows: pa.Table) -> str | None:
    """The reason why rows are not those of runs: a column with a missing value; else None."""
    found = [name for name in rows.column_names if rows[name].null_count]
    return f"is not of runs: its column {found[0]} has missing values" if found else None


def is_note(facts: Mapping[str, Any]) -> bool:
    """Whether facts are those of a run that was set aside."""
    return all(isinstance(facts.get(key), kind) for key, kind in _NOTE.items())


def is_study(facts: Mapping[str, Any]) -> bool:
    """Whether facts are those of a study or a search."""
    has_code = _are_records(facts.get("laws", []), {"name", "file", "source"}) and _are_records(
        facts.get("endpoints", []), {"transport", "library", "source"}
    )
    names = facts.get("search") if "study" not in facts else facts.get("folder")
    is_whole = isinstance(facts.get("study", {}), dict) and isinstance(names, str | None)
    return isinstance(facts.get("simulator"), str) and has_code and is_whole


def _are_records(found: object, keys: set[str]) -> bool:
    return isinstance(found, list) and all(
        isinstance(each, dict)
        and each.keys() == keys
        and all(isinstance(value, str) for value in each.values())
        for each in found
    )

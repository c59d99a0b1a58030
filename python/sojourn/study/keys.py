"""Checks of a study file; each error names the place and how to fix it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sojourn.describing.nearest import meant
from sojourn.errors import InputError

MOST_SEEDS = 1_000_000
"""Limit for one point of a search, because all runs of a call are listed at once."""


def known_keys(place: str, table: object, known: Sequence[str]) -> None:
    """Refuse a table with a key that it does not have.

    Raises:
        InputError: it is not a table, or a key is unknown; the nearest is shown.
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{place}: must be a table with {', '.join(known)}")
    for key in table:
        if key not in known:
            raise InputError(f"{place}: unknown key `{key}`{near(key, known)}")


def title(place: str, value: object) -> str:
    """A name that is only shown."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place}: is missing; it is a text")
    if not value.isprintable():
        raise InputError(f"{place}: has control characters; write a word or two")
    return value


def near(name: str, known: Iterable[str]) -> str:
    """Suggestions, or all allowed words."""
    names = list(known)
    # `delay_p95` alone lacks the scope that a key begins with: `queue/bottleneck/delay_p95`.
    same = [each for each in names if each.rpartition("/")[2] == name]
    return meant(same[0] if same else name, names) or f"; known: {', '.join(names)}"


def choice(place: str, value: object, words: Sequence[str]) -> str:
    """One of some words."""
    if value not in words:
        raise InputError(f"{place}: must be one of {', '.join(words)}, not `{value}`")
    return str(value)


def whole(place: str, value: object) -> int:
    """An integer from 0 on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{place}: must be a whole number from 0 on, not `{value}`")
    return value


def at_least_one(place: str, value: object) -> int:
    """An integer from 1 on."""
    if value is None:
        raise InputError(f"{place}: is missing; it is a whole number from 1 on")
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"{place}: must be a whole number from 1 on, not `{value}`")
    return value


def seeds(place: str, value: object) -> int:
    """The number of seeds of one point that a search requests at once."""
    found = at_least_one(place, value)
    if found > MOST_SEEDS:
        raise InputError(f"{place}: {found:,} are more than the {MOST_SEEDS:,} that a search takes")
    return found


def file_name(place: str, value: object) -> str:
    """A text that is safe as the name of a file."""
    if not isinstance(value, str) or not value.strip(". ") or any(c in value for c in "/\\\0"):
        raise InputError(f"{place}: must be a text that can name a file, not `{value}`")
    return value


def text_list(place: str, value: object) -> list[str]:
    """A text, or a list of texts."""
    values: list[Any] = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(each, str) and each for each in values):
        raise InputError(f"{place}: must be a text or a list of texts")
    return values

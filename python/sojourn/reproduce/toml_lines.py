"""Lines of keys in a TOML file, which Python's parser does not keep."""

from __future__ import annotations

import re

Place = tuple[str | int, ...]
"""Keys and positions from the top: ``("claims", 2, "published")``."""

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(
    r"^\s*((?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([\w-]+)")


def line_of(text: str, place: Place) -> int:
    """The line of a key, or of the nearest table around it, from 1.

    Args:
        text: text of a file that is legal TOML.
        place: place of the key. Keys of inline tables have the line of the whole.
    """
    lines = _lines(text)
    while place and place not in lines:
        place = place[:-1]
    return lines.get(place, 1)


def _lines(text: str) -> dict[Place, int]:
    found: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _within(_parts(header[2]), counts)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key[1])), number)
    return found


def _parts(dotted: str) -> Place:
    return tuple("".join(part) for part in _PART.findall(dotted))


def _within(keys: Place, counts: dict[Place, int]) -> Place:
    """The keys of a header, with the last entry of each array of tables on the way."""
    place: Place = ()
    for i, key in enumerate(keys):
        place = (*place, key)
        if place in counts and i < len(keys) - 1:
            place = (*place, counts[place])
    return place

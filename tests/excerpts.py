"""Updates lines of pages that show output of commands."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[−+-]?\d")
_GAP = 2


def rewritten(excerpt: str, printed: str) -> str:
    """An excerpt with each line replaced by the present output; unmatched lines stay.

    A line is identified by its words before the first number; among several, the one with most
    words in common is used. Two of the columns that no line of the excerpt fills are kept.

    Args:
        excerpt: lines of a page.
        printed: all output of the commands.
    """
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()]
    by_key: dict[str, list[str]] = {}
    for line in lines:
        by_key.setdefault(_key(line), []).append(line)
    taken: list[str] = []
    for line in excerpt.splitlines():
        alike = by_key.get(_key(line)) or [line]
        words = {*line.split()}
        most = max(range(len(alike)), key=lambda i: len({*alike[i].split()} & words))
        taken.append(alike.pop(most))
    return "".join(f"{line}\n" for line in _narrowed(taken))


def _key(line: str) -> str:
    words = line.split()
    count = next((i for i, word in enumerate(words) if _NUMBER.match(word)), len(words))
    return " ".join(words[:count])


def _narrowed(lines: list[str]) -> list[str]:
    """Lines of a table without common blank columns."""
    width = max(map(len, lines), default=0)
    padded = [line.ljust(width) for line in lines]
    kept: list[int] = []
    blank = 0
    for column in range(width):
        is_blank = all(line[column] == " " for line in padded)
        blank = blank + 1 if is_blank else 0
        if blank <= _GAP:
            kept.append(column)
    return ["".join(line[i] for i in kept).rstrip() for line in padded]

"""Causes of gaps between simulator and kernel that have been shown, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN: dict[str, str] = {}


def lines(names: list[str]) -> list[str]:
    """The causes that belong to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

"""Suggests a name in place of a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable


def meant(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """``; did you mean `codel`?``, or nothing where no known name is near.

    Args:
        name: the name as it was written.
        known: the names that exist.
        cutoff: the least similarity, from 0 to 1; see `difflib.get_close_matches`.
    """
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return f"; did you mean `{near[0]}`?" if near else ""

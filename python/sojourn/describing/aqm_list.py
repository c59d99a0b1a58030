"""Lists of AQMs as people type them: ``taildrop,pie:target=5ms,tupdate=10ms,fq(codel@linux)``."""

from __future__ import annotations

from collections.abc import Iterable

from sojourn.errors import InputError


def split(text: str) -> list[str]:
    """Split a list of AQMs on its commas.

    A comma also separates the parameters of one AQM, so an item ``name=value`` without a ``:``
    continues the AQM before it. Commas inside parentheses never split.

    Args:
        text: AQMs of the form ``kind[@dialect][:param=value,...]``, separated by commas.

    Raises:
        InputError: an item is empty, parentheses do not match, or a parameter has no AQM before it.
    """
    aqms: list[str] = []
    for item in _items(text):
        if not item:
            raise InputError(f"--aqm `{text}`: nothing stands between two commas; remove one")
        if not _continues(item):
            aqms.append(item)
        elif not aqms:
            raise InputError(f"--aqm `{text}`: `{item}` sets a parameter, but of which AQM?")
        else:
            aqms[-1] += ("," if ":" in aqms[-1] else ":") + item
    return aqms


def split_all(texts: Iterable[str]) -> list[str]:
    """Split several lists and join the results, in order.

    Raises:
        InputError: see `split`; or an AQM is named twice.
    """
    aqms = [aqm for text in texts for aqm in split(text)]
    for i, aqm in enumerate(aqms):
        if aqm in aqms[:i]:
            raise InputError(f"--aqm: `{aqm}` is listed twice; name each AQM once")
    return aqms


def _continues(item: str) -> bool:
    """Whether an item is ``name=value`` and not an AQM, which has no ``=`` before its ``:``."""
    return "=" in item and ":" not in item.split("=", 1)[0]


def _items(text: str) -> list[str]:
    """The parts between commas outside parentheses, without blanks around them."""
    items, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            raise InputError(f"--aqm `{text}`: `)` without `(` before it")
        if char == "," and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    if depth:
        raise InputError(f"--aqm `{text}`: `(` without `)` after it")
    return [*items, text[start:].strip()]

"""The errors that a user can cause."""

from __future__ import annotations

import re
from pathlib import Path

from sojourn import _core
from sojourn._core import AppError, Cancelled, ControlError, LawError, ScenarioError
from sojourn.describing.formatting import counted

__all__ = [
    "AppError",
    "Cancelled",
    "ControlError",
    "InputError",
    "Interrupted",
    "LawError",
    "NothingToPlot",
    "RunFailed",
    "ScenarioError",
    "Unavailable",
    "named",
    "not_empty",
    "shortened",
]


# Python's replacement for bytes of file names and arguments that are not UTF-8 (PEP 383).
_NO_TEXT = re.compile("[\ud800-\udfff]")
_BYTES_AT = 0xDC00


def shortened(text: str) -> str:
    """The text for a terminal: very long words are cut, control characters are escaped.

    Bytes that are not UTF-8 are escaped, so a message about such a name is text.
    """
    return _core.shortened(_NO_TEXT.sub(_escape, text))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    byte = code - _BYTES_AT
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else f"\\u{code:04x}"


class InputError(ValueError):
    """Invalid input other than the content of a scenario.

    The text is one sentence: where, what, and how to fix it. Very long words, which can only be
    echoed input, are cut.
    """

    def __init__(self, text: str) -> None:
        super().__init__(shortened(text))


def not_empty(text: object, what: str, *, is_required: bool = True) -> None:
    """Refuse an empty text as a name.

    Raises:
        InputError: it is empty.
    """
    if text == "":
        remedy = "write a name" if is_required else "write a name or leave it out"
        raise InputError(f"{what}: is empty; {remedy}")


def named(path: str | Path, what: str, *, is_required: bool = True) -> Path:
    """A path that a caller names; `Path("")` would be the current folder.

    Raises:
        InputError: it is empty.
    """
    not_empty(path, what, is_required=is_required)
    return Path(path)


class Unavailable(InputError):
    """This machine lacks a kernel, a compiler or a permission; the text names the remedy."""


class NothingToPlot(ValueError):
    """The results lack the values of a figure; the text says which."""


class RunFailed(RuntimeError):
    """A run ended in an error that the user did not cause; please report it."""


class Interrupted(Exception):
    """Ctrl-C stopped a series of runs.

    Attributes:
        finished: labels of the runs that were complete, such as ``pie, seed 3``.
    """

    def __init__(self, finished: list[str], total: int) -> None:
        super().__init__(f"interrupted after {len(finished)} of {counted(total, 'run')}")
        self.finished = finished
        self.total = total

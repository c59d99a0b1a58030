"""The errors that a user can cause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sojourn import _core
from sojourn._core import AppError, Cancelled, ControlError, LawError, ScenarioError

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
    echoed input, are cut. It is written with the options of the command line; in Python they are
    replaced by the arguments of the same meaning.
    """

    def __init__(self, text: str) -> None:
        super().__init__(shortened(text if _IN_COMMAND else in_python(text)))


_IN_COMMAND: list[object] = []
"""Has an entry while a command of the command line runs."""


@contextmanager
def in_command() -> Iterator[None]:
    """Errors inside name options of the command line."""
    _IN_COMMAND.append(None)
    try:
        yield
    finally:
        _IN_COMMAND.pop()


# The Python argument for each option that has one.
_ARGUMENTS = {
    "aqm": "aqms", "cases": "cases", "client": "commands", "cluster": "executor",
    "endpoint": "endpoints", "engine": "engine", "env": "environment", "fair": "fair",
    "folder": "folders", "format": "formats", "jobs": "jobs", "kernel": "kernel", "link": "link",
    "max-seeds": "max_seeds", "memory": "memory", "metric": "metrics", "race": "race",
    "replace": "group", "seed": "seed", "seeds": "seeds", "set": "sets", "size": "size",
    "until": "until",
}  # fmt: skip
_VALUE = r"N|decided|sim|linux|ns3|[^ ;,)]*[0-9=:][^ ;,)]*"
_OPTION = re.compile(rf"--({'|'.join(_ARGUMENTS)})(?![\w-])(?: ({_VALUE})(?=[;,)]|$))?")


def in_python(text: str) -> str:
    """A message with Python's arguments in place of options, such as ``max_seeds``.

    Commands, which are quoted and begin with ``sojourn``, stay as they are.
    """
    parts = text.split("`")
    for at, part in enumerate(parts):
        if not part.startswith("sojourn "):
            parts[at] = _OPTION.sub(_quoted if at % 2 else _unquoted, part)
    return "`".join(parts)


def _quoted(option: re.Match[str]) -> str:
    name, value = _ARGUMENTS[option[1]], option[2]
    return f'{name}="{value}"' if value else name


def _unquoted(option: re.Match[str]) -> str:
    if option.start() == 0:
        return option[0].replace(f"--{option[1]}", _ARGUMENTS[option[1]])
    return f"`{_quoted(option)}`"


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
        from sojourn.describing.formatting import counted

        super().__init__(f"interrupted after {len(finished)} of {counted(total, 'run')}")
        self.finished = finished
        self.total = total

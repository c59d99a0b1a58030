"""Opens all files that a user names, and refuses what cannot be a text for Sojourn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sojourn.errors import InputError

LARGEST_BYTES = 100_000_000
"""Limit of texts; a scenario of a million steps takes a third of this."""

_BLOCK_BYTES = 1 << 20


def shown(path: str | Path) -> str:
    """A path as text for people; bytes that are not UTF-8 are written as escapes."""
    return os.fsencode(path).decode(errors="backslashreplace")


def content(path: Path, what: str = "file") -> bytes:
    """The bytes of a regular file of at most `LARGEST_BYTES`.

    Args:
        path: the file.
        what: what it should be, for messages: ``scenario``.

    Raises:
        InputError: the file does not exist, is a folder, a pipe or a device, is too large, or
            cannot be read.
    """
    with _opened(path, what) as file:
        return all_of(file, what, shown(path))


@contextmanager
def _opened(path: Path, what: str) -> Iterator[BinaryIO]:
    """A regular file.

    Raises:
        InputError: as `content`.
    """
    if path.exists() and not path.is_file():
        hint = "; for what a pipe brings, give - as the file" if what == "scenario" else ""
        raise InputError(f"{shown(path)}: is not a regular file{hint}")
    try:
        # Without the flag, a pipe that has replaced the file meanwhile would block.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{shown(path)}: no such file") from None
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be read ({error.strerror})") from None


def blocks(path: Path, what: str = "file") -> Iterator[bytes]:
    """The bytes of a regular file of any size, a part at a time.

    Raises:
        InputError: as `content`, but for the size.
    """
    with _opened(path, what) as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


def all_of(file: BinaryIO, what: str = "file", name: str = "") -> bytes:
    """The content of an open file, at most `LARGEST_BYTES`.

    Args:
        file: the file.
        what: what it should be, for messages.
        name: name of the file, if it was opened by its descriptor.

    Raises:
        InputError: it is larger.
    """
    found = bytearray()
    # Python allocates the requested size, whatever the size of the file.
    while block := file.read(_BLOCK_BYTES):
        found += block
        if len(found) > LARGEST_BYTES:
            raise InputError(
                f"{name or shown(file.name)}: has more than the "
                f"{LARGEST_BYTES // 1_000_000} MB that a {what} may have"
            )
    return bytes(found)


def text(path: Path, what: str = "file") -> str:
    """The text of a file, in UTF-8.

    Raises:
        InputError: as `content`, or it is not UTF-8.
    """
    return decoded(content(path, what), shown(path), what)


def decoded(found: bytes, name: str, what: str = "file") -> str:
    """Bytes as UTF-8 text.

    Raises:
        InputError: they are not UTF-8.
    """
    try:
        return found.decode()
    except UnicodeDecodeError:
        raise InputError(f"{name}: is not UTF-8 text, so it cannot be a {what}") from None


def refuse_mark(found: str, name: str) -> None:
    """Refuse a text with the byte order mark that some editors of Windows write.

    Raises:
        InputError: it begins with that mark.
    """
    if found.startswith("\ufeff"):
        raise InputError(f"{name}: begins with a byte order mark (BOM); save it as UTF-8 without")


def toml(path: Path, what: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        InputError: as `text`, it begins with a byte order mark, or it is not TOML.
    """
    import tomllib

    found = text(path, what)
    refuse_mark(found, shown(path))
    try:
        return tomllib.loads(found)
    except RecursionError:
        raise InputError(f"{shown(path)}: is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{shown(path)}: is not TOML: {error}") from None
    except ValueError:
        # Python reads no integer of more than 4,300 digits.
        raise InputError(f"{shown(path)}: has a number of thousands of digits") from None

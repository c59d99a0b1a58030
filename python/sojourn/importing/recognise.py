"""Recognises the format of a file by its content."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sojourn import reading
from sojourn.errors import InputError
from sojourn.importing import captures, columns, flent, iperf3, irtt, netem_trace, ping
from sojourn.importing.compressed import CutError, plain
from sojourn.importing.measured import Measurement

FORMATS = (
    "Mahimahi traces, CSV and TSV with a time column, Pensieve logs, 5G logs, logs of bytes per "
    "interval, netem-trace JSON, iperf3 JSON, irtt JSON, ping's text, Flent data files, "
    "captures (pcap, pcapng); each also compressed with gzip or bzip2"
)


def read(
    path: Path, units: Mapping[str, str] | None = None, kind: captures.As | None = None
) -> Measurement:
    """Read a measurement file of any known format.

    Args:
        path: the file, possibly compressed with gzip or bzip2.
        units: units of CSV columns whose names have none, by column: ``{"rate": "kbit/s"}``.
        kind: what becomes of TCP in a capture: ``transfers`` (the default) or ``packets``.

    Raises:
        InputError: the file cannot be read, has no known format, or is damaged; the text says where
            and how to fix it.
    """
    name = reading.shown(path)
    if captures.is_capture(path):
        return captures.read(path, name, kind or "transfers")
    if kind:
        raise InputError(f"{name}: is not a capture, which --as {kind} is for")
    found = _content(path, name)
    text = _decoded(found, name)
    if not text.strip():
        raise InputError(f"{name}: is empty")
    lines = text.splitlines()
    if any(_IPERF_TEXT.match(line[:_LONGEST_HEAD]) for line in lines):
        raise InputError(f"{name}: is iperf's text for people; run iperf3 with --json instead")
    # `ping -D` begins its lines with a bracket, as JSON may.
    if ping.is_ping(lines):
        return ping.read(lines, name)
    if text.lstrip()[0] in "{[":
        return _from_json(_documents(text, name), name)
    return columns.read(lines, name, units or {})


_IPERF_TEXT = re.compile(r"\[ *ID\] Interval +Transfer")
_LONGEST_HEAD = 40


def _decoded(content: bytes, name: str) -> str:
    """The text of a file: UTF-8, or UTF-16 with its mark, as redirection in PowerShell writes."""
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            pass
    return reading.decoded(content.removeprefix(codecs.BOM_UTF8), name, "measurement file")


def _content(path: Path, name: str) -> bytes:
    """The decompressed content of a file.

    Raises:
        InputError: it cannot be read, is damaged, or too large.
    """
    limit, found = reading.LARGEST_BYTES, bytearray()
    try:
        for part in plain([reading.content(path, "measurement file")]):
            found += part
            if len(found) > limit:
                raise InputError(
                    f"{name}: holds more than {limit // 1_000_000} MB when uncompressed"
                )
    except CutError as error:
        raise InputError(f"{name}: {error}; copy the file again") from None
    return bytes(found)


def _documents(text: str, name: str) -> list[Any]:
    """The JSON documents of a file: one, several in a row, or one on each line."""
    decoder, at, found = json.JSONDecoder(), 0, []
    try:
        while (at := _next(text, at)) < len(text):
            document, at = decoder.raw_decode(text, at)
            found.append(document)
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}, line {error.lineno}: is not JSON ({error.msg}); a file that was cut off "
            "while it was written ends so"
        ) from None
    except ValueError:
        raise InputError(f"{name}: has a number of thousands of digits") from None
    return found


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _from_json(documents: list[Any], name: str) -> Measurement:
    if len(documents) == 1 and isinstance(documents[0], list) and documents[0]:
        return _from_list(documents[0], name)
    if not all(isinstance(document, dict) for document in documents):
        raise InputError(f"{name}: {_unknown()}")
    first = documents[0]
    try:
        if "event" in first and "data" in first:
            return iperf3.read(iperf3.from_stream(documents, name), name)
        if len(documents) > 1 and _reader(first):
            raise InputError(
                f"{name}: holds {len(documents)} JSON documents; split it into one file for each"
            )
        if reader := _reader(first):
            return reader(first, name)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise _misses(error, name) from None
    raise InputError(f"{name}: {_unknown()}")


def _reader(document: dict[str, Any]) -> Callable[[dict[str, Any], str], Measurement] | None:
    """The reader of a report in JSON, by its keys."""
    if "intervals" in document or (
        "error" in document and set(document) <= {"start", "error", "end"}
    ):
        return iperf3.read
    if "round_trips" in document:
        return irtt.read
    if "x_values" in document and "results" in document:
        return flent.read
    return netem_trace.read if netem_trace.is_trace(document) else None


def _from_list(points: list[Any], name: str) -> Measurement:
    """A JSON document that is a list: values over time of netem-trace."""
    if not netem_trace.is_series(points):
        raise InputError(f"{name}: {_unknown()}")
    try:
        return netem_trace.read_series(points, name)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise _misses(error, name) from None


def _misses(error: Exception, name: str) -> InputError:
    return InputError(
        f"{name}: misses a value where its format has one ({type(error).__name__}: {error})"
    )


def _unknown() -> str:
    return f"is of no known format; known are {FORMATS}"

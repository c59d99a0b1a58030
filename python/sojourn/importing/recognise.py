"""Recognises the format of a file by its content."""

from __future__ import annotations

import codecs
import gc
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sojourn import reading
from sojourn.errors import InputError
from sojourn.importing import (
    captures,
    columns,
    flent,
    foreign,
    iperf3,
    irtt,
    netem_trace,
    netperf,
    ping,
    speedtests,
)
from sojourn.importing.cells import Rows
from sojourn.importing.compressed import CutError, plain
from sojourn.importing.measured import Measurement
from sojourn.importing.part import part

FORMATS = (
    "Mahimahi traces, CSV and TSV with a time column, logs of Pensieve, 5G, bytes per interval and "
    "cake-autorate, netem-trace JSON, iperf3 JSON, iperf 2 CSV, irtt JSON, ping's text, Flent data "
    "files, netperf's interim results, "
    "results of speed tests, captures (pcap, pcapng); each also compressed with gzip, bzip2, xz, "
    "zstd or lz4"
)
_UNREAD = {
    b"\x02\x21\x4c\x18": "is in lz4's legacy format; decompress it with lz4 -d",
    b"PK\x03\x04": "is a zip archive or a spreadsheet; unpack it, or save it as CSV",
    b"\x1f\x9d": "is compressed with compress; decompress it with gzip -d",
    b"snoop\0": "is a capture of snoop; convert it with editcap -F pcapng",
    b"\x34\xcd\xb2\xa1": "is a pcap file of a modified libpcap; convert it with editcap -F pcapng",
    b"\xa1\xb2\xcd\x34": "is a pcap file of a modified libpcap; convert it with editcap -F pcapng",
    b"GMBU": "is a capture of Network Monitor; convert it with editcap -F pcapng",
    b"SQLite format 3\0": "is an SQLite database; export its table as CSV",
    b"PAR1": "is a Parquet file; write it as CSV",
    b"ARROW1": "is an Arrow file; write it as CSV",
    b"\x89HDF": "is an HDF5 file; write its table as CSV",
    b"\x93NUMPY": "is an array of NumPy; write it with numpy.savetxt and a header",
    b"MATLAB": "is a file of MATLAB; write its table as CSV",
    b"\xcb\x59\x7c\xae\x82\xab\x72\x53": "is a raw result of Crusader; write its times and rates "
    "as CSV, such as `time_s,rate_mbps`",
    b"RRD\0": "is a database of RRDtool or SmokePing; import the text of ping",
    b"\xd0\xcf\x11\xe0": "is a spreadsheet of Excel; save it as CSV",
    b"%PDF": "is a PDF; import the measurement itself",
    b"\x89PNG": "is a picture; import the measurement itself",
    b"{\\rtf": "is a document of a word processor; save it as text",
    b"7z\xbc\xaf": "is a 7-Zip archive; unpack it",
    b"Rar!": "is a RAR archive; unpack it",
    b"]\0\0": "is compressed with LZMA; decompress it with xz -d",
    b"\x1f\x8b": "is compressed twice; decompress it once, with gzip -d",
}
"""What known files are that cannot be read, by their first bytes."""


def read(
    path: Path,
    units: Mapping[str, str] | None = None,
    kind: captures.As | None = None,
    begin_s: float = 0.0,
    end_s: float | None = None,
) -> Measurement:
    """Read a measurement file of any known format.

    Args:
        path: the file, possibly compressed with gzip, bzip2, xz, zstd or lz4.
        units: units of CSV columns whose names have none, by column: ``{"rate": "kbit/s"}``.
        kind: what becomes of TCP in a capture: ``transfers`` (the default) or ``packets``.
        begin_s: where the part that is imported begins, in seconds since the first value.
        end_s: where it ends; None is the end of the file.

    Raises:
        InputError: the file cannot be read, has no known format, or is damaged; the text says where
            and how to fix it.
    """
    if end_s is not None and end_s <= begin_s:
        raise InputError(f"--to {end_s:g}s: is not after --from {begin_s:g}s")
    name = reading.shown(path)
    if captures.is_capture(path):
        return captures.read(path, name, kind or "transfers", begin_s, end_s)
    with _without_collector():
        whole = _whole(path, name, units or {}, kind)
    if not begin_s and end_s is None:
        return whole
    return part(whole, begin_s, end_s, reading.shown(path.name))


@contextmanager
def _without_collector() -> Iterator[None]:
    """Keep the collector of cycles from visiting the cells of a table, which make none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _whole(
    path: Path, name: str, units: Mapping[str, str], kind: captures.As | None
) -> Measurement:
    if kind:
        raise InputError(f"{name}: is not a capture, which --as {kind} is for")
    found = _content(path, name)
    text = _decoded(found, name)
    if not text.strip():
        raise InputError(f"{name}: is empty")
    if not _WORDS.search(text):
        return columns.read(text.splitlines(), name, units)
    return _of_text(text, name, units)


def _of_text(text: str, name: str, units: Mapping[str, str]) -> Measurement:
    """The measurement of a text that has words."""
    lines = text.splitlines()
    if any("[" in line and _IPERF_TEXT.search(line[:_LONGEST_HEAD]) for line in lines):
        raise InputError(f"{name}: is iperf's text for people; run iperf3 with --json instead")
    if any(_IRTT_TEXT.match(line[:_LONGEST_HEAD]) for line in lines if line[:1] in "[s"):
        raise InputError(f"{name}: is irtt's text for people; run irtt client with -o FILE.json")
    if netperf.is_interim(lines):
        return netperf.read(lines, name)
    if any(_NETEM_TRACE.match(line) for line in lines[:_HEAD_LINES]):
        return _from_toml(text, name)
    # `ping -D` begins its lines with a bracket, as JSON may.
    if ping.is_ping(lines):
        return ping.read(lines, name)
    if text.lstrip()[0] in "{[":
        try:
            documents, cut = _documents(text, name)
        except InputError:
            if words := foreign.text(lines):
                raise InputError(f"{name}: {words}") from None
            raise
        result = _from_json(documents, name, units)
        if cut:
            result.unknown.append(cut)
        return result
    if words := foreign.text(lines):
        raise InputError(f"{name}: {words}")
    return columns.read(lines, name, units)


_WORDS = re.compile(r"[A-Za-z:\[{]")
"""What a text has that is not only numbers, which may be many."""
_IPERF_TEXT = re.compile(r"\[ *ID\] Interval +Transfer")
_IRTT_TEXT = re.compile(r"\[Connecting\] connecting to|seq=\d+ rtt=")
_NETEM_TRACE = re.compile(r"\[\[?(Repeated|Static|Fixed|Trace)\w+Config\b")
_LONGEST_HEAD = 80
_HEAD_LINES = 40


def _from_toml(text: str, name: str) -> Measurement:
    """A model of netem-trace, which rattan also reads as TOML."""
    import tomllib

    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name}: is not TOML ({error})") from None
    return _from_json([document], name, {})


def _decoded(content: bytes, name: str) -> str:
    """The text of a file.

    UTF-8, UTF-16 with its mark, as redirection in PowerShell writes, or a code page of Windows, in
    which all that we read is ASCII.
    """
    if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            pass
    content = content.removeprefix(codecs.BOM_UTF8)
    if content[_TAR_AT:].startswith(b"ustar"):
        raise InputError(f"{name}: is a tar archive; unpack it, and import one file")
    for start, words in _UNREAD.items():
        if content.startswith(start):
            raise InputError(f"{name}: {words}")
    try:
        return reading.decoded(content, name, "measurement file")
    except InputError:
        if _BINARY.search(content):
            raise
        return content.decode("latin-1").translate(_CONTROLS)


_TAR_AT = 257
_CONTROLS = dict.fromkeys(range(0x80, 0xA0), "_")
"""Letters in code pages, but line breaks and other controls in Latin-1."""
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")


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


def _documents(text: str, name: str) -> tuple[list[Any], str]:
    """The JSON documents of a file: one, several in a row, or one on each line.

    Also returns what is missing at the end of `iperf3 --json-stream` that was cut off.
    """
    decoder, at, found = json.JSONDecoder(), 0, []
    try:
        while (at := _next(text, at)) < len(text):
            document, at = decoder.raw_decode(text, at)
            found.append(document)
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None
    except json.JSONDecodeError as error:
        is_report = bool(found) and isinstance(found[0], dict)
        # Messages of a program may follow its report.
        if is_report and ({"event", "data"} <= set(found[0]) or text[at] not in "{["):
            return found, f"everything from line {error.lineno} on: it is not JSON ({error.msg})"
        raise InputError(
            f"{name}, line {error.lineno}: is not JSON ({error.msg}); a file that was cut off "
            "while it was written ends so"
        ) from None
    except ValueError:
        raise InputError(f"{name}: has a number of thousands of digits") from None
    return found, ""


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _from_json(documents: list[Any], name: str, given: Mapping[str, str]) -> Measurement:
    documents = speedtests.results(documents)
    if len(documents) == 1 and isinstance(documents[0], list) and documents[0]:
        if len(documents[0]) == 1 and speedtests.is_result(documents[0][0]):
            return speedtests.read(documents[0][0], name)
        if _is_table(documents[0]) and not netem_trace.is_series(documents[0]):
            return columns.of_rows(_rows(documents[0]), name, given)
        if isinstance(documents[0][0], dict) and _reader(documents[0][0]):
            raise InputError(f"{name}: is a list of reports; split it into one file for each")
        return _from_list(documents[0], name)
    if not all(isinstance(document, dict) for document in documents) or foreign.document(documents):
        raise InputError(f"{name}: {_unknown(documents)}")
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
        rows = _by_columns(first) if len(documents) == 1 else documents
        if rows and _is_table(rows):
            return columns.of_rows(_rows(rows), name, given)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise _misses(error, name) from None
    raise InputError(f"{name}: {_unknown(documents)}")


def _is_table(documents: list[Any]) -> bool:
    """Whether these are rows of a table: objects with the same keys, without further structure."""
    return all(
        isinstance(row, dict)
        and len(row) > 1
        and row.keys() == documents[0].keys()
        and not any(isinstance(value, dict | list) for value in row.values())
        for row in documents
    )


def _by_columns(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of an object of lists of the same length, each a column; empty for others."""
    lists = list(document.values())
    if not all(isinstance(column, list) and len(column) == len(lists[0]) for column in lists):
        return []
    return [dict(zip(document, row, strict=True)) for row in zip(*lists, strict=True)]


def _rows(documents: list[dict[str, Any]]) -> Rows:
    """The cells of a table; null is an empty cell."""
    cells = [["" if value is None else str(value) for value in row.values()] for row in documents]
    return list(enumerate([list(documents[0]), *cells]))


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
    if speedtests.is_result(document):
        return speedtests.read
    return netem_trace.read if netem_trace.is_trace(document) else None


def _from_list(points: list[Any], name: str) -> Measurement:
    """A JSON document that is a list: values over time of netem-trace."""
    if not netem_trace.is_series(points):
        raise InputError(f"{name}: {_unknown(points)}")
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


def _unknown(documents: list[Any]) -> str:
    return foreign.document(documents) or f"is of no known format; known are {FORMATS}"

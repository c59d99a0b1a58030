"""The output of ping on Linux, the BSDs, macOS and Windows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, curve

_REPLY = re.compile(
    r"^(?:\[(?P<stamp>\d+\.\d+)\] )?.*?(?:seq=(?P<seq>\d+).*?)?"
    r"\b(?:time|Zeit|temps|tiempo)(?P<sign>[=<])(?P<ms>\d+(?:[.,]\d+)?) ?ms"
)
_SENT = re.compile(r"(\d+) packets transmitted, (\d+)(?: packets)? received")
_INTERVAL_S = 1.0
_LONGEST_LINE = 500
"""No line of ping is longer; the patterns take time quadratic in the length of a line."""


def is_ping(lines: Sequence[str]) -> bool:
    """Whether the text contains replies, or the summary of a ping without any."""
    return any(_is_reply(line) or _sent(line) for line in lines)


def _is_reply(line: str) -> bool:
    if len(line) > _LONGEST_LINE:
        return False
    return ("bytes from" in line or "ttl" in line.lower()) and bool(_REPLY.match(line))


def _sent(line: str) -> re.Match[str] | None:
    return _SENT.search(line) if len(line) <= _LONGEST_LINE else None


def read(lines: Sequence[str], name: str) -> Measurement:
    """Round-trip times and losses.

    Raises:
        InputError: no packet was answered.
    """
    replies = [
        (number, found)
        for number, line in enumerate(lines, start=1)
        if _is_reply(line) and "DUP!" not in line and (found := _REPLY.match(line))
    ]
    if not replies:
        raise InputError(f"{name}: ping had no reply, so nothing can be read from it")
    is_stamped = all(found["stamp"] for _, found in replies)
    is_numbered = all(found["seq"] for _, found in replies)
    points = []
    for index, (number, found) in enumerate(replies):
        if is_stamped:
            time_s = float(found["stamp"])
        else:
            time_s = (int(found["seq"]) if is_numbered else index) * _INTERVAL_S
        points.append((time_s, float(found["ms"].replace(",", ".")) / 1e3, f"line {number}"))
    result = Measurement("ping's text")
    values = [value for _, value, _ in points]
    if len(points) > 1:
        result.rtt = curve(points, name)
    # Windows writes `time<1ms` for shorter times, an upper bound, not a measurement of zero.
    result.base_rtt_s = min(values)
    result.read.append(
        f"{len(values)} round trips of {min(values) * 1e3:.4g} to {max(values) * 1e3:.4g} ms"
    )
    _losses(lines, replies, is_numbered, result)
    if not is_stamped:
        result.unknown.append(
            "the times of the packets: one per second is assumed (ping -D writes them)"
        )
    return result


def _losses(
    lines: Sequence[str],
    replies: list[tuple[int, re.Match[str]]],
    is_numbered: bool,
    result: Measurement,
) -> None:
    """Take the losses from the summary, or from missing sequence numbers."""
    if summary := next((found for line in lines if (found := _sent(line))), None):
        sent, received = int(summary[1]), int(summary[2])
    elif is_numbered:
        numbers = {int(found["seq"]) for _, found in replies}
        sent, received = max(numbers) - min(numbers) + 1, len(numbers)
    else:
        result.unknown.append("losses: the text has neither a summary nor sequence numbers")
        return
    result.loss = 1 - received / sent if sent else None
    result.read.append(f"{sent - received} of {sent} packets were lost")

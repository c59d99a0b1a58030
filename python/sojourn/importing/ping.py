"""The output of ping on Linux, the BSDs, macOS and Windows, and of fping.

A request without a reply is known by its sequence number, or on Windows by its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, curve, loss_curve

# Windows translates the word for time; old Linux numbers requests by `icmp_req`.
_REPLY = re.compile(
    r"^(?:\[(?P<stamp>\d+\.\d+)\] )?.*?(?:(?:seq|req)=(?P<seq>\d+).*?)?"
    # Russian Windows writes its own letters, in one of two code pages.
    r"\b\w+ ?[=<] ?(?P<ms>\d+(?:[.,]\d+)?) ?(?:ms|\u043c\u0441|\xac\xe1|\xec\xf1)"
)
# Written before each line by `ts`, date or macOS's --apple-time, when the reply was printed.
_WATCH = re.compile(r"(?:\S+ +){0,2}(?:\d{4}-\d\d-\d\dT)?(\d\d):(\d\d):(\d\d(?:\.\d+)?)\b")
_FPING = re.compile(
    r"^(?:\[(?P<stamp>\d+\.\d+)\] )?(?P<host>\S+)\s*: \[(?P<seq>\d+)\], "
    r"(?:\d+ bytes, (?P<ms>\d+(?:\.\d+)?) ms\b|timed out)"
)
# Windows omits the TTL of a reply over IPv6.
_BARE_REPLY = re.compile(r": \w+[=<]\d+ ?ms\s*$")
_BEGIN = re.compile(r"PING6?[ (]")
_SENT = re.compile(
    r"(?P<sent>\d+) packets transmitted, (?P<received>\d+)(?: packets)? received"
    r"(?:.*, time (?P<ms>\d+) ?ms)?"
)
_FPING_SENT = re.compile(r"xmt/rcv/%loss = (?P<sent>\d+)/(?P<received>\d+)/")
_WINDOWS_SENT = re.compile(
    r"= (?P<sent>\d+), \S+ = (?P<received>\d+), \S+ = \d+(?:\s*\(\D*\d+\s?%|\s*$)"
)
_TIMES = re.compile(
    r"min/avg/max(?:/\w+)? = (?P<least>\d+(?:\.\d+)?)/\d+(?:\.\d+)?/(?P<most>\d+(?:\.\d+)?)"
)
_INTERVAL_S = 1.0
_DAY_S = 86_400.0
_NUMBERS = 1 << 16
"""Sequence numbers start again after this many."""
_NUMBERS_ALONE = re.compile(r"[-+0-9.eE,;\t ]*").fullmatch
_LONGEST_LINE = 500
"""No line of ping is longer; the patterns take time quadratic in the length of a line."""


@dataclass(frozen=True)
class _Reply:
    line: int
    number: int | None
    """The number of the request, if the text has numbers."""
    stamp_s: float | None
    rtt_s: float
    watch_s: float | None = None
    """The time of day."""


def is_ping(lines: Sequence[str]) -> bool:
    """Whether the text contains replies, or the summary of a ping without any."""
    # Rows of numbers, of which a file may have many, are none of the first.
    kept = [line for line in lines if len(line) <= _LONGEST_LINE and not _NUMBERS_ALONE(line)]
    patterns = (_FPING.match, _SENT.search, _FPING_SENT.search, _WINDOWS_SENT.search)
    return any(
        _is_reply(line) or any(matches(line) for matches in patterns) for line in kept
    ) or any(_row(line) for line in lines if " : " in line)


def _is_reply(line: str) -> bool:
    is_known = "bytes from" in line or "ttl" in line.lower() or bool(_BARE_REPLY.search(line))
    return is_known and bool(_REPLY.match(line))


def read(lines: Sequence[str], name: str) -> Measurement:
    """Round-trip times and losses.

    Raises:
        InputError: no packet was answered, or the text is of several runs or hosts.
    """
    kept = [line if len(line) <= _LONGEST_LINE else "" for line in lines]
    replies = _fping(kept, name) or _replies(kept) or _fping_rows(lines, name)
    summary = _summary(kept, name)
    if not replies and summary and (times := next(filter(None, map(_TIMES.search, kept)), None)):
        return _summarised(summary, times)
    if not replies:
        raise InputError(f"{name}: ping had no reply, so nothing can be read from it")
    numbers, end = _numbered(kept, replies)
    # Many hosts reply to a broadcast.
    first: dict[int, _Reply] = {}
    for number, reply in zip(numbers, replies, strict=True):
        first.setdefault(number, reply)
    answered = dict(sorted(first.items()))
    result = Measurement("ping's text")
    stamps = {number: reply.stamp_s for number, reply in answered.items()}
    watches = {number: reply.watch_s for number, reply in answered.items()}
    interval_s = _interval(stamps, summary, result) if None in watches.values() else _paced(watches)
    points = []
    for number, reply in answered.items():
        time_s = reply.stamp_s if reply.stamp_s is not None else number * interval_s
        points.append((time_s, reply.rtt_s, f"line {reply.line}"))
    if len(points) > 1:
        result.rtt = curve(sorted(points), name)
    values = [rtt_s for _, rtt_s, _ in points]
    # Windows writes `time<1ms` for shorter times, an upper bound, not a measurement of zero.
    result.base_rtt_s = min(values)
    result.read.append(
        f"{len(values)} round trips of {min(values) * 1e3:.4g} to {max(values) * 1e3:.4g} ms"
    )
    _losses(list(answered), end, summary, interval_s, result)
    return result


def _replies(lines: Sequence[str]) -> list[_Reply]:
    found = []
    for line, text in enumerate(lines, start=1):
        match = _REPLY.match(text) if _is_reply(text) and "DUP!" not in text else None
        if match:
            number = int(match["seq"]) if match["seq"] else None
            stamp = float(match["stamp"]) if match["stamp"] else None
            rtt_s = float(match["ms"].replace(",", ".")) / 1e3
            found.append(_Reply(line, number, stamp, rtt_s, _watch_s(text)))
    return found


def _watch_s(line: str) -> float | None:
    found = _WATCH.match(line)
    return found and 3600.0 * int(found[1]) + 60.0 * int(found[2]) + float(found[3])


def _fping(lines: Sequence[str], name: str) -> list[_Reply]:
    found: list[_Reply] = []
    hosts: dict[str, None] = {}
    for line, text in enumerate(lines, start=1):
        if match := _FPING.match(text):
            hosts.setdefault(match["host"])
            stamp = float(match["stamp"]) if match["stamp"] else None
            if match["ms"]:
                found.append(_Reply(line, int(match["seq"]), stamp, float(match["ms"]) / 1e3))
    if len(hosts) > 1:
        raise InputError(
            f"{name}: holds pings of {len(hosts)} hosts ({', '.join(hosts)}); keep the lines of one"
        )
    return found


def _row(line: str) -> list[str] | None:
    """The round trips of a line of `fping -C`: ``host : 36.5 - 34.5``."""
    host, _, rest = line.partition(" : ")
    values = rest.split()
    is_row = values and " " not in host.strip() and all(map(_ROUND_TRIP.fullmatch, values))
    return values if is_row else None


_ROUND_TRIP = re.compile(r"-|\d+(?:\.\d+)?")


def _fping_rows(lines: Sequence[str], name: str) -> list[_Reply]:
    """The replies of `fping -C` with `-q`, which prints only a row for each host."""
    rows = [(line, values) for line, text in enumerate(lines, start=1) if (values := _row(text))]
    if len(rows) > 1:
        raise InputError(f"{name}: holds pings of {len(rows)} hosts; keep the line of one")
    return [
        _Reply(line, number, None, float(value) / 1e3)
        for line, values in rows
        for number, value in enumerate(values)
        if value != "-"
    ]


def _summarised(summary: re.Match[str], times: re.Match[str]) -> Measurement:
    """What `ping -q` prints: no reply by itself."""
    sent, received = int(summary["sent"]), int(summary["received"])
    result = Measurement("ping's summary", base_rtt_s=float(times["least"]) / 1e3)
    result.loss = 1 - min(received / sent, 1) if sent else None
    result.read.append(f"round trips of {times['least']} to {times['most']} ms")
    result.read.append(f"{max(sent - received, 0)} of {sent} packets were lost")
    result.unknown.append("round trips and losses over time: the text has only their summary")
    return result


def _numbered(lines: Sequence[str], replies: list[_Reply]) -> tuple[list[int], int]:
    """The number of each reply's request, and the one after the last request in the text.

    Windows has no numbers, but a line for each request, whether answered or not.
    """
    numbers: list[int] = []
    for reply in replies:
        if reply.number is None:
            break
        last = numbers[-1] if numbers else 0
        numbers.append(reply.number + _NUMBERS * round((last - reply.number) / _NUMBERS))
    if len(numbers) == len(replies):
        return numbers, max(numbers) + 1
    first = replies[0].line
    heads = [line for line in range(1, first) if lines[line - 1].rstrip().endswith(":")]
    begin = heads[-1] + 1 if heads else first
    requests: dict[int, int] = {}
    for line in range(begin, len(lines) + 1):
        if lines[line - 1].strip():
            requests[line] = len(requests)
        elif line > first:
            break
    for reply in replies:
        requests.setdefault(reply.line, len(requests))
    return [requests[reply.line] for reply in replies], len(requests)


def _summary(lines: Sequence[str], name: str) -> re.Match[str] | None:
    """The line that counts packets.

    Raises:
        InputError: there are several, so the file is of several runs.
    """
    patterns = (_SENT, _FPING_SENT, _WINDOWS_SENT)
    found = [match for line in lines for pattern in patterns if (match := pattern.search(line))]
    runs = max(len(found), sum(bool(_BEGIN.match(line)) for line in lines))
    if runs > 1:
        raise InputError(f"{name}: holds {runs} runs of ping; split it into one file for each")
    return found[0] if found else None


def _interval(
    stamps: Mapping[int, float | None], summary: re.Match[str] | None, result: Measurement
) -> float:
    """Seconds between requests."""
    (first, begin), (last, end) = next(iter(stamps.items())), list(stamps.items())[-1]
    if begin is not None and end is not None:
        return max((end - begin) / (last - first), 1e-6) if last > first else _INTERVAL_S
    total_ms = summary.groupdict().get("ms") if summary else None
    if summary and total_ms and int(summary["sent"]) > 1 and int(total_ms) > 0:
        interval_s = int(total_ms) / 1e3 / (int(summary["sent"]) - 1)
        result.read.append(f"{interval_s:.3g} s between packets, from the summary")
        return interval_s
    result.unknown.append(
        "the times of the packets: one per second is assumed (ping -D writes them)"
    )
    return _INTERVAL_S


def _paced(watches: Mapping[int, float | None]) -> float:
    """Seconds between requests from the times of day, which may be whole seconds."""
    (first, begin), (last, end) = next(iter(watches.items())), list(watches.items())[-1]
    assert begin is not None and end is not None
    span_s = (end - begin) % _DAY_S
    return span_s / (last - first) if last > first and span_s else _INTERVAL_S


def _losses(
    answered: list[int],
    end: int,
    summary: re.Match[str] | None,
    interval_s: float,
    result: Measurement,
) -> None:
    """Take the losses from the summary, or from missing sequence numbers, and over time."""
    begin = first = answered[0]
    if summary and len(answered) >= int(summary["received"]):
        # Linux counts from 1, others from 0; requests after the last reply were lost as well.
        begin = min(begin, 1)
        end = max(end, begin + int(summary["sent"]))
    # Windows counts answers of routers, such as `Destination host unreachable`, as received.
    has_all = summary is not None and summary.re is _WINDOWS_SENT and end == int(summary["sent"])
    begin = 0 if has_all else begin
    sent, lost = end - begin, end - begin - len(answered)
    if summary and not has_all:
        sent = int(summary["sent"])
        lost = sent - min(int(summary["received"]), sent)
    result.loss = lost / sent if sent else None
    result.read.append(f"{lost} of {sent} packets were lost")
    known = set(answered)
    result.losses = loss_curve(
        ((number - first) * interval_s, number not in known) for number in range(first, end)
    )

"""The interim results of netperf (`-D`), as text and as `NAME[N]=VALUE`.

Source: netperf 2.7, src/netlib.c, `display_interval`: units are bits in powers of ten (`-f k`,
`m`, `g`) or bytes in powers of two (`-f K`, `M`, `G`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sojourn.errors import InputError
from sojourn.importing.measured import Measurement, rate_curve
from sojourn.importing.units import rate_factor

_LINE = re.compile(
    r"Interim result: +(?P<rate>[\d.]+) (?P<unit>\S+) over (?P<span>[\d.]+) seconds"
    r" ending at (?P<end>[\d.]+)"
)
_VALUE = re.compile(r"NETPERF_(INTERIM_RESULT|UNITS|INTERVAL|ENDING)\[(\d+)\]=(\S+)")
_TEN = {"10^0bits/s": 1.0, "10^3bits/s": 1e3, "10^6bits/s": 1e6, "10^9bits/s": 1e9}
_BINARY = {"KBytes/s": 8 * 2.0**10, "MBytes/s": 8 * 2.0**20, "GBytes/s": 8 * 2.0**30}

_NAMES = {"INTERIM_RESULT": "rate", "UNITS": "unit", "INTERVAL": "span", "ENDING": "end"}
"""The names of `NAME[N]=VALUE`, after ``NETPERF_``."""

_Result = tuple[float, str, float, float, str]
"""Rate, unit, seconds of the interval, its end, and the place."""


def is_interim(lines: Sequence[str]) -> bool:
    """Whether the text has interim results."""
    return any(_LINE.match(line) or _VALUE.match(line) for line in lines)


def read(lines: Sequence[str], name: str) -> Measurement:
    """The rates over time.

    Raises:
        InputError: a unit is not known, or a result misses a value.
    """
    points: list[tuple[float, float, str]] = []
    end_s = 0.0
    for rate, unit, span, end, place in _results(lines, name):
        factor = _TEN.get(unit) or _BINARY.get(unit) or rate_factor(unit)
        if factor is None:
            raise InputError(f"{name}, {place}: `{unit}` is not a known unit of a rate")
        points.append((end - span, rate * factor, place))
        end_s = end
    is_down = any("MAERTS" in line for line in lines)
    result = Measurement("netperf's interim results", is_loaded=True)
    rates = rate_curve(points, name, end_s - points[0][0])
    result.down, result.up = (rates, None) if is_down else (None, rates)
    result.read.append(
        f"{len(points)} intervals {'from' if is_down else 'to'} the server, "
        f"{rates.mean / 1e6:.4g} Mbit/s in the mean"
    )
    if not is_down:
        result.unknown.append("what arrived over time: the results are the sender's")
    result.unknown.append("the rate of the link itself: it carries at least what the flow got")
    return result


def _results(lines: Sequence[str], name: str) -> Iterator[_Result]:
    values: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines, start=1):
        if one := _LINE.match(line):
            yield _result(one.groupdict(), f"line {number}", name)
        elif pair := _VALUE.match(line):
            values.setdefault(pair[2], {})[_NAMES[pair[1]]] = pair[3]
    for index, found in values.items():
        place = f"result {index}"
        for of, key in _NAMES.items():
            if key not in found:
                raise InputError(f"{name}, {place}: has no NETPERF_{of}; keep its four lines")
        yield _result(found, place, name)


def _result(of: dict[str, str], place: str, name: str) -> _Result:
    try:
        return float(of["rate"]), of["unit"], float(of["span"]), float(of["end"]), place
    except ValueError:
        raise InputError(f"{name}, {place}: has a value that is not a number") from None

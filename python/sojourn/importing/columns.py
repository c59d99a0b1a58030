"""Texts in lines and columns: CSV and TSV, and logs of data sets in other formats.

A header names the columns; units are in the names (`rate_mbps`, `rtt (ms)`) or given. Logs without
a header are recognised by their numbers: Mahimahi has one column of integers, Pensieve two (seconds
and Mbit/s), the 4G logs of Ghent and Oslo six.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite, isnan

from sojourn.errors import InputError
from sojourn.importing import cell_units, column_units, iperf2, speedtables, speedtests, units
from sojourn.importing.cells import MISSING, Rows, is_number, number, of_lines
from sojourn.importing.clocks import TIME_OF_DAY, seconds_of, with_dates
from sojourn.importing.logs import (
    BARE,
    cake_autorate,
    fifth_generation,
    is_cake_autorate,
    lumos,
    mahimahi,
    mahimahi_log,
)
from sojourn.importing.measured import (
    Measurement,
    curve,
    loss_curve,
    rate_curve,
    share_curve,
)

_WAYS = {
    "down": re.compile(
        r"rate|bitrate|throughput|tput|thrpt|thput|bandwidth|bw|capacity|down|dl|download|downlink"
        r"|goodput|datenrate|durchsatz|bandbreite"
    ),
    "up": re.compile(r"up|ul|upload|uplink"),
    "rtt": re.compile(r"rtt|ping|latency|round"),
    "delay": re.compile(r"delay|owd"),
    "jitter": re.compile(r"jitter|pdv|ipdv"),
    "loss": re.compile(r"loss|lost|plr|drop|verlust"),
    "time": re.compile(
        r"time|dtime|timestamp|datetime|datetimestamp|t|ts|seconds?|since|date|elapsed|epoch|zeit"
        r"|datum"
    ),
}
_STARTS = {"start", "interval start", "interval_start"}
"""Columns of times in Wireshark's graphs and in tables of iperf3's intervals."""


def read(lines: Sequence[str], name: str, given: Mapping[str, str]) -> Measurement:
    """Read a text of columns.

    Raises:
        InputError: its columns are unknown, a unit is missing, or a value is not a number.
    """
    rows = of_lines(lines, name)
    if not rows:
        raise InputError(f"{name}: is empty")
    return of_rows(rows, name, given)


def of_rows(rows: Rows, name: str, given: Mapping[str, str]) -> Measurement:
    """Read the cells of a table, as `read`."""
    if iperf2.is_csv(rows):
        return iperf2.read(rows, name)
    if is_cake_autorate(rows):
        return cake_autorate(rows, name)
    if results := speedtables.results(rows, name):
        if results.document:
            return speedtests.read(results.document, name)
        result = _headed(results.rows, name, results.units)
        result.unknown.append("the rate of the link itself: it carries at least what a test got")
        return result
    if len(rows[0][1]) >= 3 and rows[0][1][1] in ("#", "+", "-"):
        return mahimahi_log(rows, name)
    if len(rows) > 1 and all(is_number(cell) for cell in rows[0][1]):
        reader = BARE.get(len(rows[0][1]))
        if reader is None:
            raise InputError(
                f"{name}: has {len(rows[0][1])} columns of numbers without names; give it a first "
                "line such as `time_s,rate_mbps`"
            )
        return reader(rows, name)
    if len(rows[0][1]) == 1 and rows[0][1][0].strip().isdigit():
        return mahimahi(rows, name)
    return _headed(rows, name, given)


def _headed(rows: Rows, name: str, given: Mapping[str, str]) -> Measurement:
    """A table whose first line names its columns."""
    header = rows[0][1]
    if "DL_bitrate" in header and "Timestamp" in header:
        return fifth_generation(rows, name)
    if {"run_num", "seq_num", "Throughput"} <= set(header):
        return lumos(rows, name)
    if len(rows) > 1:
        rows, of_cells = cell_units.taken_out(rows, name)
        given = {**of_cells, **given}
    if not any(is_number(cell) for _, cells in rows[1:] for cell in cells):
        raise InputError(f"{name}: has no numbers in columns, and is of no other known format")
    for column in given:
        if column not in header:
            raise InputError(f"{name}: has no column `{column}`; it has {', '.join(header)}")
    kinds = _kinds(header, name)
    place_of = {kind: header.index(column) for kind, column in kinds.items()}
    joined = with_dates(rows, place_of["time"])
    used = set(kinds.values()) | ({header[place_of["time"] + 1]} if joined is not rows else set())
    rows = joined
    result = Measurement("table of columns")
    table = _table(rows, name, place_of)
    is_date = not is_number(rows[1][1][place_of["time"]])
    first = table["time"][0]
    column_units.ask(kinds, first, is_date, name, given)
    scale_s = _clock(kinds["time"], first, is_date, name, given, result)
    times_s = [(time - first) * scale_s for time in table["time"]]
    places = [f"line {line}" for line, _ in rows[1:]]
    for kind in ("down", "up", "rtt", "delay", "jitter", "loss"):
        if kind not in kinds:
            continue
        column = kinds[kind]
        is_rate = kind in ("down", "up")
        if column_units.is_clocked(kind, column, given):
            result.unknown.append(
                f"column `{column}`: a delay of one direction, which depends on two clocks"
            )
            continue
        scale = column_units.scale_of(column, kind, name, given)
        unit_text = f" (1 is {scale / 1e6:g} Mbit/s)" if is_rate else ""
        result.read.append(f"column `{column}` as {_MEANING[kind]}{unit_text}")
        values = [value * scale for value in table[kind]]
        _take(result, kind, list(zip(times_s, values, places, strict=True)), name)
        if is_rate and re.search(r"(?i)throughput|goodput", column):
            result.unknown.append(
                f"the rate of the link itself: it carries at least the `{column}` of its traffic"
            )
    left_out = [f"`{column}`" for column in header if column and column not in used]
    if left_out:
        result.read.append(f"nothing of {', '.join(left_out)}, which has no counterpart")
    if result.rtt and not (result.down or result.up or "loss" in kinds):
        _lost_probes(list(zip(times_s, table["rtt"], strict=True)), result)
    return result


def _lost_probes(probes: list[tuple[float, float]], result: Measurement) -> None:
    """In a table with only round trips, a row without a round trip means a lost probe."""
    result.losses = loss_curve((time, not rtt > 0) for time, rtt in probes)
    lost = sum(not rtt > 0 for _, rtt in probes)
    result.loss = lost / len(probes)
    if lost:
        result.read.append(f"a row without one as a packet that was lost: {lost} of {len(probes)}")


_MEANING = {
    "down": "rate downstream",
    "up": "rate upstream",
    "rtt": "round-trip time",
    "delay": "one-way delay",
    "jitter": "jitter",
    "loss": "share of packets lost",
}
_RATE_ALONE = re.compile(r"(?i:ps|[/_ ]s(?:ec(?:ond)?)?)$")
"""A name that is only a unit per second, such as ``Mbps``."""


def _kinds(header: list[str], name: str) -> dict[str, str]:
    """The column of each kind, by its name.

    Raises:
        InputError: no column is a time, none is a quantity, or two are the same.
    """
    found: dict[str, str] = {}
    for column in header:
        parts = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", column)
        words = re.split(r"[^a-z0-9%]+", parts.lower())
        matching = [kind for kind, known in _WAYS.items() if any(map(known.fullmatch, words))]
        if parts.lower() in _STARTS:
            matching = ["time"]
        if _RATE_ALONE.search(column) and units.rate_factor(column):
            matching = ["down"]
        # `rtt_time` is not a clock, and `rtt_delay` is one quantity.
        for one in ("jitter", "rtt", "delay"):
            for other in ("rtt", "delay", "time"):
                if one != other and one in matching and other in matching:
                    matching.remove(other)
        # `upload rate`, `loss rate`, `ping drop rate`, and `owd_down`.
        for one, other in (
            ("loss", "rtt"),
            ("up", "down"),
            ("loss", "down"),
            ("delay", "down"),
            ("jitter", "down"),
        ):
            if one in matching and other in matching:
                matching.remove(other)
        if len(matching) == 1 and (kind := matching[0]) in found and kind != "time":
            raise InputError(
                f"{name}: both `{found[kind]}` and `{column}` look like a {_MEANING[kind]}; keep "
                "one of the two"
            )
        if len(matching) == 1:
            found.setdefault(matching[0], column)
    columns = ", ".join(header)
    if "time" not in found:
        raise InputError(f"{name}: none of its columns ({columns}) is a time, such as `time_s`")
    if len(found) == 1:
        counts = [column for column in header if re.search(r"(?i)bytes|octets", column)]
        hint = f"; `{counts[0]}` counts: divide it by its interval" if counts else ""
        raise InputError(
            f"{name}: none of its columns ({columns}) is a rate, a delay or a loss, such "
            f"as `rate_mbps` or `rtt_ms`{hint}"
        )
    return found


def _table(rows: Rows, name: str, place_of: Mapping[str, int]) -> dict[str, list[float]]:
    """The numbers of the columns that matter; a missing quantity is NaN."""
    width = len(rows[0][1])
    if wrong := next(((line, cells) for line, cells in rows if len(cells) != width), None):
        line, cells = wrong
        raise InputError(
            f"{name}, line {line}: has {len(cells)} columns where the header has {width}"
        )
    if len(rows) < 3:
        raise InputError(f"{name}: has {len(rows) - 1} rows below its header; two are the least")
    table = {"time": _times(rows, place_of["time"], name)}
    for kind, index in place_of.items():
        if kind != "time":
            table[kind] = _numbers(rows, index, name)
    return table


def _times(rows: Rows, index: int, name: str) -> list[float]:
    try:
        return _all_finite([cells[index] for _, cells in rows[1:]])
    except ValueError:
        pass
    times: list[float] = []
    midnights_s = 0.0
    for line, cells in rows[1:]:
        cell = cells[index]
        time = midnights_s + seconds_of(cell, f"{name}, line {line}")
        if times and TIME_OF_DAY.fullmatch(cell) and times[-1] - time > _NOON_S:
            midnights_s += 2 * _NOON_S
            time += 2 * _NOON_S
        times.append(time)
    return times


def _numbers(rows: Rows, index: int, name: str) -> list[float]:
    cells = [cells[index] for _, cells in rows[1:]]
    if MISSING.isdisjoint(cells):
        try:
            return _all_finite(cells)
        except ValueError:
            pass
    lines = (line for line, _ in rows[1:])
    return [
        float("nan") if cell in MISSING else number(cell, f"{name}, line {line}")
        for line, cell in zip(lines, cells, strict=True)
    ]


def _all_finite(cells: list[str]) -> list[float]:
    """The numbers of cells, most of which are.

    Raises:
        ValueError: a cell is not a finite number; `number` says which.
    """
    values = [*map(float, cells)]
    if not all(map(isfinite, values)):
        raise ValueError
    return values


_NOON_S = 43_200.0
_YEAR_2100_S = 4.1e9


def _clock(
    column: str,
    first: float,
    is_date: bool,
    name: str,
    given: Mapping[str, str],
    result: Measurement,
) -> float:
    """Seconds per unit of the column of times."""
    unit, scale = column_units.time_unit(column, first, is_date, given)
    assert scale is not None, "column_units.ask has checked it"
    if first * scale > _YEAR_2100_S:
        raise InputError(
            f"{name}: the column `{column}` in {unit} begins after the year 2100; give its unit, "
            f"such as {column_units.option(column, 'ms')}"
        )
    if is_date:
        result.read.append(f"column `{column}` as date and time")
    elif unit is None:
        result.read.append(f"column `{column}` as time since 1970, in units of {scale:g} s")
    return scale


def _take(
    result: Measurement,
    kind: str,
    values: list[tuple[float, float, str]],
    name: str,
) -> None:
    """Put one column into the result; rows without a value are skipped and counted."""
    known = [point for point in values if not isnan(point[1])]
    if kind == "rtt":
        known = [point for point in known if point[1] > 0]
    if len(known) < len(values):
        result.read.append(
            f"{len(values) - len(known)} of {len(values)} rows have no {_MEANING[kind]}"
        )
    if not known:
        raise InputError(f"{name}: no row has a {_MEANING[kind]}")
    if known[0][0] > values[0][0]:
        # All schedules begin with the first row.
        result.unknown.append(
            f"the {_MEANING[kind]} before {known[0][2]}: the one there is taken as well"
        )
        known.insert(0, (values[0][0], *known[0][1:]))
    match kind:
        case "down":
            result.down = rate_curve(known, name)
        case "up":
            result.up = rate_curve(known, name)
        case "rtt":
            result.rtt = curve(known, name)
            result.base_rtt_s = min(value for _, value, _ in known)
        case "delay":
            if any(value < 0 for _, value, _ in known):
                raise InputError(f"{name}: has a negative delay; its clocks differ")
            result.delay = curve(known, name)
        case "jitter":
            if any(value < 0 for _, value, _ in known):
                raise InputError(f"{name}: has a negative jitter")
            result.jitter = curve(known, name)
        case _:
            result.losses = share_curve(known, name)
            result.loss = sum(value for _, value, _ in known) / len(known)

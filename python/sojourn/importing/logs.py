"""Logs of data sets in other formats."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from sojourn.errors import InputError
from sojourn.importing.cells import MISSING, Rows, all_numbers, number
from sojourn.importing.measured import APART_S, Measurement, rate_curve
from sojourn.importing.units import epoch_scale

_WHOLE = re.compile(r"[0-9]{1,18}")
_LATEST_MS = 4_294_967_295


def mahimahi(rows: Rows, name: str) -> Measurement:
    """Integer milliseconds, one delivery opportunity per line."""
    times: list[int] = []
    for line, cells in rows:
        if len(cells) != 1 or not _WHOLE.fullmatch(cells[0]):
            raise InputError(
                f"{name}, line {line}: is not a whole number of milliseconds, as each line of a "
                "Mahimahi trace is; rates need a column of times, such as `time_s,rate_mbps`"
            )
        if times and int(cells[0]) < times[-1]:
            raise InputError(f"{name}, line {line}: {cells[0]} ms comes after {times[-1]} ms")
        times.append(int(cells[0]))
    result = Measurement("Mahimahi trace")
    if epoch_scale(times[0]) == 1e-3:
        result.read.append(f"times since 1970, counted from the first one ({times[0]} ms)")
        times = [time - times[0] for time in times]
    if not 0 < times[-1] <= _LATEST_MS:
        raise InputError(
            f"{name}: ends at {times[-1]} ms; its last line is the period after which it repeats, "
            f"from 1 to {_LATEST_MS} ms"
        )
    result.opportunities_ms = times
    mean = len(times) * 12_000 / (times[-1] / 1e3)
    result.read.append(
        f"{len(times)} opportunities of 1500 B in {times[-1] / 1e3:.6g} s, "
        f"{mean / 1e6:.4g} Mbit/s in the mean"
    )
    return result


def mahimahi_log(rows: Rows, name: str) -> Measurement:
    """The log of `mm-link --downlink-log`: its opportunities, ``12 # 1504`` (link_queue.cc)."""
    found = [(line, cells[:1]) for line, cells in rows if cells[1:2] == ["#"]]
    if not found:
        raise InputError(f"{name}: is a log of mm-link without opportunities (lines `12 # 1504`)")
    for line, (time,) in found:
        number(time, f"{name}, line {line}")
    first = int(float(found[0][1][0]))
    result = mahimahi([(line, [str(int(float(t)) - first)]) for line, (t,) in found], name)
    result.format = "log of mm-link"
    result.unknown.append("the packets of the log: only its opportunities are read")
    return result


def _pensieve(rows: Rows, name: str) -> Measurement:
    """Seconds and Mbit/s, as the logs of Pensieve and Pantheon's relatives have them."""
    numbers = all_numbers(rows, name)
    scale = epoch_scale(numbers[0][1][0]) or 1.0
    points = [(time * scale, rate * 1e6, place) for place, (time, rate) in numbers]
    result = Measurement("Pensieve log (two columns without a header)")
    result.down = rate_curve(points, name)
    result.read.append(
        f"{len(points)} rates over {result.down.end_s:.6g} s, "
        f"{result.down.mean / 1e6:.4g} Mbit/s in the mean"
    )
    unit = "seconds" if scale == 1.0 else f"units of {scale:g} s since 1970"
    result.unknown.append(
        f"the units: {unit} and Mbit/s, as in Pensieve's logs; a first line such as "
        "`time_s,rate_kbps` says otherwise"
    )
    return result


def _bytes_log(rows: Rows, name: str) -> Measurement:
    """Time since 1970, time since the start, latitude, longitude, bytes, and their milliseconds."""
    points, now = [], 0.0
    for place, (_, _, _, _, count, span_ms) in all_numbers(rows, name):
        if span_ms <= 0:
            raise InputError(
                f"{name}, {place}: an interval of {span_ms:g} ms has no length; remove the line"
            )
        points.append((now, 8 * count / (span_ms / 1e3), place))
        now += span_ms / 1e3
    result = Measurement("4G log (bytes per interval)")
    result.down = rate_curve(points, name, end_s=now)
    result.read.append(
        f"{len(points)} intervals over {now:.6g} s, {result.down.mean / 1e6:.4g} Mbit/s in the mean"
    )
    result.unknown.append("the rate of the link itself: it carries at least what the transfer got")
    return result


BARE: dict[int, Callable[[Rows, str], Measurement]] = {
    1: mahimahi, 2: _pensieve, 6: _bytes_log,
}  # fmt: skip


def fifth_generation(rows: Rows, name: str) -> Measurement:
    """The 5G logs of Raca et al. (MMSys 2020): one row per second, rates in kbit/s."""
    header = rows[0][1]
    at = {column: header.index(column) for column in ("Timestamp", "DL_bitrate")}
    state = header.index("State") if "State" in header else None
    seconds: dict[float, list[tuple[float, str]]] = {}
    idle = missing = 0
    for line, cells in rows[1:]:
        place = f"{name}, line {line}"
        if len(cells) != len(header):
            raise InputError(
                f"{place}: has {len(cells)} columns where the header has {len(header)}"
            )
        if state is not None and cells[state] == "I":
            idle += 1
            continue
        if cells[at["DL_bitrate"]] in MISSING:
            missing += 1
            continue
        time = _time(cells[at["Timestamp"]], place)
        rate = number(cells[at["DL_bitrate"]], place) * 1e3
        seconds.setdefault(time, []).append((rate, f"line {line}"))
    points = [
        (time, sum(rate for rate, _ in found) / len(found), found[0][1])
        for time, found in seconds.items()
    ]
    if not points:
        raise InputError(f"{name}: no row was recorded during a download (state D)")
    result = Measurement("5G log (kbit/s, one row per second)")
    result.down = rate_curve(points, name)
    result.read.append(
        f"{len(points)} seconds of DL_bitrate, {result.down.mean / 1e6:.4g} Mbit/s in the mean"
    )
    if idle:
        result.unknown.append(
            f"the rate in {idle} rows of state I (idle): the last one before holds on"
        )
    if missing:
        result.unknown.append(f"the rate in {missing} rows without one: the last one holds on")
    result.unknown.append("the rate upstream: UL_bitrate is that of acknowledgements")
    return result


def _time(stamp: str, place: str) -> float:
    """Seconds since 1970 of a date as G-NetTrack writes it, or of ISO 8601."""
    for read in (_of_net_track, datetime.fromisoformat):
        try:
            return read(stamp).replace(tzinfo=UTC).timestamp()
        except ValueError:
            pass
    raise InputError(f"{place}: `{stamp}` is not a time as 2019.12.16_13.40.04")


def _of_net_track(stamp: str) -> datetime:
    return datetime.strptime(stamp, "%Y.%m.%d_%H.%M.%S")


def lumos(rows: Rows, name: str) -> Measurement:
    """The logs of Lumos5G (Narayanan et al., IMC 2020): Mbit/s in each second of a run."""
    header = rows[0][1]
    at = [header.index(column) for column in ("run_num", "seq_num", "Throughput")]
    points: list[tuple[float, float, str]] = []
    runs: dict[float, None] = {}
    for line, cells in rows[1:]:
        place = f"{name}, line {line}"
        if len(cells) != len(header):
            raise InputError(
                f"{place}: has {len(cells)} columns where the header has {len(header)}"
            )
        run, second, rate = (number(cells[index], place) for index in at)
        runs.setdefault(run)
        points.append((second, rate * 1e6, f"line {line}"))
    if len(runs) != 1:
        raise InputError(
            f"{name}: holds {len(runs)} runs of Lumos5G; keep the rows of one value of run_num"
        )
    result = Measurement("Lumos5G log (Mbit/s, one row per second)")
    result.down = rate_curve(points, name)
    result.read.append(
        f"{len(points)} seconds of Throughput, {result.down.mean / 1e6:.4g} Mbit/s in the mean"
    )
    result.unknown.append("the rate of the link itself: it carries at least what the transfer got")
    return result


def cake_autorate(rows: Rows, name: str) -> Measurement:
    """The log of cake-autorate 3: the rates that it gave to cake's shapers, in kbit/s."""
    heads = {cells[0].removesuffix("_HEADER"): cells for _, cells in rows if _is_head(cells)}
    for kind in _KINDS:
        found = [(line, cells) for line, cells in rows if cells[0] == kind]
        if kind in heads and len(found) > 1:
            break
    else:
        raise InputError(
            f"{name}: is a log of cake-autorate without two lines of DATA, LOAD or SUMMARY and "
            "the header of these; keep the header when you cut the log"
        )
    result = Measurement("log of cake-autorate")
    for column in ("CAKE_DL_RATE_KBPS", "CAKE_UL_RATE_KBPS"):
        at = [heads[kind].index(name) for name in ("LOG_TIMESTAMP", column)]
        points: list[tuple[float, float, str]] = []
        for line, cells in found:
            if len(cells) == len(heads[kind]):
                time, rate = (number(cells[index], f"{name}, line {line}") for index in at)
                if not points or time > points[-1][0] + APART_S:
                    points.append((time, rate * 1e3, f"line {line}"))
        rates = rate_curve(points, name)
        result.down, result.up = (result.down or rates), (rates if result.down else None)
        result.read.append(f"`{column}`: {rates.mean / 1e6:.4g} Mbit/s in the mean")
    result.unknown.append("the rate of the link itself: these are the rates of cake's shapers")
    result.unknown.append("round trips: the log has differences to a baseline; --rtt gives one")
    return result


def _is_head(cells: list[str]) -> bool:
    return cells[0].endswith("_HEADER") and "CAKE_DL_RATE_KBPS" in cells


def is_cake_autorate(rows: Rows) -> bool:
    """Whether this is a log of cake-autorate, by the type that begins each line."""
    return any(
        _is_head(cells) or (cells[0] in _KINDS and len(cells) >= _FEWEST)
        for _, cells in rows[:_HEAD_LINES]
    )


_KINDS = ("DATA", "LOAD", "SUMMARY")
_FEWEST = 8
_HEAD_LINES = 200

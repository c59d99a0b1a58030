"""Reports of iperf 2 as CSV (`-y C`).

Source: iperf 2.1, src/ReportOutputs.c: date, address and port of both ends, number of the stream,
interval, bytes, bit/s; of UDP's receiver also jitter in ms, lost, all, percent, out of order.
"""

from __future__ import annotations

import re
from itertools import groupby

from sojourn.errors import InputError
from sojourn.importing.cells import Rows, number
from sojourn.importing.measured import Measurement, StepCurve, rate_curve, share_curve

_DATE = re.compile(r"(?:[-+]\d{4}:)?\d{14}(?:\.\d+)?")
_INTERVAL = re.compile(r"(\d+\.\d+)-(\d+\.\d+)")
_FEWEST = 9
_SUM = "-1"
"""The number of the stream in a line that sums all streams."""
_TOTAL = 1.5
"""An interval that is longer than the shortest one by this factor is the whole test."""


def is_csv(rows: Rows) -> bool:
    """Whether the first line is one of iperf 2."""
    cells = rows[0][1]
    return len(cells) >= _FEWEST and bool(_DATE.fullmatch(cells[0]) and _INTERVAL.match(cells[6]))


def read(rows: Rows, name: str) -> Measurement:
    """The rates and losses of each interval, all streams together.

    Raises:
        InputError: a line has another form.
    """
    lines = []
    for line, cells in rows:
        place = f"{name}, line {line}"
        span = _INTERVAL.match(cells[6]) if len(cells) >= _FEWEST else None
        if span is None:
            raise InputError(f"{place}: has no interval such as 0.0-1.0 in its seventh column")
        if cells[5] != _SUM:
            lines.append((float(span[1]), float(span[2]), place, cells))
    if not lines:
        raise InputError(f"{name}: has only sums of streams; keep the lines of the streams as well")
    shortest = min(end - start for start, end, _, _ in lines)
    kept = sorted(
        (one for one in lines if one[1] - one[0] <= _TOTAL * shortest), key=lambda one: one[0]
    )
    rates, losses = [], []
    for start, of_time in groupby(kept, key=lambda one: one[0]):
        found = list(of_time)
        place = f"line {found[0][2].rpartition(' ')[2]}"
        rates.append((start, sum(number(cells[8], at) for _, _, at, cells in found), place))
        lost, sent = (_count(found, column) for column in (10, 11))
        losses.append((start, lost / sent if sent > 0 else 0.0, place))
    result = Measurement("iperf 2 report (CSV)", is_loaded=True)
    if len(rates) == 1:
        rates.append((kept[0][1], rates[0][1], rates[0][2]))
        result.down = StepCurve(
            (0.0,), rate_curve(rates, name).values[:1], kept[0][1] - rates[0][0]
        )
    else:
        result.down = rate_curve(rates, name, kept[-1][1] - rates[0][0])
        if any(share for _, share, _ in losses):
            result.losses = share_curve(losses, name, kept[-1][1] - rates[0][0])
            result.loss = result.losses.mean
            result.read.append(f"{100 * result.loss:.3g} % of the datagrams were lost")
    streams = len({cells[5] for _, _, _, cells in kept})
    result.streams = streams
    result.read.append(
        f"{len(losses)} intervals of {streams} stream{'s' if streams > 1 else ''}, "
        f"{result.down.mean / 1e6:.4g} Mbit/s in the mean"
    )
    result.unknown.append("who sent: the rates are taken as those downstream")
    result.unknown.append("the rate of the link itself: it carries at least what the flows got")
    return result


def _count(found: list[tuple[float, float, str, list[str]]], column: int) -> float:
    """The sum of a column that only UDP's receiver has; iperf 2.2 writes -1 into it for TCP."""
    counts = [number(cells[column], at) for _, _, at, cells in found if len(cells) > column]
    return sum(count for count in counts if count > 0)

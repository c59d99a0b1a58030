"""Rates over time of a capture: of arrivals, or of acknowledgements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sojourn.importing.measured import StepCurve
from sojourn.importing.traffic import Way, base_rtt_s

_BINS_PER_STEP = 10
FEWEST_LARGE = 10
"""With fewer packets of 1000 B than this, a step says nothing about the link's rate."""
_JUMPS = 2
"""Bins of a step whose acknowledgements may be of earlier arrivals."""


def rates_of(
    report: Mapping[str, Any], tcp: list[dict[str, Any]], way: Way, coarse_ns: int
) -> StepCurve | None:
    """Rates of a direction: as data arrived or, if captured before the path, as acknowledged."""
    length_s, is_before = report["length_ns"] / 1e9, is_before_path(tcp, way)
    if is_before and (rates := acknowledged(report, tcp, way, coarse_ns)):
        return rates
    return _rates(report[way], length_s, coarse_ns, is_before)


def acknowledged(
    report: Mapping[str, Any], tcp: list[dict[str, Any]], way: Way, coarse_ns: int
) -> StepCurve | None:
    """The rate at which data of a direction were acknowledged, in bytes of IP.

    ACKs leave the receiver as data arrive. Of a step's bins the third highest counts: bytes behind
    a loss without SACK are acknowledged at once, long after they arrived.
    """
    arrivals = report[f"{way}_acknowledged"]
    halves = [flow[way] for flow in tcp]
    # Without the directions of ACKs.
    sending = [half for half in halves if 2 * half["payload_bytes"] > half["bytes"]]
    payload = sum(half["payload_bytes"] for half in sending)
    if not arrivals["bytes"] or not payload or _is_coarse(arrivals, coarse_ns):
        return None
    framed = sum(half["bytes"] for half in sending) / payload
    width_s = float(arrivals["width_ns"]) / 1e9

    def rate(bins: list[int]) -> float:
        counted = sorted(bins, reverse=True)[min(_JUMPS, len(bins) - 1)]
        return float(8 * framed * counted / width_s)

    return _steps(arrivals, report["length_ns"] / 1e9, rate)


def window_bins(arrivals: Mapping[str, Any], coarse_ns: int, is_before: bool) -> int:
    """Bins that a rate is counted over: one, or all of a step.

    The latter if the clock is coarse, or before the path, where senders send bursts.
    """
    is_one = not (_is_coarse(arrivals, coarse_ns) or is_before)
    return 1 if is_one else _BINS_PER_STEP


def _is_coarse(arrivals: Mapping[str, Any], coarse_ns: int) -> bool:
    return bool(coarse_ns > arrivals["width_ns"] / _BINS_PER_STEP)


def _rates(
    arrivals: Mapping[str, Any], length_s: float, coarse_ns: int, is_before: bool
) -> StepCurve | None:
    """The highest rate over a window in each step; without a transfer, that of the previous step.

    Args:
        arrivals: bytes of each bin.
        length_s: length of the capture.
        coarse_ns: resolution of the clock, if coarse.
        is_before: whether senders were captured.
    """
    window = window_bins(arrivals, coarse_ns, is_before)
    width_s = float(arrivals["width_ns"]) / 1e9

    def rate(bins: list[int]) -> float:
        # A coarse clock puts all packets of a step into its first bin.
        spread = window if _is_coarse(arrivals, coarse_ns) else len(bins)
        most = max(bins) if window == 1 else sum(bins) / spread
        return 8 * most / width_s

    return _steps(arrivals, length_s, rate)


def _steps(
    arrivals: Mapping[str, Any], length_s: float, rate: Callable[[list[int]], float]
) -> StepCurve | None:
    """The rate of each step's bins; without a transfer, that of the previous step."""
    width_s = float(arrivals["width_ns"]) / 1e9
    found: list[float | None] = []
    for at in range(0, len(arrivals["bytes"]), _BINS_PER_STEP):
        is_loaded = sum(arrivals["large"][at : at + _BINS_PER_STEP]) >= FEWEST_LARGE
        bins = arrivals["bytes"][at : at + _BINS_PER_STEP]
        found.append(rate(bins) if is_loaded else None)
    first = next((value for value in found if value is not None), None)
    if first is None:
        return None
    values: list[float] = []
    for value in found:
        values.append(value if value is not None else values[-1] if values else first)
    step_s = _BINS_PER_STEP * width_s
    times = tuple(round(step_s * index, 6) for index in range(len(values)))
    return StepCurve(times, tuple(values), max(length_s, times[-1] + width_s))


def is_before_path(tcp: list[dict[str, Any]], way: Way) -> bool:
    """Whether most data of a direction wait at the capture for more than half of a round trip."""
    before = after = 0
    for flow in tcp:
        base_s, half = base_rtt_s(flow), flow[way]
        if base_s and half["round_trips"]:
            is_before = half["rtt_least_ns"] / 1e9 > base_s / 2
            before += is_before * half["unique_bytes"]
            after += (not is_before) * half["unique_bytes"]
    return before > after

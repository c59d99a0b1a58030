"""Measures that several papers share, as values whose keys end in the unit.

Suffixes: ``_ms``, ``_s``, ``_mbps`` and ``_kbps`` (10^6 and 10^3 bit/s), ``_pct`` (percent),
``_packets``, ``_bytes``, ``_per_s``; a key without one is a count, a ratio or a probability.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from sojourn.describing.library import load
from sojourn.plots.data import Distribution, Floats
from sojourn.reproduce.extract import OVERFLOW
from sojourn.reproduce.pool import Packets
from sojourn.scenario import Scenario

_QUANTILES = {
    "p1": 0.01, "p5": 0.05, "p10": 0.10, "p25": 0.25, "p50": 0.50, "p75": 0.75, "p80": 0.80,
    "p90": 0.90, "p95": 0.95, "p99": 0.99, "p999": 0.999,
}  # fmt: skip
_LIMITS_MS = (1, 2, 5, 8, 10, 15, 16, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200)


def under(prefix: str, values: Mapping[str, float]) -> dict[str, float]:
    """The same values with a prefix and a dot before their keys."""
    return {f"{prefix}.{key}": value for key, value in values.items()}


def delays(found: Distribution, offset_s: float = 0.0) -> dict[str, float]:
    """Mean, standard deviation, quantiles and maximum in ms, and shares of packets below limits.

    Args:
        found: delays in seconds.
        offset_s: added to each, for example the base RTT to get path RTTs.
    """
    if not found:
        return {}
    values = {"mean_ms": (found.mean_s + offset_s) * 1e3, "sd_ms": found.deviation_s * 1e3}
    for name, q in _QUANTILES.items():
        values[f"{name}_ms"] = (found.quantile_s(q) + offset_s) * 1e3
    values["max_ms"] = (found.upper_s[-1] + offset_s) * 1e3
    shares = found.share_below(np.array(_LIMITS_MS) * 1e-3 - offset_s + 1e-9)
    values |= {f"below_{ms}ms_pct": 100.0 * s for ms, s in zip(_LIMITS_MS, shares, strict=True)}
    values["zero_pct"] = 100.0 * float(found.share_below(np.array([2e-6 - offset_s]))[0])
    return values


def distribution(values_s: Floats) -> Distribution:
    """A distribution of values in seconds, like those of table ``histograms``."""
    return Distribution(values_s, values_s, np.ones(len(values_s)))


def samples(values: Floats | Iterable[float], unit: str, scale: float = 1.0) -> dict[str, float]:
    """Mean, standard deviation, quantiles, minimum and maximum of samples.

    Args:
        values: any shape; NaN are left out.
        unit: suffix of the keys, such as ``mbps``.
        scale: factor from the values to that unit.
    """
    flat = np.asarray(values, np.float64).ravel() * scale
    flat = flat[np.isfinite(flat)]
    if not flat.size:
        return {}
    found = {f"mean_{unit}": float(flat.mean()), f"sd_{unit}": float(flat.std())}
    quantiles = np.quantile(flat, list(_QUANTILES.values()))
    found |= {f"{name}_{unit}": float(q) for name, q in zip(_QUANTILES, quantiles, strict=True)}
    found |= {f"min_{unit}": float(flat.min()), f"max_{unit}": float(flat.max())}
    return found


def departures(
    packets: Packets, start_s: float = 0.0, end_s: float = np.inf
) -> tuple[Floats, Floats]:
    """Departure times and sojourn times of packets that left within a period, in order."""
    here = packets.is_sent & (packets.left_s >= start_s) & (packets.left_s < end_s)
    return packets.left_s[here], packets.delay_s[here]


def binned(t_s: Floats, values: Floats, width_s: float, end_s: float) -> tuple[Floats, Floats]:
    """Means of values in bins of time: centres of the bins and means, NaN for empty bins."""
    edges = np.arange(0.0, end_s + width_s / 2, width_s)
    count, _ = np.histogram(t_s, edges)
    total, _ = np.histogram(t_s, edges, weights=values)
    with np.errstate(invalid="ignore"):
        return edges[:-1] + width_s / 2, total / count


def backlog_s(packets: Packets, at_s: Floats, rate_bps: float) -> Floats:
    """The time to drain the queue, at given times: queued bytes divided by the rate.

    A packet is queued from its arrival until it leaves or is dropped; a packet dropped on arrival
    is never queued.
    """
    waited = packets.left_s != packets.arrived_s
    arrived = packets.arrived_s[waited]
    left = np.where(packets.left_s[waited] > 0, packets.left_s[waited], np.inf)
    size = packets.bytes[waited].astype(np.float64)
    into = _running(arrived, size)
    out = _running(left, size)
    waiting: Floats = (into(at_s) - out(at_s)) * 8.0 / rate_bps
    return waiting


def _running(t_s: Floats, size: Floats) -> Callable[[Floats], Floats]:
    order = np.argsort(t_s, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(size[order])])
    return lambda at_s: sums[np.searchsorted(t_s[order], at_s, side="left")]


def mean_of_finite(values: Iterable[float]) -> float:
    """The mean of the finite values; NaN without any."""
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else float("nan")


def reached_s(t_s: Floats, values: Floats, level: float) -> float:
    """The first time at which a series is at or above a level; NaN if never."""
    there = np.flatnonzero(values >= level)
    return float(t_s[there[0]]) if there.size else float("nan")


def settled_s(t_s: Floats, values: Floats, limit: float, after_s: float = 0.0) -> float:
    """Seconds after `after_s` until a series that exceeded a limit falls below it; or NaN."""
    later = t_s >= after_s
    t_s, values = t_s[later], values[later]
    above = np.flatnonzero(values > limit)
    if not above.size:
        return 0.0
    below = np.flatnonzero(values[above[0] :] <= limit)
    return float(t_s[above[0] + below[0]] - after_s) if below.size else float("nan")


def losses_s(packets: Packets, *, overflow: bool = True) -> Floats:
    """Times of drops, in order."""
    dropped = (packets.fate > 0) & (packets.left_s > 0)
    if not overflow:
        dropped &= packets.fate != OVERFLOW
    return np.sort(packets.left_s[dropped])


def slope(t_s: Floats, values: Floats) -> tuple[float, float]:
    """Least-squares line through a series: slope per second and share of variance explained."""
    line = np.polyfit(t_s, values, 1)
    rest = values - np.polyval(line, t_s)
    total = float(np.var(values))
    return float(line[0]), 1.0 - float(np.var(rest)) / total if total > 0 else 0.0


def configured(scenario: Scenario, link: str = "bottleneck") -> dict[str, str]:
    """The resolved values of a link and the settings of its AQM, as texts."""
    plan = json.loads(load(scenario).resolved_json())
    row = next(row for row in plan["links"] if row["name"] == link)
    queue = row["queue"]
    own = {f"link_{name}": str(row[name]) for name in ("rate", "delay", "framing", "limit")}
    named = {"aqm": queue["kind"], "dialect": queue["dialect"]}
    return own | named | {name: str(text) for name, text in queue["settings"].items()}


def seconds(text: str) -> float:
    """A span such as ``30ms`` in seconds.

    Raises:
        ValueError: the text is not a span.
    """
    for unit, scale in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * scale
    raise ValueError(f"{text}: is not a span such as 30ms")

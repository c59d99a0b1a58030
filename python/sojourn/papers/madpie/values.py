"""Measures and figures of a traffic mix: calls, short files, bulk flows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sojourn.papers.madpie.common import CBR_TRANSMISSION_S, FILE_BYTES, SIZES_KB
from sojourn.plots.boxes import BoxPanel, Five
from sojourn.plots.curves import Curve
from sojourn.plots.data import Floats
from sojourn.reproduce import measures
from sojourn.reproduce.paper import Values
from sojourn.reproduce.pool import Pool

KEEP = ("delays", "goodput", "transfers", "states")
BULK_KEEP = ("delays", "goodput", "arrivals")
# Payload of a full packet over its bytes.
_PAYLOAD = 1460 / 1500


def cbr(pool: Pool, traffic: str, rtt_ms: int) -> dict[str, float]:
    """Queuing delay of datagrams, and their goodput per second and flow, headers included."""
    one_way = pool.distribution(f"class/{traffic}/owd")
    base_s = rtt_ms / 2e3 + CBR_TRANSMISSION_S
    values = measures.under("qd", measures.delays(one_way, -base_s))
    values |= measures.under("owd", measures.delays(one_way))
    values |= measures.under("goodput", measures.samples(_cbr_goodput(pool, traffic), "kbps", 1e-3))
    # 50 datagrams in a second do not exceed the rate (fact papers-3).
    excess = np.mean(_cbr_goodput(pool, traffic) > 50.5 * 218 * 8)
    return values | {"goodput.above_87kbps_pct": 100 * float(excess)}


def _cbr_goodput(pool: Pool, traffic: str) -> Floats:
    """Goodput in bit/s, per flow and second, from 2 s on, when all flows have started.

    Counts whole datagrams, as the paper does: 87 kbit/s are 50 datagrams of 218 B. Table ``bins``
    counts their payload, 190 B.
    """
    bins = [rates[2:].ravel() for rates in pool.goodput_bps(traffic, 1.0)]
    return np.concatenate(bins) * 218 / 190


FIVE = ("p5", "p25", "p50", "p75", "p95")


def five(values: Values, prefix: str, unit: str, scale: float = 1.0) -> Five:
    """The values that a box or a cross of the paper shows."""
    a, b, c, d, e = (values[f"{prefix}.{q}_{unit}"] * scale for q in FIVE)
    return a, b, c, d, e


def downloads(pool: Pool, traffic: str) -> dict[str, float]:
    """Times from SYN to the last byte, by file size."""
    values: dict[str, float] = {}
    for kb, size in FILE_BYTES.items():
        found = pool.completions_s(traffic, size)
        values |= measures.under(f"{kb}kb", measures.samples(found, "ms", 1e3))
        values[f"{kb}kb.transfers"] = float(len(found))
    return values


def download_panel(values: Values, title: str, keys: Mapping[str, str]) -> BoxPanel:
    """Boxes of download times: `keys` maps the name of an AQM to the prefix of its values."""
    found = {
        name: {f"{kb} kB": five(values, f"{key}.{kb}kb", "ms", 1e-3) for kb in SIZES_KB}
        for name, key in keys.items()
    }
    return BoxPanel(
        title, [f"{kb} kB" for kb in SIZES_KB], found, "file size", "download time [s]", (0, None)
    )


def _bulk_goodput(pool: Pool, traffic: str) -> Floats:
    """Payload per second of all flows together from 1 s on, counted on arrival, even out of order.

    Counted in order, a second in which a hole is filled would exceed the link's rate.
    """
    bins = [rates[1:] for rates in pool.arrivals_bps(traffic, 1.0)]
    return np.concatenate(bins) * _PAYLOAD


def goodput_values(pool: Pool, traffic: str) -> dict[str, float]:
    """Goodput per second, of all flows together and of each, and the utilisation."""
    values = measures.under("total", measures.samples(_bulk_goodput(pool, traffic), "mbps", 1e-6))
    per_flow = np.concatenate([rates[1:].ravel() for rates in pool.goodput_bps(traffic, 1.0)])
    values |= measures.under("flow", measures.samples(per_flow, "mbps", 1e-6))
    return values | {"util_pct": 100 * pool.number("queue/bottleneck/utilisation")}


def goodput_curve(pool: Pool, traffic: str, label: str, colour: str, dash: object) -> Curve:
    """The CDF of the goodput per second of all flows together."""
    found = np.sort(_bulk_goodput(pool, traffic)) * 1e-6
    return Curve(label, found, np.arange(1, len(found) + 1) / len(found), colour, dash)

"""The report's claims about a single flow, Figure 2, and about the settings, Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from sojourn.papers.kids.common import AQMS, NAMES, TARGETS_MS
from sojourn.reproduce.claims import (
    is_number,
    more,
    order,
    several,
)
from sojourn.reproduce.paper import Claim, Values


def _mean(keys: Iterable[str], metric: str) -> Callable[[Values], float]:
    names = [f"{key}.{metric}" for key in keys]
    return lambda v: float(np.mean([v[name] for name in names]))


def _over(aqm: str) -> list[str]:
    return [f"target{ms}ms.{aqm}" for ms in TARGETS_MS]


_TOTAL = "goodput_total_mbps"


CLAIMS_F2: list[Claim] = [
    several(
        "kids-T2-1",
        "exact",
        "t_update 30 ms, target 20 ms, alpha 2, beta 20 (sixteenths)",
        is_number("t_update", "tupdate_ms", 30, "ms"),
        is_number("target", "target_ms", 20, "ms"),
        is_number("alpha", "alpha_sixteenths", 2, ""),
        is_number("beta", "beta_sixteenths", 20, ""),
    ),
    several(
        "kids-T3-1",
        "exact",
        "interval 500 ms, alpha min(0.01, max_p/4), beta 0.9",
        is_number("interval", "adapt_interval_ms", 500, "ms"),
        is_number("alpha", "adapt_alpha", 0.01, ""),
        is_number("beta", "adapt_beta", 0.9, ""),
    ),
    *(
        several(
            f"kids-F2-{i}",
            "exact",
            f"total goodput over the targets, {NAMES[a]}",
            is_number("least", f"{a}.least_mbps", low, "Mbit/s"),
            is_number("largest", f"{a}.largest_mbps", high, "Mbit/s"),
        )
        for i, a, low, high in ((1, "codel", 8.20, 8.94), (2, "ared", 7.06, 8.71))
    ),
    order(
        "kids-F2-3",
        "targets above 1 ms: median queuing delay not above the target",
        *(more(float(ms), f"target{ms}ms.{a}.qd.p50_ms") for ms in TARGETS_MS[1:] for a in AQMS),
    ),
    order(
        "kids-F2-4",
        "CoDel and PIE: higher maximum and longer upper tail than ARED",
        *(
            more(f"target{ms}ms.{a}.qd.p99_ms", f"target{ms}ms.ared.qd.p99_ms")
            for ms in (5, 10, 20)
            for a in ("codel", "pie")
        ),
    ),
    order(
        "kids-F2-5",
        "CoDel has the best goodput of the three",
        *(
            more(
                _mean(_over("codel"), _TOTAL),
                _mean(_over(a), _TOTAL),
                label=f"mean over targets, CoDel > {NAMES[a]}",
                unit="Mbit/s",
            )
            for a in ("pie", "ared")
        ),
    ),
    order(
        "kids-F2-6",
        "ARED underuses the link for targets up to 10 ms",
        *(more(9.5, f"target{ms}ms.ared.{_TOTAL}") for ms in (1, 5, 10)),
    ),
]

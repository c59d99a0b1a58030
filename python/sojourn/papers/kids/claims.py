"""The report's claims about targets, time scales and round-trip times: Figures 3 to 8."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from sojourn.papers.kids.common import (
    AQMS,
    GOODPUT,
    LEVELS,
    NAMES,
    PAIR,
    TARGETS_MS,
)
from sojourn.reproduce.claims import (
    LESS,
    alike,
    is_number,
    is_within,
    more,
    not_less,
    order,
    several,
)
from sojourn.reproduce.paper import Claim, Part, Values


def _tail(prefix: str) -> Callable[[Values], float]:
    return lambda v: v[f"{prefix}.qd.p90_ms"] - v[f"{prefix}.qd.p10_ms"]


def _off_target(level: str, aqm: str) -> Callable[[Values], float]:
    """Mean distance of the median from the target, targets from 5 ms on."""
    return lambda v: float(
        np.mean([abs(v[f"{level}.target{ms}ms.{aqm}.qd.p50_ms"] - ms) for ms in TARGETS_MS[1:]])
    )


def _target_slope(level: str, aqm: str) -> Callable[[Values], float]:
    """Rise of the median per ms of target, from 1 to 30 ms."""
    return lambda v: (
        (v[f"{level}.target30ms.{aqm}.qd.p50_ms"] - v[f"{level}.target1ms.{aqm}.qd.p50_ms"]) / 29.0
    )


def _rising(aqm: str, q: str) -> tuple[Part, ...]:
    return tuple(
        more(f"{b}.target5ms.{aqm}.qd.{q}_ms", f"{a}.target5ms.{aqm}.qd.{q}_ms")
        for a, b in (("light", "moderate"), ("moderate", "heavy"))
    )


CLAIMS_F3_F4: list[Claim] = [
    order(
        "kids-F3-1",
        "CoDel, PIE: median, p10, p90 grow with congestion",
        *(p for a in PAIR for q in ("p50", "p10", "p90") for p in _rising(a, q)),
    ),
    order(
        "kids-F3-2",
        "ARED: median closer to the target than CoDel and PIE at all levels",
        *(
            more(
                _off_target(lv, a),
                _off_target(lv, "ared"),
                label=f"distance from the target, {lv}: {NAMES[a]} > ARED",
                unit="ms",
            )
            for lv in LEVELS
            for a in PAIR
        ),
    ),
    order(
        "kids-F3-3",
        "ARED: median and percentiles fall as the target falls",
        *(
            more(f"{lv}.target{b}ms.ared.qd.{q}_ms", f"{lv}.target{a}ms.ared.qd.{q}_ms")
            for lv in LEVELS
            for q in ("p10", "p50", "p90")
            for a, b in pairwise(TARGETS_MS)
        ),
    ),
    order(
        "kids-F3-4",
        "CoDel and PIE: correlation with the target weaker at higher congestion",
        *(
            more(
                _target_slope("light", a),
                _target_slope("heavy", a),
                label=f"rise of the median with the target, {NAMES[a]}: light > heavy",
                unit="ms per ms",
            )
            for a in PAIR
        ),
    ),
    order(
        "kids-F3-5",
        "CoDel and PIE: longer tails than ARED, clearest under heavy load",
        *(
            more(
                _tail(f"{lv}.target5ms.{a}"),
                _tail(f"{lv}.target5ms.ared"),
                label=f"p90 - p10 at 5 ms, {lv}: {NAMES[a]} > ARED",
                unit="ms",
            )
            for lv in LEVELS
            for a in PAIR
        ),
    ),
    order(
        "kids-F3-6",
        "PIE, heavy, target up to 10 ms: very large fluctuation",
        *(
            more(
                _tail(f"heavy.target{ms}ms.pie"),
                float(2 * ms),
                label=f"p90 - p10 at {ms} ms > twice the target",
                unit="ms",
            )
            for ms in (1, 5, 10)
        ),
    ),
    order(
        "kids-F3-7",
        "ARED: tail length falls as the target falls",
        *(
            more(
                _tail(f"{lv}.target{b}ms.ared"),
                _tail(f"{lv}.target{a}ms.ared"),
                label=f"p90 - p10, {lv}: at {b} ms > at {a} ms",
                unit="ms",
            )
            for lv in LEVELS
            for a, b in ((1, 10), (10, 30))
        ),
    ),
    order(
        "kids-F3-8",
        "moderate and heavy: ARED's median below CoDel's and PIE's at the same target",
        *(
            more(f"{lv}.target{ms}ms.{a}.qd.p50_ms", f"{lv}.target{ms}ms.ared.qd.p50_ms")
            for lv in ("moderate", "heavy")
            for ms in TARGETS_MS
            for a in PAIR
        ),
    ),
    several(
        "kids-F4-1",
        "exact",
        "light, ARED: median between 9.26 and 9.73 Mbit/s, targets 5 to 30 ms",
        *(
            is_within(f"{ms} ms", f"light.target{ms}ms.ared.{GOODPUT}", 9.26, 9.73, "Mbit/s")
            for ms in TARGETS_MS[1:]
        ),
    ),
    several(
        "kids-F4-2",
        "exact",
        "light, PIE: median between 9.46 and 9.72 Mbit/s for all targets",
        *(
            is_within(f"{ms} ms", f"light.target{ms}ms.pie.{GOODPUT}", 9.46, 9.72, "Mbit/s")
            for ms in TARGETS_MS
        ),
    ),
    order(
        "kids-F4-3",
        "light: ARED's median falls clearly at 1 ms",
        more(f"light.target5ms.ared.{GOODPUT}", f"light.target1ms.ared.{GOODPUT}", 1.02),
    ),
    order(
        "kids-F4-4",
        "moderate: ARED equals PIE and CoDel except at 1 ms (lower)",
        *(
            alike(
                f"moderate.target{ms}ms.ared.{GOODPUT}",
                f"moderate.target{ms}ms.{a}.{GOODPUT}",
                within=0.05,
                floor=0.05,
            )
            for ms in TARGETS_MS[1:]
            for a in PAIR
        ),
        *(
            more(f"moderate.target1ms.{a}.{GOODPUT}", f"moderate.target1ms.ared.{GOODPUT}")
            for a in PAIR
        ),
    ),
    several(
        "kids-F4-5",
        "approx",
        "heavy: all three about 9.7 Mbit/s",
        *(
            is_number(f"{NAMES[a]}, {ms} ms", f"heavy.target{ms}ms.{a}.{GOODPUT}", 9.7, "Mbit/s")
            for a in AQMS
            for ms in TARGETS_MS
        ),
    ),
]


def _middle(level: str, a: int, b: int) -> Callable[[Values], float]:
    return lambda v: float(
        np.median(
            [
                v[f"{level}.rtt{a}ms.{q}.qd.p50_ms"] - v[f"{level}.rtt{b}ms.{q}.qd.p50_ms"]
                for q in AQMS
            ]
        )
    )


CLAIMS_F5_F8: list[Claim] = [
    order(
        "kids-F5-1",
        "an interval below 100 ms lowers the median queuing delay at every level",
        *(
            more(f"{lv}.interval100ms.codel.qd.p50_ms", f"{lv}.interval{ms}ms.codel.qd.p50_ms")
            for lv in LEVELS
            for ms in (5, 30)
        ),
    ),
    several(
        "kids-F5-2",
        "exact",
        "light: median goodput loses 3.56 % at the small interval",
        is_number("fall at 5 ms", "light.interval5ms.codel.goodput5s_p50_fall_pct", 3.56, LESS),
    ),
    order(
        "kids-F5-3",
        "moderate and heavy: no noticeable loss of goodput",
        *(
            not_less(
                f"{lv}.interval5ms.codel.goodput5s.p50_mbps",
                f"{lv}.interval100ms.codel.goodput5s.p50_mbps",
            )
            for lv in ("moderate", "heavy")
        ),
    ),
    order(
        "kids-F6-1",
        "finer t_update: lower queuing delay",
        *(
            more(f"{lv}.tupdate100ms.pie.qd.p50_ms", f"{lv}.tupdate5ms.pie.qd.p50_ms")
            for lv in LEVELS
        ),
    ),
    order(
        "kids-F6-2",
        "coarser t_update: better goodput",
        more(
            "light.tupdate100ms.pie.goodput5s.p50_mbps", "light.tupdate5ms.pie.goodput5s.p50_mbps"
        ),
    ),
    order(
        "kids-F6-3",
        "the delay trend is clearer under light load",
        more("light.tupdate5ms.pie.qd_p50_fall_pct", "heavy.tupdate5ms.pie.qd_p50_fall_pct"),
    ),
    several(
        "kids-F6-4",
        "exact",
        "light: median queuing delay falls by 28.6 % from 30 to 5 ms",
        is_number("fall", "light.tupdate5ms.pie.qd_p50_fall_pct", 28.6, LESS),
    ),
    several(
        "kids-F6-5",
        "exact",
        "light: median goodput falls by 1.86 % from 30 to 5 ms",
        is_number("fall", "light.tupdate5ms.pie.goodput5s_p50_fall_pct", 1.86, LESS),
    ),
    order(
        "kids-F7-1",
        "for most AQMs the queuing delay is lower at a large base RTT",
        *(
            Part(
                f"{lv}: median over the AQMs of the fall from 5 to 500 ms",
                _middle(lv, 5, 500),
                unit="ms",
            )
            for lv in LEVELS
        ),
    ),
    order(
        "kids-F7-2",
        "base RTT 5 ms: ARED's queuing delay below CoDel's and PIE's at all levels",
        *(
            more(f"{lv}.rtt5ms.{a}.qd.p50_ms", f"{lv}.rtt5ms.ared.qd.p50_ms")
            for lv in LEVELS
            for a in PAIR
        ),
    ),
    order(
        "kids-F7-3",
        "base RTT 100 and 500 ms: ARED's queuing delay below CoDel's and PIE's",
        *(
            more(f"{lv}.rtt{rtt}ms.{a}.qd.p50_ms", f"{lv}.rtt{rtt}ms.ared.qd.p50_ms")
            for rtt in (100, 500)
            for lv in LEVELS
            for a in PAIR
        ),
    ),
    order(
        "kids-F8-1",
        "goodput deteriorates at a large base RTT",
        *(
            more(f"{lv}.rtt5ms.{a}.goodput5s.p50_mbps", f"{lv}.rtt500ms.{a}.goodput5s.p50_mbps")
            for lv in LEVELS
            for a in AQMS
        ),
    ),
    order(
        "kids-F8-2",
        "base RTT 5 ms: goodput of the three almost exactly equal",
        *(
            alike(
                f"{lv}.rtt5ms.{a}.goodput5s.p50_mbps",
                f"{lv}.rtt5ms.codel.goodput5s.p50_mbps",
                within=0.02,
                floor=0.05,
            )
            for lv in LEVELS
            for a in ("pie", "ared")
        ),
    ),
]

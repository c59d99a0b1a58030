"""The paper's claims about its feedback loop."""

from __future__ import annotations

from itertools import pairwise

from sojourn.papers.pie.loop import ROOTS, pair_key
from sojourn.reproduce.claims import is_within, more, number, order, several
from sojourn.reproduce.paper import Claim
from sojourn.stability.study import pie_paper as theory

_PRINTED, _BARE = "printed.with_delay", "printed.without_delay"
_PAIRS = [pair_key(pair) for pair in theory.PAIRS]
_ROOT_KEYS = [f"sqrt_p0_{root:g}".replace(".", "_") for root in ROOTS]


def _at(pair: str, root: str, unit: str = "phase_margin_deg") -> str:
    return f"{_PRINTED}.{pair}.{root}.{unit}"


def _frequency(pair: str, root: str) -> str:
    return _at(pair, root, "loop_frequency_rad_per_s")


_STATED = "at_0_0156_0_156.phase_margin_deg"


# fmt: off
CLAIMS_LOOP: list[Claim] = [
    order("pie-F13-1",
        "part of the plane has margin above 0 and is admissible; larger alpha, beta leave it",
        more(f"{_PRINTED}.admissible_pct_of_plane", 1.0),
        more(99.0, f"{_PRINTED}.admissible_pct_of_plane"),
        more(0.0, f"{_PRINTED}.largest_gains.phase_margin_deg")),
    number("pie-F13-2", "approx",
        "alpha = 0.0156, beta = 0.156: margin at p0 = 0.01 %, without the delay",
        f"{_BARE}.{_STATED}", 25, "deg"),
    order("pie-F14-1", "phase margin at 50 ms above that at 100 ms",
        *(more(f"{r}.rtt50ms.{p0}.phase_margin_deg", f"{r}.rtt100ms.p0_1e_4.phase_margin_deg")
        for r in (_PRINTED, _BARE) for p0 in ("p0_1e_4", "p0_4e_4"))),
    order("pie-F14-2", "loop gain smaller, poles higher for the shorter RTT",
        more(f"{_PRINTED}.rtt100ms.p0_1e_4.gain_at_1_rad_per_s_db",
        f"{_PRINTED}.rtt50ms.p0_4e_4.gain_at_1_rad_per_s_db"),
        *(more(f"{_PRINTED}.rtt50ms.p0_4e_4.{s}_rad_per_s",
        f"{_PRINTED}.rtt100ms.p0_1e_4.{s}_rad_per_s") for s in ("s1", "s2"))),
    order("pie-F15-1", "lower alpha, beta: larger margin",
        *(more(_at(low, root), _at(high, root)) for root in _ROOT_KEYS[:4]
        for high, low in pairwise(_PAIRS))),
    several("pie-F15-2", "approx", "the two larger pairs have not enough margin for p0 < 1 %",
        *(is_within(f"margin of {pair} at sqrt(p0) = 0.03", _at(pair, _ROOT_KEYS[1]), None, 0,
        "deg") for pair in _PAIRS[:2])),
    order("pie-F15-3", "margin grows with p0",
        *(more(_at(pair, b), _at(pair, a)) for pair in _PAIRS
        for a, b in pairwise(_ROOT_KEYS[:4]))),
    order("pie-F16-1", "lower alpha, beta: smaller loop frequency",
        *(more(_frequency(high, root), _frequency(low, root)) for root in _ROOT_KEYS
        for high, low in pairwise(_PAIRS))),
    order("pie-F16-2", "loop frequency falls with growing p0",
        *(more(_frequency(pair, a), _frequency(pair, b)) for pair in _PAIRS
        for a, b in pairwise(_ROOT_KEYS))),
    order("pie-F16-3",
        "switching pairs at p0 = 1 % and 10 % raises the loop frequency, still stable",
        more(_frequency(_PAIRS[1], _ROOT_KEYS[3]), _frequency(_PAIRS[2], _ROOT_KEYS[3]),
        label="p0 = 9 %: the middle pair is faster than the least"),
        more(_frequency(_PAIRS[0], _ROOT_KEYS[4]), _frequency(_PAIRS[1], _ROOT_KEYS[4]),
        label="p0 = 25 %: the largest pair is faster than the middle one"),
        more(_at(_PAIRS[1], _ROOT_KEYS[3]), 0.0), more(_at(_PAIRS[0], _ROOT_KEYS[4]), 0.0)),
]
# fmt: on

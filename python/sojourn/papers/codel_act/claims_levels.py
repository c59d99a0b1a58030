"""The paper's claims about levels: sweeps, state variables, drop rates, utilisation."""

from __future__ import annotations

from collections.abc import Callable

from sojourn.papers.codel_act.common import AQMS, BUSY, FAMILY, FLOWS, UTIL
from sojourn.papers.codel_act.sweeps import in_ms
from sojourn.reproduce.claims import (
    alike,
    between,
    growing,
    is_number,
    is_within,
    more,
    not_less,
    not_more,
    number,
    order,
    ratio,
    several,
)
from sojourn.reproduce.paper import Claim, Part, Values


def _f3(aqm: str, ms: float, n: int, metric: str = "mean_ms") -> str:
    return f"{aqm}.threshold{in_ms(ms)}.n{n}.{metric}"


def _x1(aqm: str, name: str, ms: int, n: int, metric: str = "mean_ms") -> str:
    return f"{aqm}.{name}{ms}ms.n{n}.{metric}"


def _spread(aqm: str, ms: float) -> Callable[[Values], float]:
    return lambda v: max(v[_f3(aqm, ms, n)] for n in FLOWS) - min(v[_f3(aqm, ms, n)] for n in FLOWS)


_STEPS = (1, 5, 10, 16, 30)


# fmt: off
CLAIMS_F3_X1: list[Claim] = [
    order("codel-act-F3-1", "mean delay grows with the threshold for all three",
        *(part for a in AQMS for n in FLOWS
        for part in growing(*(_f3(a, ms, n) for ms in _STEPS)))),
    order("codel-act-F3-2", "CoDel: mean delay grows with n and is mostly above target",
        *(part for ms in (1, 5, 10, 16) for part in growing(*(_f3("codel", ms, n) for n in FLOWS))),
        *(more(_f3("codel", 5, n), 5.0) for n in (4, 16, 64))),
    order("codel-act-F3-3", "CoDel-ACT: the same, with a smaller spread over n than CoDel",
        more(_f3("codel_act", 5, 64), _f3("codel_act", 5, 1)),
        *(more(_spread("codel", ms), _spread("codel_act", ms),
        label=f"spread over n at {ms} ms, CoDel > CoDel-ACT", unit="ms") for ms in _STEPS)),
    order("codel-act-F3-4", "PIE: mean delay = qdelay_ref within a few percent, independent of n",
        *(alike(_f3("pie", ms, n), ms, within=0.1) for ms in (5, 10, 16, 30) for n in FLOWS)),
    order("codel-act-F3-5",
        "small thresholds, many flows: PIE's delay below that of CoDel and CoDel-ACT",
        *(more(_f3(a, 5, 64), _f3("pie", 5, 64)) for a in FAMILY)),
    several("codel-act-F3-6", "approx",
        "n = 16: mean delay of CoDel with 5 ms over that of PIE with 16 ms",
        is_number("ratio", lambda v: v[_f3("codel", 5, 16)] / v[_f3("pie", 16, 16)], 1.0, "")),
    order("codel-act-F3-7", "utilisation of CoDel below 100 % for small targets",
        *(more(99.9, _f3("codel", 1, n, UTIL)) for n in (1, 4, 16))),
    several("codel-act-F3-8", "approx",
        "CoDel, target 5 ms: utilisation between 95 and 100 % depending on n",
        *(is_within(f"n = {n}", _f3("codel", 5, n, UTIL), 95, 100, "%") for n in FLOWS)),
    order("codel-act-F3-9", "CoDel's utilisation is high for n = 1 and 64, low for 4, 8, 16",
        *(more(_f3("codel", 5, a, UTIL), _f3("codel", 5, b, UTIL)) for a in (1, 64)
        for b in (4, 16))),
    order("codel-act-F3-10", "utilisation of CoDel-ACT not below CoDel's, at a shorter mean delay",
        *(not_less(_f3("codel_act", 5, n, UTIL), _f3("codel", 5, n, UTIL), within=0.001)
        for n in FLOWS), *(not_more(_f3("codel_act", 5, n), _f3("codel", 5, n)) for n in FLOWS)),
    several("codel-act-F3-11", "approx", "CoDel-ACT, target 5 ms: almost 100 % for most n",
        *(is_number(f"n = {n}", _f3("codel_act", 5, n, UTIL), 100, "%") for n in (4, 16, 64))),
    order("codel-act-F3-12", "PIE loses utilisation at small qdelay_ref",
        *(more(_f3("pie", 16, n, UTIL), _f3("pie", 1, n, UTIL)) for n in FLOWS)),
    several("codel-act-F3-13", "approx", "PIE, 16 ms: utilisation 100 % for all n",
        *(is_number(f"n = {n}", _f3("pie", 16, n, UTIL), 100, "%") for n in FLOWS)),
    order("codel-act-X1-1",
        "mean delay of CoDel and CoDel-ACT grows with interval and depends on n",
        *(part for a in FAMILY for n in (4, 16, 64)
        for part in growing(*(_x1(a, "interval", ms, n) for ms in (25, 100, 200)))),
        *(more(_x1(a, "interval", 100, 64), _x1(a, "interval", 100, 1)) for a in FAMILY)),
    several("codel-act-X1-2", "approx",
        "n >= 4: mean delay of CoDel-ACT half of CoDel's at equal interval",
        *(is_number(f"ratio, n = {n}",
        ratio(_x1("codel_act", "interval", 100, n), _x1("codel", "interval", 100, n)), 0.5, "")
        for n in (4, 16, 64))),
    several("codel-act-X1-3", "approx", "PIE: mean delay 16 ms at t_update 16 ms for all n",
        *(is_number(f"n = {n}", _x1("pie", "tupdate", 16, n), 16, "ms") for n in FLOWS)),
    order("codel-act-X1-4", "PIE: smaller t_update gives lower mean delay",
        *(more(_x1("pie", "tupdate", 16, n), _x1("pie", "tupdate", 2, n)) for n in FLOWS)),
    order("codel-act-X1-5", "PIE: larger t_update up to 150 ms raises the mean delay only slightly",
        *(part for n in FLOWS for part in (not_less(_x1("pie", "tupdate", 150, n),
        _x1("pie", "tupdate", 16, n)),
        alike(_x1("pie", "tupdate", 150, n), _x1("pie", "tupdate", 16, n))))),
    several("codel-act-X1-6", "approx",
        "CoDel: minimum of the utilisation at interval 100 ms: 95 to 100 % over the n",
        *(is_within(f"n = {n}", _x1("codel", "interval", 100, n, UTIL), 95, 100, "%")
        for n in FLOWS)),
    several("codel-act-X1-7", "approx", "CoDel, interval 25 ms: utilisation between 98.5 and 100 %",
        *(is_within(f"n = {n}", _x1("codel", "interval", 25, n, UTIL), 98.5, 100, "%")
        for n in FLOWS)),
    order("codel-act-X1-8", "n = 1 and 64: higher CoDel utilisation than 4, 8, 16, also here",
        *(more(_x1("codel", "interval", 100, a, UTIL), _x1("codel", "interval", 100, b, UTIL))
        for a in (1, 64) for b in (4, 16))),
    order("codel-act-X1-9", "CoDel-ACT: utilisation grows with interval",
        *(not_less(_x1("codel_act", "interval", 200, n, UTIL),
        _x1("codel_act", "interval", 25, n, UTIL), within=0.0) for n in FLOWS)),
    several("codel-act-X1-10", "approx", "PIE: 100 % for t_update >= 16 ms",
        *(is_number(f"{ms} ms, n = {n}", _x1("pie", "tupdate", ms, n, UTIL), 100, "%")
        for ms in (16, 150) for n in FLOWS)),
]
# fmt: on


_RATE = "drop_rate.level_per_s"


# fmt: off
CLAIMS_F4_F5: list[Claim] = [
    order("codel-act-F4-1", "CoDel: count grows linearly without bound for n = 4, 16, 64",
        *(more(f"n{n}.codel.count.straightness", 0.95) for n in BUSY),
        *(more(f"n{n}.codel.count.slope_per_s", 1.0) for n in BUSY)),
    order("codel-act-F4-2", "the slope grows with n",
        *growing(*(f"n{n}.codel.count.slope_per_s" for n in FLOWS))),
    order("codel-act-F4-3", "n = 1: count stays very low for CoDel and CoDel-ACT",
        *(more(10.0, f"n1.{a}.count.level") for a in ("codel", "codel_act"))),
    *(number(f"codel-act-F4-{i}", "approx", f"CoDel-ACT: count around {level} for n = {n}",
        f"n{n}.codel_act.count.level", level, "")
        for i, n, level in ((4, 4, 50), (5, 16, 300), (6, 64, 1300))),
    order("codel-act-F4-7",
        "PIE: p oscillates around a level that grows with n; almost 0 for n = 1",
        *growing(*(f"n{n}.pie.drop_prob.level" for n in FLOWS)),
        more(0.01, "n1.pie.drop_prob.level")),
    order("codel-act-F4-8",
        "PIE: p reaches its level sooner than count does, with an overshoot at the start",
        *(more(f"n{n}.codel_act.count.reached_s", f"n{n}.pie.drop_prob.reached_s") for n in BUSY),
        *(more(f"n{n}.pie.drop_prob.overshoot", 1.1) for n in BUSY)),
    order("codel-act-F5-1", "drop rates oscillate around levels that grow with n",
        *(part for a in AQMS for part in growing(*(f"n{n}.{a}.{_RATE}" for n in FLOWS)))),
    number("codel-act-F5-2", "approx", "n = 64: CoDel-ACT reaches its level after 6 s",
        "n64.codel_act.drop_rate.reached_s", 6, "s"),
    between("codel-act-F5-3", "approx", "n = 64: PIE reaches its level within 2 s",
        "n64.pie.drop_rate.reached_s", None, 2, "s"),
    order("codel-act-F5-4",
        "n = 64: CoDel takes longer than CoDel-ACT, which takes longer than PIE",
        *growing(*(f"n64.{a}.drop_rate.reached_s" for a in ("pie", "codel_act", "codel")))),
    order("codel-act-F5-5", "level: PIE < CoDel-ACT < CoDel",
        *(part for n in BUSY for part in growing(*(f"n{n}.{a}.{_RATE}"
        for a in ("pie", "codel_act", "codel"))))),
    order("codel-act-F5-6", "amplitude: CoDel larger than CoDel-ACT and PIE",
        *(more(f"n{n}.codel.drop_rate.sd_per_s", f"n{n}.{a}.drop_rate.sd_per_s") for n in BUSY
        for a in ("codel_act", "pie"))),
]
# fmt: on


_FROZEN = [f"codel_count{n}.util_10to500s_pct" for n in (600, 6000, 60000)]


# fmt: off
CLAIMS_X2: list[Claim] = [
    several("codel-act-X2-1", "approx", "PIE and CoDel-ACT: about 100 % throughout",
        *(is_number(AQMS[a], f"{a}.util_10to500s_pct", 100, "%") for a in ("pie", "codel_act"))),
    number("codel-act-X2-2", "approx", "CoDel: 100 % at the start", "codel.util_1to5s_pct", 100,
        "%"),
    number("codel-act-X2-3", "approx", "CoDel: 95 % after 30 s", "codel.util_25to35s_pct", 95, "%"),
    order("codel-act-X2-4", "CoDel: slow recovery afterwards up to 500 s",
        more("codel.util_slope_60to500s_pct_per_100s", 0.0),
        more("codel.util_450to500s_pct", "codel.util_25to35s_pct")),
    number("codel-act-X2-5", "approx", "CoDel with count 600: almost 100 %",
        "codel_count600.util_10to500s_pct", 100, "%"),
    order("codel-act-X2-6", "utilisation is not monotone in the frozen count",
        Part("the middle one is the least or the largest",
        lambda v: (v[_FROZEN[0]] - v[_FROZEN[1]]) * (v[_FROZEN[2]] - v[_FROZEN[1]]))),
]
# fmt: on

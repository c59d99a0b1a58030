"""The paper's claims about its simulations and its testbed."""

from __future__ import annotations

from sojourn.papers.pie.changes import F8_PHASES
from sojourn.papers.pie.common import NAMES
from sojourn.papers.pie.testbed import REFERENCES_MS
from sojourn.reproduce.claims import (
    alike,
    between,
    difference,
    is_number,
    is_within,
    more,
    number,
    order,
    several,
)
from sojourn.reproduce.paper import Claim

_LATE = "after10s.mean_ms"
_DROPS = "burst{}ms.maxburst{}ms.drops"


# fmt: off
CLAIMS_SIMULATED: list[Claim] = [
    number("pie-F4-1", "approx", "5 TCP: queuing delay around 20 ms", f"light.{_LATE}", 20, "ms"),
    order("pie-F4-2", "5 TCP: the sawtooth of TCP remains visible",
        more("light.sawtooth_autocorrelation", 0.1)),
    number("pie-F4-3", "approx", "50 TCP: around 20 ms, unaffected by the load", f"heavy.{_LATE}",
        20, "ms"),
    order("pie-F4-4", "50 TCP: the sawtooth fades, fluctuation more even",
        more("light.sawtooth_autocorrelation", "heavy.sawtooth_autocorrelation")),
    number("pie-F4-5", "approx", "5 TCP and 2 UDP: around 20 ms", f"mix.{_LATE}", 20, "ms"),
    number("pie-F5-1", "exact", "5 TCP: average throughput", "light.throughput.mean_mbps", 9.82,
        "Mbit/s"),
    order("pie-F5-2", "the five flows have throughputs close to the fair share",
        more("light.flow_min_over_fair", 0.75), more(1.25, "light.flow_max_over_fair")),
    several("pie-F5-3", "exact", "50 TCP: 10 Mbit/s, utilisation 100 %",
        is_number("throughput", "heavy.throughput.after10s.mean_mbps", 10, "Mbit/s"),
        is_number("utilisation", "heavy.util_pct", 100, "%")),
    number("pie-F5-4", "exact", "5 TCP and 2 UDP: 100 % throughput",
        "mix.throughput.after10s.mean_mbps", 10, "Mbit/s"),
    number("pie-F6-1", "exact", "burst 100 ms, max_burst 100 ms: no drops", _DROPS.format(100, 100),
        0, ""),
    number("pie-F6-2", "approx", "burst 200 ms, max_burst 100 ms: first drop",
        "burst200ms.maxburst100ms.first_drop_s", 1.1, "s"),
    order("pie-F6-3", "max_burst 0: drops begin much before 1.1 s, for both bursts",
        *(more(1.08, f"burst{b}ms.maxburst0ms.first_drop_s") for b in (100, 200))),
    order("pie-F6-4", "longer burst, more drops",
        *(more(_DROPS.format(200, m), _DROPS.format(100, m)) for m in (0, 100))),
    several("pie-F7-1", "approx", "both reach equilibrium a couple of seconds after the start",
        *(is_within(NAMES[a], f"{a}.phase1.equilibrium_s", None, 5, "s") for a in ("pie", "red"))),
    number("pie-F7-2", "approx", "RED, first phase", "red.phase1.mean_ms", 30, "ms"),
    number("pie-F7-3", "approx", "PIE, first phase", "pie.phase1.mean_ms", 20, "ms"),
    order("pie-F7-4", "both jump up at 50 s",
        *(more(f"{a}.phase2.peak_ms", f"{a}.phase1.mean_ms", 2) for a in ("pie", "red"))),
    order("pie-F7-5", "RED stays high from 50 to 100 s, far above PIE",
        more("red.phase2.mean_ms", "pie.phase2.mean_ms", 2)),
    number("pie-F7-6", "approx", "PIE is back around 20 ms after the drop of capacity",
        "pie.phase2.back_around_20ms_s", 3, "s"),
    number("pie-F7-7", "approx", "after 100 s RED returns to min_th", "red.phase3.mean_ms", 30,
        "ms"),
    number("pie-F7-8", "approx", "after 100 s PIE returns to 20 ms", "pie.phase3.mean_ms", 20,
        "ms"),
    order("pie-F8-1", "RED: delay higher for more flows",
        more("rate100mbps.red.flows30.mean_ms", "rate100mbps.red.flows10.mean_ms"),
        more("rate100mbps.red.flows50.mean_ms", "rate100mbps.red.flows30.mean_ms"),
        more("rate100mbps.red.flows50.mean_ms", "rate100mbps.red.flows30_again.mean_ms")),
    several("pie-F8-2", "approx", "PIE: back at 20 ms within a couple of seconds after each change",
        *(is_within(phase, f"rate100mbps.pie.{phase}.back_around_20ms_s", None, 5, "s")
        for phase in list(F8_PHASES)[1:])),
    order("pie-F8-3", "PIE's delay does not depend on the number of flows",
        *(alike(f"rate100mbps.pie.{phase}.mean_ms", "rate100mbps.pie.flows10.mean_ms")
        for phase in list(F8_PHASES)[1:])),
]
# fmt: on


def _ref(ms: int, aqm: str, metric: str) -> str:
    return f"reference{ms}ms.{aqm}.{metric}"


# fmt: off
CLAIMS_TESTBED: list[Claim] = [
    between("pie-F10-1", "approx", "5 ms, PIE: more than 90 % of packets below 20 ms",
        _ref(5, "pie", "below_20ms_pct"), 90, None, "%"),
    between("pie-F10-2", "approx", "5 ms, CoDel: more than 90 % of packets below 20 ms",
        _ref(5, "codel", "below_20ms_pct"), 90, None, "%"),
    number("pie-F10-3", "approx", "5 ms, PIE: packets below 5 ms", _ref(5, "pie", "below_5ms_pct"),
        70, "%"),
    order("pie-F10-4", "PIE clearly better than CoDel at 5 ms",
        more(_ref(5, "pie", "below_5ms_pct"), _ref(5, "codel", "below_5ms_pct"))),
    number("pie-F10-5", "approx", "20 ms, PIE: packets below 20 ms",
        _ref(20, "pie", "below_20ms_pct"), 50, "%"),
    number("pie-F10-6", "approx", "20 ms, CoDel: packets below 20 ms",
        _ref(20, "codel", "below_20ms_pct"), 40, "%"),
    order("pie-F10-7", "20 ms: alike, PIE slightly better",
        alike(_ref(20, "codel", "p50_ms"), _ref(20, "pie", "p50_ms")),
        more(_ref(20, "pie", "below_20ms_pct"), _ref(20, "codel", "below_20ms_pct"))),
    order("pie-F10-8", "throughput: CoDel slightly above PIE",
        *(more(_ref(ms, "codel", "throughput_mbps"), _ref(ms, "pie", "throughput_mbps"))
        for ms in REFERENCES_MS)),
    *(between(f"pie-F11-{i}", "approx", f"CoDel, {ms} ms: majority of packets above 100 ms",
        difference(100.0, _ref(ms, "codel", "below_100ms_pct")), 50, None, "%")
        for i, ms in ((1, 5), (2, 20))),
    number("pie-F11-3", "approx", "5 ms, PIE: packets below 5 ms", _ref(5, "pie", "below_5ms_pct"),
        70, "%"),
    number("pie-F11-4", "approx", "5 ms, PIE: packets within 10 ms",
        _ref(5, "pie", "below_10ms_pct"), 90, "%"),
    number("pie-F11-5", "approx", "20 ms, PIE: packets within 40 ms",
        _ref(20, "pie", "below_40ms_pct"), 90, "%"),
    order("pie-F11-6", "throughputs of PIE and CoDel similar",
        *(alike(_ref(ms, "pie", "throughput_mbps"), _ref(ms, "codel", "throughput_mbps"),
        within=0.05, floor=0.05) for ms in REFERENCES_MS)),
]
# fmt: on

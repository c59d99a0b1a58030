"""The experiments with TCP CUBIC, with a base RTT of 100 ms, and with both (§III-A, prose)."""

from __future__ import annotations

from dataclasses import replace

from sojourn.papers.codel_act.common import AQMS, BUSY, FLOWS, UTIL, scenario
from sojourn.reproduce import measures
from sojourn.reproduce.claims import alike, growing, more, not_less, not_more, order
from sojourn.reproduce.paper import Case, Cell, Claim, Item, Pools, Profile, Seeds, Table, Values
from sojourn.scenario import Scenario

# Words, congestion control and base RTT in ms, by key. Figures have NewReno at 10 ms.
_COMBINATIONS = {
    "cubic.rtt10": ("CUBIC, RTT 10 ms", "cubic", 10),
    "reno.rtt100": ("NewReno, RTT 100 ms", "reno", 100),
    "cubic.rtt100": ("CUBIC, RTT 100 ms", "cubic", 100),
}


def _scenario(aqm: str, n: int, cc: str, rtt_ms: int) -> Scenario:
    made = scenario(aqm, n, rtt_ms)
    return replace(made, flows=[replace(group, cc=cc) for group in made.flows])


def _cases(_profile: Profile) -> dict[str, Case]:
    keep = ("delays", "states")
    return {
        f"{key}.n{n}.{aqm}": Case(_scenario(aqm, n, cc, rtt_ms), keep)
        for key, (_, cc, rtt_ms) in _COMBINATIONS.items()
        for n in FLOWS
        for aqm in AQMS
    }


def _measure(pools: Pools) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, pool in pools.items():
        values |= measures.under(key, measures.delays(pool.distribution()))
        values[f"{key}.util_pct"] = 100 * pool.number("queue/bottleneck/utilisation")
        if key.endswith("codel"):
            rises = [measures.slope(t[t >= 10], n[t >= 10])[0] for t, n in pool.states("count")]
            values[f"{key}.count.slope_per_s"] = measures.mean_of_finite(rises)
    return values


def _tables(_values: Values) -> list[Table]:
    header = ["", "n", *(f"{label} {what}" for label in AQMS.values() for what in ("mean", "p99"))]
    rows: list[list[str | Cell]] = [
        [
            words,
            str(n),
            *(Cell(f"{key}.n{n}.{aqm}.{what}_ms") for aqm in AQMS for what in ("mean", "p99")),
        ]
        for key, (words, _, _) in _COMBINATIONS.items()
        for n in FLOWS
    ]
    return [Table("Packet delay in ms", header, rows)]


# fmt: off
ITEM = Item("X3", "TCP CUBIC and a base RTT of 100 ms (prose)", cases=_cases,
    seeds=Seeds(3, 10), measure=_measure, tables=_tables,
    note="The paper prints Table I for NewReno at 100 ms and no number for CUBIC. Claims repeat "
    "what its text says of Table I and Figures 3 and 4 (our choice). With one flow PIE's mean "
    "does not count: Table I has 8.28 ms at 100 ms.")


def _alike(key: str, words: str, i: int) -> Claim:
    def of(aqm: str, n: int, metric: str = "mean_ms") -> str:
        return f"{key}.n{n}.{aqm}.{metric}"

    return order(f"codel-act-X3-{i}", f"{words}: qualitatively the same results",
        *(part for a in ("codel", "codel_act") for part in growing(*(of(a, n) for n in FLOWS))),
        *(alike(of("pie", n), 16.0, within=0.1) for n in BUSY),
        *(not_more(of("codel_act", n), of("codel", n)) for n in FLOWS),
        *(not_less(of("codel_act", n, UTIL), of("codel", n, UTIL), within=0.001) for n in FLOWS),
        more(of("pie", 1, "p99_ms"), of("codel", 1, "p99_ms")),
        more(of("codel", 64, "p99_ms"), of("pie", 64, "p99_ms")),
        *(more(of("codel", n, "count.slope_per_s"), 1.0) for n in BUSY))


CLAIMS = [_alike(key, words, i) for i, (key, (words, _, _)) in enumerate(_COMBINATIONS.items(), 1)]
# fmt: on

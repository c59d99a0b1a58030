"""CoDel-ACT, CoDel or PIE? Over the scenarios of RFC 7928, by delay and utilisation together.

    python tests/beyond/which_of_three.py

Schwarzkopf, Veith and Menth 2016 §V leave this question open: their runs have one constant rate and
endless downloads. One AQM beats another where it dominates it in queue delay p95 and utilisation in
95 % of the bootstrap samples of the seeds (`sojourn.comparing.dominance`). A rank is one more than
the number of AQMs that beat this one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import pages

import sojourn
from sojourn.comparing import dominance, verdict
from sojourn.describing.library import shipped

AQMS = {"codel@act": "CoDel-ACT", "codel": "CoDel", "pie": "PIE"}
SEEDS = 10
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "Each with its own defaults (targets of 5, 5 and 15 ms)": {},
    "All with a target of 5 ms": {"target": "5ms"},
    "All with a target of 15 ms": {"target": "15ms"},
}
METHOD = f"""\
The scenarios are [those after RFC 7928](../how-to/rfc7928.md), {SEEDS} seeds each, under the same
seeds for every AQM; CoDel is RFC 8289's, PIE RFC 8033's, CoDel-ACT that of Schwarzkopf, Veith and
Menth 2016, who ask the question (§V). A cell is a rank, queue delay p95 and utilisation, means over
seeds. The rank is one more than the number of AQMs that beat this one:
[delay and utilisation are judged together](../how-to/comparing-honestly.md), and 95 % of bootstrap
samples must agree. Equal ranks are a trade-off, or too close to call."""


Ranks = Mapping[str, int]
"""Results by the names in `AQMS`."""
Case = tuple[str, str]
"""A setting and a scenario."""


def main() -> None:
    """Write the page."""
    names = [name for name in shipped() if name.startswith("rfc7928/")]
    tables: list[str] = []
    of_all: dict[Case, sojourn.Comparison] = {}
    for title, fair in SETTINGS.items():
        found = {name: _compared(name, fair) for name in names}
        of_all |= {(title, name): compared for name, compared in found.items()}
        rows = [[name.removeprefix("rfc7928/"), *_cells(each)] for name, each in found.items()]
        head = ["scenario", *AQMS.values()]
        tables += [f"## {title}", _said(list(found.values())), pages.table(head, rows)]
    pages.write("which-of-three", "CoDel-ACT, CoDel or PIE", _answer(of_all), METHOD, *tables)


def _compared(name: str, fair: Mapping[str, str]) -> sojourn.Comparison:
    compared = sojourn.compare(name, list(AQMS), SEEDS, fair=dict(fair), jobs=2)
    if any(math.isnan(pair.probability) for pair in dominance.plane(compared)):
        raise ValueError(f"{name}: every seed gives the same run")
    return compared


def _beaten(compared: sojourn.Comparison) -> list[tuple[str, str]]:
    """Which AQM beats which, by the names in `AQMS`; a common target is part of the AQMs' texts."""
    name = dict(zip(compared.aqms, AQMS.values(), strict=True))
    sure = (pair for pair in dominance.plane(compared) if pair.is_sure)
    return [(name[pair.aqm], name[pair.over]) for pair in sure]


def _ranks(compared: sojourn.Comparison) -> Ranks:
    beaten = _beaten(compared)
    return {name: 1 + sum(loser == name for _, loser in beaten) for name in AQMS.values()}


def _cells(compared: sojourn.Comparison) -> list[str]:
    return [
        f"**{rank}**: {pages.plus_minus(delays, 1e3)} ms, {pages.plus_minus(shares, 1e2)} %"
        for rank, (delays, shares) in zip(_ranks(compared).values(), _plane(compared), strict=True)
    ]


def _plane(compared: sojourn.Comparison) -> list[tuple[list[float], list[float]]]:
    """Queue delay p95 and utilisation of each AQM, one value per seed."""
    metrics = {m.metric: m for m in compared.metrics if m.scope == "queue"}
    delay, share = (metrics[name] for name in dominance.PAIR)
    return [(compared.values(delay, aqm), compared.values(share, aqm)) for aqm in compared.aqms]


def _is_fullest_and_longest(compared: sojourn.Comparison) -> bool:
    """Whether PIE, the last, has the highest utilisation and the highest delay, by their means."""
    delays, shares = zip(*_plane(compared), strict=True)
    return all(max(range(3), key=lambda i: sum(of[i])) == 2 for of in (delays, shares))


def _said(all_compared: Sequence[sojourn.Comparison]) -> str:
    wins = Counter(pair for compared in all_compared for pair in _beaten(compared))
    parts = [f"{winner} beats {loser} in {n}" for (winner, loser), n in sorted(wins.items())]
    return f"Of {len(all_compared)} scenarios, {verdict.joined(parts)}."


def _answer(found: Mapping[Case, sojourn.Comparison]) -> str:
    ranks = {case: _ranks(compared) for case, compared in found.items()}
    lost = {
        name: [scenario for (_, scenario), each in ranks.items() if each[name] > 1]
        for name in AQMS.values()
    }
    best, *others = sorted(lost, key=lambda name: len(lost[name]))
    where = verdict.joined(sorted({f"`{name}`" for name in lost[best]}))
    counts = verdict.joined([f"{name} in {len(lost[name])}" for name in others])
    open_ = [case for case, each in ranks.items() if set(each.values()) == {1}]
    trades = sum(_is_fullest_and_longest(found[case]) for case in open_)
    return (
        f"{best}, narrowly: of {len(ranks)} cases (scenario and setting) it is beaten in "
        f"{len(lost[best])}, all of them {where}; {counts}. In {len(open_)} cases none is beaten, "
        f"and in {trades} of these PIE fills the link best and has the longest queue."
    )


if __name__ == "__main__":
    main()

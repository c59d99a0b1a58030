"""Table 5 of Khademi, Ros and Welzl 2013 again, with CE-marked packets left out of the measure.

    python tests/beyond/ce_excluded.py

The report recommends this in §7 but did not implement it; `exclude_ce` does. AQMs, hosts and path
are those of `sojourn reproduce kids:T5`.
"""

from __future__ import annotations

from collections.abc import Sequence

import pages

from sojourn.comparing import verdict
from sojourn.comparing.statistics import estimate
from sojourn.papers.kids import common

SEEDS = 10
PER_SENDER = (1, 4, 8, 16)
ECN = {"codel": ",ecn=true", "pie": ",ecn=true,ecn_mark_limit=1", "ared": ",ecn=true"}
EXCLUDED = ",exclude_ce=true"
# Khademi, Ros and Welzl 2013, Table 5.
PUBLISHED = {
    "codel": (1.256, 1.356, 1.719, 6.117),
    "pie": (1.156, 1.106, 1.591, 6.569),
    "ared": (6.621, 3.465, 4.303, 3.873),
}
METHOD = f"""\
Khademi, Ros and Welzl 2013 found that AQMs signal more often once they mark instead of drop,
because marked packets stay in the queue. They recommend (§7) to leave CE-marked packets out of all
calculations, of ARED's average and of the delays of CoDel and PIE, and did not build it. The
parameter `exclude_ce` of every AQM with one queue does: backlogs leave out queued CE-marked
packets, and sojourn times leave out the time for which the link was busy with CE-marked packets
since the arrival.

Below is their Table 5 again, with the AQMs, hosts and path of `sojourn reproduce kids:T5`
(10 Mbit/s, RTT 100 ms, 4 senders, target 5 ms), {SEEDS} seeds of 60 s: means over seeds, ± half of
the 95 % interval of the mean."""


class Case:
    """A number of flows under an AQM without ECN, with it, and with CE-marked packets left out."""

    def __init__(self, aqm: str, per_sender: int) -> None:
        self.aqm, self.per_sender = aqm, per_sender
        texts = {"drop": "", "mark": ECN[aqm], "excluded": ECN[aqm] + EXCLUDED}
        self.runs = {
            name: pages.runs(
                common.scenario(common.queue(aqm, ecn=ecn), 4 * per_sender, ecn=bool(ecn)), SEEDS
            )
            for name, ecn in texts.items()
        }

    def values(self, case: str, metric: str) -> list[float]:
        """A metric, one value per seed."""
        return [run[metric] for run in self.runs[case]]

    def ratios(self, case: str) -> list[float]:
        """Marks per arrival over drops per arrival without ECN, seed by seed."""
        marks = self.values(case, "queue/bottleneck/mark_rate")
        drops = self.values("drop", "queue/bottleneck/drop_rate")
        return [mark / drop for mark, drop in zip(marks, drops, strict=True)]


def main() -> None:
    """Write the page."""
    cases = [Case(aqm, n) for aqm in common.AQMS for n in PER_SENDER]
    parts = [
        METHOD,
        "## Marks with ECN over drops without, per arrival",
        pages.table(
            ["AQM", "flows per sender", "published", "all packets count", "CE-marked left out"],
            map(_ratio_row, cases),
        ),
        "## What it does to delay and goodput",
        pages.table(
            ["AQM", "flows per sender", "quantity", "drops, no ECN", "all packets count",
             "CE-marked left out"],
            [row for case in cases for row in _effect_rows(case)],
        ),
    ]  # fmt: skip
    pages.write("ce-excluded", "CE-marked packets left out of the measure", _answer(cases), *parts)


def _ratio_row(case: Case) -> list[str]:
    published = PUBLISHED[case.aqm][PER_SENDER.index(case.per_sender)]
    ratios = [pages.plus_minus(case.ratios(name)) for name in ("mark", "excluded")]
    return [common.NAMES[case.aqm], f"{case.per_sender}", f"{published}", *ratios]


def _effect_rows(case: Case) -> list[list[str]]:
    quantities = {
        "queue delay, median [ms]": ("queue/bottleneck/delay_p50", 1e3),
        "queue delay, 95 % [ms]": ("queue/bottleneck/delay_p95", 1e3),
        "goodput [Mbit/s]": ("class/bulk/goodput", 1e-6),
    }
    head = [common.NAMES[case.aqm], f"{case.per_sender}"]
    return [
        [*head, name, *(pages.plus_minus(case.values(each, key), scale) for each in case.runs)]
        for name, (key, scale) in quantities.items()
    ]


def _answer(cases: Sequence[Case]) -> str:
    """The fall of the ratios by AQM, and the part of its goodput lost to ECN that ARED regains."""
    by = {(case.aqm, case.per_sender): case for case in cases}

    def ratio(aqm: str, per_sender: int, name: str) -> float:
        return estimate(by[aqm, per_sender].ratios(name)).mean

    def span(name: str) -> str:
        ratios = [ratio("ared", n, name) for n in PER_SENDER]
        return f"{min(ratios):.1f} to {max(ratios):.1f}"

    most = PER_SENDER[-1]
    heavy = [
        f"{common.NAMES[aqm]} {ratio(aqm, most, 'excluded'):.1f} instead of "
        f"{ratio(aqm, most, 'mark'):.1f}"
        for aqm in ("codel", "pie")
    ]
    dropped, marked, excluded = (
        1e-6 * estimate(by["ared", 1].values(name, "class/bulk/goodput")).mean
        for name in by["ared", 1].runs
    )
    return (
        "It helps, most of all ARED, and does not suffice: ARED marks "
        f"{span('excluded')} times as often as it drops without ECN, instead of {span('mark')}; at "
        f"{most} flows per sender {verdict.joined(heavy)}. ARED regains "
        f"{excluded - marked:.2f} of the {dropped - marked:.2f} Mbit/s that ECN costs it at one "
        "flow per sender."
    )


if __name__ == "__main__":
    main()

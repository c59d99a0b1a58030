"""Kuhn and Ros 2016: MADPIE against PIE, DropTail and CoDel on long paths.

`common` has AQMs and scenarios; `topologies`, `bulk`, `mix` and `rtts` the experiments, `values`
the measures of a traffic mix; `claims` the paper's claims; `differs` explains why some do not hold.
"""

from __future__ import annotations

from sojourn.papers.madpie import bulk, claims, mix, rtts, topologies
from sojourn.papers.madpie.differs import DIFFERS
from sojourn.papers.madpie.marks import MARKS
from sojourn.papers.madpie.testbed import TESTBED
from sojourn.reproduce.claims import explained
from sojourn.reproduce.paper import Paper

PAPER = Paper(
    key="madpie",
    title="Improving PIE's performance over high-delay paths",
    source="Kuhn, Ros; arXiv 1602.00569, 2016",
    about="PIE on paths of 100 to 500 ms in ns-2, and MADPIE: one certain drop per update interval "
    "while the delay is above a bound.",
    items=(
        topologies.S1,
        *bulk.ITEMS,
        topologies.S2,
        *mix.ITEMS,
        topologies.S3,
        *rtts.ITEMS,
        mix.ACROSS,
    ),
    claims=explained([*claims.CLAIMS_S1, *claims.CLAIMS_S2, *claims.CLAIMS_S3], DIFFERS),
    marks=MARKS,
    testbed=TESTBED,
)

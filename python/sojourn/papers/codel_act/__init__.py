"""Schwarzkopf, Veith and Menth 2016: CoDel and PIE for saturated TCP sources; CoDel-ACT.

`common` has AQMs and the dumbbell; `start`, `distributions`, `sweeps`, `states`, `windows`,
`utilisation` and `combinations` the experiments; `claims` and `claims_levels` the paper's claims;
`differs` explains why some do not hold here.
"""

from __future__ import annotations

from sojourn.papers.codel_act import (
    claims,
    claims_levels,
    combinations,
    distributions,
    start,
    states,
    sweeps,
    utilisation,
    windows,
)
from sojourn.papers.codel_act.differs import DIFFERS
from sojourn.papers.codel_act.marks import MARKS
from sojourn.papers.codel_act.testbed import TESTBED
from sojourn.reproduce.claims import explained
from sojourn.reproduce.paper import Paper

PAPER = Paper(
    key="codel-act",
    title="Performance Analysis of CoDel and PIE for Saturated TCP Sources",
    source="Schwarzkopf, Veith, Menth; International Teletraffic Congress (ITC 28), 2016",
    about="Saturated TCP sources with the stack of Linux 2.6.29 behind a link of 10 Mbit/s: "
    "CoDel's count grows without bound, its delay follows the load; CoDel-ACT and PIE fare better.",
    items=(
        start.ITEM,
        *distributions.ITEMS,
        *sweeps.ITEMS,
        *states.ITEMS,
        windows.ITEM,
        utilisation.ITEM,
        combinations.ITEM,
    ),
    claims=explained(
        [
            *claims.CLAIMS_F1_F2,
            *claims.CLAIMS_T1,
            *claims_levels.CLAIMS_F3_X1,
            *claims_levels.CLAIMS_F4_F5,
            *claims.CLAIMS_F6,
            *claims_levels.CLAIMS_X2,
            *combinations.CLAIMS,
        ],
        DIFFERS,
    ),
    marks=MARKS,
    testbed=TESTBED,
)

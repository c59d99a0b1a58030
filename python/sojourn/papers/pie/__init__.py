"""Pan et al. 2013: PIE, a lightweight control scheme against bufferbloat.

`common` has AQMs and the dumbbell; `loads`, `burst`, `changes`, `testbed` and `loop` the
experiments; `claims` and `claims_loop` the paper's claims; `differs` explains why some do not hold.
"""

from __future__ import annotations

from sojourn.papers.pie import burst, changes, claims, claims_loop, loads, loop, testbed
from sojourn.papers.pie.differs import DIFFERS
from sojourn.papers.pie.marks import MARKS
from sojourn.reproduce.claims import explained, not_measured
from sojourn.reproduce.paper import Item, Paper

# fmt: off
_MEASURED_BY_OTHERS = "a measurement by others that cannot be repeated"
_BEFORE = (
    Item("F1", "Ping RTTs over a hotel line", "external", missing=_MEASURED_BY_OTHERS),
    Item("F2", "Histogram of these RTTs", "external", missing=_MEASURED_BY_OTHERS),
    Item("F3", "Block diagram of PIE", "structure", note="Nothing to measure."),
)
_CLAIMS_MISSING = (
    not_measured("pie-F1-1", "approx", "probe RTT frequently 8 to 9 s"),
    not_measured("pie-F2-1", "order", "histogram has peaks spaced by the RTO"),
)
# fmt: on


PAPER = Paper(
    key="pie",
    title="PIE: A Lightweight Control Scheme to Address the Bufferbloat Problem",
    source="Pan, Natarajan, Piglione, Prabhu, Subramanian, Baker, VerSteeg; IEEE HPSR 2013",
    about="PIE in ns-2 and in a Linux testbed: the delay stays near its target under light, heavy "
    "and unresponsive load, under bursts, and when capacity or load change.",
    items=(
        *_BEFORE,
        *loads.ITEMS,
        burst.ITEM,
        *changes.ITEMS,
        *testbed.ITEMS,
        *loop.ITEMS,
    ),
    claims=explained(
        [
            *_CLAIMS_MISSING,
            *claims.CLAIMS_SIMULATED,
            *claims.CLAIMS_TESTBED,
            *claims_loop.CLAIMS_LOOP,
        ],
        DIFFERS,
    ),
    testbed=testbed.TESTBED,
    marks=MARKS,
)

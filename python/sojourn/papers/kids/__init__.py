"""Khademi, Ros and Welzl 2013: the new AQM kids on the block; CoDel, PIE and Adaptive RED.

`common` has AQMs and scenarios; `wired`, `flows` and `wlan` the experiments; `claims`,
`claims_single` and `claims_flows` the report's claims about the wired ones; `differs` explains why
some do not hold here; `testbed` has the experiments on today's kernel, `differs_kernel` explains
why some claims do not hold there.
"""

from __future__ import annotations

from sojourn.papers.kids import claims, claims_flows, claims_single, flows, wired, wlan
from sojourn.papers.kids.differs import DIFFERS, PARAGRAPHS
from sojourn.papers.kids.marks import MARKS
from sojourn.papers.kids.testbed import TESTBED
from sojourn.reproduce.claims import explained
from sojourn.reproduce.paper import Paper

PAPER = Paper(
    key="kids",
    title="The New AQM Kids on the Block: Much Ado About Nothing?",
    source="Khademi, Ros, Welzl; University of Oslo, Technical Report 434, 2013",
    about="CoDel and PIE against Adaptive RED, which is twelve years older, in a Linux testbed of "
    "10 Mbit/s and on a wireless LAN: different targets, loads, time scales and round-trip times, "
    "flow queues and ECN.",
    items=(
        *wired.PARAMETERS,
        wlan.TOPOLOGY,
        *wired.ITEMS,
        wlan.DOWNLINK,
        wlan.MIXED,
        *flows.ITEMS,
        *wired.ACROSS,
    ),
    claims=explained(
        [
            *claims_single.CLAIMS_F2,
            *claims.CLAIMS_F3_F4,
            *claims.CLAIMS_F5_F8,
            *wlan.CLAIMS,
            *claims_flows.CLAIMS_F11_F12,
            *claims_flows.CLAIMS_ECN,
        ],
        DIFFERS,
    ),
    testbed=TESTBED,
    paragraphs=PARAGRAPHS,
    marks=MARKS,
)

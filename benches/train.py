"""The training runs of a profile-guided build (`make wheel`).

Shipped scenarios under AQMs of several kinds, most of them unchanged, one also with many flows on a
fast link. The reference cases of `make bench` are excluded, so that the build is not tuned to them.
"""

import sojourn

AQMS = ("taildrop", "red", "codel", "pie", "pi2", "fq_codel", "cake", "dualpi2")
RUNS = (
    ("dumbbell-cubic", 60, {}),
    ("dumbbell-cubic", 5, {"flows.bulk.count": 100, "links.bottleneck.rate": "500mbit"}),
    ("traffic-mix", 30, {}),
    ("rate-steps", 40, {}),
    ("rfc7928/varying-load", 40, {}),
)

for name, seconds, changes in RUNS:
    for aqm in AQMS:
        sets = {"duration": f"{seconds}s", "warmup": "0s"} | changes
        sojourn.run(name, aqms=aqm, sets=sets, store=None)

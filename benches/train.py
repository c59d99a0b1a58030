"""What a build with a profile (`make wheel`) runs, to learn which branches are usual.

Shipped scenarios under AQMs of several kinds, most as they are, one with many flows on a fast link
too. The reference cases of `make bench` are not among them, so that what those gain is not learned
by heart.
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

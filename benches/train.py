"""What a build with a profile (`make wheel`) runs, to learn which branches are usual.

Shipped scenarios under AQMs of several kinds. The reference cases of `make bench` are not among
them, so that what those gain is not learned by heart.
"""

import sojourn

AQMS = ("taildrop", "red", "codel", "pie", "pi2", "fq_codel", "cake", "dualpi2")
SECONDS = {"dumbbell-cubic": 60, "traffic-mix": 30, "rate-steps": 40, "rfc7928/varying-load": 40}

for name, seconds in SECONDS.items():
    for aqm in AQMS:
        sets = {"duration": f"{seconds}s", "warmup": "0s"}
        sojourn.run(name, aqm=aqm, sets=sets, store=None)

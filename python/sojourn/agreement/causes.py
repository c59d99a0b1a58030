"""Causes of gaps between simulator and kernel that have been shown, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "pfifo 64": (
        "The guest's receivers have a buffer of 4 MB from the start (`tcp_rmem`), Linux 128 kB. "
        "A receiver acknowledges every segment as long as its offered window still grows towards "
        "its buffer (6.1, `tcp_grow_window` in `tcp_input.c`), here for 700 segments, which with "
        "64 flows is the whole run: 10 ms, seed 1, no acknowledgement is delayed. With 128 kB and "
        "nothing else changed 1752 are; there are 281 tail loss probes instead of 52, 75 failed "
        "recoveries instead of 13, and the drop rate is 15.6 % instead of 13.8 % (simulator: 344, "
        "93, 16.5 %). At 100 ms it is 9.6 % instead of 8.6 %; fq_codel, 16 flows, 10 ms 16.4 % "
        "instead of 18.3 %, 64 flows, 100 ms 20.4 % instead of 24.1 %."
    ),
}


def lines(names: list[str]) -> list[str]:
    """The causes that belong to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

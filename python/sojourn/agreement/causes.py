"""What is known of the gaps between simulator and kernel, by the scenario's name."""

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
        "93, 16.5 %). At 100 ms it is 9.6 % instead of 8.6 %."
    ),
    "fq_codel": (
        "In part the receivers' buffers, as of pfifo 64: with 128 kB 16 flows at 10 ms lose 16.4 % "
        "instead of 18.3 %, 64 flows at 100 ms 20.4 % instead of 24.1 %. The rest of the cause is "
        "not found yet. It is not that flows share a queue by their hash: with 65536 "
        "queues instead of 1024 the kernel has 33.5 instead of 32.4 ms of mean delay and drops "
        "22.3 instead of 21.2 % (64 flows, 100 ms, 5 seeds), and 19.6 ms and 18.6 % at 16 flows "
        "and 10 ms, where the table has 19.9 ms and 18.3 %."
    ),
    "pie 1 x cubic 100 ms": (
        "Few signals make much noise: with 8 seeds mean, median and drop rate (6.97 / 9.22 ms, "
        "1.18 / 4.79 ms, 0.0519 / 0.0424 %) still differ by less than the interval of their "
        "difference, the percentiles agree (24.3 / 24.7 ms, 44 / 41.2 ms)."
    ),
    "pie 16 x cubic ecn": (
        "With 8 seeds all but two cells agree: the drop rate (0.211 / 0.454 %) is apart beyond "
        "the noise, its cause is not found yet; the 99th percentile (42.4 / 33.2 ms) is not."
    ),
}


def lines(names: list[str]) -> list[str]:
    """What is known that belongs to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

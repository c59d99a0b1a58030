"""What is known of the gaps between simulator and kernel, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "fq_codel": (
        "The cause is not found yet. It is not that flows share a queue by their hash: with 65536 "
        "queues instead of 1024 the kernel's mean delay and drop rate change by less than 6 % "
        "(16 flows at 10 ms, 64 at 100 ms, 5 seeds, with larger receive buffers than here)."
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

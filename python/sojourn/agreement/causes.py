"""What is known of the gaps between simulator and kernel, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "fq_codel": (
        "The cause is not found yet. It is not that flows share a queue by their hash: with 65536 "
        "queues instead of 1024 the kernel has 33.5 instead of 32.4 ms of mean delay and drops "
        "22.3 instead of 21.2 % (64 flows, 100 ms, 5 seeds), and 19.6 ms and 18.6 % at 16 flows "
        "and 10 ms, where the table has 19.9 ms and 18.3 %."
    ),
}


def lines(names: list[str]) -> list[str]:
    """What is known that belongs to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

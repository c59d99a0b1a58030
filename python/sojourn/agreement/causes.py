"""What is known of the gaps between simulator and kernel, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "fq_codel": (
        "Given what the kernel's queue did to each packet, simulated flows send the same segments "
        "within a jiffy of the kernel's until one of its receivers acknowledges a segment alone. "
        "Some of these were pushed (`forced_push`: their places fit its rule to the segment; here "
        "one segment in 23 is, there the place depends on what the program has written); while "
        "the window grows receivers do so too (`tcp_grow_window`), which is not simulated. With "
        "windows of two to four segments the delays of acknowledgements shape the whole cycle."
    ),
    "codel 64 x cubic 10 ms": (
        "With 6 seeds the mean is 52.6 / 59.1 ms; one seed of the kernel has 46.5, the others 59 "
        "to 64. The cause is not known; probably that of fq_codel."
    ),
    "codel 16 x cubic ecn": (
        "A SYN is not ECN-capable, and Linux gives up ECN for a connection whose SYN is lost "
        "(`tcp_ecn_fallback`). In one seed of three that befell two flows, and all drops are "
        "theirs. Simulated flows keep ECN."
    ),
    "pie 16 x cubic ecn": (
        "The same: without the three flows that gave up ECN the kernel drops 34, 39 and 25 packets "
        "in the three seeds, the simulator 41, 28 and 24."
    ),
}


def lines(names: list[str]) -> list[str]:
    """What is known that belongs to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

"""What is known of the gaps between simulator and kernel, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "fq_codel": (
        "Given what the kernel's queue did to each packet, simulated flows send the same segments "
        "within a jiffy of the kernel's until one of its receivers acknowledges a segment alone. "
        "Some of these were pushed (`forced_push`: their places fit its rule to the segment; there "
        "the window counts that was offered when the program wrote them, here when they arrive); "
        "while the window grows receivers do so too (`tcp_grow_window`), which is not simulated. "
        "With windows of two to four segments the delays of acknowledgements shape the whole cycle."
    ),
    "codel 16 x cubic ecn": (
        "A SYN is not ECN-capable, and Linux gives up ECN for a connection whose SYN is lost "
        "(`tcp_ecn_fallback`). In one seed of three that befell two flows of the kernel's, and "
        "all drops are theirs. The same rule is simulated; no SYN was lost in these seeds."
    ),
    "pie 16 x cubic ecn": (
        "Few flows that gave up ECN after a lost SYN make all the difference between seeds: the "
        "same rule holds on both sides."
    ),
}


def lines(names: list[str]) -> list[str]:
    """What is known that belongs to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

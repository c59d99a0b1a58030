"""Causes of gaps between simulator and kernel that have been shown, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "ared": (
        "The guest's kernel (6.1, iproute2 6.1) keeps the probability that `tc red adaptive` began "
        "with: after 30 s `tc -d` shows 0.02 with `adaptive` on. The simulator moves it. With "
        "`red@linux`, which keeps it too, the simulator comes to a mean delay of 34.6 ms where the "
        "kernel has 35.2 ms (16 flows, 10 ms), and 12.9 ms where it has 12.8 ms (1 flow, 10 ms). "
        "Why the kernel's timer does not act in the guest is not known yet."
    ),
}


def lines(names: list[str]) -> list[str]:
    """The causes that belong to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

"""Causes of gaps between simulator and kernel that have been shown, by the scenario's name."""

from __future__ import annotations

# The beginning of scenarios' names, and what was found.
KNOWN = {
    "ared": (
        "The kernel's timer for `max_p` is never started. The kernel (6.1, `__red_change` in "
        "`sch_red.c`) starts it by the flag in `tc_red_qopt.flags`, and tc (iproute2 6.1) leaves "
        "that byte 0 and sends the flag in the attribute `TCA_RED_FLAGS`, which the kernel keeps "
        "and shows again as `adaptive` but does not ask here. So `max_p` stays 0.02 (16 flows, "
        "10 ms: after 2, 5, 10 and 30 s). With the flag moved to the old byte and nothing else "
        "changed, the same kernel has 0.049, 0.109, 0.138 and 0.156, and 53 of the 54 cells of "
        "ared agree instead of 24; the last is the drop rate of 1 flow at 10 ms, 0.263 / 0.299 %. "
        "The simulator's `ared@linux` is the kernel's with the timer running; for the kernel as "
        "tc sets it, ask for `red@linux`."
    ),
}


def lines(names: list[str]) -> list[str]:
    """The causes that belong to scenarios of these names, as items of a list."""
    return [
        f"- {start}: {cause}"
        for start, cause in KNOWN.items()
        if any(name.startswith(start) for name in names)
    ]

"""MADPIE on Linux: which experiments run on today's kernel, and what differs there."""

from sojourn.reproduce.testbed import Testbed

_READ_BACK = "compares the simulator's configuration; the kernel's is read back in every run"
_CALLS = "the goodput of datagrams over time is not sampled on the kernel"

TESTBED = Testbed(
    items=("F2", "F3", "F7", "F8", "F11", "F12", "G"),
    note="On engine linux hosts and router are the kernel named above, not ns-2: the TCP is the "
    "kernel's own, its CUBIC has today's Reno-friendly region. PIE is sch_pie, CoDel sch_codel; "
    "MADPIE is our kernel module, with the PIE of sch_pie under the deterministic drop. That PIE "
    "is RFC 8033's: no early drop below half the target and 20 %, and a burst allowance of 150 ms "
    "instead of 100 ms. Buffers count packets in sch_pie and sch_codel, bytes in the module.",
    missing={
        "F1": _READ_BACK,
        "F4": "captures at the router's interfaces do not show why a packet was dropped",
        "F5": _READ_BACK,
        "F6": f"{_CALLS}; G has their queuing delay",
        "F9": _READ_BACK,
        "F10": _CALLS,
    },
    same=("pie_2013",),
)

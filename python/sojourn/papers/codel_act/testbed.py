"""CoDel, CoDel-ACT and PIE on Linux: which experiments run on today's kernel."""

from sojourn.reproduce.testbed import Testbed

_COUNT = "count and drop probability are not sampled on the kernel"

TESTBED = Testbed(
    items=("F1", "F2", "T1", "F3", "X1", "F5", "X2"),
    note="On engine linux hosts and router are the kernel named above, not INET: the TCP is the "
    "kernel's own, with an initial window of 10 segments, SACK and RACK. CoDel is sch_codel, "
    "which signals once per packet and returns to an old count within 16 intervals, unlike the "
    "paper's; PIE is sch_pie of RFC 8033; CoDel-ACT and CoDel with a frozen count are our kernel "
    "module. Buffers count packets in sch_codel and sch_pie, bytes in the module.",
    missing={"F4": _COUNT, "X3": _COUNT, "F6": f"its numbers need CoDel's count: {_COUNT}"},
)

"""The report's experiments on today's kernel: which ones run there, and what differs."""

from sojourn.papers.kids.differs_kernel import KERNEL, PARAGRAPHS
from sojourn.reproduce.testbed import Testbed

_READ_BACK = "compares the simulator's configuration; the kernel's is read back in every run"
_WIRELESS = "engine linux has no wireless LAN"

TESTBED = Testbed(
    items=("T4", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F11", "F12", "T5", "F13", "F14", "G"),
    note="On engine linux hosts and router are the kernel named above, not Linux 3.8 and 3.10. Its "
    "reno has RACK and tail loss probes. Its PIE is RFC 8033's: no early drop below half the "
    "target and 20 %, drops instead of marks above 10 %, a burst allowance of 150 ms. ARED, "
    "its thresholds and its weight are the report's. The shaper is CBS, not HTB, with nothing "
    "below it; under it RED does not detect idle periods. A flow whose "
    "SYN is dropped goes on without ECN, as on Linux since 4.1. The flows of a group share one "
    "access link of 100 Mbit/s. RTTs are of all packets, from one-way delays, not by SPP.",
    notes={
        "T4": "Published: Linux 3.8.2 hosts, a 3.10.4 router, four senders and receivers. Here: "
        "one guest kernel in virtual time, its own TCP (reno, SACK, initial window 10, no "
        "timestamps), codel, fq_codel, pie and red through tc; all of it is in the "
        "manifest of a run.",
        "T5": "Marks per arrival over drops per arrival. The kernel's PIE drops above 10 %, so "
        "both variants of PIE are the same runs here.",
    },
    missing={
        "T2": _READ_BACK,
        "T3": _READ_BACK,
        "F1": _WIRELESS,
        "F9": _WIRELESS,
        "F10": _WIRELESS,
    },
    differs=KERNEL,
    paragraphs=PARAGRAPHS,
)

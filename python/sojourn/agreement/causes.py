"""Known causes of gaps between two engines, by the scenario's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sojourn.agreement.cells import CellAgreement
from sojourn.agreement.grid import MENDED

# By engines: words of scenarios' names, and what was found.
_SIM_AND_LINUX = {
    "fq_codel": (
        "Given what the kernel's queue did to each packet, simulated flows send the same segments "
        "within a jiffy of the kernel's until one of its receivers acknowledges a segment alone. "
        "Some of these were pushed (`forced_push`: their places fit its rule to the segment; there "
        "the window counts that was offered when the program wrote them, here when they arrive). "
        "With windows of two to four segments the delays of acknowledgements shape the whole cycle."
    ),
    "1 x cubic 100 ms": (
        "Under CoDel, seed 1, the first 2,550 packets come to both queues at the same times, to "
        "0.3 ms, where the guest's captures are read every millisecond (fact "
        "[linux-26](../facts/linux.md)). Then the kernel's CUBIC adds a packet to its window 11 ms "
        "sooner, because an acknowledgement came 25 us later 2.5 s before, in the next jiffy (fact "
        "[linux-32](../facts/linux.md)). Under PIE the first difference is a random drop."
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

_SIM_AND_NS3 = {
    "x cubic": (
        "A receiver whose window grows acknowledges each segment (fact [tcp-18](../facts/tcp.md)), "
        "under profiles of Linux; ns-3's receiver acknowledges every second one and has a window "
        "that is large from the start. Where each is acknowledged, HyStart sees a train of "
        "acknowledgements, so that ns-3's CUBIC leaves slow start later: one flow at 10 Mbit/s and "
        "100 ms behind 100 packets of buffer at up to 339 packets, the simulator's and the "
        "kernel's at up to 149."
    ),
}


KNOWN = {
    frozenset({"sim", "linux"}): _SIM_AND_LINUX,
    frozenset({"sim", "ns3"}): _SIM_AND_NS3,
}

# Of the wide grid: words of scenarios' names, and what was found.
_WIDE: dict[str, str] = {
    "4 x bbr + cbr": (
        "BBR takes no notice of marks, so that only packets that cannot be marked are dropped: the "
        "datagrams, and SYNs. A flow whose SYN was dropped gives up ECN (RFC 3168 §6.1.1.1, Linux "
        "`tcp_ecn_clear_syn`) and is the only one to lose packets, a fifth of them and more. Of "
        "five seeds that befell one of the kernel's, of twenty of the simulator's two."
    ),
    "+ acks": (
        "Which acknowledgement finds room in a full queue on the way back is a matter of when it "
        "comes, and of a SYN-ACK it decides whether a flow lives: between seeds the simulator's "
        "Jain's index differs by a quarter and more."
    ),
}


def by_cell(
    as_is: Sequence[CellAgreement],
    mended: Sequence[CellAgreement],
    shown: Callable[[CellAgreement], str],
) -> list[str]:
    """A table of the cells that are apart, with what becomes of each under the mended TCP.

    Args:
        as_is: all cells under the TCP as it is.
        mended: those under the mended one.
        shown: both values of a cell as text.
    """
    twins = {(cell.scenario.removesuffix(MENDED), cell.metric): cell for cell in mended}
    rows = []
    for cell in as_is:
        twin = twins.get((cell.scenario, cell.metric))
        if cell.is_apart and twin is not None:
            rows.append(
                f"| {cell.scenario} | {cell.metric} | {shown(cell)} | {shown(twin)} | "
                f"{_reason(twin)} |"
            )
    head = ["| scenario | metric | as it is | mended | reason |", "|---|---|---|---|---|"]
    return [*head, *rows]


def _reason(twin: CellAgreement) -> str:
    if twin.agrees:
        return "the errors of the TCP that are mended"
    if not twin.is_apart:
        return "these errors; the rest is within the noise"
    return "these errors, and more, below"


def lines(engines: Sequence[str], names: Sequence[str]) -> list[str]:
    """The known causes of gaps, as items of a list.

    Args:
        engines: the names of both.
        names: the scenarios in which they do not agree.
    """
    return _lines(KNOWN.get(frozenset(engines), {}), names)


def wide_lines(engines: Sequence[str], names: Sequence[str]) -> list[str]:
    """The known causes of gaps in the wide grid, as items of a list.

    Args:
        engines: the names of both.
        names: the scenarios in which they do not agree.
    """
    return _lines(_WIDE, names) if frozenset(engines) == {"sim", "linux"} else []


def _lines(known: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [
        f"- {words}: {cause}"
        for words, cause in known.items()
        if any(f" {words}" in f" {name}" for name in names)
    ]

"""The standard scenarios of a check: load and RTT, two RTTs at once, traffic that does not respond.

One link of 10 Mbit/s with a buffer of 250 packets (300 ms): large enough that the AQM decides, not
the buffer, as RFC 7928 §3.1 asks. All numbers here are our choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeVar

from sojourn.authoring.cells import WorldResult
from sojourn.describing.formatting import counted

T = TypeVar("T")

FLOWS = (1, 5, 20, 50)
RTTS_MS = (10, 40, 100, 200)
AXES = (FLOWS, RTTS_MS)
WARMUP_S = 8

_HEAD = f"""
duration = "24s"
warmup = "{WARMUP_S}s"
record = {{ states = true, sample = "20ms" }}

[links.bottleneck]
rate = "10mbit"
delay = "2ms"
buffer = "250p"
"""

_BULK = """
[[flows]]
name = "{name}"
count = {count}
path = ["bottleneck"]
rtt = "{rtt}ms"
cc = "cubic"
start = "0s..2s"
app = {{ kind = "bulk" }}
"""

_CBR = """
[[flows]]
name = "{name}"
path = ["bottleneck"]
rtt = "40ms"
app = {{ kind = "cbr", rate = "{rate}", packet = "{packet}" }}
"""


def grid(flows: int, rtt_ms: int) -> str:
    """A scenario with bulk flows of one RTT."""
    bulk = _BULK.format(name="bulk", count=flows, rtt=rtt_ms)
    return f'name = "{flows} flows, {rtt_ms} ms"\n{_HEAD}{bulk}'


MIXED = "short and long paths with a call"
FLOOD = "traffic that does not respond"

OTHERS = {
    MIXED: f'name = "{MIXED}"\n{_HEAD}'
    + _BULK.format(name="short", count=4, rtt=10)
    + _BULK.format(name="long", count=4, rtt=160)
    + _CBR.format(name="call", rate="87kbit", packet="218B"),
    FLOOD: f'name = "{FLOOD}"\n{_HEAD}'
    + _BULK.format(name="bulk", count=4, rtt=40)
    + _CBR.format(name="flood", rate="11mbit", packet="1500B"),
}


def sentences(
    cells: Mapping[str, Mapping[tuple[int, int], WorldResult]],
    others: Mapping[str, Mapping[str, WorldResult]],
    target_s: float | None,
) -> list[str]:
    """Conclusions about the first AQM, with the numbers of the others."""
    said = []
    if target_s is not None:
        own = next(iter(cells.values()))
        above = [at for at, cell in own.items() if cell.delay_p50_s > 2 * target_s]
        where = ", ".join(f"{counted(n, 'flow')} at {rtt} ms" for n, rtt in above)
        said.append(
            f"Target: the median delay exceeds twice the target of {1e3 * target_s:g} ms in "
            f"{len(above)} of {len(own)} cells{': ' + where if above else ''}."
        )
    said.append(_each("Used: the lowest utilisation of any cell is", cells, _lowest_utilisation))
    said.append(_each("Lock-out: the lowest Jain's index with 20 flows is", cells, _lowest_jain))
    said.append(_each("Stable: the largest swing of the backlog with 5 flows or more is",
                      cells, _largest_swing))  # fmt: skip
    said.append(_each("Starvation: flows of 160 ms that compete with flows of 10 ms get the share",
                      others, lambda world: _share(world[MIXED])))  # fmt: skip
    said.append(_each("A call that competes with them loses", others, _loss_of_call))
    head = "Under traffic that does not respond the 95 % quantile of delay is"
    said.append(_each(head, others, lambda world: f"{1e3 * world[FLOOD].delay_p95_s:.0f} ms"))
    return said


def _each(head: str, of: Mapping[str, T], text: Callable[[T], str]) -> str:
    return f"{head} {', '.join(f'{text(world)} under {aqm}' for aqm, world in of.items())}."


def _lowest_utilisation(cells: Mapping[tuple[int, int], WorldResult]) -> str:
    return f"{100 * min(cell.utilisation for cell in cells.values()):.0f} %"


def _lowest_jain(cells: Mapping[tuple[int, int], WorldResult]) -> str:
    return f"{min(cell.jain for (n, _), cell in cells.items() if n == 20):.2f}"


def _largest_swing(cells: Mapping[tuple[int, int], WorldResult]) -> str:
    return f"{max(cell.swing for (n, _), cell in cells.items() if n >= 5):.2f}"


def _share(cell: WorldResult) -> str:
    long, short = (cell.others.get(f"class/{name}/goodput", math.nan) for name in ("long", "short"))
    return f"{100 * long / (long + short):.0f} %"


def _loss_of_call(world: Mapping[str, WorldResult]) -> str:
    return f"{100 * world[MIXED].others.get('class/call/loss_rate', math.nan):.1f} %"

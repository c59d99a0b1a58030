"""Finds the gaps between the simulator and ns-3 that errors of ns-3's TCP explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sojourn.agreement.cells import CellAgreement
from sojourn.agreement.grid import MENDED

MENDED_MEANS = (
    "Mended is a TCP of ns-3 without its errors of facts tcp-14, tcp-15, ns3-5, ns3-6, ns3-8 and "
    "ns3-9."
)


def by_cell(
    as_is: Sequence[CellAgreement],
    mended: Sequence[CellAgreement],
    shown: Callable[[CellAgreement], str],
) -> list[str]:
    """A table of the cells that differ beyond noise, with their values under the corrected TCP.

    Args:
        as_is: all cells under the TCP as it is.
        mended: all cells under the corrected TCP.
        shown: both values of a cell as text.
    """
    twins = {(cell.scenario.removesuffix(MENDED), cell.metric): cell for cell in mended}
    rows = []
    for cell in as_is:
        twin = twins.get((cell.scenario, cell.metric))
        if cell.differs_beyond_noise and twin is not None:
            rows.append(
                f"| {cell.scenario} | {cell.metric} | {shown(cell)} | {shown(twin)} | "
                f"{_reason(twin)} |"
            )
    return [
        MENDED_MEANS,
        "",
        "| scenario | metric | as it is | mended | reason |",
        "|---|---|---|---|---|",
        *rows,
    ]


def _reason(twin: CellAgreement) -> str:
    if twin.agrees:
        return "these errors"
    if not twin.differs_beyond_noise:
        return "these errors and noise"
    return "these errors, and more"

"""Kinds of line, and the framing that each adds to a packet."""

from __future__ import annotations

from dataclasses import dataclass

Framing = tuple[int, int, str]
"""The framing of an IP packet on a line: bytes added, minimum size, and cells."""


@dataclass(frozen=True)
class Medium:
    """A kind of line (tc-cake(8): the keywords of overhead).

    Attributes:
        overhead: bytes per IP packet.
        mpu: the minimum size of a packet in bytes; 0 if the medium has no minimum.
        cells: ``none``, ``atm`` or ``ptm``.
        doubt: the unknown part of the description.
    """

    overhead: int
    mpu: int
    cells: str
    doubt: str

    @property
    def framing(self) -> Framing:
        """The framing of the line."""
        return self.overhead, self.mpu, self.cells

    @property
    def size_table(self) -> Framing:
        """The part of `framing` that a size table of tc can count: it has no PTM."""
        return self.overhead, self.mpu, "none" if self.cells == "ptm" else self.cells


MEDIA = {
    "docsis": Medium(18, 64, "none", ""),
    "dsl": Medium(
        34, 0, "ptm", "VDSL2 with PPPoE and a VLAN is assumed; ADSL is another `--medium`"
    ),
    "adsl": Medium(40, 0, "atm", "PPPoE over LLC/SNAP is assumed"),
    "ftth": Medium(42, 84, "none", "Ethernet with a VLAN is assumed"),
    "lte": Medium(
        0, 0, "none",
        "the rate of a cellular line changes: a fixed shaper works only below the least of it, so "
        "give the least rates that you measure",
    ),
}  # fmt: skip
"""Media that a shaper can model. Wi-Fi is not among them: its queue is in the driver."""

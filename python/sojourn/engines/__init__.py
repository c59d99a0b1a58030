"""What can run a scenario: the packet simulator; the Linux kernel and ns-3 arrive later."""

from __future__ import annotations

from dataclasses import dataclass

from sojourn import _core


@dataclass(frozen=True)
class Engine:
    """An engine and whether this machine offers it.

    Attributes:
        name: ``sim``, ``linux`` or ``ns3``.
        available: whether `sojourn run` can use it.
        note: what it is, or what is missing.
    """

    name: str
    available: bool
    note: str


def engines() -> list[Engine]:
    """Every engine, the default first."""
    later = "arrives in a later release"
    return [
        Engine("sim", True, f"packet simulator, built in, version {_core.__version__}"),
        Engine("linux", False, f"the real kernel's TCP and qdiscs: {later}"),
        Engine("ns3", False, f"ns-3: {later}"),
    ]

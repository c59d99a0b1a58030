"""The part of a paper that runs on a real kernel: it was measured on Linux, or can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Testbed:
    """The part of a paper that was measured on a Linux testbed, or runs on the kernel as well.

    Attributes:
        items: those that run on the kernel.
        note: how today's kernel differs from the paper's, and which settings it lacks.
        notes: keyed by item: the note for readers instead of the simulator's.
        missing: keyed by item: why it does not run; the others were not measured on a testbed.
        differs: keyed by claim, such as ``F2-6``: why it does not hold on the kernel.
        paragraphs: texts that several of these reasons refer to.
        same: variants that are left out, as the kernel has no setting for their difference.
    """

    items: Sequence[str]
    note: str
    notes: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)
    paragraphs: Mapping[str, str] = field(default_factory=dict)
    same: Sequence[str] = ()

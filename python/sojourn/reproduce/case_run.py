"""One run of a reproduction: its scenario, the kept results, and the path of these results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.engines.registry import EngineSelection


@dataclass(frozen=True)
class CaseRun:
    """One case under one seed.

    Attributes:
        label: a label for people, such as ``madpie F2 rtt100.pie, seed 3``.
        scenario: resolved.
        keep: names of the kept results.
        path: its file in the store.
        engine: the name of the engine.
    """

    label: str
    scenario: _core.Scenario
    keep: tuple[str, ...]
    path: Path
    engine: EngineSelection

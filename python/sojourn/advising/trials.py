"""Trials of set-ups: the runs of each under the same seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sojourn import _core
from sojourn.describing.library import seeded
from sojourn.errors import InputError
from sojourn.running.replicas import Progress, Task, run_all
from sojourn.running.store import Store


def check_rtt(rtt_s: float) -> None:
    """Refuse a base round-trip time, in seconds, outside the range of real lines.

    Raises:
        InputError: it is below 100 us or above 10 s.
    """
    if not 1e-4 <= rtt_s <= 10.0:
        raise InputError("--rtt: from 100us to 10s")


def run_each(
    setups: Sequence[tuple[str, str]],
    seeds: int,
    progress: Progress | None,
    store: Store | None,
) -> list[list[Any]]:
    """Run every set-up under seeds 1, 2, ...

    Args:
        setups: name, for messages, and scenario in TOML.
        seeds: number of seeds.
        progress: receives the progress of the runs.
        store: the store in which earlier runs are found.

    Returns:
        For each set-up one result per seed; a sentence in place of a failed run.
    """
    tasks = [
        Task(f"{name}, seed {seed}", seeded(_core.Scenario.load(toml), seed))
        for name, toml in setups
        for seed in range(1, seeds + 1)
    ]
    if not tasks:
        return []
    found = run_all(tasks, progress=progress, store=store)
    return [found[at : at + seeds] for at in range(0, len(found), seeds)]


def value(run: Any, key: str) -> float:
    """A number of a run's summary; NaN if the run failed or lacks it."""
    return math.nan if isinstance(run, str) else float(run.summary.get(key, math.nan))

"""Checks before runs begin whether the machine has the memory that they need.

Otherwise, with a scenario of a hundred million flows, the system would kill this or other programs
without a message.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

from sojourn import _core, platforms
from sojourn.describing.quantity import quantity
from sojourn.errors import InputError

PROGRAM_BYTES = 38e6
"""Memory of a process that has run the smallest scenario: interpreter, numpy, the core."""

# Memory of a result in addition to its rows: summary, histograms, manifest.
_RESULT_BYTES = 150e3


def expected(scenario: _core.Scenario, runs: int = 1, at_once: int = 1) -> float:
    """The peak memory of this process in bytes.

    Args:
        scenario: the scenario.
        runs: number of runs, whose results are all kept.
        at_once: number of concurrent runs.
    """
    while_it_runs, result = _parts(scenario)
    return PROGRAM_BYTES + min(at_once, runs) * while_it_runs + runs * result


def check(
    scenario: _core.Scenario, runs: int = 1, at_once: int = 1, allowed: str | None = None
) -> None:
    """Refuse runs that need more memory than is available.

    Args:
        scenario: the scenario.
        runs: number of runs, whose results are all kept.
        at_once: number of concurrent runs.
        allowed: a size such as ``32GB`` that replaces the free memory.

    Raises:
        InputError: they need more memory; the message names the scenario's key that causes it.
    """
    needed = expected(scenario, runs, at_once)
    check_bytes(lambda: f"{_driver(scenario, runs, at_once)}; in all", needed, allowed)


def check_bytes(what: Callable[[], str], bytes_needed: float, allowed: str | None = None) -> None:
    """Refuse work that needs more memory than is available.

    Args:
        what: names the work in the message.
        bytes_needed: its memory.
        allowed: a size such as ``32GB`` that replaces the free memory.

    Raises:
        InputError: less memory is available.
    """
    limit = _size(allowed) if allowed is not None else _free_bytes()
    if limit is None or bytes_needed <= limit:
        return
    there = f"{_text(limit)} are allowed" if allowed else f"{_text(limit)} are free here"
    raise InputError(
        f"{what()} some {_text(bytes_needed)} of memory, and {there}: ask for less, or say "
        f"`--memory {_text(1.05 * bytes_needed)}` to try all the same"
    )


def bounded(allowed: str | None = None) -> _core.Cancel:
    """A switch whose runs raise `MemoryError` if they take more memory than `check` assumes.

    Args:
        allowed: see `check`.
    """
    limit = _size(allowed) - PROGRAM_BYTES if allowed is not None else _free_bytes()
    return _core.Cancel(None if limit is None else max(0, int(limit)))


def check_listed(place: str, runs: int, bytes_each: float) -> None:
    """Refuse a list of runs that does not fit into memory, before any of them is made.

    Args:
        place: the key that asks for them.
        runs: number of runs.
        bytes_each: memory of one in the list.

    Raises:
        InputError: they need more than is available.
    """
    limit = _free_bytes()
    if limit is not None and runs * bytes_each > limit:
        raise InputError(
            f"{place}: {runs:,} runs take {_text(runs * bytes_each)} of memory to list alone, and "
            f"{_text(limit)} are free here: ask for fewer"
        )


def _parts(scenario: _core.Scenario) -> tuple[float, float]:
    """The bytes that a run needs while it runs, and the bytes that its result keeps."""
    needs = scenario.memory_needs()
    result = sum(size for *_, size, stays in needs if stays)
    return sum(size for *_, size, stays in needs if not stays), result + _RESULT_BYTES


def _driver(scenario: _core.Scenario, runs: int, at_once: int) -> str:
    """The part of a run that takes most of the memory."""
    while_it_runs, result = _parts(scenario)
    place, what, size, _ = max(scenario.memory_needs(), key=lambda need: need[2])
    if runs * result > max(min(at_once, runs) * while_it_runs, 2 * result):
        return f"seeds: {runs:,} runs whose results take {_text(result)} each"
    counted = re.sub(r"\d+", lambda found: f"{int(found[0]):,}", what)
    return f"{place}: {counted} take {_text(size)}"


def _size(text: str) -> float:
    found = quantity(text)
    if found is None or found.unit not in {"B", "kB", "MB", "GB", "KiB", "MiB"}:
        raise InputError(f"--memory {text}: is not a size; write one such as 32GB")
    if found.size <= 0:
        raise InputError(f"--memory {text}: must be positive; write a size such as 32GB")
    return found.size


def _text(size: float) -> str:
    """A size with two digits and the unit that fits."""
    for unit, each in (("GB", 1e9), ("MB", 1e6)):
        if size >= each:
            digits = 1 if size < 10 * each else 0
            return f"{size / each:,.{digits}f}".replace(",", "") + unit
    return f"{size / 1e3:.0f}kB"


def _free_bytes() -> float | None:
    """The memory that this process may still allocate; None if unknown."""
    bounds = (_available(), _of_control_group(), _of_process())
    return min((bound for bound in bounds if bound is not None), default=None)


def _available() -> float | None:
    """The free memory of the machine, on Linux including reclaimable caches."""
    with contextlib.suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(found.split()[1]) * 1024.0
    return platforms.memory_bytes()


def _of_control_group() -> float | None:
    """The limit of a container (control groups, version 2)."""
    with contextlib.suppress(OSError, ValueError):
        return float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    return None


def _of_process() -> float | None:
    """The limit of `ulimit -v`."""
    soft = platforms.address_space_bytes()
    return None if soft is None else float(soft)

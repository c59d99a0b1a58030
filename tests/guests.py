"""Guests for tests: skipped without a guest kernel, unless CI requires one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from conftest import NO_KERNEL
from sojourn import _core
from sojourn.engines import registry
from sojourn.engines.linux import kernel

KERNEL = kernel.find()
_T = TypeVar("_T", bound=Callable[..., None])
_skipped = pytest.mark.skipif(
    KERNEL is None and not os.environ.get("CI"), reason=f"{NO_KERNEL}: sojourn kernel build"
)

# The marks of a test in a guest, for parameters.
IN_GUEST = (pytest.mark.long, _skipped)


def needs_kernel(test: _T) -> _T:
    """Mark a test in a guest, which takes seconds of CPU time."""
    return pytest.mark.long(_skipped(test))


def in_guest(given: _core.Scenario) -> _core.Run:
    """The scenario's run on the real kernel."""
    return on_linux(given, _core.Cancel())


def on_linux(given: _core.Scenario, cancel: _core.Cancel, own: Path | None = None) -> _core.Run:
    """The scenario's run on the real kernel, with the user's kernel if one is given."""
    (selected,) = registry.select(["linux"], {"kernel": own})
    return selected.run(given, cancel)


def in_real_time(given: _core.Scenario) -> _core.Run:
    """A run in real time in which the machine kept up.

    A run on a busy machine may be invalid because of a stall: it is repeated, three times in total,
    and then the test is skipped with the reason. Any other reason fails it."""
    reasons: list[str] = []
    for _ in range(3):
        run = on_linux(given, _core.Cancel())
        reasons = list(run.invalid)
        assert all("the host stalled" in reason for reason in reasons), reasons
        if not reasons:
            return run
    pytest.skip(f"this machine is too busy for real time: {reasons[0]}")


def numbers(run: _core.Run) -> dict[str, float]:
    """The summary by scope, name and metric."""
    return {"/".join(row[:3]): row[3] for row in run.summary()}

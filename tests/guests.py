"""Guests for tests: skipped where there is no guest kernel, unless CI says there must be one."""

from __future__ import annotations

import os

import pytest

from conftest import NO_KERNEL
from sojourn import _core
from sojourn.engines import linux
from sojourn.engines.linux import kernel

KERNEL = kernel.find()
needs_kernel = pytest.mark.skipif(
    KERNEL is None and not os.environ.get("CI"), reason=f"{NO_KERNEL}: sojourn kernel build"
)


def in_guest(given: _core.Scenario) -> _core.Run:
    """The scenario's run on the real kernel."""
    return linux.run(given, _core.Cancel())


def numbers(run: _core.Run) -> dict[str, float]:
    """The summary by scope, name and metric."""
    return {"/".join(row[:3]): row[3] for row in run.summary()}

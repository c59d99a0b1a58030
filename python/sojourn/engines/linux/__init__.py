"""The engine ``linux``: the real kernel's TCP, with its queueing disciplines or ours at the bottleneck."""

from __future__ import annotations

import json
import platform
import shutil
import time
from pathlib import Path

from sojourn import _core
from sojourn.engines.linux import guest, kernel
from sojourn.errors import InputError

_TOOLS = ("ip", "tc")


def run(scenario: _core.Scenario, cancel: _core.Cancel, own_kernel: Path | None = None) -> _core.Run:
    """Run a scenario in a guest.

    Args:
        scenario: the scenario.
        cancel: the switch that stops it, and its progress meter.
        own_kernel: a User-Mode Linux kernel of the user's instead of the one in the cache.

    Raises:
        ScenarioError: the kernel, or this engine, cannot do what the scenario asks for.
        InputError: there is no guest kernel yet, or a package is missing.
        Cancelled: `cancel` was used.
        RunFailed: the guest did not come to its end.
    """
    plan = _core.linux_plan(scenario)
    chosen = _kernel(json.loads(plan)["hz"], own_kernel)
    began = time.monotonic()
    with guest.scratch() as folder:
        guest.run(chosen, folder, plan, scenario.seed, cancel)
        took_s = time.monotonic() - began
        facts = {
            "kernel": chosen.version,
            "machine": platform.machine(),
            "where": "guest, virtual time",
        }
        return _core.linux_collect(
            scenario, plan, str(folder.shared), json.dumps(facts), True, took_s
        )


def lacks() -> str:
    """What this machine lacks for a guest, with the command that helps; empty if nothing."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "a guest kernel needs Linux on x86-64"
    tools = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if tools:
        return f"{', '.join(tools)}: not installed; apt-get install iproute2"
    if kernel.find() is None:
        return "no guest kernel yet; sojourn kernel build"
    return ""


def _kernel(hz: int, own_kernel: Path | None) -> kernel.Kernel:
    if own_kernel is not None:
        return kernel.own(own_kernel)
    found = kernel.find(hz)
    if found is None:
        option = "" if hz == kernel.DEFAULT_HZ else f" --hz {hz}"
        raise InputError(
            f"engine linux: there is no guest kernel of {hz} Hz yet; `sojourn kernel build{option}` "
            "makes it in about 5 minutes"
        )
    return found

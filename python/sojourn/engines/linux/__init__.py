"""The engine ``linux``: the real kernel's TCP, with its or our discipline at the bottleneck."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.engines.linux import guest, kernel
from sojourn.errors import InputError

_TOOLS = ("ip", "tc")
# Where the guest looks for programs.
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def run(
    scenario: _core.Scenario, cancel: _core.Cancel, own_kernel: Path | None = None
) -> _core.Run:
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


def describe(own_kernel: Path | None = None) -> str:
    """The kernel that a scenario without wishes of its own runs on, in words."""
    return f"kernel {_kernel(kernel.DEFAULT_HZ, own_kernel).version}, guest in virtual time"


def digest(own_kernel: Path | None = None) -> str:
    """The digest of that kernel's program."""
    program = _kernel(kernel.DEFAULT_HZ, own_kernel).path
    return hashlib.sha256(program.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Way:
    """A place where the real kernel could run.

    Attributes:
        name: which.
        works: whether it does on this machine.
        note: what it is, or why not.
        remedy: the one command that helps; empty if none is needed.
    """

    name: str
    works: bool
    note: str
    remedy: str = ""


def ways() -> list[Way]:
    """Where the real kernel can run on this machine, the best place first."""
    return [_guest()]


def _guest() -> Way:
    name = "guest in virtual time"
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return Way(name, False, "a guest kernel needs Linux on x86-64")
    tools = [tool for tool in _TOOLS if shutil.which(tool, path=_PATH) is None]
    if tools:
        return Way(name, False, f"{', '.join(tools)}: not installed", "apt-get install iproute2")
    found = kernel.find()
    if found is None:
        lacks = kernel.missing()
        remedy = kernel.INSTALL + " && sojourn kernel build" if lacks else "sojourn kernel build"
        return Way(name, False, "no guest kernel yet", remedy)
    return Way(name, True, f"real kernel {found.version}, {found.hz} Hz, no root needed")


def _kernel(hz: int, own_kernel: Path | None) -> kernel.Kernel:
    if own_kernel is not None:
        return kernel.own(own_kernel)
    found = kernel.find(hz)
    if found is None:
        option = "" if hz == kernel.DEFAULT_HZ else f" --hz {hz}"
        raise InputError(
            f"engine linux: there is no guest kernel of {hz} Hz yet; "
            f"`sojourn kernel build{option}` makes it in about 5 minutes"
        )
    return found

"""The engine ``linux``: the real kernel's TCP, with its or our discipline at the bottleneck."""

from __future__ import annotations

import fcntl
import hashlib
import json
import platform
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sojourn import _core
from sojourn.engines.linux import guest, host, kernel, uml
from sojourn.engines.linux.way import Way
from sojourn.errors import Cancelled, InputError

__all__ = ["Way", "run", "ways"]

_TOOLS = ("ip", "tc")
# Where the guest looks for programs.
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_LOOK_EVERY_S = 0.2


class Place(Protocol):
    """Where a plan is carried out.

    Attributes:
        where: it in words.
        virtual_time: whether its clock stands still while programs work.
        version: of the kernel.
    """

    where: str
    virtual_time: bool
    version: str

    def plan(self, scenario: _core.Scenario) -> str: ...
    def carry_out(
        self, folder: guest.Folder, plan: str, seed: int, watcher: guest.Watcher
    ) -> None: ...


def run(
    scenario: _core.Scenario, cancel: _core.Cancel, own_kernel: Path | None = None
) -> _core.Run:
    """Run a scenario where it asks for, or where this machine can.

    Args:
        scenario: the scenario.
        cancel: the switch that stops it, and its progress meter.
        own_kernel: a User-Mode Linux kernel of the user's instead of the one in the cache.

    Raises:
        ScenarioError: the kernel, or this engine, cannot do what the scenario asks for.
        InputError: there is no kernel to run it on, or a package is missing.
        Cancelled: `cancel` was used.
        RunFailed: the run did not come to its end.
    """
    place = _place(scenario, own_kernel)
    plan = place.plan(scenario)
    with guest.scratch() as folder, _alone(place, cancel):
        began = time.monotonic()
        place.carry_out(folder, plan, scenario.seed, cancel)
        took_s = time.monotonic() - began
        facts = {"kernel": place.version, "machine": platform.machine(), "where": place.where}
        return _core.linux_collect(
            scenario, plan, str(folder.shared), json.dumps(facts), place.virtual_time, took_s
        )


def describe(own_kernel: Path | None = None) -> str:
    """The kernel that a scenario without wishes of its own runs on, in words."""
    return f"kernel {_found(kernel.DEFAULT_HZ, own_kernel).version}, guest in virtual time"


def digest(own_kernel: Path | None = None) -> str:
    """The digest of that kernel's program."""
    program = _found(kernel.DEFAULT_HZ, own_kernel).path
    return hashlib.sha256(program.read_bytes()).hexdigest()


def ways() -> list[Way]:
    """Where the real kernel can run on this machine, the best place first."""
    return [_guest(), host.way(), uml.way()]


class _Guest:
    """The guest kernel of ours, in virtual time."""

    where = "guest, virtual time"
    virtual_time = True

    def __init__(self, chosen: kernel.Kernel) -> None:
        self.version = chosen.version
        self._kernel = chosen

    def plan(self, scenario: _core.Scenario) -> str:
        return _core.linux_plan(scenario)

    def carry_out(self, folder: guest.Folder, plan: str, seed: int, watcher: guest.Watcher) -> None:
        guest.run(self._kernel, folder, plan, seed, watcher)


def _place(scenario: _core.Scenario, own_kernel: Path | None) -> Place:
    wish, is_ours, hz = _core.linux_wish(scenario)
    own = kernel.own(own_kernel) if own_kernel is not None else None
    if wish == host.NAME:
        if own is not None:
            raise InputError("--kernel: engine.linux.where is host, which has a kernel already")
        return host.Host()
    if wish == uml.NAME:
        return uml.Uml(own.path if own else None)
    if wish == "auto" and own is None and kernel.find(hz) is None:
        if is_ours and host.missing() is None:
            return host.Host()
        if uml.way().works:
            return uml.Uml()
    return _Guest(own or _found(hz))


def _found(hz: int, own_kernel: Path | None = None) -> kernel.Kernel:
    found = kernel.find(hz) if own_kernel is None else kernel.own(own_kernel)
    if found is not None:
        return found
    option = "" if hz == kernel.DEFAULT_HZ else f" --hz {hz}"
    raise InputError(
        f"engine linux: there is no guest kernel of {hz} Hz yet; "
        f"`sojourn kernel build{option}` makes it in about 5 minutes"
    )


@contextmanager
def _alone(place: Place, cancel: _core.Cancel) -> Iterator[None]:
    """In real time runs of this user wait for each other: side by side they would disturb."""
    if place.virtual_time:
        yield
        return
    folder = kernel.cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "real-time.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if cancel.cancelled:
                    raise Cancelled("the run was cancelled") from None
                time.sleep(_LOOK_EVERY_S)
        yield


def _guest() -> Way:
    name = "guest, virtual time"
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

"""The kernel as an engine: in a guest in virtual time, on this host, or in Debian's guest."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sojourn import _core, platforms
from sojourn.control import CustomControl
from sojourn.engines.child import Folder, Watcher, scratch
from sojourn.engines.linux import DECLARED, guest, host, kernel, uml
from sojourn.engines.linux.kernel import module
from sojourn.engines.protocol import Availability, Engine, OptionValues
from sojourn.errors import Cancelled, InputError, RunFailed, Unavailable

if TYPE_CHECKING:
    from sojourn.programs.wish import Programs

_TOOLS = ("ip", "tc")
# Where the guest looks for programs.
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_LOOK_EVERY_S = 0.2
_CAPTURED = (
    "Sojourn, engine linux: real packets of the kernel, cut after 80 bytes; all propagation delay "
    "to the receivers is in front of the queue"
)


class Place(Protocol):
    """Where a plan is carried out.

    Attributes:
        where: its name in manifests.
        virtual_time: whether its clock stops while programs compute.
        version: version of the kernel.
        identity: a digest of everything its results depend on; None in real time.
        confined: whether it is denied files that it does not need.
    """

    where: str
    virtual_time: bool
    version: str
    confined: bool

    @property
    def identity(self) -> str | None: ...  # noqa: D102

    def plan(self, scenario: _core.Scenario) -> str:
        """The plan of the run, as JSON.

        Raises:
            ScenarioError: this engine cannot do what the scenario asks for.
        """

    def carry_out(self, folder: Folder, plan: str, seed: int, watcher: Watcher) -> None:
        """Carry out a plan; its results are in the folder afterwards."""


class Linux:
    """The kernel in the place that a scenario asks for, or where this machine can run it."""

    name = DECLARED.name
    about = DECLARED.about
    options = DECLARED.options
    is_testbed = True

    @contextmanager
    def prepare(
        self,
        scenario: _core.Scenario,
        options: OptionValues,
        controls: Sequence[CustomControl] = (),
    ) -> Iterator[_LinuxJob]:
        """Choose the place, make the plan and a scratch folder.

        Raises:
            ScenarioError: the kernel, or this engine, cannot do what the scenario asks for.
            InputError: no kernel is available, or a package is missing.
        """
        with self._prepared(scenario, options, controls) as job:
            yield job

    def capture(
        self,
        scenario: _core.Scenario,
        options: OptionValues,
        folder: str,
        file_format: str,
        cancel: _core.Cancel,
    ) -> tuple[list[str], str]:
        """Run a scenario and write the packets of its hosts; see `CapturingEngine`."""
        with self._prepared(scenario, options, captures=True) as job:
            job.run(cancel)
            digest = job.collect().digest
            return job.write_captures(folder, file_format), digest

    @contextmanager
    def _prepared(
        self,
        scenario: _core.Scenario,
        options: OptionValues,
        controls: Sequence[CustomControl] = (),
        *,
        captures: bool = False,
    ) -> Iterator[_LinuxJob]:
        platforms.require_linux("engine linux")
        if controls:
            raise InputError("cc: engine linux runs the kernel's own congestion controls")
        if scenario.app_sources:
            raise InputError("app: engine linux runs its own traffic programs; use engine sim")
        place = _place(scenario, options.get("kernel"), options.get("programs"))
        plan = place.plan(scenario)
        if captures:
            plan = _core.linux_plan_capturing(scenario, plan)
        with ExitStack() as stack:
            folder = stack.enter_context(scratch())
            yield _LinuxJob(scenario, place, plan, folder, stack)

    def describe(self, options: OptionValues) -> str:
        """The default kernel by its version."""
        version = _found(kernel.DEFAULT_HZ, options.get("kernel")).version
        return f"{self.name}, kernel {version}, guest in virtual time"

    def digest(self, options: OptionValues) -> str:
        """The digest of that kernel's program."""
        program = _found(kernel.DEFAULT_HZ, options.get("kernel")).path
        return hashlib.sha256(program.read_bytes()).hexdigest()

    def identity(self, scenario: _core.Scenario, options: OptionValues) -> str | None:
        """The digest of the kernel's program; None in real time."""
        if options.get("programs") is not None:
            # They are files of this machine without a digest of their content.
            return None
        place = _place(scenario, options.get("kernel"))
        return place.identity

    def doctor(self) -> list[Availability]:
        """The places where the kernel can run on this machine, the best first."""
        places = (_guest(), host.availability(), uml.availability())
        return [replace(place, name=f"{self.name}, {place.name}") for place in places]


def version_of(scenario: _core.Scenario, own_kernel: Path | None) -> str:
    """The version of the kernel whose disciplines a scenario runs.

    Empty if it runs our disciplines, or if no kernel is available, which the run reports.
    """
    if _core.linux_wish(scenario)[1] != "kernel":
        return ""
    try:
        return _place(scenario, own_kernel).version
    except InputError:
        return ""


class _LinuxJob:
    def __init__(
        self, scenario: _core.Scenario, place: Place, plan: str, folder: Folder,
        resources: ExitStack,
    ) -> None:  # fmt: skip
        self._scenario, self._place, self._plan, self._folder = scenario, place, plan, folder
        self._resources = resources
        self._took_s = 0.0

    def run(self, cancel: _core.Cancel) -> None:
        self._resources.enter_context(_exclusive(self._place, cancel))
        began = time.monotonic()
        self._place.carry_out(self._folder, self._plan, self._scenario.seed, cancel)
        self._took_s = time.monotonic() - began

    def collect(self) -> _core.Run:
        place = self._place
        facts = {
            "kernel": place.version, "machine": platform.machine(), "where": place.where,
            "confined": place.confined,
        }  # fmt: skip
        try:
            return _core.linux_collect(
                self._scenario, self._plan, str(self._folder.shared), json.dumps(facts),
                place.virtual_time, self._took_s,
            )  # fmt: skip
        except ValueError as error:
            raise RunFailed(str(error)) from error

    def write_captures(self, folder: str, file_format: str) -> list[str]:
        shared = str(self._folder.shared)
        try:
            return _core.write_captures(
                self._scenario, self._plan, shared, folder, file_format, _CAPTURED
            )
        except ValueError as error:
            raise RunFailed(str(error)) from error


class _Guest:
    """Our guest kernel, in virtual time."""

    where = "guest, virtual time"
    virtual_time = True

    def __init__(
        self, found: kernel.Kernel, ours: Path | None, programs: Programs | None = None
    ) -> None:
        self.version = found.version
        self.confined = guest.can_confine()
        self._kernel, self._module, self._programs = found, ours, programs

    @property
    def identity(self) -> str:
        parts = [self._kernel.path, *([self._module] if self._module else [])]
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in parts]
        return f"linux {' '.join(digests)}"

    def plan(self, scenario: _core.Scenario) -> str:
        wish = self._programs.to_json(scenario) if self._programs else None
        plan = _core.linux_plan(scenario, version=self.version, programs=wish)
        return guest.with_warning_of_addresses(plan)

    def carry_out(self, folder: Folder, plan: str, seed: int, watcher: Watcher) -> None:
        if self._module is not None:
            shutil.copy(self._module, folder.shared / module.NAME)
        guest.run(self._kernel, folder, plan, seed, watcher, programs=self._programs)


def _place(
    scenario: _core.Scenario, own_kernel: Path | None, programs: Programs | None = None
) -> Place:
    platforms.require_linux("engine linux")
    where, bottleneck, hz = _core.linux_wish(scenario)
    if programs is not None:
        return _with_programs(where, own_kernel, hz, programs)
    if where == host.NAME and own_kernel is not None:
        raise InputError("--kernel: engine.linux.where is host, which has a kernel already")
    own = kernel.given(own_kernel, hz) if own_kernel is not None else None
    if bottleneck == module.BOTTLENECK:
        return _with_module(where, own or _found(hz))
    if where == host.NAME:
        return host.Host()
    if where == uml.NAME:
        return uml.Uml(own.path if own else None)
    if where == "auto" and own is None and kernel.find(hz) is None:
        if bottleneck == "sojourn" and host.missing() is None:
            return host.Host()
        if uml.availability().works:
            return uml.Uml()
    return _Guest(own or _found(hz), None)


def _with_programs(where: str, own_kernel: Path | None, hz: int, programs: Programs) -> Place:
    if where not in ("auto", "guest"):
        raise InputError(
            f"engine.linux.where: {where}: programs run in a guest in virtual time; set where = "
            '"guest", or put programs of this machine behind `sojourn router`'
        )
    return _Guest(_found(hz, own_kernel), None, programs)


def _with_module(where: str, found: kernel.Kernel) -> Place:
    if where not in ("auto", "guest"):
        raise InputError(
            f'engine.linux.where: {where}: bottleneck = "{module.BOTTLENECK}" loads a module, '
            'which is done in a guest; set where = "guest", or bottleneck = "sojourn"'
        )
    return _Guest(found, module.require(found.path.parent))


def _found(hz: int, own_kernel: Path | None = None) -> kernel.Kernel:
    platforms.require_linux("engine linux")
    found = kernel.find(hz) if own_kernel is None else kernel.given(own_kernel, hz)
    if found is not None:
        return found
    option = "" if hz == kernel.DEFAULT_HZ else f" --hz {hz}"
    raise Unavailable(
        f"engine linux: no guest kernel of {hz} Hz is built yet; "
        f"`sojourn kernel build{option}` makes it in about 5 minutes"
    )


@contextmanager
def _exclusive(place: Place, cancel: _core.Cancel) -> Iterator[None]:
    """Serialise this user's runs in real time, because concurrent runs would disturb each other."""
    if place.virtual_time:
        yield
        return
    folder = kernel.cache()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "real-time.lock").open("w") as lock:
        while not platforms.try_lock(lock.fileno()):
            if cancel.cancelled:
                raise Cancelled("the run was cancelled")
            time.sleep(_LOOK_EVERY_S)
        yield


def _guest() -> Availability:
    name = "guest, virtual time"
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return Availability(name, False, "a guest kernel needs Linux on x86-64")
    tools = [tool for tool in _TOOLS if shutil.which(tool, path=_PATH) is None]
    if tools:
        return Availability(
            name, False, f"{', '.join(tools)}: not installed", "apt-get install iproute2"
        )
    found = kernel.find()
    if found is None:
        lacks = kernel.missing()
        remedy = kernel.INSTALL + " && sojourn kernel build" if lacks else "sojourn kernel build"
        return Availability(name, False, "no guest kernel yet", remedy)
    note = f"real kernel {found.version}, {found.hz} Hz, no root needed"
    others = [other for other in kernel.built() if other != found]
    note += "".join(f"; {other.version} with --kernel {other.release}" for other in others)
    return Availability(name, True, note)


ENGINE: Engine = Linux()

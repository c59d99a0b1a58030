"""Debian's package user-mode-linux: a guest kernel with modules, in real time."""

from __future__ import annotations

import json
import platform
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

from sojourn import _core
from sojourn.engines.child import Folder, Watcher, carry_out
from sojourn.engines.linux import guest
from sojourn.engines.protocol import Availability
from sojourn.errors import InputError

NAME = "uml"
INSTALL = "apt-get install user-mode-linux kmod"
_DEBIAN = Path("/usr/bin/linux.uml")
_MODULES = Path("/usr/lib/uml/modules")
# arch/um/Kconfig: config HZ, default 100, which Debian keeps.
_DEBIAN_HZ = 100
# Only touched pages count; they must fit into free memory, or the guest is killed.
_MEMORY_MIB = 512
_MEMORY = f"{_MEMORY_MIB}M"
_ALWAYS = ("tun", "veth")
# Modules that mirror packets of senders to a capture point before they are delayed.
_MIRROR = ("dummy", "sch_ingress", "cls_matchall", "act_mirred")
_PATIENCE_S = 20.0
_OPTIONS = ["console=stderr0"]


def availability() -> Availability:
    """Whether it works here, for `sojourn doctor`; tested by starting the kernel once."""
    name = f"{NAME}, real time"
    what, remedy = _missing()
    if what:
        return Availability(name, False, what, remedy)
    return Availability(
        name, True, f"real kernel {_version(_DEBIAN)}, {_DEBIAN_HZ} Hz, no root needed"
    )


@cache
def _missing() -> tuple[str, str]:
    """Why Debian's kernel does not run here, with the remedy; empty if it does."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "a guest kernel needs Linux on x86-64", ""
    if not _DEBIAN.exists() or not _MODULES.is_dir() or shutil.which("insmod") is None:
        return "Debian's user-mode-linux: not installed", INSTALL
    free_mib = _free_mib()
    if free_mib < _MEMORY_MIB:
        note = f"{free_mib} MiB of memory are free, a guest may need {_MEMORY_MIB} MiB"
        return note, "end other programs, or run them later"
    failure = guest.trial(guest.command(_DEBIAN, _OPTIONS, _MEMORY), _PATIENCE_S)
    if failure:
        return f"{_DEBIAN} does not start on this machine: {failure}", "sojourn kernel build"
    return "", ""


class Uml:
    """A guest kernel in real time: that of Debian's package, or the user's."""

    where = "uml, real time"
    virtual_time = False
    identity = None

    def __init__(self, own: Path | None = None) -> None:
        what, remedy = ("", "") if own else _missing()
        if what:
            raise InputError(f"engine.linux.where: uml: {what}; {remedy}")
        self._kernel = own or _DEBIAN
        self._is_debian = own is None
        self.version = _version(self._kernel)
        self.confined = guest.can_confine()

    def plan(self, scenario: _core.Scenario) -> str:
        """The plan.

        Raises:
            ScenarioError: this engine cannot do what the scenario asks for.
        """
        hz = _DEBIAN_HZ if self._is_debian else None
        return _core.linux_plan(scenario, hz, version=self.version)

    def carry_out(self, folder: Folder, plan: str, _seed: int, watcher: Watcher) -> None:
        """Carry out a plan; its results are in the folder afterwards."""
        modules = _in_order(_wanted(json.loads(plan)), self.version) if self._is_debian else []
        guest.write_script(folder, NAME, [f"insmod {shlex.quote(str(path))}" for path in modules])
        command = guest.command(self._kernel, _OPTIONS, _MEMORY)
        seen = guest.sight(self._kernel, folder, plan)
        carry_out(command, folder, plan, watcher, "guest", seen, guest.REMEDIES)


def _wanted(plan: dict[str, object]) -> list[str]:
    """The modules that a plan may need; those built into the kernel are skipped later."""
    rows, flows = plan["expected"], plan["flows"]
    assert isinstance(rows, list), "a list of disciplines"
    assert isinstance(flows, list), "a list of flows"
    kinds = {row["kind"] for row in rows} | {"cbs"}
    controls = {flow["cc"] for flow in flows if flow["cc"]}
    mirror = _MIRROR if "clsact" in kinds else ()
    return [*_ALWAYS, *mirror, *(f"sch_{kind}" for kind in sorted(kinds)),
            *(f"tcp_{cc}" for cc in sorted(controls))]  # fmt: skip


def _in_order(names: list[str], version: str) -> list[Path]:
    """The files of modules, each after its dependencies."""
    folder = _MODULES / version
    needs: dict[str, list[str]] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        file, _, others = line.partition(":")
        needs[Path(file).name.removesuffix(".ko")] = [file, *others.split()]
    ordered: dict[str, None] = {}
    for name in names:
        # modules.dep lists all dependencies, the deepest last.
        ordered |= dict.fromkeys(reversed(needs.get(name, [])))
    return [folder / file for file in ordered]


def _version(program: Path) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True,
                          timeout=_PATIENCE_S, check=False)  # fmt: skip
    return done.stdout.strip()


def _free_mib() -> int:
    text = Path("/proc/meminfo").read_text()
    found = next(line for line in text.splitlines() if line.startswith("MemAvailable:"))
    return int(found.split()[1]) // 1024

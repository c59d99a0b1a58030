"""Debian's package user-mode-linux: a guest kernel with modules, in real time."""

from __future__ import annotations

import json
import platform
import shlex
import subprocess
from pathlib import Path

from sojourn import _core
from sojourn.engines.linux import guest
from sojourn.engines.linux.way import Way
from sojourn.errors import InputError

NAME = "uml"
INSTALL = "apt-get install user-mode-linux kmod"
_KERNEL = Path("/usr/bin/linux.uml")
_MODULES = Path("/usr/lib/uml/modules")
# arch/um/Kconfig: config HZ, default 100; Debian leaves it.
_HZ = 100
# Only touched pages count; what is free must hold them, or the guest is killed while it runs.
MEMORY_MIB = 512
_ALWAYS = ("tun", "veth")
_PATIENCE_S = 10.0


def way() -> Way:
    """Whether it works here, for `sojourn doctor`."""
    name = f"{NAME}, real time"
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return Way(name, False, "a guest kernel needs Linux on x86-64")
    if not _KERNEL.exists() or not _MODULES.is_dir():
        return Way(name, False, "Debian's user-mode-linux: not installed", INSTALL)
    free_mib = _free_mib()
    if free_mib < MEMORY_MIB:
        note = f"{free_mib} MiB of memory are free, a guest may need {MEMORY_MIB} MiB"
        return Way(name, False, note, "free memory")
    return Way(name, True, f"real kernel {_version()}, {_HZ} Hz, no root needed")


class Uml:
    """The guest kernel of Debian's package."""

    where = "uml, real time"
    virtual_time = False

    def __init__(self) -> None:
        found = way()
        if not found.works:
            raise InputError(f"engine.linux.where: uml: {found.note}; {found.remedy}")
        self.version = _version()

    def plan(self, scenario: _core.Scenario) -> str:
        """What is done.

        Raises:
            ScenarioError: this engine cannot do what the scenario asks for.
        """
        return _core.linux_plan(scenario, _HZ)

    def carry_out(
        self, folder: guest.Folder, plan: str, _seed: int, watcher: guest.Watcher
    ) -> None:
        """Carry out a plan; its results are in the folder afterwards."""
        modules = _in_order(_wanted(json.loads(plan)))
        insert = [f"insmod {shlex.quote(str(path))}" for path in modules]
        guest.write_script(folder, insert)
        guest.carry_out(guest.command(_KERNEL, []), folder, plan, watcher, "guest")


def _wanted(plan: dict[str, object]) -> list[str]:
    """The modules that a plan may need; what is built in is in no list of modules."""
    rows, flows = plan["expected"], plan["flows"]
    assert isinstance(rows, list), "a list of disciplines"
    assert isinstance(flows, list), "a list of flows"
    kinds = {row["kind"] for row in rows} | {"cbs"}
    controls = {flow["cc"] for flow in flows if flow["cc"]}
    return [*_ALWAYS, *(f"sch_{kind}" for kind in sorted(kinds)),
            *(f"tcp_{cc}" for cc in sorted(controls))]  # fmt: skip


def _in_order(names: list[str]) -> list[Path]:
    """The files of modules, each behind those that it needs."""
    folder = _MODULES / _version()
    needs: dict[str, list[str]] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        file, _, others = line.partition(":")
        needs[Path(file).name.removesuffix(".ko")] = [file, *others.split()]
    ordered: dict[str, None] = {}
    for name in names:
        # modules.dep names all dependencies, the deepest last.
        ordered |= dict.fromkeys(reversed(needs.get(name, [])))
    return [folder / file for file in ordered]


def _version() -> str:
    done = subprocess.run([_KERNEL, "--version"], capture_output=True, text=True,
                          timeout=_PATIENCE_S, check=False)  # fmt: skip
    return done.stdout.strip()


def _free_mib() -> int:
    text = Path("/proc/meminfo").read_text()
    found = next(line for line in text.splitlines() if line.startswith("MemAvailable:"))
    return int(found.split()[1]) // 1024

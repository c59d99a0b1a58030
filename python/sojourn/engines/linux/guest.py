"""A guest: a User-Mode Linux kernel that carries out one plan, in virtual time if possible.

The guest's root is this machine's file system, read-only and limited to the files that it needs
(:func:`sight`); its `/run` is a private scratch folder. It has no network and needs no capability
and no device. All its processes are in one group that ends with this process.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn import _core
from sojourn.engines import cpus
from sojourn.engines.child import (
    USUAL,
    Folder,
    Patience,
    Watcher,
    carry_out,
    end_of_console,
    group,
    scratch,
)
from sojourn.engines.linux.kernel import Kernel
from sojourn.engines.supervise import can_fix_addresses, landlock_version

if TYPE_CHECKING:
    from sojourn.programs.wish import Programs

_HERE = Path(__file__).parent
_PACKAGE = Path(_core.__file__).parent
BOOT = _HERE / "boot.py"
NAME = "guest"
INIT = "init"
# Only pages that the guest touches take memory of the host.
_MEMORY = "2G"
# TCP may use all memory (in pages): the kernel's default share stalls flows on long, fast paths
# (docs/facts/linux.md, linux-18).
_TCP_MEMORY = f"echo '{' '.join(['524288'] * 3)}' > /proc/sys/net/ipv4/tcp_mem"
# Our program runs under SCHED_FIFO (docs/facts/linux.md, linux-35); the kernel would throttle it
# after 0.95 s of work in a second.
_NO_THROTTLE = "echo -1 > /proc/sys/kernel/sched_rt_runtime_us"
# Start of the guest's clock in nanoseconds, independent of the host's date: a multiple of
# BEGIN_STEP_NS in crates/router/src/host/mod.rs, so every run begins in the same second.
_EPOCH_NS = 1_600_000_000_000_000_000
# Otherwise interfaces would send IPv6 packets when they come up (Linux addrconf.c, disable_ipv6).
# IPv6 sockets still work, with IPv4 addresses.
_NO_IPV6 = "ipv6.disable_ipv6=1"
# Messages of a kernel that ends early, with remedies.
REMEDIES = {
    "Out of memory": f"the scenario needs more than its {_MEMORY}: take fewer flows, a lower rate "
    "or a shorter duration",
    "ptrace set fp regs failed": "it was built for processors with fewer registers: `sojourn "
    "kernel build` makes one that copes",
    "Kernel panic": "take the kernel that `sojourn kernel build` makes, or with --kernel look at "
    "yours",
}
# User programs may compute without virtual time passing, but not for ever.
OF_PROGRAMS = Patience(
    cpu_s=60.0,
    served_cpu_s=150.0,
    remedy="one of the programs computes, or starts others, without end: time passes only while "
    "all of them wait, so let a loop that waits for something sleep",
)
# Programs, libraries and the system settings that they read.
_SYSTEM = (
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/bin", "/sbin",
    "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.preload",
    "/etc/iproute2", "/usr/share/iproute2", "/proc/cpuinfo", "/proc/self",
)  # fmt: skip
# The kernel's command line feeds its random pool, so it contains no path that changes.
_INIT = "mount -t hostfs -o /proc/self/cwd hostfs /run && . /run/init"


def run(
    kernel: Kernel, folder: Folder, plan: str, seed: int, watcher: Watcher, *, seccomp: bool = True,
    programs: Programs | None = None,
) -> None:  # fmt: skip
    """Carry out a plan in virtual time; its results are in the folder afterwards.

    Args:
        kernel: a guest kernel.
        folder: its scratch folder.
        plan: the plan, as JSON.
        seed: seed of the kernel's random numbers.
        watcher: receives its progress.
        seccomp: whether a capable kernel switches to programs without ptrace.
        programs: the user's programs, which may open more files.

    Raises:
        Cancelled: the watcher stopped it.
        RunFailed: the guest failed; the message says why.
    """
    write_script(folder, NAME, [_TCP_MEMORY, _NO_THROTTLE])
    command = command_of(kernel, seed, seccomp=seccomp)
    seen = sight(kernel.path, folder, plan, programs.seen() if programs else ())
    patience = OF_PROGRAMS if programs else USUAL
    with cpus.reserved() as cpu:
        carry_out(command, folder, plan, watcher, "guest", seen, REMEDIES, patience, cpu)


def can_confine() -> bool:
    """Whether this machine's kernel can deny a guest all files except those it needs."""
    return landlock_version() > 0


def with_warning_of_addresses(plan: str) -> str:
    """A plan, with a warning if runs may differ because addresses are randomised."""
    if can_fix_addresses():
        return plan
    rows = json.loads(plan)
    rows["warnings"].append(
        "this machine does not let a guest's addresses be fixed (personality(2)), so that two runs "
        "may differ; a container needs a seccomp profile that allows ADDR_NO_RANDOMIZE"
    )
    return json.dumps(rows)


def sight(kernel: Path, folder: Folder, plan: str, more: Sequence[str] = ()) -> str:
    """The files of this machine that a guest may open, for the supervisor.

    These are the kernel, system programs and libraries, the interpreter, this package, the files of
    laws in the plan with their possible imports, and `more`. It may write to its scratch folder
    only.
    """
    laws: list[str] = []
    with suppress(json.JSONDecodeError):  # the guest itself reports errors in a plan
        laws = [law["file"] for law in json.loads(plan).get("laws", [])]
    read = [
        *_SYSTEM, str(kernel), *(f"{prefix}/lib" for prefix in {sys.prefix, sys.base_prefix}),
        f"{sys.prefix}/pyvenv.cfg", os.path.realpath(sys.executable), str(_PACKAGE),
        *((*laws, *filter(os.path.isabs, sys.path)) if laws else ()),
        *more,
    ]  # fmt: skip
    return json.dumps({"read": read, "write": [str(folder.shared), os.devnull]})


def paths() -> str:
    """The module search path of this process, for a child process that may load a law."""
    return ":".join(os.path.realpath(path) for path in sys.path if path)


def write_script(folder: Folder, place: str, before: Sequence[str] = ()) -> None:
    """Write the script of the guest's first shell, which runs `before` and becomes our program."""
    program = [
        os.path.realpath(sys.executable), "-P", "-s", "-S", str(BOOT), str(_core.__file__), "/run",
        paths(), place,
    ]  # fmt: skip
    lines = [
        # Otherwise a Python law would see the elements of a set in a different order in each guest.
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONHASHSEED=0",
        "mount -t proc proc /proc && mount -t sysfs sysfs /sys",
        *before,
        f"exec {' '.join(map(shlex.quote, program))}",
    ]
    (folder.shared / INIT).write_text("\n".join(lines) + "\n")


def command_of(
    kernel: Kernel, seed: int, *, seccomp: bool = True, memory: str = _MEMORY
) -> list[str]:
    """The command that starts a guest kernel in virtual time."""
    faster = _seccomp(kernel.path) if seccomp else []
    return command(kernel.path, [
        "time-travel=inf-cpu", f"time-travel-start={_EPOCH_NS}",
        f"rngseed={seed}", "console=stderr0", _NO_IPV6, *faster,
    ], memory)  # fmt: skip


def _seccomp(kernel: Path) -> list[str]:
    """The option that makes a capable kernel switch to programs without ptrace, which is faster.

    Linux 6.16 and later can (arch/um/os-Linux/start_up.c, uml_seccomp_config). An older one would
    feed the option into its random pool.
    """
    return ["seccomp=on"] if b"seccomp=<on" in kernel.read_bytes() else []


def command(kernel: Path, options: list[str], memory: str = _MEMORY) -> list[str]:
    """The command that starts a guest kernel."""
    return [
        str(kernel), f"mem={memory}", "rootfstype=hostfs", "rootflags=/", "ro",
        "uml_dir=/proc/self/cwd/", "umid=guest", "con=none", *options, "quiet",
        "init=/bin/sh", "--", "-c", f'"{_INIT}"',
    ]  # fmt: skip


def trial(command: list[str], seconds: float) -> str:
    """Start a guest that should end at once; return the error, or an empty text."""
    with scratch() as folder:
        (folder.shared / INIT).write_text("echo yes > /run/started\n")
        with folder.console.open("wb") as console, group(command, folder, console, "") as running:
            with suppress(subprocess.TimeoutExpired):
                running.wait(seconds)
            started = (folder.shared / "started").exists()
        return "" if started else end_of_console(folder, REMEDIES)

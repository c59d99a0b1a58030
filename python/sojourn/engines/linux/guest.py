"""A guest: a User-Mode Linux kernel that carries out one plan, in virtual time where it can.

The guest's root is this machine's file system, read-only, of which it may open only what it needs
(:func:`sight`); its `/run` is a private scratch folder. It has no network, and asks for no
capability and no device. All its processes are in one group that ends with this one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from sojourn import _core
from sojourn.engines.linux.kernel import Kernel
from sojourn.engines.linux.supervise import landlock_version
from sojourn.errors import Cancelled, RunFailed

PLAN, STATUS, PROGRESS = "plan.json", "status.json", "progress"
_HERE = Path(__file__).parent
_PACKAGE = Path(_core.__file__).parent
BOOT = _HERE / "boot.py"
INIT = "init"
# The log level before each line of the kernel's log.
_LEVEL = re.compile(r"^<\d>")
_LOOK_EVERY_S = 0.05
# A guest whose clock stands still this long hangs; in virtual time a step takes milliseconds.
_PATIENCE_S = 180.0
# Only touched pages count.
_MEMORY = "512M"
# The guest's clock begins here, in nanoseconds, so that no date of the host gets in.
_EPOCH_NS = 1_600_000_000_000_000_000
# Messages of a kernel that ends early, and what helps.
_REMEDIES = {
    "Out of memory": f"the scenario needs more than its {_MEMORY}: take fewer flows, a lower rate "
    "or a shorter duration",
    "ptrace set fp regs failed": "it was built for processors with fewer registers: `sojourn "
    "kernel build` makes one that copes",
    "Kernel panic": "take the kernel that `sojourn kernel build` makes, or with --kernel look at "
    "yours",
}
# Programs, libraries and what they read of the machine's settings.
_SYSTEM = (
    "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/bin", "/sbin",
    "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.preload",
    "/etc/iproute2", "/usr/share/iproute2", "/proc/cpuinfo", "/proc/self",
)  # fmt: skip
# The kernel's command line goes into its pool of random numbers, so it names no path that changes.
_INIT = "mount -t hostfs -o /proc/self/cwd hostfs /run && . /run/init"


class Watcher(Protocol):
    """Receives the progress of a guest, and may stop it."""

    @property
    def cancelled(self) -> bool: ...  # noqa: D102
    def advance(self, seconds: float) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Folder:
    """The scratch folder of a run.

    Attributes:
        shared: what the guest sees as ``/run``.
        console: the messages of its kernel.
    """

    shared: Path
    console: Path


@contextmanager
def scratch() -> Iterator[Folder]:
    """A private scratch folder, removed in any case."""
    folder = Path(tempfile.mkdtemp(prefix="sojourn-"))
    try:
        shared = folder / "shared"
        shared.mkdir(mode=0o700)
        yield Folder(shared, folder / "console")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(
    kernel: Kernel, folder: Folder, plan: str, seed: int, watcher: Watcher, *,
    restarts: bool = False,
) -> None:  # fmt: skip
    """Carry out a plan in virtual time; its results are in the folder afterwards.

    Args:
        kernel: a guest kernel.
        folder: its scratch folder.
        plan: the plan, as JSON.
        seed: of the kernel's random numbers.
        watcher: receives its progress.
        restarts: whether these numbers begin anew each second, so that two runs draw the same
            even if their set-up differs.

    Raises:
        Cancelled: the watcher stopped it.
        RunFailed: the guest did not come to its end; the message says why.
    """
    write_script(folder)
    command = _command(kernel, seed, restarts=restarts)
    carry_out(command, folder, plan, watcher, "guest", sight(kernel.path, folder, plan))


def can_confine() -> bool:
    """Whether this machine's kernel can refuse a guest all files but those it needs."""
    return landlock_version() > 0


def sight(kernel: Path, folder: Folder, plan: str) -> str:
    """What a guest may open of this machine's files, for the supervisor.

    That is the kernel, system programs and libraries, the interpreter and this package; where the
    plan has laws in files, these files and what they may import too. It writes to its scratch
    folder alone.
    """
    laws: list[str] = []
    with suppress(json.JSONDecodeError):  # the guest itself says what is wrong with a plan
        laws = [law["file"] for law in json.loads(plan).get("laws", [])]
    read = [
        *_SYSTEM, str(kernel), *(f"{prefix}/lib" for prefix in {sys.prefix, sys.base_prefix}),
        f"{sys.prefix}/pyvenv.cfg", os.path.realpath(sys.executable), str(_PACKAGE),
        *((*laws, *filter(os.path.isabs, sys.path)) if laws else ()),
    ]  # fmt: skip
    return json.dumps({"read": read, "write": [str(folder.shared), os.devnull]})


def carry_out(
    command: list[str], folder: Folder, plan: str, watcher: Watcher, what: str, seen: str = ""
) -> None:
    """Run a program that carries out a plan; `what` names it in messages.

    Args:
        command: the program.
        folder: its scratch folder.
        plan: the plan, as JSON.
        watcher: receives its progress.
        what: its name in messages.
        seen: what it may open, as :func:`sight` says it; everything if empty.

    Raises:
        Cancelled: the watcher stopped it.
        RunFailed: it did not come to its end; the message says why.
    """
    (folder.shared / PLAN).write_text(plan)
    with folder.console.open("wb") as console, _group(command, folder, console, seen) as group:
        _wait(group, folder, watcher, what)
    _judge(folder, what)


def paths() -> str:
    """Where this process finds modules, for one that may load a law."""
    return ":".join(os.path.realpath(path) for path in sys.path if path)


def write_script(folder: Folder, before: Sequence[str] = ()) -> None:
    """Write the script of the guest's first shell: `before`, then it becomes our program."""
    program = [
        os.path.realpath(sys.executable), "-I", "-S", str(BOOT), str(_core.__file__), "/run",
        paths(),
    ]  # fmt: skip
    lines = [
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin",
        "mount -t proc proc /proc && mount -t sysfs sysfs /sys",
        *before,
        f"exec {' '.join(map(shlex.quote, program))}",
    ]
    (folder.shared / INIT).write_text("\n".join(lines) + "\n")


def _command(kernel: Kernel, seed: int, *, restarts: bool = False) -> list[str]:
    return command(kernel.path, [
        "time-travel=inf-cpu", f"time-travel-start={_EPOCH_NS}",
        f"rngseed={seed}{'/s' if restarts else ''}", "console=stderr0",
    ])  # fmt: skip


def command(kernel: Path, options: list[str]) -> list[str]:
    """How a guest kernel is started."""
    return [
        str(kernel), f"mem={_MEMORY}", "rootfstype=hostfs", "rootflags=/", "ro",
        "uml_dir=/proc/self/cwd/", "umid=guest", "con=none", *options, "quiet",
        "init=/bin/sh", "--", "-c", f'"{_INIT}"',
    ]  # fmt: skip


def trial(command: list[str], seconds: float) -> str:
    """Start a guest that should end at once; returns why it did not, or nothing."""
    with scratch() as folder:
        (folder.shared / INIT).write_text("echo yes > /run/started\n")
        with folder.console.open("wb") as console, _group(command, folder, console, "") as group:
            with suppress(subprocess.TimeoutExpired):
                group.wait(seconds)
            started = (folder.shared / "started").exists()
        return "" if started else _end_of_console(folder)


@contextmanager
def _group(
    command: list[str], folder: Folder, console: BinaryIO, seen: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The guest under its supervisor, in a session of its own that does not outlive the block."""
    supervisor = [sys.executable, "-I", "-S", str(_HERE / "supervise.py"), seen, *command]
    with subprocess.Popen(
        supervisor, stdin=subprocess.PIPE, stdout=console, stderr=subprocess.STDOUT,
        cwd=folder.shared, start_new_session=True,
    ) as group:  # fmt: skip
        try:
            yield group
        finally:
            with suppress(ProcessLookupError):
                os.killpg(group.pid, signal.SIGKILL)


def _wait(group: subprocess.Popen[bytes], folder: Folder, watcher: Watcher, what: str) -> None:
    """Wait for the program's end; report its progress, and end it when it makes none."""
    reported, moved = 0, time.monotonic()
    while group.poll() is None:
        if watcher.cancelled:
            raise Cancelled("the run was cancelled")
        now_ns = _progress(folder)
        if now_ns > reported:
            watcher.advance((now_ns - reported) / 1e9)
            reported, moved = now_ns, time.monotonic()
        elif time.monotonic() - moved > _PATIENCE_S:
            raise RunFailed(
                f"the {what} made no progress for {_PATIENCE_S:.0f} s after {reported / 1e9:.3f} s "
                "of the scenario; run fewer at a time (--jobs) or a smaller scenario; "
                f"{_end_of_console(folder)}"
            )
        try:
            group.wait(_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue


def _progress(folder: Folder) -> int:
    try:
        return int((folder.shared / PROGRESS).read_text() or 0)
    except (FileNotFoundError, ValueError):
        return 0


def _judge(folder: Folder, what: str) -> None:
    try:
        status = json.loads((folder.shared / STATUS).read_text())
    except (FileNotFoundError, ValueError):
        raise RunFailed(f"the {what} ended before its plan; {_end_of_console(folder)}") from None
    if not status["ok"]:
        raise RunFailed(f"in the {what}: {status['failure']}")


def _end_of_console(folder: Folder) -> str:
    """Why a kernel ended, by its console, and what helps."""
    text = folder.console.read_text(errors="replace") if folder.console.exists() else ""
    lines = [line for raw in text.splitlines() if (line := _LEVEL.sub("", raw).strip())]
    for message, remedy in _REMEDIES.items():
        if found := [line for line in lines if message in line]:
            return f"its kernel says: {found[0]}; {remedy}"
    return f"its console says: {' | '.join(lines[-3:])}" if lines else "its console says nothing"

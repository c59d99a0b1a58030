"""A child process that carries out one plan, with its scratch folder and supervision.

All processes of a child are in one group that ends with this process (`supervise.py`). The child
writes its progress to ``progress`` and its result to ``status.json``.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from sojourn import ending, files, platforms
from sojourn.engines import supervise
from sojourn.errors import Cancelled, RunFailed

PLAN, STATUS, PROGRESS = "plan.json", "status.json", "progress"
SUPERVISOR = Path(__file__).with_name("supervise.py")
# The log level before each line of a kernel's log.
_LEVEL = re.compile(r"^<\d>")
_LOOK_EVERY_S = 0.05
# A child whose clock stops for this long counts as hanging; in virtual time a step takes
# milliseconds.
_PATIENCE_S = 180.0
_NONE: Mapping[str, str] = {}
# A guest whose programs poll advances for this long before that is said.
_NOTICE_AFTER_S = 10.0
# A program that computes without system calls leaves the kernel of its guest less than this.
_SERVED_SHARE = 0.1


@dataclass(frozen=True)
class Cpu:
    """CPU time of a child.

    Attributes:
        all_s: that of all its processes.
        first_s: that of the first one: of a guest, its kernel.
    """

    all_s: float = 0.0
    first_s: float = 0.0


@dataclass(frozen=True)
class Patience:
    """The limit on a stop of a child's clock.

    Attributes:
        cpu_s: CPU time that the child may use during such a stop.
        served_cpu_s: the same while its first process, a guest's kernel, is busy too: with system
            calls and page faults of programs that start.
        remedy: the message if it uses more.
    """

    cpu_s: float = math.inf
    served_cpu_s: float = math.inf
    remedy: str = ""

    def exceeded(self, cpu: Cpu, before: Cpu) -> float | None:
        """The limit that the child has exceeded since `before`, if any."""
        used_s = cpu.all_s - before.all_s
        is_served = cpu.first_s - before.first_s > used_s * _SERVED_SHARE
        limit_s = self.served_cpu_s if is_served else self.cpu_s
        return limit_s if used_s > limit_s else None


USUAL = Patience()


class Notice:
    """Says once, on stderr, that a program polls and how slowly time therefore passes.

    It says so after some wall time; the run's outcome does not depend on that.
    """

    def __init__(self) -> None:
        self._began: tuple[float, int] | None = None
        self._is_said = False

    def see(self, now_ns: int, polling: str) -> None:
        """Take the simulated time, and the command of a program that polls, if any."""
        if not polling:
            self._began = None
            return
        now_s = time.monotonic()
        began_s, began_ns = self._began = self._began or (now_s, now_ns)
        if self._is_said or now_s - began_s < _NOTICE_AFTER_S:
            return
        self._is_said = True
        ms = (now_ns - began_ns) / 1e6 / (now_s - began_s)
        text = (
            f"sojourn: `{polling}` in the guest reads a clock or polls in a loop: {ms:.0f} ms of "
            "simulated time pass per second; let it sleep, or end the run with Ctrl-C or --for"
        )
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


class Watcher(Protocol):
    """Receives the progress of a run, and may stop it."""

    @property
    def cancelled(self) -> bool: ...  # noqa: D102
    def advance(self, seconds: float) -> None: ...  # noqa: D102


@dataclass(frozen=True)
class Folder:
    """The scratch folder of a run.

    Attributes:
        shared: the child's working folder; a guest sees it as ``/run``.
        console: the child's output.
    """

    shared: Path
    console: Path


@contextmanager
def scratch() -> Iterator[Folder]:
    """A private scratch folder, which is always removed at the end."""
    with files.scratch() as folder:
        shared = folder / "shared"
        shared.mkdir(mode=0o700)
        yield Folder(shared, folder / "console")


def carry_out(
    command: list[str], folder: Folder, plan: str, watcher: Watcher, what: str, seen: str = "",
    remedies: Mapping[str, str] = _NONE, patience: Patience = USUAL, cpu: int | None = None,
) -> None:  # fmt: skip
    """Run a program that carries out a plan; `what` names it in messages.

    Args:
        command: the program.
        folder: its scratch folder.
        plan: the plan, as JSON.
        watcher: receives its progress.
        what: its name in messages.
        seen: the files that it may open, as `supervise.py` takes them; everything if empty.
        remedies: messages of its kernel, with remedies.
        patience: the limit on a stop of its clock.
        cpu: the CPU that all its processes share; any if None.

    Raises:
        Cancelled: the watcher stopped it.
        RunFailed: it failed; the message says why.
    """
    (folder.shared / PLAN).write_text(plan)
    console = folder.console
    with console.open("wb") as output, group(command, folder, output, seen, cpu) as running:
        _wait(running, folder, watcher, what, remedies, patience)
    _judge(folder, what, remedies, running.returncode)


@contextmanager
def group(
    command: list[str], folder: Folder, console: BinaryIO, seen: str, cpu: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """The child under its supervisor, in a separate session that ends with the block."""
    place = "" if cpu is None else str(cpu)
    supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), seen, place, *command]
    with subprocess.Popen(
        supervisor, stdin=subprocess.PIPE, stdout=console, stderr=subprocess.STDOUT,
        cwd=folder.shared, start_new_session=True,
    ) as running:  # fmt: skip

        def kill() -> None:
            platforms.end_group(running)
            supervise.remove_memory(running.pid)

        try:
            with ending.before_end(kill):
                yield running
        finally:
            kill()


def _wait(
    running: subprocess.Popen[bytes], folder: Folder, watcher: Watcher, what: str,
    remedies: Mapping[str, str], patience: Patience,
) -> None:  # fmt: skip
    """Wait for the program's end; report its progress, and kill it if it makes none."""
    reported, moved, before = 0, time.monotonic(), Cpu()
    seen, notice = before, Notice()
    while running.poll() is None:
        if watcher.cancelled:
            raise Cancelled("the run was cancelled")
        (now_ns, polling), cpu = _progress(folder), _cpu(running.pid, patience)
        if now_ns > reported:
            notice.see(now_ns, polling)
            watcher.advance((now_ns - reported) / 1e9)
            reported, moved, before, seen = now_ns, time.monotonic(), cpu, cpu
        elif limit_s := patience.exceeded(cpu, before):
            raise RunFailed(
                f"the clock of the {what} stood at {reported / 1e9:.3f} s for {limit_s:.0f} s of "
                f"CPU time: {patience.remedy}"
            )
        elif cpu.all_s - seen.all_s > 1.0:
            moved, seen = time.monotonic(), cpu
        elif time.monotonic() - moved > _PATIENCE_S:
            raise RunFailed(
                f"the {what} made no progress for {_PATIENCE_S:.0f} s after {reported / 1e9:.3f} s "
                "of the scenario; run fewer at a time (--jobs) or a smaller scenario; "
                f"{end_of_console(folder, remedies)}"
            )
        try:
            running.wait(_LOOK_EVERY_S)
        except subprocess.TimeoutExpired:
            continue


def _cpu(group: int, patience: Patience) -> Cpu:
    """CPU time of a group of processes, if needed."""
    if math.isinf(patience.cpu_s):
        return Cpu()
    ticks = first = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # proc(5): the name is followed by state, parent, group, ...; the 14th to 17th fields
            # are user and system time, and those of children that have ended.
            fields = path.read_text().rpartition(")")[2].split()
            own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
            if path.parent.name == str(group):
                ticks, first = ticks + own + ended, own
            elif int(fields[2]) == group:
                ticks += own
    per_s = os.sysconf("SC_CLK_TCK")
    return Cpu(ticks / per_s, first / per_s)


def _progress(folder: Folder) -> tuple[int, str]:
    """The simulated time, and the command of a program that polls, if any."""
    try:
        ns, _, polling = (folder.shared / PROGRESS).read_text().partition(" ")
        return int(ns or 0), polling
    except (FileNotFoundError, ValueError):
        return 0, ""


def _judge(folder: Folder, what: str, remedies: Mapping[str, str], returned: int) -> None:
    try:
        status = json.loads((folder.shared / STATUS).read_text())
    except (FileNotFoundError, ValueError):
        why = end_of_console(folder, remedies)
        raise RunFailed(f"the {what} ended before its plan, {_end(returned)}; {why}") from None
    if not status["ok"]:
        raise RunFailed(f"in the {what}: {status['failure']}")


def _end(returned: int) -> str:
    """How a process ended, by the value that `subprocess` returns."""
    if returned == -signal.SIGKILL:
        return "killed by this machine, as when memory runs out: run fewer at a time (--jobs)"
    return f"by {signal.Signals(-returned).name}" if returned < 0 else f"with exit code {returned}"


def end_of_console(folder: Folder, remedies: Mapping[str, str] = _NONE) -> str:
    """The reason why a child ended, according to its console, with a remedy."""
    text = folder.console.read_text(errors="replace") if folder.console.exists() else ""
    lines = [line for raw in text.splitlines() if (line := _LEVEL.sub("", raw).strip())]
    for message, remedy in remedies.items():
        if found := [line for line in lines if message in line]:
            return f"its kernel says: {found[0]}; {remedy}"
    return f"its console says: {' | '.join(lines[-3:])}" if lines else "its console says nothing"

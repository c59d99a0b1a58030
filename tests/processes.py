"""Processes that tests start, and their remains."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def below(pid: int) -> list[int]:
    """The processes below a process, zombies included."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True)
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    family = {pid}
    while more := {child for child, parent in rows if parent in family} - family:
        family |= more
    names = {child: Path(f"/proc/{child}/comm") for child in family - {pid}}
    return [
        child for child, comm in names.items() if comm.exists() and comm.read_text()[:2] != "ps"
    ]


def ended() -> int:
    """The number of a process that has ended."""
    command = [sys.executable, "-c", "import os; print(os.getpid())"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def is_alive(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False

"""Kind ``limits``: a command has too few descriptors, too little memory, or files that end early.

The limit is set after the imports, which belong to the interpreter. The command succeeds or reports
what it lacks, and leaves nothing half-written; without the limit it completes."""

from __future__ import annotations

import random
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

from storm import commands


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most, hard))


def limits(choice: random.Random) -> tuple[str, Callable[[], None]]:
    """A limit, and the function that sets it."""
    name = choice.choice(["descriptors", "memory", "file size"])
    if name == "descriptors":
        count = choice.randrange(6, 40)
        return f"{count} descriptors", lambda: _limit(resource.RLIMIT_NOFILE, count)
    if name == "file size":
        size = choice.randrange(0, 100_000)
        return f"files of {size} bytes", lambda: _limit(resource.RLIMIT_FSIZE, size)
    more = choice.randrange(1, 200) << 20

    def memory() -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + more)

    return f"{more >> 20} MB", memory


def meet(seed: int, number: int, undisturbed: commands.Undisturbed) -> tuple[str, int]:
    """The problem with an input, or an empty text; and 1."""
    choice = random.Random(f"limits {seed} {number}")
    expected, _ = undisturbed.of("compare")
    folder = commands.fresh(undisturbed.scratch / f"limits-{number}")
    name, limit = limits(choice)

    def limited() -> int:
        limit()
        return commands.compare()

    done = commands.call(folder, limited)
    why = ""
    if done.status not in (0, 1, 2) or "Traceback" in done.text:
        why = f"{done.status}, {done.text[-400:]}"
    elif left := commands.leftovers(folder):
        why = f"left behind: {left}"
    if not why:
        again = commands.call(folder, commands.compare)
        why = "" if again.status == 0 else f"run again: {again.status}, {again.text[-300:]}"
    why = why or commands.wrong(folder, expected, may_refuse=False)
    if why:
        return f"{name}: {why}", 1
    shutil.rmtree(folder)
    return "", 1

"""Kind ``kills``: a command is killed at random instants, then completes the undisturbed result.

One input is one chain of KILLS kills of one command in one folder. After each the folder reads back
as the undisturbed result, or is refused with a message; after the last the command runs to
completion with the undisturbed result, no remains, and no stored run repeated."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

from storm import commands

KILLS = 10


def meet(seed: int, number: int, undisturbed: commands.Undisturbed) -> tuple[str, int]:
    """The problem with an input, or an empty text; and how often it was killed."""
    choice = random.Random(f"kills {seed} {number}")
    command = choice.choices(["compare", "study", "run", "reproduce"], [6, 6, 6, 2])[0]
    why, killed = chain(command, choice, undisturbed, KILLS)
    return (why and f"{command}: {why}"), killed


def chain(
    command: str, choice: random.Random, undisturbed: commands.Undisturbed, kills: int
) -> tuple[str, int]:
    """Kill a command, then let it complete; return the problem, and the kills that hit."""
    expected, _ = undisturbed.of(command)
    folder = commands.fresh(undisturbed.scratch / f"kills-{choice.randrange(10**9)}")
    if command == "reproduce":
        _most_runs(undisturbed.folder(command), folder, choice)
    why, killed = _killed(folder, command, undisturbed, choice, kills)
    if not why:
        why = _completed(folder, command)
    if not why:
        why = commands.wrong(folder, expected, may_refuse=False)
    if not why:
        shutil.rmtree(folder)
    return why, killed


def _killed(
    folder: Path, command: str, undisturbed: commands.Undisturbed, choice: random.Random, kills: int
) -> tuple[str, int]:
    (expected, took), killed = undisturbed.of(command), 0
    made = kept_runs(folder)
    for _ in range(kills):
        how = choice.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        process = commands.begin(folder, commands.COMMANDS[command])
        time.sleep(choice.uniform(0.0, 0.9 * took))
        os.kill(process, how)
        ended = commands.end(folder, process)
        if "Traceback" in ended.text:
            return f"traceback: {ended.text[-300:]}", killed
        killed += ended.status != 0
        now = kept_runs(folder)
        if not made.items() <= now.items():
            return "a run that was kept is made again", killed
        made = now
        if why := commands.wrong(folder, expected, may_refuse=True):
            return why, killed
    return "", killed


def kept_runs(folder: Path) -> dict[Path, int]:
    """The time at which each run in the store was written, in ns."""
    entries = [*folder.glob("cache/runs/*/*.run"), *folder.glob("cache/runs/*/*.npz")]
    return {path: path.stat().st_mtime_ns for path in entries}


def _completed(folder: Path, command: str) -> str:
    made = kept_runs(folder)
    ended = commands.call(folder, commands.COMMANDS[command])
    if ended.status != 0:
        return f"the last run: {ended.status}, {ended.text[-300:]}"
    if not made.items() <= kept_runs(folder).items():
        return "a run that was kept is made again"
    left = commands.leftovers(folder)
    return f"left behind: {left}" if left else ""


def _most_runs(source: Path, folder: Path, choice: random.Random) -> None:
    """A store that lacks a few runs, so a quick reproduction takes a second."""
    shutil.copytree(source / "cache", folder / "cache")
    runs = sorted(path for path in (folder / "cache").rglob("*") if path.is_file())
    for path in choice.sample(runs, min(3, len(runs))):
        path.unlink()

"""Kind ``surroundings``: every command with closed or full streams, odd homes, locales and limits.

One input is one command in one surrounding, as a separate process; the numbers from 0 to `INPUTS` -
1 are all of them, and the seed has no meaning. A surrounding without effect on a command changes
neither its exit code nor its files; if one lacks something that the command needs, the command
reports that. A traceback, a signal or a half-written file is bad."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from storm import commands

SOJOURN = f'"{sys.executable}" -m sojourn'
# Arguments of every command, and what it writes; each ends within seconds.
COMMANDS = {
    "agree": "agree small.toml --engine sim,linux --seeds 1 --jobs 1",
    "attack": "attack attack.toml --store found --out out --jobs 1",
    "build": "build law.c",
    "check": "check codel --quick --operations 1000",
    "compare": "compare small.toml --aqm codel,pie --seeds 1 --jobs 1 --format svg --out out",
    "completion": "completion bash",
    "diff": "diff codel pie small.toml --out out",
    "doctor": "doctor",
    "explain": "explain pie",
    "kernel": "kernel where",
    "list": "list aqms",
    "live": "live small.toml --save page.html",
    "new": "new aqm mine --python",
    "ns3": "ns3 where",
    "reproduce": "reproduce codel-act:T1 --seeds 1 --jobs 1 --out out",
    "router": "router --duration 100ms --aqm codel --rate 10mbit",
    "run": "run small.toml --out out",
    "run json": "run small.toml --json --fresh",
    "stability": "stability pie --rtt 20ms --rate 10mbit --flows 5",
    "study": "study run study.toml --store store --jobs 1",
    "study status": "study status made",
    "tune": "tune tune.toml --store found --jobs 1",
    "validate": "validate small.toml --json",
}


@dataclasses.dataclass(frozen=True)
class Surrounding:
    """The environment of a command.

    Attributes:
        line: the shell's line, with ``{}`` for the command.
        sets: variables of the environment; None unsets one.
        may_refuse: whether it may lack something that a command needs.
    """

    line: str = "exec {}"
    sets: tuple[tuple[str, str | None], ...] = ()
    may_refuse: bool = False


SURROUNDINGS = {
    "stdin closed": Surrounding("exec {} <&-"),
    "stdout closed": Surrounding("exec {} >&-"),
    "stderr closed": Surrounding("exec {} 2>&-"),
    "all closed": Surrounding("exec {} <&- >&- 2>&-"),
    "stdout full": Surrounding("exec {} >/dev/full", may_refuse=True),
    "stderr full": Surrounding("exec {} 2>/dev/full", may_refuse=True),
    "reader gone": Surrounding("{} | true", may_refuse=True),
    "LC_ALL=C": Surrounding(sets=(("LC_ALL", "C"), ("PYTHONUTF8", "0"),
                                  ("PYTHONCOERCECLOCALE", "0"))),
    "Turkish": Surrounding(sets=(("LC_ALL", "tr_TR.UTF-8"), ("LANG", "tr_TR.UTF-8"))),
    "German": Surrounding(sets=(("LC_ALL", "de_DE.UTF-8"),)),
    "ASCII": Surrounding(sets=(("PYTHONIOENCODING", "ascii"),)),
    "no HOME": Surrounding(sets=(("HOME", None), ("SOJOURN_CACHE", None))),
    "HOME is not a folder": Surrounding(sets=(("HOME", "/dev/null"), ("SOJOURN_CACHE", None))),
    "no user": Surrounding("exec unshare --user --map-user=12345 {}",
                           sets=(("HOME", None), ("SOJOURN_CACHE", None)), may_refuse=True),
    "no store": Surrounding(sets=(("SOJOURN_CACHE", "/dev/null/cache"),)),
    "no TMPDIR": Surrounding(sets=(("TMPDIR", "/nonexistent"),)),
    "terminal of no width": Surrounding(sets=(("COLUMNS", "0"), ("TERM", "dumb"))),
    "no working folder": Surrounding('mkdir gone; cd gone; rmdir ../gone; exec {}',
                                     may_refuse=True),
    "16 descriptors": Surrounding("ulimit -n 16; exec {}", may_refuse=True),
    "600 MB": Surrounding("ulimit -v 600000; exec {}", may_refuse=True),
    "files of no size": Surrounding("ulimit -f 0; exec {} >&- 2>&-", may_refuse=True),
}  # fmt: skip
# Commands that need the user's cache: the guest kernel, ns-3's runner, the runs of a paper; doctor
# reports it as missing.
NEEDS_CACHE = {
    ("agree", "no HOME"), ("agree", "HOME is not a folder"), ("ns3", "HOME is not a folder"),
    ("reproduce", "HOME is not a folder"), ("reproduce", "no store"),
    ("doctor", "HOME is not a folder"),
}  # fmt: skip
CASES = [(name, around) for name in COMMANDS for around in SURROUNDINGS]
INPUTS = len(CASES)

ATTACK = """\
name = "storm"
aqm = "codel"
against = ["pie"]
scenario = "small.toml"
worst = "delay"
trials = 2
seeds = 1
[[words]]
name = "rate"
key = "links.bottleneck.rate"
from = "1mbit"
to = "4mbit"
"""
TUNE = """\
name = "storm"
aqm = "codel"
goal = "minimise delay_p95 subject to utilisation >= 0.5"
trials = 2
seeds = 2
held_out_seeds = 2
[[scenarios]]
scenario = "small.toml"
[[held_out]]
scenario = "small.toml"
set = { "links.bottleneck.rate" = "3mbit" }
[[parameters]]
name = "target"
from = "2ms"
to = "20ms"
"""
# Shared by all inputs, created once.
PREPARED = "new aqm law --c && cp law/*.c law.c && {} study run study.toml --store made --jobs 1"


def meet(_seed: int, number: int, undisturbed: commands.Undisturbed) -> tuple[str, int]:
    """The problem with an input, or an empty text; and 1."""
    if number >= INPUTS:
        return "", 0
    name, around = CASES[number]
    surrounding = SURROUNDINGS[around]
    if (name, around) in NEEDS_CACHE:
        surrounding = dataclasses.replace(surrounding, may_refuse=True)
    found = called(undisturbed.scratch, name, surrounding)
    return (found and f"{name}, {around}: {found}"), 1


def called(scratch: Path, name: str, around: Surrounding) -> str:
    """The problem with a command in a surrounding, or an empty text."""
    done = _done(scratch, name, around)
    said = f"{done.returncode}: {done.stdout[-200:]} {done.stderr[-400:]}"
    if "Traceback" in done.stdout + done.stderr or not 0 <= done.returncode <= 2:
        return said
    usual = _usual_code(scratch, name)
    if done.returncode != usual and not around.may_refuse:
        return f"usually {usual}, {said}"
    return ""


@functools.cache
def _usual_code(scratch: Path, name: str) -> int:
    return _done(scratch, name, Surrounding()).returncode


def _done(scratch: Path, name: str, around: Surrounding) -> subprocess.CompletedProcess[str]:
    folder = scratch / "surroundings"
    shutil.copytree(_prepared(scratch), folder)
    changed = {key: value for key, value in around.sets if value is not None}
    unset = [key for key, value in around.sets if value is None]
    environment = {**os.environ, "SOJOURN_CACHE": str(folder / "cache"), **changed}
    for key in unset:
        del environment[key]
    line = around.line.format(f"{SOJOURN} {COMMANDS[name]}")
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True,
                          text=True, errors="replace", timeout=300, check=False)  # fmt: skip
    if left := commands.leftovers(folder):
        done.stderr += f"Traceback of what is left behind: {left}"
    shutil.rmtree(folder)
    return done


def _prepared(scratch: Path) -> Path:
    """A folder with what the commands need."""
    folder = scratch / "prepared"
    if not folder.exists():
        commands.fresh(folder)
        (folder / "attack.toml").write_text(ATTACK)
        (folder / "tune.toml").write_text(TUNE)
        line = f"{SOJOURN} {PREPARED.format(SOJOURN)}"
        subprocess.run(["bash", "-c", line], cwd=folder, check=True, capture_output=True,
                       env={**os.environ, "SOJOURN_CACHE": str(folder / "cache")})  # fmt: skip
    return folder

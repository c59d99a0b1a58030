"""Inputs of the kinds of Python, one after the other: `run KIND SEED FROM COUNT`.

Has the output of `target/storm/storm`: a line for each bad input, then the number of each outcome.
"""

from __future__ import annotations

import collections
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

from storm import commands
from storm.diary import Diary, Met

UNTIL = float(os.environ.get("STORM_UNTIL", "inf"))
"""Seconds since the epoch after which no input is started."""
DIARY, ENOUGH = os.environ.get("STORM_DIARY"), int(os.environ.get("STORM_ENOUGH", "0"))
"""The log of earlier inputs, and the total count to reach."""


def run(kind: str, seed: int, first: int, count: int) -> None:
    """Each module has ``meet``: the problem with an input, and its count."""
    diary = Diary(Path(DIARY)) if DIARY else None
    module = importlib.import_module(f"storm.{kind}")
    place = os.environ.get("STORM_PLACE")
    done: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="storm-") as scratch:
        undisturbed = commands.Undisturbed(Path(scratch))
        for number in range(first, first + count):
            if diary and number in diary.read():
                continue
            if time.time() > UNTIL or (diary and diary.counted() >= ENOUGH):
                print("left", first + count - number)
                break
            if place:
                Path(place).write_text(f"{number}\n")
            why, counted = module.meet(seed, number, undisturbed)
            if why:
                print(f"bad {number} {why!r}", flush=True)
            if diary:
                diary.add(number, Met(counted, why))
            done[kind] += counted
    for what, times in done.items():
        print(what, times)


if __name__ == "__main__":
    _, what, kind, seed, first, *count = sys.argv
    if what == "show":
        print(f"make storm KIND={kind} SEED={seed} FROM={first} COUNT=1")
    else:
        run(kind, int(seed), int(first), int(*count))

"""Inputs of the kinds of Python, one after the other: `run KIND SEED FROM COUNT`.

Speaks as `target/storm/storm` does: a line for each bad input, then how many had each fate.
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
"""Seconds since the epoch after which no input is begun."""
DIARY, ENOUGH = os.environ.get("STORM_DIARY"), int(os.environ.get("STORM_ENOUGH", "0"))
"""What was met before, and how many counts in all are enough."""


def run(kind: str, seed: int, first: int, count: int) -> None:
    """Each module has ``meet``: what is wrong with an input, and how often it did what counts."""
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

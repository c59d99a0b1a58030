"""What became of each input, kept in a file, so that hours of work are made of many calls.

A line an input: its number, how often it did what counts (for `kills` a kill that hit), and what is
wrong with it, as Python writes a text.
"""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Met:
    """An input that was met.

    Attributes:
        counted: how often it did what counts.
        why: what is wrong; empty if nothing is.
    """

    counted: int
    why: str


class Diary:
    """The file of a kind and a seed; several processes may write to it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[int, Met]:
        """The inputs so far, by number."""
        found: dict[int, Met] = {}
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        for line in text.splitlines():
            number, counted, why = line.split(" ", 2)
            found[int(number)] = Met(int(counted), ast.literal_eval(why))
        return found

    def add(self, number: int, met: Met) -> None:
        """Note an input, by one call of the system: lines of two processes do not mix."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self.path, flags, 0o666)
        os.write(descriptor, f"{number} {met.counted} {met.why!a}\n".encode())
        os.close(descriptor)

    def counted(self) -> int:
        """How often all inputs so far did what counts."""
        return sum(met.counted for met in self.read().values())

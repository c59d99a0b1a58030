"""A log of the outcome of each input, so that hours of work can be split into many calls.

One line per input: its number, its count (for `kills` the kills that hit), and the problem, as a
Python string."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Met:
    """A logged input.

    Attributes:
        counted: its count.
        why: the problem; may be empty.
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
        """Log an input by one system call, so lines of two processes do not mix."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self.path, flags, 0o666)
        os.write(descriptor, f"{number} {met.counted} {met.why!a}\n".encode())
        os.close(descriptor)

    def counted(self) -> int:
        """The total count of all inputs so far."""
        return sum(met.counted for met in self.read().values())

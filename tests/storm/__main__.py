"""`make storm`: inputs of a kind, in child processes that may die, hang or take too much memory.

    python -m storm KIND [--seed 1] [--from 0] [--count 100] [--jobs 2] [--seconds S] [--until N]

A child (`target/storm/storm run`, or `worker.py` for the kinds of Python) takes PIECE inputs and
writes the number of the present one to a file. If a child ends by a signal or stays at an input for
HANG_S, that input is bad, and another child continues after it. The text of a bad input, or how to
repeat it, is kept in out/storm. After S seconds no input of Python is started; the remaining ones
are counted, and FROM can continue with them. With N the outcome of each input of Python is logged
in out/storm/KIND-SEED.diary, logged inputs are not repeated, and none is started once the logged
counts (kills that hit) reach N; the table covers the whole log. Exit code 1 if anything is bad."""

from __future__ import annotations

import argparse
import collections
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from storm.diary import Diary, Met

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target" / "storm" / "storm"
RUST, PYTHON = (
    ("mutants", "scenarios", "long"),
    ("kills", "power", "damage", "limits", "surroundings"),
)
# By kind: inputs of a child, and bytes of memory.
PIECE = dict.fromkeys(RUST, 10_000) | dict.fromkeys(PYTHON, 20)
MEMORY_BYTES = dict.fromkeys(RUST, 1 << 30) | dict.fromkeys(PYTHON, 8 << 30)
HANG_S = 600.0
KEPT = Path("out") / "storm"


def words(kind: str, what: str, *numbers: int) -> list[str]:
    """The command of a child."""
    program = [str(PROGRAM)] if kind in RUST else [sys.executable, "-m", "storm.worker"]
    return [*program, what, kind, *map(str, numbers)]


class Piece:
    """Inputs for one child after the other."""

    def __init__(self, kind: str, seed: int, numbers: range) -> None:
        self.kind, self.seed, self.numbers = kind, seed, numbers
        self.fates: collections.Counter[str] = collections.Counter()
        self.bad: list[tuple[int, str]] = []

    def run(self) -> Piece:
        left = self.numbers
        while left:
            left = range(self._child(left), self.numbers.stop)
        return self

    def _child(self, numbers: range) -> int:
        """Let a child process inputs; return the first remaining one."""
        with tempfile.TemporaryDirectory() as scratch:
            place, out = Path(scratch) / "place", Path(scratch) / "out"
            memory = MEMORY_BYTES[self.kind]
            with out.open("w") as file:
                child = subprocess.Popen(
                    words(self.kind, "run", self.seed, numbers.start, len(numbers)),
                    stdout=file, stderr=subprocess.STDOUT, cwd=ROOT,
                    env={**os.environ, "STORM_PLACE": str(place), "PYTHONPATH": str(ROOT / "tests"),
                         "TMPDIR": scratch},
                )  # fmt: skip
            resource.prlimit(child.pid, resource.RLIMIT_AS, (memory, memory))
            hangs = self._watch(child, place)
            text = out.read_text(errors="replace")
            self._count(text)
            if child.returncode == 0:
                return numbers.stop
            at = int(place.read_text()) if place.exists() else numbers.start
            why = "hangs" if hangs else f"ends with {child.returncode}: {text[-300:]}"
            self.bad.append((at, why))
            if diary := os.environ.get("STORM_DIARY"):
                Diary(Path(diary)).add(at, Met(0, why))
            self.fates["before a death"] += at - numbers.start
            return at + 1

    @staticmethod
    def _watch(child: subprocess.Popen[bytes], place: Path) -> bool:
        """Wait for a child; return whether it hung at one input and was killed."""
        seen, since = "", time.monotonic()
        while child.poll() is None:
            time.sleep(0.05)
            now = place.read_text() if place.exists() else ""
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > HANG_S:
                child.kill()
                child.wait()
                return True
        return False

    def _count(self, text: str) -> None:
        for line in text.splitlines():
            first, *rest = line.split(" ", 2)
            if first == "bad" and len(rest) == 2:
                self.bad.append((int(rest[0]), rest[1]))
            elif len(rest) == 1 and rest[0].isdigit() and first != "all-bad":
                self.fates[first] += int(rest[0])


def keep(kind: str, seed: int, number: int, why: str) -> Path:
    """Save the text of a bad input and the problem."""
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{kind}-{seed}-{number}.txt"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    shown = subprocess.run(words(kind, "show", seed, number), capture_output=True, cwd=ROOT,
                           env=environment, check=False)  # fmt: skip
    path.write_bytes(f"# {why}\n".encode(errors="replace") + shown.stdout)
    return path


def noted(kind: str, diary: Diary) -> int:
    """Print the table of all calls so far."""
    met = diary.read()
    bad = [number for number, each in met.items() if each.why]
    print("| kind | inputs | counted | clean | bad |")
    print(f"| `{kind}` | {len(met)} | {diary.counted()} | {len(met) - len(bad)} | {len(bad)} |")
    for number in sorted(bad):
        print(f"bad {number} {met[number].why[:300]}")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="storm", description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=[*RUST, *PYTHON])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--until", type=int, metavar="N")
    asked = parser.parse_args()
    if asked.until and asked.kind not in PYTHON:
        parser.error(f"--until: is for {', '.join(PYTHON)}")
    end, size = asked.first + asked.count, PIECE[asked.kind]
    starts = range(asked.first, end, size)
    pieces = [Piece(asked.kind, asked.seed, range(at, min(at + size, end))) for at in starts]
    began = time.monotonic()
    os.environ["STORM_UNTIL"] = str(time.time() + asked.seconds)
    diary = Diary(ROOT / KEPT / f"{asked.kind}-{asked.seed}.diary")
    if asked.until:
        os.environ |= {"STORM_DIARY": str(diary.path), "STORM_ENOUGH": str(asked.until)}
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(Piece.run, pieces))
    bad = sorted(each for piece in pieces for each in piece.bad)
    for number, why in bad:
        print(f"bad {number} {why}\n    kept as {keep(asked.kind, asked.seed, number, why)}")
    if asked.until:
        return noted(asked.kind, diary)
    fates = sum((piece.fates for piece in pieces), collections.Counter[str]())
    tried = asked.count - fates["left"]
    print(f"| kind | numbers | tried | {' | '.join(fates)} | clean | bad |")
    counts = " | ".join(map(str, (tried, *fates.values(), tried - len(bad), len(bad))))
    print(f"| `{asked.kind}` | {asked.first} to {end - 1} | {counts} |")
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

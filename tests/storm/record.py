"""`make storm-record`: kills, surroundings and cancelling, recorded in docs/evidence/storm.md.

    python tests/storm/record.py [Kills] [Surroundings] [Cancelling]

Needs an idle machine, because the kills that hit and the times of Ctrl-C depend on load. The kills
continue where an earlier call has stopped. Writes the named parts, or all, into the last section of
the page; exit code 1 if anything is bad or slow."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from sojourn import files

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence" / "storm.md"
BEGIN, END = "<!-- recorded: begin -->\n", "<!-- recorded: end -->\n"
STORM = (sys.executable, "-m", "storm")
COMMANDS = {
    "Kills": (*STORM, "kills", "--seed", "13", "--count", "400", "--until", "1000"),
    "Surroundings": (*STORM, "surroundings", "--count", "483"),
    "Cancelling": (sys.executable, "tests/storm/cancel.py", "--times", "20"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*COMMANDS, []])
    asked, codes = parser.parse_args().parts or [*COMMANDS], []
    parts = _parts(PAGE.read_text(encoding="utf-8"))
    for title in asked:
        done = subprocess.run(
            COMMANDS[title], cwd=ROOT, env={**os.environ, "PYTHONPATH": "tests"}, text=True,
            stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        codes.append(done.returncode)
        parts[title] = (
            f"{_table(done.stdout)}\n\nLoad average at the end: {os.getloadavg()[2]:.1f}."
        )
    written = "".join(f"\n### {title}\n\n{parts[title]}\n" for title in COMMANDS)
    files.replace_between(PAGE, BEGIN, END, f"{written}\n")
    return max(codes)


def _parts(page: str) -> dict[str, str]:
    """The parts of the page, by title."""
    recorded = page.partition(BEGIN)[2].partition(END)[0]
    return {
        title: text.strip()
        for title, _, text in (part.partition("\n") for part in recorded.split("\n### ")[1:])
    }


def _table(said: str) -> str:
    """The rows of a table, with the line below its head that the storm leaves out."""
    rows = [line for line in said.splitlines() if line.startswith("|")]
    if len(rows) == 2:
        rows.insert(1, "|---" * (rows[0].count("|") - 1) + "|")
    bad = [line.strip() for line in said.splitlines() if line.startswith("bad ")]
    return "\n".join([*rows, *(f"\n- {line[:300]}" for line in bad)])


if __name__ == "__main__":
    sys.exit(main())

"""`make storm-record`: kills, surroundings and cancelling, recorded in docs/storm.md.

Wants an idle machine: how many kills hit, and how long Ctrl-C takes, depend on it. The kills go on
where an earlier call has stopped. Writes the last section of the page; exit code 1 if anything is
bad or slow.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sojourn import files

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "storm.md"
BEGIN, END = "<!-- recorded: begin -->\n", "<!-- recorded: end -->\n"
STORM = (sys.executable, "-m", "storm")
COMMANDS = {
    "Kills": (*STORM, "kills", "--seed", "13", "--count", "400", "--until", "1000"),
    "Surroundings": (*STORM, "surroundings", "--count", "483"),
    "Cancelling": (sys.executable, "tests/storm/cancel.py", "--times", "20"),
}


def main() -> int:
    codes, parts = [], []
    for title, command in COMMANDS.items():
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": "tests"}, text=True,
            stdout=subprocess.PIPE, check=False,
        )  # fmt: skip
        codes.append(done.returncode)
        parts.append(f"\n### {title}\n\n{_table(done.stdout)}\n")
    files.replace_between(PAGE, BEGIN, END, "".join(parts) + "\n")
    return max(codes)


def _table(said: str) -> str:
    """The rows of a table, with the line below its head that the storm leaves out."""
    rows = [line for line in said.splitlines() if line.startswith("|")]
    if len(rows) == 2:
        rows.insert(1, "|---" * (rows[0].count("|") - 1) + "|")
    bad = [line.strip() for line in said.splitlines() if line.startswith("bad ")]
    return "\n".join([*rows, *(f"\n- {line[:300]}" for line in bad)])


if __name__ == "__main__":
    sys.exit(main())

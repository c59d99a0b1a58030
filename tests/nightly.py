"""Runs the tests marked ``nightly`` and writes docs/evidence/nightly.md if none fails.

python tests/nightly.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

from sojourn import files

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence" / "nightly.md"
HEAD = """# Tests that continuous integration leaves out

Written by `make test-nightly` on {day}; all passed.

| test | seconds |
|---|--:|
"""


def main() -> int:
    """Run them; return pytest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "nightly.xml"
        command = [sys.executable, "-m", "pytest", "--numprocesses", "2", "-m", "nightly"]
        code = subprocess.run(
            [*command, f"--junit-xml={report}", "tests"], cwd=ROOT, check=False
        ).returncode
        if code != 0:
            return code
        cases = sorted(
            (f"{case.attrib['classname']}::{case.attrib['name']}", float(case.attrib["time"]))
            for case in ET.parse(report).getroot().iter("testcase")
        )
    rows = "".join(f"| `{name}` | {seconds:.0f} |\n" for name, seconds in cases)
    files.write(PAGE, HEAD.format(day=datetime.now(UTC).date()) + rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
